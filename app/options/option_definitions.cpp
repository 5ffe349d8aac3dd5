#include "options/option_definitions.h"

#include <string>

#include "attnviz/model/mask.h"
#include "options/option_adders.h"
#include "options/option_groups.h"
#include "options/option_values.h"

namespace attnviz::app {

void define_help(CLI::App& app) {
  add_counted_flag(app, "General", "-h,--help", "show this help");
  add_counted_flag(app, "General", "--version", "show the version");
}

void define_show(CLI::App& app, ShowOptions& options) {
  define_input(app, options.input);
  define_many_texts(app, options.input);
  define_model(app, options);
  define_attention(app, options, "all; more than 12 of several layers as an overview");
  add_value(app, "Attention", "--side-by-side", "LIST",
            "masks or temperatures beside each other: causal,none or 0.5,1,2",
            [&options](const std::string& word) { options.side_by_side = parse_variants(word); });
  define_patterns(app, options.pattern);
  add_value(app, "Attention", "--merge", "words",
            "pieces of one word as one: weights are summed over its keys and averaged over its "
            "queries",
            [&options](const std::string& word) {
              parse_choice("--merge", word, {"words"});
              options.merge_words = true;
            });
  define_next_tokens(app, options);
  define_files(app, options.output, "png|json|npy|txt");
  define_drawing(app, options.drawing);
  define_run(app, options);
}

void define_inspect(CLI::App& app, InspectOptions& options) {
  define_input(app, options.input);
  define_model(app, options);
  define_attention(app, options, "the most telling one of a trained model, else 0.0");
  add_value(
      app, "Attention", "--query", "TOKEN|INDEX",
      "the token to follow: cat, cat#2 (the second cat), 3, -1 (default: the last, or without "
      "--head the one for which the head was chosen)",
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
  define_heads(app, options.heads, "all; more than 12 of several layers as an overview");
  define_patterns(app, options.pattern);
  define_files(app, options.output, "png|json|npy|txt");
  define_drawing(app, options.drawing);
  define_talk(app, options.talk);
}

void define_tokenize(CLI::App& app, TokenizeOptions& options) {
  define_input(app, options.input);
  define_many_texts(app, options.input);
  define_tokenizer(app, options.tokenizer);
  define_weights_file(
      app, options.weights,
      "the model whose tokenizer or vocabulary gives the ids (default: demo, without "
      "--tokenizer)");
  add_flag(app, "Output", "--json", "print a JSON document, one line a text", options.json);
  define_talk(app, options.talk);
}

void define_info(CLI::App& app, InfoOptions& options) {
  app.add_option_function<std::string>(
         kFile, [&options](const std::string& name) { options.weights = name; },
         "the model, as --model takes it")
      ->group("");
  define_weights_file(
      app, options.weights,
      "weights JSON, a Hugging Face folder or .safetensors file, a GGUF file, or the "
      "name of a model on this machine (attnviz models; default: demo, the embedded one)");
  define_described(app, options.described);
  add_flag(app, "Output", "--json", "print a JSON document (attnviz.info/1)", options.json);
  define_text_style(app, options.style);
  define_color(app, options.color);
  define_talk(app, options.talk);
}

void define_models(CLI::App& app, ModelsOptions& options) {
  add_flag(app, "Output", "--json", "print a JSON document (attnviz.models/1)", options.json);
  define_text_style(app, options.style);
  define_color(app, options.color);
  define_talk(app, options.talk);
}

void define_weights(CLI::App& app, WeightsOptions& options) {
  define_shape(app, options.model);
  add_value(app, "Output", "-o,--output", "FILE", "write here (default: standard output)",
            [&options](const std::string& word) { options.output = word; });
  define_talk(app, options.talk);
}

void define_tour(CLI::App& app, TourOptions& options) {
  define_text(app, options.input);
  add_flag(app, "Output", "--all", "print all screens at once, as a pipe gets them", options.all);
  define_text_style(app, options.style);
  define_color(app, options.color);
}

}  // namespace attnviz::app
