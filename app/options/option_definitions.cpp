#include "options/option_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <system_error>

#include "attnviz/core/choices.h"
#include "attnviz/core/cpus.h"
#include "attnviz/core/error.h"
#include "attnviz/model/mask.h"
#include "attnviz/text/tokenizer.h"
#include "options/option_values.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

namespace {

std::string parse_tokenizer(std::string_view option, const std::string& word) {
  std::error_code ignored;
  const bool is_path = word.find('/') != std::string::npos || word.ends_with(".json") ||
                       word.ends_with(".model") || std::filesystem::exists(word, ignored);
  const auto names = tokenizer_names();
  if (!is_path && std::find(names.begin(), names.end(), word) == names.end()) {
    fail_choice(option, word, {names.begin(), names.end()});
  }
  return word;
}

float parse_dropout(std::string_view option, std::string_view word) {
  const float dropout = parse_decimal(option, word);
  if (!(dropout >= 0.0f && dropout < 1.0f)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected a number from 0 to below 1, found \"{}\"", option, word));
  }
  return dropout;
}

// Options that commands share, group by group.

void define_text(OptionList& list, InputOptions& input) {
  list.add_positional(kText, input.text);
  // A second word is nearly always a sentence without quotes; the parser says so.
  list.add_positional(kSecondText);
}

void define_input(OptionList& list, InputOptions& input) {
  define_text(list, input);
  list.add_value("Input", "-f,--file", "FILE", "read the text from a file", input.file);
  list.add_value("Input", "--ids", "IDS", "token ids of the model in place of a TEXT: 5,17,3",
                 input.ids, parse_ids);
  list.add_value("Input", "--pair", "TEXT",
                 "a second text, for models that take two (BERT): [CLS] TEXT [SEP] TEXT [SEP]",
                 input.pair);
  list.add_flag(
      "Input", "--bos",
      "begin the text with the token that does (default: as the model's tokenizer has it)",
      [&input] { input.bos = true; });
  list.add_flag("Input", "--no-bos", "begin the text without it", [&input] { input.bos = false; });
  list.add_flag("Input", "--special",
                "names of special tokens in the text, such as <|endoftext|>, are these tokens",
                input.special);
}

void define_many_texts(OptionList& list, InputOptions& input) {
  list.add_flag("Input", "--lines", "each line is a text of its own", input.lines);
  list.add_flag("Input", "--json-lines",
                "each line is a JSON string, or an object with \"text\" or \"ids\"",
                input.json_lines);
}

void define_tokenizer(OptionList& list, std::optional<std::string>& tokenizer) {
  list.add_value(
      "Input", "--tokenizer", "words|chars|bytes|PATH",
      "how the text is cut: a rule, or a tokenizer.json (default: the model's own, else words)",
      tokenizer, parse_tokenizer);
}

// A setter of the model of this name.
template <class Choice>
OptionList::Setter to_model(Choice& model) {
  return [&model](const std::string& word) {
    model = word == kDemo ? GivenModel(EmbeddedModel()) : NamedModel{word};
  };
}

template <class Choice>
void define_named_model(OptionList& list, Choice& model, const std::string& description) {
  list.add_value("Model", "-m,-w,--model,--weights", "FILE", description, to_model(model));
}

// What a model in numbers is made of: any of its sizes asks for one.
template <class Numbers, class Choice>
Numbers& in_numbers(Choice& model) {
  return std::holds_alternative<Numbers>(model) ? std::get<Numbers>(model)
                                                : model.template emplace<Numbers>();
}

using ShapeOf = std::function<RandomShape&()>;

void define_sizes(OptionList& list, const std::string& what, const std::string& usual_d_head,
                  const ShapeOf& shape) {
  const auto add = [&](const char* name, const std::string& text, std::size_t RandomShape::*size) {
    list.add_size(name, what + text, [shape, size](std::size_t n) { shape().*size = n; });
  };
  add("--layers", "layers (default 1)", &RandomShape::n_layers);
  add("--heads", "heads a layer (default 4)", &RandomShape::n_heads);
  add("--kv-heads", "key/value heads (default: as --heads)", &RandomShape::n_kv_heads);
  add("--d-model", "width (default heads x d-head)", &RandomShape::d_model);
  add("--d-head", "query/key width of a head (default " + usual_d_head + ")", &RandomShape::d_head);
  add("--d-value", "value width of a head (default d-head)", &RandomShape::d_value);
}

void define_shape(OptionList& list, ModelOptions& model) {
  list.add_value(
      "Model", "--seed", "N",
      fmt::format("seed of everything random: weights, embeddings, --dropout (default {})",
                  kDefaultSeed),
      model.seed, count_between(0, std::numeric_limits<std::uint64_t>::max()));
  define_sizes(list, "random model: ", "16",
               [&model]() -> RandomShape& { return in_numbers<RandomShape>(model.model); });
  list.add_value("Model", "--positions", joined_choices(kPositionChoices),
                 "position information, for models that have none of their own (default none)",
                 model.positions, parse_positions);
}

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
                [model] { model().gated = true; });
  list.add_size("--vocab", what + "entries of the vocabulary (default: embeddings are not counted)",
                [model](std::size_t n) { model().n_vocab = n; });
  list.add_flag("Model", "--tied", "with --vocab: the embeddings are the output head, too",
                [model] { model().tied = true; });
  list.add_size("--context", what + "the longest text",
                [model](std::size_t n) { model().n_ctx = n; });
}

void define_model(OptionList& list, AttentionOptions& options) {
  define_tokenizer(list, options.tokenizer);
  list.add_choice(
      "Input", "--truncate", kTruncateSides,
      "leave out this end of a text that is longer than the model's context (default: refuse "
      "it)",
      options.truncate);
  define_named_model(
      list, options.model.model,
      "weights JSON, a Hugging Face folder or .safetensors file, a GGUF file, or the name of a "
      "model on this machine, as attnviz models lists them (default: demo, the embedded one)");
  list.add_flag("Model", "--random",
                "random weights, whose pattern means nothing; without --model --seed and the "
                "sizes of a random model ask for them, too (--seed not beside --dropout)",
                [&options] { in_numbers<RandomShape>(options.model.model); });
  define_shape(list, options.model);
}

void define_selection(OptionList& list, HeadOptions& selection, const char* default_heads) {
  list.add_value("Attention", "--layer", "SEL", "only these layers: 0, 0,2, 1-3", selection.layers);
  list.add_value(
      "Attention", "--head", "SEL",
      fmt::format("only these heads: 5.1, L5H1, 5.*, *.0, 1 (of every layer), or a list with "
                  "commas (default {})",
                  default_heads),
      selection.heads);
}

void define_attention(OptionList& list, AttentionOptions& options, const char* default_heads) {
  AttentionRequest& request = options.request;
  list.add_value("Attention", "--mask", "causal|none|window:W|strided:S|block:B",
                 "who may see whom (default: the model's own, else causal)", request.mask,
                 parse_mask);
  list.add_value("Attention", "--temperature", "T", "divide the scaled scores by T (default 1)",
                 request.temperature, parse_temperature);
  list.add_flag("Attention", "--no-scale", "do not divide scores by the square root of d_head",
                [&request] { request.scale = false; });
  list.add_value("Attention", "--dropout", "P",
                 "drop weights with probability P, seeded; the others grow by 1/(1-P)",
                 request.dropout, parse_dropout);
  define_selection(list, options.heads, default_heads);
}

void define_patterns(OptionList& list, PatternOptions& pattern) {
  list.add_value("Attention", "--average", joined_choices(kAverages),
                 "the mean over the heads of each layer, over the layers, or over all",
                 pattern.average, parse_average);
  list.add_value(
      "Output", "--focus", "TOKEN|INDEX",
      "draw only what this token looks at, as bars (also with --style dots or numbers): cat, cat#2 "
      "(the second one), 3, -1",
      pattern.focus);
  list.add_flag("Output", "--as-key", "with --focus: draw who looks at the token", pattern.as_key);
}

void define_next_tokens(OptionList& list, ShowOptions& options) {
  constexpr std::uint64_t kMostTokens = 1'000'000;
  list.add_value(
      "Prediction", "--predict", "K",
      "the K tokens that the model holds most probable next; --temperature and the other "
      "switches change them through attention only",
      options.predict, count_between(1, kMostTokens));
  list.add_value(
      "Prediction", "--at", "TOKEN|INDEX",
      "with --predict: after this token (default: the last); models that fill gaps, as BERT, "
      "tell what they would put in its place (default: that of [MASK], else of the last word)",
      options.at);
  list.add_value(
      "Prediction", "--generate", "N",
      "let the model write up to N tokens behind the text, always the most probable one, and "
      "draw them, too",
      options.generate, count_between(1, kMostTokens));
}

void define_talk(OptionList& list, TalkOptions& talk) {
  list.add_flag("General", "-q,--quiet", "say nothing but errors; with -o, draw nothing either",
                talk.quiet);
  list.add_flag("General", "-v,--verbose",
                "say on standard error what is done, how long it took, what each head looks at and "
                "what of a model's files is passed over",
                talk.verbose);
}

void define_run(OptionList& list, AttentionOptions& options) {
  options.request.n_threads = available_threads();
  list.add_value("General", "--threads", "N", "threads to compute with (default: all cores)",
                 options.request.n_threads, count_between(1, 1024));
  list.add_value("General", "--simd", "TARGET",
                 "SIMD instructions to compute with: auto, or a name that --verbose shows",
                 options.simd);
  define_talk(list, options.talk);
}

void define_color(OptionList& list, ColorChoice& color) {
  list.add_choice("Output", "--color", kColors,
                  "colour (default: on a terminal, unless NO_COLOR is set)", color);
}

void define_fonts(OptionList& list, std::vector<std::filesystem::path>& fonts) {
  list.add_list("Output", "--font", "FILE",
                "font of a picture's labels for characters that the built-in one lacks, before "
                "those installed; may be repeated",
                fonts);
}

void define_colormap(OptionList& list, DrawingRequest& request) {
  list.add_value("Output", "--colormap", "NAME",
                 fmt::format("{}; NAME_r is reversed", fmt::join(colormap_names(), ", ")),
                 request.colormap, [](const std::string& word) { return Colormap(word).name(); });
}

void define_figure(OptionList& list, DrawingRequest& request, LookOptions& look) {
  list.add_value("Output", "--title", "TEXT", "title of the picture; empty: none", request.title);
  define_fonts(list, look.fonts);
  FigureStyle& figure = look.figure;
  list.add_value("Output", "--theme", joined_choices(kThemes),
                 "background of PNG pictures (default light)", figure.theme,
                 [](const std::string& word) { return parse_choice("theme", word, kThemes); });
  list.add_value(
      "Output", "--cell", "PX",
      "size of a PNG picture's cells at 96 dpi; none are pooled then (default: what fits)",
      figure.cell, count_between(1, kLargestCell));
  list.add_value("Output", "--dpi", "N",
                 "resolution of PNG pictures: text, gaps and cells grow with it (default 96)",
                 figure.dpi, count_between(kLeastDpi, kMostDpi));
}

void define_drawing(OptionList& list, DrawingOptions& drawing) {
  DrawingRequest& request = drawing.request;
  list.add_choice(
      "Output", "--style", kStyles,
      "how to draw (default: blocks on a terminal, else ascii); ascii and mask are pure "
      "7-bit, mask shows only who may see whom",
      drawing.style);
  define_color(list, drawing.color);
  define_colormap(list, request);
  list.add_value("Output", "--scale", joined_choices(kScales),
                 "how a weight becomes a colour (default linear)", request.scale,
                 [](const std::string& word) { return parse_choice("scale", word, kScales); });
  list.add_value("Output", "--range", "LO:HI|auto",
                 "the weights at the ends of the colour scale (default 0:1); auto: 0 and "
                 "the largest, or with negative ones the same to both sides of 0",
                 [&request](const std::string& word) {
                   request.automatic_range = word == "auto";
                   request.range = request.automatic_range
                                       ? std::nullopt
                                       : std::optional(parse_range("--range", word));
                 });
  list.add_flag("Output", "--drop-sink",
                "leave the first token out of the pictures and rescale the rows",
                request.drop_sink);
  list.add_value(
      "Output", "--pool", joined_choices(kPools),
      "what a cell shows of the weights under it, in pictures of long texts (default max)",
      request.pool, parse_pool);
  define_figure(list, request, drawing);
}

void define_files(OptionList& list, OutputOptions& output, Result result) {
  const auto formats = formats_of(result);
  const std::vector<std::string> names = choice_words(formats);
  list.add_list("Output", "-o,--output", "FILE",
                fmt::format("also write FILE.{} or .{}; - is standard output, in place of the "
                            "drawing; may be repeated",
                            fmt::join(names.begin(), names.end() - 1, ", ."), names.back()),
                output.files);
  list.add_choice("Output", "--format", formats, "format of -o where the name does not tell it",
                  output.format);
  list.add_flag("Output", "--json", "print a JSON document in place of the drawing", output.json);
}

void define_text_style(OptionList& list, StyleOptions& options) {
  list.add_choice("Output", "--style", std::span(kStyles).first(kTextStyles),
                  "how to write (default: blocks on a terminal, else ascii, which is pure 7-bit)",
                  options.style);
  define_color(list, options.color);
}

void define_printed(OptionList& list, PrintOptions& options, const std::string& schema) {
  list.add_flag("Output", "--json", "print a JSON document (" + schema + ")", options.json);
  define_text_style(list, options);
  define_talk(list, options.talk);
}

void define_probe(OptionList& list, HeadsOptions& options) {
  constexpr std::uint64_t kMostTokens = 1'000'000;
  list.add_value("Input", "--probe-length", "T",
                 "without a text: a probe of T different random tokens (default 25)",
                 options.probe.length, count_between(2, kMostTokens));
  list.add_value("Input", "--probe-repeats", "R", "which stand there R times (default 4)",
                 options.probe.repeats, count_between(2, kMostTokens));
  list.add_value("Input", "--probe-count", "N", "so many probes (default 4)", options.probe.count,
                 count_between(1, kMostTokens));
  list.add_value("Input", "--probe-ids", "FILE",
                 "probes of one's own: a JSON list of lists of token ids", options.probe_ids);
}

Score parse_score(std::string_view option, const std::string& word) {
  return parse_choice(option, word, kScoreNames);
}

std::vector<std::string> words_between_commas(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::pair<Score, double> parse_least(const std::string& word) {
  const std::size_t sign = word.find('=');
  if (sign == std::string::npos) {
    throw Error(ErrorKind::kUsage, fmt::format("--min: expected SCORE=NUMBER, found \"{}\"", word));
  }
  return {parse_score("--min", word.substr(0, sign)),
          static_cast<double>(parse_decimal("--min", word.substr(sign + 1)))};
}

void define_scores(OptionList& list, HeadsOptions& options) {
  HeadsTableChoice& table = options.table;
  list.add_value("Attention", "--band", "W", "the score band: keys up to W tokens away (default 4)",
                 options.band, count_between(0, 1'000'000));
  list.add_value("Attention", "--punctuation", "INDICES",
                 "the tokens that are punctuation: 3,7 (default: as their texts are)",
                 options.punctuation, [](const std::string& word) {
                   const std::vector<TokenId> indices = parse_ids("--punctuation", word);
                   return std::vector<std::size_t>(indices.begin(), indices.end());
                 });
  list.add_flag("Attention", "--transformer-lens",
                "in JSON, the numbers of TransformerLens' detect_head, too",
                options.transformer_lens);
  list.add_value("Output", "--score", "SCORE",
                 fmt::format("a map of this score in place of the table: {}",
                             fmt::join(choice_words(kScoreNames), ", ")),
                 options.map, parse_score);
  list.add_value("Output", "--sort", "SCORE", "the largest first (default: the best named)",
                 table.ranking.sort, parse_score);
  list.add_value("Output", "--top", "N", "only the first N heads of the table; 0: all (default 20)",
                 table.top, count_between(0, 1'000'000));
  list.add_list("Output", "--min", "SCORE=V", "only heads with this score or more; may be repeated",
                [&table](const std::vector<std::string>& words) {
                  for (const std::string& word : words) {
                    table.ranking.at_least.push_back(parse_least(word));
                  }
                });
  list.add_value("Output", "--columns", "SCORES", "the table's scores, with commas between them",
                 [&table](const std::string& words) {
                   for (const std::string& word : words_between_commas(words)) {
                     table.columns.push_back(parse_score("--columns", word));
                   }
                 });
  list.add_value("Output", "--partial", "FILE",
                 "with --lines: keep the sums here while texts are read, for --resume and for "
                 "attnviz merge",
                 options.partial);
  list.add_flag("Output", "--resume", "with --partial: go on behind the lines that are in it",
                options.resume);
  list.add_list("Output", "--expect", "WHAT",
                "exit 5 unless this holds: \"5.5 induction>0.8\", \"any induction>0.8\", \"count 3 "
                "previous>=0.4\", or a name: \"5.5 induction\"; may be repeated",
                [&options](const std::vector<std::string>& words) {
                  for (const std::string& word : words) {
                    options.expected.emplace_back(word);
                  }
                });
}

void define_steps(OptionList& list, InspectOptions& options) {
  list.add_list("Output", "--step", "STEP",
                fmt::format("only these steps: {}, or a list with commas; may be repeated",
                            inspection_step_list()),
                [&options](const std::vector<std::string>& lists) {
                  options.steps =
                      parse_inspection_steps("--step", fmt::format("{}", fmt::join(lists, ",")));
                });
  list.add_flag("Output", "--explain", "a plain sentence to each step, true for its numbers",
                options.explain);
  list.add_flag("Output", "--full",
                "every key, every number, and the matrices of all queries, as JSON always has them",
                options.full);
}

}  // namespace

void define_help(OptionList& list) {
  list.add_flag("General", "-h,--help", "show this help");
  list.add_flag("General", "--version", "show the version");
}

void define_show(OptionList& list, ShowOptions& options) {
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_model(list, options);
  define_attention(list, options, "all; more than 12 of several layers as an overview");
  list.add_value("Attention", "--side-by-side", "LIST",
                 "masks or temperatures beside each other: causal,none or 0.5,1,2",
                 options.side_by_side, parse_variants);
  define_patterns(list, options.pattern);
  list.add_choice(
      "Attention", "--merge", std::array{Choice{"words", true}},
      "pieces of one word as one: weights are summed over its keys and averaged over its "
      "queries",
      options.merge_words);
  define_next_tokens(list, options);
  define_files(list, options.output, Result::kAttention);
  list.add_flag("Output", "--force", "write weights of more than 10 GB, too", options.output.force);
  define_drawing(list, options.drawing);
  define_run(list, options);
}

void define_inspect(OptionList& list, InspectOptions& options) {
  define_input(list, options.input);
  define_model(list, options);
  define_attention(list, options, "the most telling one of a trained model, else 0.0");
  list.add_value(
      "Attention", "--query", "TOKEN|INDEX",
      "the token to follow: cat, cat#2 (the second cat), 3, -1 (default: the last, or without "
      "--head the one for which the head was chosen)",
      options.query);
  define_steps(list, options);
  define_files(list, options.output, Result::kInspection);
  define_text_style(list, options.look);
  define_fonts(list, options.look.fonts);
  define_run(list, options);
}

void define_heads(OptionList& list, HeadsOptions& options) {
  options.input.may_be_absent = true;
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_model(list, options);
  define_attention(list, options, "all");
  define_probe(list, options);
  define_scores(list, options);
  define_files(list, options.output, Result::kHeads);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  define_run(list, options);
}

void define_render(OptionList& list, RenderOptions& options) {
  // Attention as JSON or .npy; - or a pipe: standard input.
  list.add_positional(kFile, options.file);
  list.add_value(
      "Input", "--tokens", "TOKENS",
      "the tokens, with spaces between them or as a JSON list (default: the file's, else "
      "their indices)",
      options.tokens.queries, parse_tokens);
  list.add_value("Input", "--key-tokens", "TOKENS",
                 "those of the keys, when they are others (cross-attention)", options.tokens.keys,
                 parse_tokens);
  list.add_value(
      "Attention", "--mask", "causal|none|window:W|strided:S|block:B",
      "who could see whom: what was masked is drawn apart from 0 (default: as the file says)",
      options.mask, parse_mask);
  define_selection(list, options.heads, "all; more than 12 of several layers as an overview");
  define_patterns(list, options.pattern);
  define_files(list, options.output, Result::kAttention);
  define_drawing(list, options.drawing);
  define_talk(list, options.talk);
}

void define_tokenize(OptionList& list, TokenizeOptions& options) {
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_tokenizer(list, options.tokenizer);
  define_named_model(
      list, options.model,
      "the model whose tokenizer or vocabulary gives the ids (default: demo, without "
      "--tokenizer)");
  list.add_flag("Output", "--json", "print a JSON document, one line a text", options.json);
  define_talk(list, options.talk);
}

void define_info(OptionList& list, InfoOptions& options) {
  list.add_positional(kFile, to_model(options.model));
  define_named_model(
      list, options.model,
      "weights JSON, a Hugging Face folder or .safetensors file, a GGUF file, or the "
      "name of a model on this machine (attnviz models; default: demo, the embedded one)");
  define_described(list, options);
  define_printed(list, options, "attnviz.info/1");
}

void define_models(OptionList& list, ModelsOptions& options) {
  define_printed(list, options, "attnviz.models/1");
}

void define_weights(OptionList& list, WeightsOptions& options) {
  options.model.model = RandomShape();
  define_shape(list, options.model);
  list.add_value("Output", "-o,--output", "FILE", "write here (default: standard output)",
                 options.output);
  define_talk(list, options.talk);
}

void define_merge(OptionList& list, MergeOptions& options) {
  list.add_positionals(kFile, options.files);
  list.add_value("Output", "-o,--output", "FILE", "write here (default: standard output)",
                 options.output);
  define_talk(list, options.talk);
}

void define_tour(OptionList& list, TourOptions& options) {
  define_text(list, options.input);
  list.add_flag("Output", "--all", "print all screens at once, as a pipe gets them", options.all);
  define_text_style(list, options);
}

}  // namespace attnviz::app
