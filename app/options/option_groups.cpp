#include "options/option_groups.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <system_error>

#include "attnviz/core/cpus.h"
#include "attnviz/core/error.h"
#include "attnviz/model/mask.h"
#include "attnviz/text/tokenizer.h"
#include "options/option_adders.h"
#include "options/option_definitions.h"
#include "options/option_values.h"

namespace attnviz::app {

void define_text(CLI::App& app, InputOptions& input) {
  app.add_option_function<std::string>(
         kText, [&input](const std::string& text) { input.text = text; },
         "the text, in quotes; - or a pipe: standard input")
      ->group("");
  // A second word is nearly always a sentence without quotes; the parser says so.
  app.add_option_function<std::string>(kSecondText, [](const std::string&) {})->group("");
}

void define_input(CLI::App& app, InputOptions& input) {
  define_text(app, input);
  add_value(app, "Input", "-f,--file", "FILE", "read the text from a file",
            [&input](const std::string& word) { input.file = word; });
  add_value(app, "Input", "--ids", "IDS", "token ids of the model in place of a TEXT: 5,17,3",
            [&input](const std::string& word) { input.ids = parse_ids("--ids", word); });
  add_value(app, "Input", "--pair", "TEXT",
            "a second text, for models that take two (BERT): [CLS] TEXT [SEP] TEXT [SEP]",
            [&input](const std::string& word) { input.pair = word; });
  app.add_flag_callback(
         "--bos", [&input] { input.bos = true; },
         "begin the text with the token that does (default: as the model's tokenizer has it)")
      ->group("Input");
  app.add_flag_callback(
         "--no-bos", [&input] { input.bos = false; }, "begin the text without it")
      ->group("Input");
  add_flag(app, "Input", "--special",
           "names of special tokens in the text, such as <|endoftext|>, are these tokens",
           input.special);
}

void define_many_texts(CLI::App& app, InputOptions& input) {
  add_flag(app, "Input", "--lines", "each line is a text of its own", input.lines);
  add_flag(app, "Input", "--json-lines",
           "each line is a JSON string, or an object with \"text\" or \"ids\"", input.json_lines);
}

void define_tokenizer(CLI::App& app, std::optional<std::string>& tokenizer) {
  add_value(
      app, "Input", "--tokenizer", "words|chars|bytes|PATH",
      "how the text is cut: a rule, or a tokenizer.json (default: the model's own, else words)",
      [&tokenizer](const std::string& word) {
        std::error_code ignored;
        const bool is_path = word.find('/') != std::string::npos || word.ends_with(".json") ||
                             word.ends_with(".model") || std::filesystem::exists(word, ignored);
        if (!is_path) {
          const auto names = tokenizer_names();
          parse_choice("--tokenizer", word, {names.begin(), names.end()});
        }
        tokenizer = word;
      });
}

void define_weights_file(CLI::App& app, std::optional<std::filesystem::path>& weights,
                         const std::string& description) {
  add_value(app, "Model", "-m,-w,--model,--weights", "FILE", description,
            [&weights](const std::string& word) { weights = word; });
}

void define_shape(CLI::App& app, ModelOptions& model) {
  add_value(app, "Model", "--seed", "N",
            fmt::format("seed of everything random: weights, embeddings, --dropout (default {})",
                        kDefaultSeed),
            [&model](const std::string& word) {
              model.seed =
                  parse_count("--seed", word, 0, std::numeric_limits<std::uint64_t>::max());
            });
  RandomShape& shape = model.shape;
  add_size(app, "--layers", "random model: layers (default 1)", shape.n_layers);
  add_size(app, "--heads", "random model: heads a layer (default 4)", shape.n_heads);
  add_size(app, "--kv-heads", "random model: key/value heads (default: as --heads)",
           shape.n_kv_heads);
  add_size(app, "--d-model", "random model: width (default heads x d-head)", shape.d_model);
  add_size(app, "--d-head", "random model: query/key width of a head (default 16)", shape.d_head);
  add_size(app, "--d-value", "random model: value width of a head (default d-head)", shape.d_value);
  add_value(app, "Model", "--positions", "none|sinusoidal|rope|alibi",
            "position information, for models that have none of their own (default none)",
            [&model](const std::string& word) { model.positions = parse_positions(word); });
}

void define_described(CLI::App& app, DescribedModel& model) {
  RandomShape& shape = model.attention;
  add_size(app, "--layers", "a model in numbers: layers (default 1)", shape.n_layers);
  add_size(app, "--heads", "a model in numbers: heads a layer (default 4)", shape.n_heads);
  add_size(app, "--kv-heads", "a model in numbers: key/value heads (default: as --heads)",
           shape.n_kv_heads);
  add_size(app, "--d-model", "a model in numbers: width (default heads x d-head)", shape.d_model);
  add_size(app, "--d-head",
           "a model in numbers: query/key width of a head (default d-model / heads)", shape.d_head);
  add_size(app, "--d-value", "a model in numbers: value width of a head (default d-head)",
           shape.d_value);
  add_size(app, "--d-ff", "a model in numbers: width of the MLP (default: no MLP is counted)",
           model.d_ff);
  add_flag(app, "Model", "--gated", "with --d-ff: MLPs of three matrices, as Llama has them",
           model.gated);
  add_size(app, "--vocab",
           "a model in numbers: entries of the vocabulary (default: embeddings are not counted)",
           model.n_vocab);
  add_flag(app, "Model", "--tied", "with --vocab: the embeddings are the output head, too",
           model.tied);
  add_size(app, "--context", "a model in numbers: the longest text", model.n_ctx);
}

void define_model(CLI::App& app, AttentionOptions& options) {
  define_tokenizer(app, options.tokenizer);
  add_value(app, "Input", "--truncate", "left|right",
            "leave out this end of a text that is longer than the model's context (default: refuse "
            "it)",
            [&options](const std::string& word) {
              options.truncate =
                  static_cast<TruncateSide>(parse_choice("--truncate", word, {"left", "right"}));
            });
  define_weights_file(
      app, options.model.weights,
      "weights JSON, a Hugging Face folder or .safetensors file, a GGUF file, or the name of a "
      "model on this machine, as attnviz models lists them (default: demo, the embedded one)");
  add_counted_flag(app, "Model", "--random",
                   "random weights, whose pattern means nothing; without --model --seed and the "
                   "sizes of a random model ask for them, too (--seed not beside --dropout)");
  define_shape(app, options.model);
}

void define_heads(CLI::App& app, HeadOptions& selection, const char* default_heads) {
  add_value(app, "Attention", "--layer", "SEL", "only these layers: 0, 0,2, 1-3",
            [&selection](const std::string& word) { selection.layers = word; });
  add_value(app, "Attention", "--head", "SEL",
            fmt::format("only these heads: 5.1, L5H1, 5.*, *.0, 1 (of every layer), or a list with "
                        "commas (default {})",
                        default_heads),
            [&selection](const std::string& word) { selection.heads = word; });
}

void define_attention(CLI::App& app, AttentionOptions& options, const char* default_heads) {
  AttentionRequest& request = options.request;
  add_value(app, "Attention", "--mask", "causal|none|window:W|strided:S|block:B",
            "who may see whom (default: the model's own, else causal)",
            [&request](const std::string& word) { request.mask = parse_mask(word); });
  add_value(app, "Attention", "--temperature", "T", "divide the scaled scores by T (default 1)",
            [&request](const std::string& word) {
              request.temperature = parse_temperature("--temperature", word);
            });
  app.add_flag_callback(
         "--no-scale", [&request] { request.scale = false; },
         "do not divide scores by the square root of d_head")
      ->group("Attention");
  add_value(app, "Attention", "--dropout", "P",
            "drop weights with probability P, seeded; the others grow by 1/(1-P)",
            [&request](const std::string& word) {
              request.dropout = parse_decimal("--dropout", word);
              if (!(request.dropout >= 0.0f && request.dropout < 1.0f)) {
                throw Error(
                    ErrorKind::kUsage,
                    "--dropout: expected a number from 0 to below 1, found \"" + word + "\"");
              }
            });
  define_heads(app, options.heads, default_heads);
}

void define_patterns(CLI::App& app, PatternOptions& pattern) {
  add_value(app, "Attention", "--average", "heads|layers|all",
            "the mean over the heads of each layer, over the layers, or over all",
            [&pattern](const std::string& word) { pattern.average = parse_average(word); });
  add_value(
      app, "Output", "--focus", "TOKEN|INDEX",
      "draw only what this token looks at, as bars (also with --style dots or numbers): cat, cat#2 "
      "(the second one), 3, -1",
      [&pattern](const std::string& word) { pattern.focus = word; });
  add_flag(app, "Output", "--as-key", "with --focus: draw who looks at the token", pattern.as_key);
}

void define_next_tokens(CLI::App& app, ShowOptions& options) {
  constexpr std::uint64_t kMostTokens = 1'000'000;
  add_value(app, "Prediction", "--predict", "K",
            "the K tokens that the model holds most probable next; --temperature and the other "
            "switches change them through attention only",
            [&options](const std::string& word) {
              options.predict = parse_count("--predict", word, 1, kMostTokens);
            });
  add_value(
      app, "Prediction", "--at", "TOKEN|INDEX",
      "with --predict: after this token (default: the last); models that fill gaps, as BERT, "
      "tell what they would put in its place (default: that of [MASK], else of the last word)",
      [&options](const std::string& word) { options.at = word; });
  add_value(app, "Prediction", "--generate", "N",
            "let the model write up to N tokens behind the text, always the most probable one, and "
            "draw them, too",
            [&options](const std::string& word) {
              options.generate = parse_count("--generate", word, 1, kMostTokens);
            });
}

void define_talk(CLI::App& app, TalkOptions& talk) {
  add_flag(app, "General", "-q,--quiet", "say nothing but errors; with -o, draw nothing either",
           talk.quiet);
  add_flag(app, "General", "-v,--verbose",
           "say on standard error what is done, how long it took and what each head looks at",
           talk.verbose);
}

void define_run(CLI::App& app, AttentionOptions& options) {
  options.request.n_threads = available_threads();
  add_value(app, "General", "--threads", "N", "threads to compute with (default: all cores)",
            [&options](const std::string& word) {
              options.request.n_threads = parse_count("--threads", word, 1, 1024);
            });
  add_value(app, "General", "--simd", "TARGET",
            "SIMD instructions to compute with: auto, or a name that --verbose shows",
            [&options](const std::string& word) { options.simd = word; });
  define_talk(app, options.talk);
}

}  // namespace attnviz::app
