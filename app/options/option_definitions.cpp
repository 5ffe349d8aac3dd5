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
  const std::string what = "a model in numbers: ";
  define_sizes(list, what, "d-model / heads",
               [model]() -> RandomShape& { return model().attention; });
  list.add_size("--d-ff", what + "width of the MLP (default: no MLP is counted)",
                [model](std::size_t n) { model().d_ff = n; });
  list.add_flag("Model", "--gated", "with --d-ff: MLPs of three matrices, as Llama has them",
                [model] { model().gated = true; })
      .needs({"--d-ff"});
  list.add_size("--vocab", what + "entries of the vocabulary (default: embeddings are not counted)",
                [model](std::size_t n) { model().n_vocab = n; });
  list.add_flag("Model", "--tied", "with --vocab: the embeddings are the output head, too",
                [model] { model().tied = true; })
      .needs({"--vocab"});
  list.add_size("--context", what + "the longest text",
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
                 "with arcs its lines): cat, cat#2 (the second one), 3, -1",
                 pattern.focus)
      .conflicts({"--transpose"})
      .conflicts({"--style mask"}, ": bars are of weights, and a mask has none")
      .common();
  list.add_flag("Output", "--as-key", "with --focus: draw who looks at the token", pattern.as_key)
      .needs({"--focus"}, ": it says how that token is taken");
}

void define_patterns(OptionList& list, PatternOptions& pattern) {
  list.add_value("Attention", "--average", joined_choices(kAverages),
                 "the mean over the heads of each layer, over the layers, or over all",
                 pattern.average, parse_average);
  define_focus(list, pattern);
}

void define_fold(OptionList& list, ShowOptions& options) {
  list.add_choice("Attention", "--fold,--merge", kFolds,
                  "tokens of one word, line, sentence or turn of a chat as one: weights are summed "
                  "over its keys and averaged over its queries",
                  options.fold);
}

// A step of attention, or one of an encoder-decoder's attentions.
void define_shown(OptionList& list, ShowOptions& options) {
  std::vector<std::string> words = choice_words(kPatternKinds);
  std::ranges::move(choice_words(kPartChoices), std::back_inserter(words));
  list.add_value("Attention", "--show", "STEP|PART",
                 "a step of attention: scores q·k, scaled, masked as softmax takes them, weights "
                 "(default), or values-shares, each value's share of the sum; of "
                 "encoder-decoders also a part: cross (their default), encoder or decoder; or what "
                 "is no attention: router, which experts tokens get, or decay, what states keep",
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
                 "encoder-decoders (T5, BART): decoder input, after its start token; TEXT is what "
                 "the encoder reads. Without it --generate lets the decoder write",
                 options.target)
      .conflicts({"--decoder-ids"});
  list.add_value("Input", "--decoder-ids", "IDS",
                 "the same as token ids, with the one that it begins with: 0,644,4598",
                 options.decoder_ids, parse_ids);
}

// Of what is drawn as patterns are.
void define_drawn(OptionList& list, ShowOptions& options) {
  define_files(list, options.output, Result::kAttention);
  list.add_flag("Output", "--force", "write weights of more than 10 GB, too", options.output.force);
  define_drawing(list, options.drawing);
  define_run(list, options);
}

void define_next_tokens(OptionList& list, ShowOptions& options) {
  constexpr std::uint64_t kMostTokens = 1'000'000;
  list.add_value("Prediction", "--predict", "K",
                 "the K tokens that the model holds most probable next; --temperature and the "
                 "other switches change them through attention only",
                 options.predict, count_between(1, kMostTokens))
      .common();
  list.add_value("Prediction", "--at", "TOKEN|INDEX|all",
                 "with --predict: after this token (default: the last), or after each, beside what "
                 "came; models that fill gaps, as BERT, name what they would put in its place "
                 "(default: that of [MASK], else of the last word)",
                 options.at)
      .needs({"--predict"}, ": it says where");
  list.add_value("Prediction", "--generate", "N",
                 "let the model write up to N tokens behind the text, always the most probable "
                 "one, and draw them, too",
                 options.generate, count_between(1, kMostTokens))
      .common();
}

void define_steps(OptionList& list, InspectOptions& options) {
  const std::string names = inspection_step_list();
  std::vector<std::string> steps;
  for (const std::string_view step : list_parts(names)) {
    steps.emplace_back(step.substr(0, step.find(' ')));  // one may have another name behind it
  }
  list.add_list("Output", "--step", "STEP",
                fmt::format("only these steps: {}, or a list with commas; may be repeated", names),
                [&options](const std::vector<std::string>& lists) {
                  options.steps = parse_inspection_steps("--step", joined_by(lists, ","));
                })
      .proposes(std::move(steps))
      .common();
  list.add_flag("Output", "--explain", "a plain sentence to each step, true for its numbers",
                options.explain)
      .common();
  list.add_flag("Output", "--batch",
                "shapes as libraries have them, of all heads and tokens at once: [batch, heads, "
                "tokens, d_head]",
                options.batch);
  list.add_flag("Output", "--full",
                "every key, every number, and the matrices of all queries, as JSON always has them",
                options.full);
}

}  // namespace

void define_help(OptionList& list) {
  list.add_flag("General", "-h", "show the options that are used most");
  list.add_flag("General", "--help", "show all options");
  list.add_flag("General", "--version", "show the version");
  list.add_value(
      "General", kMaxMemory, "SIZE",
      "take no more memory than this, mapped model files aside: 1500M, 2G (default: what is free)",
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
  define_attention(list, options, "all; more than 12 of several layers as an overview");
  define_names(list, options);
  list.add_value("Attention", "--side-by-side", "LIST",
                 "masks or temperatures beside each other: causal,none or 0.5,1,2; ablated: the "
                 "model as it is beside what --ablate and --hide leave of it",
                 options.side_by_side, parse_variants)
      .proposes({"ablated", "causal", "none"});
  define_shown(list, options);
  define_patterns(list, options.pattern);
  define_fold(list, options);
  define_next_tokens(list, options);
  list.add_flag("Output", "--live",
                "with -o FILE.html: the page carries the demo model (4 MB) and runs it for other "
                "texts, and without heads",
                options.live)
      .conflicts({"--random",  "--tokenizer",    "--ids",     "--pair",       "--bos",
                  "--no-bos",  "--special",      "--mask",    "--seed",       "--no-scale",
                  "--dropout", "--temperature",  "--ablate",  "--hide",       "--average",
                  "--merge",   "--side-by-side", "--lines",   "--json-lines", "--generate",
                  "--chat",    "--system",       "--messages"},
                 ": the page runs the demo model as it is");
  define_drawn(list, options);
}

void define_rollout(OptionList& list, ShowOptions& options) {
  options.rollout.emplace();
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_model(list, options);
  define_attention(list, options, "all");
  list.add_choice(
      "Attention", "--over", kRolloutOvers,
      "what of a layer's heads goes on: their mean, or the largest weight (default mean)",
      options.rollout->over);
  list.add_value("Attention", "--residual", "SHARE",
                 "of each layer so much is the residual stream, each token itself; the rest is "
                 "attention (default 0.5; 0: attention alone)",
                 options.rollout->residual, parse_share);
  list.add_flag(
      "Attention", "--weighted",
      "weigh attention by how much each token would pass on: the norm of its transformed value",
      options.rollout->weighted);
  define_fold(list, options);
  define_focus(list, options.pattern);
  define_drawn(list, options);
}

void define_inspect(OptionList& list, InspectOptions& options) {
  define_input(list, options.input);
  define_model(list, options);
  define_attention(list, options, "the most telling one of a trained model, else 0.0");
  define_names(list, options);
  list.add_value("Attention", "--query", "TOKEN|INDEX",
                 "the token to follow: cat, cat#2 (the second cat), 3, -1 (default: the last, or "
                 "without --head the one for which the head was chosen)",
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
                 "the tokens, with spaces between them or as a JSON list (default: the file's, "
                 "else their indices)",
                 options.tokens.queries, parse_tokens);
  list.add_value("Input", "--key-tokens", "TOKENS",
                 "those of the keys, when they are others (cross-attention)", options.tokens.keys,
                 parse_tokens);
  list.add_value(
      "Attention", "--mask", "causal|none|window:W|strided:S|block:B|around:R",
      "who could see whom: what was masked is drawn apart from 0 (default: as the file says)",
      options.mask, parse_mask);
  define_selection(list, options.heads, "all; more than 12 of several layers as an overview");
  list.add_choice("Attention", "--kind", kPatternKinds,
                  "what the numbers are (default: as the file says, else weights)", options.kind);
  list.add_choice("Attention", "--show", kPartChoices,
                  "of an encoder-decoder's document the attention of one part (default: as the "
                  "file says, else cross)",
                  options.part);
  list.add_flag("Attention", "--softmax", "take them as scores, and draw the weights these make",
                options.softmax);
  list.add_value("Attention", "--divide-by", "D", "divide scores by D before, as √d_head is",
                 options.of_scores.divide_by, parse_temperature);
  list.add_value("Attention", "--temperature", "T", "divide scores by T, too",
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
      "the model whose tokenizer or vocabulary gives the ids (default: demo, without --tokenizer)");
  list.add_flag("Output", "--json", "print a JSON document, one line a text", options.json);
  list.add_flag("Output", "--print-prompt",
                "print the text that the model's template makes of the chat, byte for byte",
                options.print_prompt)
      .needs(kChatOptions, ": it prints what becomes of them")
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
  list.add_flag(
          "Model", "--families",
          "list the families of models that are read, and in which forms, in place of a model",
          options.families)
      .conflicts({"--model", kFile, "--layers", "--heads", "--kv-heads", "--d-model", "--d-head",
                  "--d-value", "--d-ff", "--gated", "--vocab", "--tied", "--context"})
      .about("family", "attnviz info --families lists them");
  define_printed(list, options, "attnviz.info/1, with --families attnviz.families/1");
}

void define_models(OptionList& list, ModelsOptions& options) {
  list.add_flag("Output", "--names", "print their names alone, one a line", options.names)
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
                     "the model whose heads are shown, as attnviz show takes it (default: demo, "
                     "the embedded one); what it has no head for is left out, and told");
  list.add_flag("Model", "--random", "random weights, in which nothing has been learned",
                [&options] { in_numbers<RandomShape>(options.model.model); })
      .conflicts({"--model"});
  list.add_flag("Output", "--all", "print all screens at once, as a pipe gets them", options.all);
  define_text_style(list, options);
}

}  // namespace attnviz::app
