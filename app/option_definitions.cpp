#include "option_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "attnviz/core/cpus.h"
#include "attnviz/core/error.h"
#include "attnviz/model/mask.h"
#include "attnviz/render/pooling.h"
#include "attnviz/text/tokenizer.h"
#include "option_values.h"

namespace attnviz::app {

namespace {

// The largest size an option takes; what fits in memory is checked later, with the other sizes.
constexpr std::uint64_t kLargestSize = 1'000'000;

using Setter = std::function<void(const std::string& word)>;

// An option with one value; given twice, the last counts.
void add_value(CLI::App& app, const char* group, const std::string& names, const std::string& value,
               const std::string& description, const Setter& set) {
  const auto set_word = [name = names.substr(0, names.find(',')), set](const std::string& word) {
    refuse_equals_sign(name, word);
    set(word);
  };
  app.add_option_function<std::string>(names, set_word, description)
      ->type_name(value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(group);
}

void add_flag(CLI::App& app, const char* group, const std::string& names,
              const std::string& description, bool& flag) {
  app.add_flag(names, flag, description)->group(group);
}

// A flag without a place of its own: the parser is asked whether it was given.
void add_counted_flag(CLI::App& app, const char* group, const char* names,
                      const std::string& description) {
  app.add_flag_callback(
         names, [] {}, description)
      ->group(group);
}

void add_size(CLI::App& app, const char* name, const std::string& description, std::size_t& size) {
  add_value(app, "Model", name, "N", description, [name, &size](const std::string& word) {
    size = parse_count(name, word, 1, kLargestSize);
  });
}

// An enumeration whose values stand in the order of `choices`.
template <class Enum>
void add_choice(CLI::App& app, const char* group, const char* name, const std::string& choices,
                const std::string& description, Enum& choice) {
  add_value(app, group, name, choices, description,
            [name, choices, &choice](const std::string& word) {
              choice = static_cast<Enum>(parse_choice(name, word, split_choices(choices)));
            });
}

void define_input(CLI::App& app, InputOptions& input) {
  app.add_option_function<std::string>(
         kText, [&input](const std::string& text) { input.text = text; },
         "the text, in quotes; - or a pipe: standard input")
      ->group("");
  // A second word is nearly always a sentence without quotes; the parser says so.
  app.add_option_function<std::string>(kSecondText, [](const std::string&) {})->group("");
  add_value(app, "Input", "-f,--file", "FILE", "read the text from a file",
            [&input](const std::string& word) { input.file = word; });
  add_value(app, "Input", "--ids", "IDS", "token ids of the model in place of a TEXT: 5,17,3",
            [&input](const std::string& word) { input.ids = parse_ids("--ids", word); });
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
        if (!std::filesystem::exists(word, ignored)) {
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
            fmt::format("seed of everything random (default {})", kDefaultSeed),
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

void define_color(CLI::App& app, ColorChoice& color) {
  add_choice(app, "Output", "--color", "auto|always|never",
             "colour (default: on a terminal, unless NO_COLOR is set)", color);
}

void define_fonts(CLI::App& app, std::vector<std::filesystem::path>& fonts) {
  app.add_option("--font", fonts,
                 "font of a picture's labels for characters that the built-in one lacks, before "
                 "those installed; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Output");
}

void define_drawing(CLI::App& app, DrawingOptions& drawing) {
  DrawingRequest& request = drawing.request;
  add_choice(app, "Output", "--style", "auto|ascii|blocks|dots|numbers|mask",
             "how to draw (default: blocks on a terminal, else ascii); ascii and mask are pure "
             "7-bit, mask shows only who may see whom",
             drawing.style);
  define_color(app, drawing.color);
  add_value(app, "Output", "--colormap", "NAME",
            fmt::format("{}; NAME_r is reversed", fmt::join(colormap_names(), ", ")),
            [&request](const std::string& word) { request.colormap = Colormap(word).name(); });
  add_value(app, "Output", "--scale", "linear|sqrt|log|row-max",
            "how a weight becomes a colour (default linear)",
            [&request](const std::string& word) { request.scale = parse_scale(word); });
  add_value(app, "Output", "--range", "LO:HI|auto",
            "the weights at the ends of the colour scale (default 0:1); auto: 0 and "
            "the largest, or with negative ones the same to both sides of 0",
            [&request](const std::string& word) {
              request.automatic_range = word == "auto";
              request.range = request.automatic_range ? std::nullopt
                                                      : std::optional(parse_range("--range", word));
            });
  add_flag(app, "Output", "--drop-sink",
           "leave the first token out of the pictures and rescale the rows", request.drop_sink);
  add_value(app, "Output", "--pool", "max|mean",
            "what a cell shows of the weights under it, in pictures of long texts (default max)",
            [&request](const std::string& word) { request.pool = parse_pool(word); });
  add_value(app, "Output", "--title", "TEXT", "title of the picture; empty: none",
            [&request](const std::string& word) { request.title = word; });
  define_fonts(app, drawing.fonts);
  FigureStyle& figure = drawing.figure;
  add_value(app, "Output", "--theme", "light|dark", "background of PNG pictures (default light)",
            [&figure](const std::string& word) { figure.theme = parse_theme(word); });
  add_value(app, "Output", "--cell", "PX",
            "size of a PNG picture's cells at 96 dpi; none are pooled then (default: what fits)",
            [&figure](const std::string& word) {
              figure.cell = static_cast<int>(parse_count("--cell", word, 1, kLargestCell));
            });
  add_value(app, "Output", "--dpi", "N",
            "resolution of PNG pictures: text, gaps and cells grow with it (default 96)",
            [&figure](const std::string& word) {
              figure.dpi = static_cast<int>(parse_count("--dpi", word, kLeastDpi, kMostDpi));
            });
}

void define_files(CLI::App& app, OutputOptions& output, const std::string& formats) {
  std::vector<std::string> names = split_choices(formats);
  app.add_option("-o,--output", output.files,
                 fmt::format("also write FILE.{} or .{}; - is standard output, in place of the "
                             "drawing; may be repeated",
                             fmt::join(names.begin(), names.end() - 1, ", ."), names.back()))
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Output");
  add_value(app, "Output", "--format", formats, "format of -o where the name does not tell it",
            [&output, names = std::move(names)](const std::string& word) {
              const std::vector<std::string> all = {"png", "json", "npy", "txt"};
              parse_choice("--format", word, names);
              output.format = static_cast<OutputFormat>(parse_choice("--format", word, all));
            });
  add_flag(app, "Output", "--json", "print a JSON document in place of the drawing", output.json);
}

void define_inspection_output(CLI::App& app, InspectOptions& options) {
  define_files(app, options.output, "png|json|txt");
  add_choice(app, "Output", "--style", "auto|ascii|blocks",
             "how to write (default: blocks on a terminal, else ascii, which is pure 7-bit)",
             options.style);
  define_color(app, options.color);
  define_fonts(app, options.fonts);
}

void define_talk(CLI::App& app, TalkOptions& talk) {
  add_flag(app, "General", "-q,--quiet", "say nothing but errors; with -o, draw nothing either",
           talk.quiet);
  add_flag(app, "General", "-v,--verbose",
           "say on standard error what is done, how long it took and what each head looks at",
           talk.verbose);
}

void define_model(CLI::App& app, AttentionOptions& options) {
  define_tokenizer(app, options.tokenizer);
  define_weights_file(
      app, options.model.weights,
      "weights JSON, a Hugging Face folder or .safetensors file, or the name of a model in "
      "the Hugging Face cache (default: random weights, whose pattern means nothing)");
  add_counted_flag(app, "Model", "--random", "random weights, said explicitly");
  define_shape(app, options.model);
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

void define_steps(CLI::App& app, InspectOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--step",
         [&options](const std::vector<std::string>& lists) {
           options.steps =
               parse_inspection_steps("--step", fmt::format("{}", fmt::join(lists, ",")));
         },
         fmt::format("only these steps: {}, or a list with commas; may be repeated",
                     inspection_step_list()))
      ->type_name("STEP")
      ->allow_extra_args(false)
      ->group("Output");
  add_flag(app, "Output", "--explain", "a plain sentence to each step, true for its numbers",
           options.explain);
  add_flag(app, "Output", "--full",
           "every key, every number, and the matrices of all queries, as JSON always has them",
           options.full);
}

}  // namespace

void define_help(CLI::App& app) {
  add_counted_flag(app, "General", "-h,--help", "show this help");
  add_counted_flag(app, "General", "--version", "show the version");
}

void define_show(CLI::App& app, ShowOptions& options) {
  define_input(app, options.input);
  define_many_texts(app, options.input);
  define_model(app, options);
  define_attention(app, options, "all");
  add_value(app, "Attention", "--side-by-side", "LIST",
            "masks or temperatures beside each other: causal,none or 0.5,1,2",
            [&options](const std::string& word) { options.side_by_side = parse_variants(word); });
  define_patterns(app, options.pattern);
  define_files(app, options.output, "png|json|npy|txt");
  define_drawing(app, options.drawing);
  define_run(app, options);
}

void define_inspect(CLI::App& app, InspectOptions& options) {
  define_input(app, options.input);
  define_model(app, options);
  define_attention(app, options, "0.0");
  add_value(app, "Attention", "--query", "TOKEN|INDEX",
            "the token to follow: cat, cat#2 (the second cat), 3, -1 (default: the last)",
            [&options](const std::string& word) { options.query = word; });
  define_steps(app, options);
  define_inspection_output(app, options);
  define_run(app, options);
}

void define_render(CLI::App& app, RenderOptions& options) {
  app.add_option_function<std::string>(
         kFile, [&options](const std::string& name) { options.file = name; },
         "attention as JSON or .npy; - or a pipe: standard input")
      ->group("");
  const auto take_tokens = [&app](const std::string& name, const std::string& description,
                                  std::optional<std::vector<std::string>>& tokens) {
    add_value(app, "Input", name, "TOKENS", description,
              [name, &tokens](const std::string& word) { tokens = parse_tokens(name, word); });
  };
  take_tokens("--tokens",
              "the tokens, with spaces between them or as a JSON list (default: the file's, else "
              "their indices)",
              options.tokens.queries);
  take_tokens("--key-tokens", "those of the keys, when they are others (cross-attention)",
              options.tokens.keys);
  add_value(app, "Attention", "--mask", "causal|none|window:W|strided:S|block:B",
            "who could see whom: what was masked is drawn apart from 0 (default: as the file says)",
            [&options](const std::string& word) { options.mask = parse_mask(word); });
  define_heads(app, options.heads, "all");
  define_patterns(app, options.pattern);
  define_files(app, options.output, "png|json|npy|txt");
  define_drawing(app, options.drawing);
  define_talk(app, options.talk);
}

void define_tokenize(CLI::App& app, TokenizeOptions& options) {
  define_input(app, options.input);
  define_many_texts(app, options.input);
  define_tokenizer(app, options.tokenizer);
  define_weights_file(app, options.weights,
                      "the model whose tokenizer or vocabulary gives the ids");
  add_flag(app, "Output", "--json", "print a JSON document, one line a text", options.json);
  define_talk(app, options.talk);
}

void define_weights(CLI::App& app, WeightsOptions& options) {
  define_shape(app, options.model);
  add_value(app, "Output", "-o,--output", "FILE", "write here (default: standard output)",
            [&options](const std::string& word) { options.output = word; });
  define_talk(app, options.talk);
}

}  // namespace attnviz::app
