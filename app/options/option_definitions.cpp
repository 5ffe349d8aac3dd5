#include "options/option_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <system_error>

#include "attnviz/analysis/rollout.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/threads.h"
#include "attnviz/model/mask.h"
#include "attnviz/report/steps/inspection_document.h"
#include "attnviz/text/tokenizer.h"
#include "options/option_values.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

namespace {

constexpr const char* kMaxMemory = "--max-memory";

void define_described(OptionList& list, InfoOptions& options) {
  const auto model = [&options]() -> DescribedModel& {
    return in_numbers<DescribedModel>(options.model);
  };
  const std::string what = "; for a model given by its sizes";
  define_sizes(list, what, "d-model / heads",
               [model]() -> RandomShape& { return model().attention; });
  list.add_size("--d-ff", "width of the MLP (default: no MLP is counted)" + what,
                [model](std::size_t n) { model().d_ff = n; });
  list.add_flag("Model", "--gated", "with --d-ff: gated MLPs with three matrices, as in Llama",
                [model] { model().gated = true; })
      .needs({"--d-ff"});
  list.add_size("--vocab", "entries of the vocabulary (default: embeddings are not counted)" + what,
                [model](std::size_t n) { model().n_vocab = n; });
  list.add_flag("Model", "--tied", "with --vocab: the embeddings also serve as output matrix",
                [model] { model().tied = true; })
      .needs({"--vocab"});
  list.add_size("--context", "the longest text" + what,
                [model](std::size_t n) { model().n_ctx = n; });
  for (const char* const name : {"--d-ff", "--gated", "--vocab", "--tied", "--context"}) {
    list.row(name).conflicts({"--model", kFile}, ": a model has sizes of its own");
  }
  for (const char* const name :
       {"--layers", "--heads", "--kv-heads", "--d-value", "--d-ff", "--vocab", "--context"}) {
    list.row(name).needs({"--d-model", "--d-head"});
  }
}

void define_focus(OptionList& list, PatternOptions& pattern) {
  list.add_value("Output", "--focus", "TOKEN|INDEX",
                 "draw only what this token looks at, as bars (also with --style dots or numbers; "
                 "with arcs, as lines): cat, cat#2 (the second one), 3, -1",
                 pattern.focus)
      .conflicts({"--transpose"})
      .conflicts({"--style mask"}, ": bars are of weights, and a mask has none")
      .common();
  list.add_flag("Output", "--as-key", "with --focus: draw which tokens look at it", pattern.as_key)
      .needs({"--focus"}, ": it says how that token is taken");
}

void define_patterns(OptionList& list, PatternOptions& pattern) {
  list.add_value("Attention", "--average", joined_choices(kAverages),
                 "average over the heads of each layer, over the layers, or over both",
                 pattern.average, parse_average);
  define_focus(list, pattern);
}

void define_fold(OptionList& list, ShowOptions& options) {
  list.add_choice("Attention", "--fold,--merge", kFolds,
                  "treat the tokens of one word, line, sentence or chat turn as one: weights are "
                  "summed over its keys and averaged over its queries",
                  options.fold);
}

// A step of attention, or one of the attentions of an encoder-decoder.
void define_shown(OptionList& list, ShowOptions& options) {
  std::vector<std::string> words = choice_words(kPatternKinds);
  std::ranges::move(choice_words(kPartChoices), std::back_inserter(words));
  list.add_value("Attention", "--show", "STEP|PART",
                 "a step of attention: scores q·k, scaled, masked (the input of softmax), weights "
                 "(default), or values-shares (each value's share of the sum); for "
                 "encoder-decoders also a part: cross (their default), encoder or decoder; or "
                 "beyond attention: router (which experts tokens get) or decay (what states keep)",
                 [&options, words](const std::string& word) {
                   options.part = choice_named(kPartChoices, word);
                   const std::optional<PatternKind> kind = choice_named(kPatternKinds, word);
                   if (!options.part && !kind) {
                     fail_choice("--show", word, words);
                   }
                   options.kind = kind.value_or(PatternKind::kWeights);
                 })
      .proposes(words);
}

void define_target(OptionList& list, ShowOptions& options) {
  options.takes_encoder_decoders = true;
  list.add_value("Input", "--target", "TEXT",
                 "encoder-decoders (T5, BART): the decoder's input, after its start token; the "
                 "encoder reads the main text. Without it, --generate lets the decoder write",
                 options.target)
      .conflicts({"--decoder-ids"});
  list.add_value("Input", "--decoder-ids", "IDS",
                 "decoder input as token ids, with the start token: 0,644,4598",
                 options.decoder_ids, parse_ids);
}

// Options of output that is drawn as patterns are.
void define_drawn(OptionList& list, ShowOptions& options) {
  define_files(list, options.output, Result::kAttention);
  list.add_flag("Output", "--force", "write the weights even if they exceed 10 GB",
                options.output.force);
  define_drawing(list, options.drawing);
  define_run(list, options);
}

void define_next_tokens(OptionList& list, ShowOptions& options) {
  constexpr std::uint64_t kMostTokens = 1'000'000;
  list.add_value("Prediction", "--predict", "K",
                 "print the K most probable next tokens; --temperature and other attention options "
                 "act inside the layers, not on the predictions themselves",
                 options.predict, count_between(1, kMostTokens))
      .common();
  list.add_value("Prediction", "--at", "TOKEN|INDEX|all",
                 "with --predict: predict after this token (default: the last), or after each, "
                 "beside the token that actually followed; models that fill gaps, such as BERT, "
                 "predict the token at this position (default: at [MASK], else the last word)",
                 options.at)
      .needs({"--predict"}, ": it says for which token to predict");
  list.add_value("Prediction", "--generate", "N",
                 "let the model write up to N tokens after the text, always the most probable one, "
                 "and include them in the drawing",
                 options.generate, count_between(1, kMostTokens))
      .common();
}

void define_steps(OptionList& list, InspectOptions& options) {
  const std::string names = inspection_step_list();
  std::vector<std::string> steps;
  for (const std::string_view step : list_parts(names)) {
    steps.emplace_back(step.substr(0, step.find(' ')));  // an alias may follow
  }
  list.add_list("Output", "--step", "STEP",
                fmt::format("only these steps: {}; lists with commas; may be repeated", names),
                [&options](const std::vector<std::string>& lists) {
                  options.steps = parse_inspection_steps("--step", joined_by(lists, ","));
                })
      .proposes(std::move(steps))
      .common();
  list.add_flag("Output", "--explain", "a plain sentence about the numbers of each step",
                options.explain)
      .common();
  list.add_flag(
      "Output", "--batch",
      "shapes as in libraries, for all heads and tokens at once: [batch, heads, tokens, d_head]",
      options.batch);
  list.add_flag("Output", "--full",
                "every key, every number, and the matrices of all queries, as in JSON",
                options.full);
}

}  // namespace

void define_help(OptionList& list) {
  list.add_flag("General", "-h", "show the options that are used most");
  list.add_flag("General", "--help", "show all options");
  list.add_flag("General", "--version", "show the version");
  list.add_value("General", kMaxMemory, "SIZE",
                 "use at most this much memory, not counting mapped model files: 1500M, 2G "
                 "(default: what is free)",
                 [](const std::string& /*word*/) {});  // see max_memory()
}

std::optional<double> max_memory(const Given& given) {
  return given.has(kMaxMemory) ? std::optional(parse_memory(kMaxMemory, given.word(kMaxMemory)))
                               : std::nullopt;
}

void define_show(OptionList& list, ShowOptions& options) {
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_target(list, options);
  define_model(list, options);
  define_attention(list, options, "all, as an overview if more than 12 in several layers");
  define_names(list, options);
  list.add_value("Attention", "--side-by-side", "LIST",
                 "compare masks or temperatures side by side: causal,none or 0.5,1,2; ablated: the "
                 "unchanged model beside the one with --ablate and --hide",
                 options.side_by_side, parse_variants)
      .proposes({"ablated", "causal", "none"});
  define_shown(list, options);
  define_patterns(list, options.pattern);
  define_fold(list, options);
  define_next_tokens(list, options);
  list.add_flag("Output", "--live",
                "with -o FILE.html: the page contains the demo model (4 MB) and runs it on other "
                "texts and with heads ablated",
                options.live)
      .conflicts({"--random",  "--tokenizer",    "--ids",     "--pair",       "--bos",
                  "--no-bos",  "--special",      "--mask",    "--seed",       "--no-scale",
                  "--dropout", "--temperature",  "--ablate",  "--hide",       "--average",
                  "--merge",   "--side-by-side", "--lines",   "--json-lines", "--generate",
                  "--chat",    "--system",       "--messages"},
                 ": the page runs the unchanged demo model");
  define_drawn(list, options);
}

void define_rollout(OptionList& list, ShowOptions& options) {
  options.rollout.emplace();
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_model(list, options);
  define_attention(list, options, "all");
  list.add_choice("Attention", "--over", kRolloutOvers,
                  "combine a layer's heads by their mean or their largest weight (default mean)",
                  options.rollout->over);
  list.add_value("Attention", "--residual", "SHARE",
                 "share of the residual stream (the token itself) in each layer; the rest is "
                 "attention (default 0.5; 0: attention alone)",
                 options.rollout->residual, parse_share);
  list.add_flag("Attention", "--weighted",
                "weight attention by the norm of each token's transformed value",
                options.rollout->weighted);
  define_fold(list, options);
  define_focus(list, options.pattern);
  define_drawn(list, options);
}

void define_inspect(OptionList& list, InspectOptions& options) {
  define_input(list, options.input);
  define_model(list, options);
  define_attention(list, options, "the most informative one of a trained model, else 0.0");
  define_names(list, options);
  list.add_value("Attention", "--query", "TOKEN|INDEX",
                 "the token to follow: cat, cat#2 (the second cat), 3, -1 (default: the last; "
                 "without --head, the one for which the head was chosen)",
                 options.query)
      .common();
  define_steps(list, options);
  define_files(list, options.output, Result::kInspection);
  define_text_style(list, options.look);
  list.add_value("Output", "--title", "TEXT", "title of the screen and of the picture; empty: none",
                 options.title);
  define_figure_look(list, options.look);
  define_run(list, options);
}

void define_render(OptionList& list, RenderOptions& options) {
  // Attention as JSON or .npy; - or a pipe: standard input.
  list.add_positional(kFile, options.file);
  list.add_value("Input", "--tokens", "TOKENS",
                 "the tokens, separated by spaces or as a JSON list (default: from the file, else "
                 "their indices)",
                 options.tokens.queries, parse_tokens);
  list.add_value("Input", "--key-tokens", "TOKENS",
                 "tokens of the keys, if they differ (cross-attention)", options.tokens.keys,
                 parse_tokens);
  list.add_value("Attention", "--mask", "causal|none|window:W|strided:S|block:B|around:R",
                 "which keys a query could see: masked cells are drawn differently from 0 "
                 "(default: as the file says)",
                 options.mask, parse_mask);
  define_selection(list, options.heads, "all, as an overview if more than 12 in several layers");
  list.add_choice("Attention", "--kind", kPatternKinds,
                  "what the numbers are (default: as the file says, else weights)", options.kind);
  list.add_choice(
      "Attention", "--show", kPartChoices,
      "for encoder-decoders: the attention of this part (default: as the file says, else cross)",
      options.part);
  list.add_flag("Attention", "--softmax", "treat the numbers as scores and draw their softmax",
                options.softmax);
  list.add_value("Attention", "--divide-by", "D", "first divide the scores by D, usually √d_head",
                 options.of_scores.divide_by, parse_temperature);
  list.add_value("Attention", "--temperature", "T", "also divide the scores by T",
                 options.of_scores.temperature, parse_temperature);
  define_patterns(list, options.pattern);
  define_files(list, options.output, Result::kAttention);
  define_drawing(list, options.drawing);
  define_verbosity(list, options.verbosity);
}

void define_tokenize(OptionList& list, TokenizeOptions& options) {
  options.input.may_be_blank = true;
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_tokenizer(list, options.tokenizer);
  define_named_model(
      list, options.model, options.verbosity,
      "the model whose tokenizer or vocabulary gives the ids (default without --tokenizer: demo)");
  list.add_flag("Output", "--json", "print a JSON document, one line per text", options.json);
  list.add_flag("Output", "--print-prompt",
                "print the prompt that the model's template makes from the chat, byte for byte",
                options.print_prompt)
      .needs(kChatOptions, ": it prints the prompt made from them")
      .conflicts({"--json"});
  define_verbosity(list, options.verbosity);
  for (const char* const name : {"--tokenizer", "--lines", "--json", "--print-prompt"}) {
    list.row(name).common();
  }
}

void define_info(OptionList& list, InfoOptions& options) {
  list.add_positional(kFile, to_model(options.model)).conflicts({"--model"});
  define_named_model(
      list, options.model, options.verbosity,
      "the model: weights JSON, a Hugging Face folder or .safetensors file, a GGUF file, or the "
      "name of a model on this machine (attnviz models; default: demo, the embedded one)");
  define_described(list, options);
  list.add_flag("Model", "--families",
                "list the model families that attnviz reads, and in which file formats",
                options.families)
      .conflicts({"--model", kFile, "--layers", "--heads", "--kv-heads", "--d-model", "--d-head",
                  "--d-value", "--d-ff", "--gated", "--vocab", "--tied", "--context"})
      .about("family", "attnviz info --families lists them");
  define_printed(list, options, "attnviz.info/1, with --families attnviz.families/1");
}

void define_models(OptionList& list, ModelsOptions& options) {
  list.add_flag("Output", "--names", "print only the names, one per line", options.names)
      .conflicts({"--json"});
  define_printed(list, options, "attnviz.models/1");
}

void define_weights(OptionList& list, WeightsOptions& options) {
  options.model.model = RandomShape();
  define_shape(list, options.model);
  list.add_value("Output", "-o,--output", "FILE", "write here (default: standard output)",
                 options.output);
  define_verbosity(list, options.verbosity);
}

void define_tour(OptionList& list, TourOptions& options) {
  define_text(list, options.input);
  define_tokenizer(list, options.tokenizer);
  define_named_model(list, options.model.model, options.verbosity,
                     "the model whose heads are shown (default: demo, the embedded one); the tour "
                     "says which jobs no head of the model does");
  list.add_flag("Model", "--random", "random weights: nothing has been learned",
                [&options] { in_numbers<RandomShape>(options.model.model); })
      .conflicts({"--model"});
  list.add_flag("Output", "--all", "print all screens at once, as when the output is piped",
                options.all);
  define_text_style(list, options);
}

}  // namespace attnviz::app
