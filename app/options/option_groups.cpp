#include "options/option_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <system_error>

#include "attnviz/core/cpus.h"
#include "attnviz/core/error.h"
#include "attnviz/model/mask.h"
#include "attnviz/text/tokenizer.h"
#include "options/option_definitions.h"
#include "options/option_values.h"

namespace attnviz::app {

void define_text(OptionList& list, InputOptions& input) {
  list.add_positional(kText, [&input](const std::string& text) { input.text = text; });
  // A second word is nearly always a sentence without quotes; the parser says so.
  list.add_positional(kSecondText, [](const std::string& /*word*/) {});
}

void define_input(OptionList& list, InputOptions& input) {
  define_text(list, input);
  list.add_value("Input", "-f,--file", "FILE", "read the text from a file",
                 [&input](const std::string& word) { input.file = word; });
  list.add_value("Input", "--ids", "IDS", "token ids of the model in place of a TEXT: 5,17,3",
                 [&input](const std::string& word) { input.ids = parse_ids("--ids", word); });
  list.add_value("Input", "--pair", "TEXT",
                 "a second text, for models that take two (BERT): [CLS] TEXT [SEP] TEXT [SEP]",
                 [&input](const std::string& word) { input.pair = word; });
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
      [&tokenizer](const std::string& word) {
        std::error_code ignored;
        const bool is_path = word.find('/') != std::string::npos || word.ends_with(".json") ||
                             word.ends_with(".model") || std::filesystem::exists(word, ignored);
        const auto names = tokenizer_names();
        if (!is_path && std::find(names.begin(), names.end(), word) == names.end()) {
          fail_choice("--tokenizer", word, {names.begin(), names.end()});
        }
        tokenizer = word;
      });
}

void define_weights_file(OptionList& list, std::optional<std::filesystem::path>& weights,
                         const std::string& description) {
  list.add_value("Model", "-m,-w,--model,--weights", "FILE", description,
                 [&weights](const std::string& word) { weights = word; });
}

void define_shape(OptionList& list, ModelOptions& model) {
  list.add_value(
      "Model", "--seed", "N",
      fmt::format("seed of everything random: weights, embeddings, --dropout (default {})",
                  kDefaultSeed),
      [&model](const std::string& word) {
        model.seed = parse_count("--seed", word, 0, std::numeric_limits<std::uint64_t>::max());
      });
  RandomShape& shape = model.shape;
  list.add_size("--layers", "random model: layers (default 1)", shape.n_layers);
  list.add_size("--heads", "random model: heads a layer (default 4)", shape.n_heads);
  list.add_size("--kv-heads", "random model: key/value heads (default: as --heads)",
                shape.n_kv_heads);
  list.add_size("--d-model", "random model: width (default heads x d-head)", shape.d_model);
  list.add_size("--d-head", "random model: query/key width of a head (default 16)", shape.d_head);
  list.add_size("--d-value", "random model: value width of a head (default d-head)", shape.d_value);
  list.add_value("Model", "--positions", joined_choices(kPositionChoices),
                 "position information, for models that have none of their own (default none)",
                 [&model](const std::string& word) { model.positions = parse_positions(word); });
}

void define_described(OptionList& list, DescribedModel& model) {
  RandomShape& shape = model.attention;
  list.add_size("--layers", "a model in numbers: layers (default 1)", shape.n_layers);
  list.add_size("--heads", "a model in numbers: heads a layer (default 4)", shape.n_heads);
  list.add_size("--kv-heads", "a model in numbers: key/value heads (default: as --heads)",
                shape.n_kv_heads);
  list.add_size("--d-model", "a model in numbers: width (default heads x d-head)", shape.d_model);
  list.add_size("--d-head",
                "a model in numbers: query/key width of a head (default d-model / heads)",
                shape.d_head);
  list.add_size("--d-value", "a model in numbers: value width of a head (default d-head)",
                shape.d_value);
  list.add_size("--d-ff", "a model in numbers: width of the MLP (default: no MLP is counted)",
                model.d_ff);
  list.add_flag("Model", "--gated", "with --d-ff: MLPs of three matrices, as Llama has them",
                model.gated);
  list.add_size(
      "--vocab",
      "a model in numbers: entries of the vocabulary (default: embeddings are not counted)",
      model.n_vocab);
  list.add_flag("Model", "--tied", "with --vocab: the embeddings are the output head, too",
                model.tied);
  list.add_size("--context", "a model in numbers: the longest text", model.n_ctx);
}

void define_model(OptionList& list, AttentionOptions& options) {
  define_tokenizer(list, options.tokenizer);
  list.add_choice(
      "Input", "--truncate", kTruncateSides,
      "leave out this end of a text that is longer than the model's context (default: refuse "
      "it)",
      options.truncate);
  define_weights_file(
      list, options.model.weights,
      "weights JSON, a Hugging Face folder or .safetensors file, a GGUF file, or the name of a "
      "model on this machine, as attnviz models lists them (default: demo, the embedded one)");
  list.add_flag("Model", "--random",
                "random weights, whose pattern means nothing; without --model --seed and the "
                "sizes of a random model ask for them, too (--seed not beside --dropout)");
  define_shape(list, options.model);
}

void define_heads(OptionList& list, HeadOptions& selection, const char* default_heads) {
  list.add_value("Attention", "--layer", "SEL", "only these layers: 0, 0,2, 1-3",
                 [&selection](const std::string& word) { selection.layers = word; });
  list.add_value(
      "Attention", "--head", "SEL",
      fmt::format("only these heads: 5.1, L5H1, 5.*, *.0, 1 (of every layer), or a list with "
                  "commas (default {})",
                  default_heads),
      [&selection](const std::string& word) { selection.heads = word; });
}

void define_attention(OptionList& list, AttentionOptions& options, const char* default_heads) {
  AttentionRequest& request = options.request;
  list.add_value("Attention", "--mask", "causal|none|window:W|strided:S|block:B",
                 "who may see whom (default: the model's own, else causal)",
                 [&request](const std::string& word) { request.mask = parse_mask(word); });
  list.add_value("Attention", "--temperature", "T", "divide the scaled scores by T (default 1)",
                 [&request](const std::string& word) {
                   request.temperature = parse_temperature("--temperature", word);
                 });
  list.add_flag("Attention", "--no-scale", "do not divide scores by the square root of d_head",
                [&request] { request.scale = false; });
  list.add_value("Attention", "--dropout", "P",
                 "drop weights with probability P, seeded; the others grow by 1/(1-P)",
                 [&request](const std::string& word) {
                   request.dropout = parse_decimal("--dropout", word);
                   if (!(request.dropout >= 0.0f && request.dropout < 1.0f)) {
                     throw Error(
                         ErrorKind::kUsage,
                         "--dropout: expected a number from 0 to below 1, found \"" + word + "\"");
                   }
                 });
  define_heads(list, options.heads, default_heads);
}

void define_patterns(OptionList& list, PatternOptions& pattern) {
  list.add_value("Attention", "--average", joined_choices(kAverages),
                 "the mean over the heads of each layer, over the layers, or over all",
                 [&pattern](const std::string& word) { pattern.average = parse_average(word); });
  list.add_value(
      "Output", "--focus", "TOKEN|INDEX",
      "draw only what this token looks at, as bars (also with --style dots or numbers): cat, cat#2 "
      "(the second one), 3, -1",
      [&pattern](const std::string& word) { pattern.focus = word; });
  list.add_flag("Output", "--as-key", "with --focus: draw who looks at the token", pattern.as_key);
}

void define_next_tokens(OptionList& list, ShowOptions& options) {
  constexpr std::uint64_t kMostTokens = 1'000'000;
  list.add_value(
      "Prediction", "--predict", "K",
      "the K tokens that the model holds most probable next; --temperature and the other "
      "switches change them through attention only",
      [&options](const std::string& word) {
        options.predict = parse_count("--predict", word, 1, kMostTokens);
      });
  list.add_value(
      "Prediction", "--at", "TOKEN|INDEX",
      "with --predict: after this token (default: the last); models that fill gaps, as BERT, "
      "tell what they would put in its place (default: that of [MASK], else of the last word)",
      [&options](const std::string& word) { options.at = word; });
  list.add_value(
      "Prediction", "--generate", "N",
      "let the model write up to N tokens behind the text, always the most probable one, and "
      "draw them, too",
      [&options](const std::string& word) {
        options.generate = parse_count("--generate", word, 1, kMostTokens);
      });
}

void define_talk(OptionList& list, TalkOptions& talk) {
  list.add_flag("General", "-q,--quiet", "say nothing but errors; with -o, draw nothing either",
                talk.quiet);
  list.add_flag("General", "-v,--verbose",
                "say on standard error what is done, how long it took and what each head looks at",
                talk.verbose);
}

void define_run(OptionList& list, AttentionOptions& options) {
  options.request.n_threads = available_threads();
  list.add_value("General", "--threads", "N", "threads to compute with (default: all cores)",
                 [&options](const std::string& word) {
                   options.request.n_threads = parse_count("--threads", word, 1, 1024);
                 });
  list.add_value("General", "--simd", "TARGET",
                 "SIMD instructions to compute with: auto, or a name that --verbose shows",
                 [&options](const std::string& word) { options.simd = word; });
  define_talk(list, options.talk);
}

}  // namespace attnviz::app
