#include "options/option_definitions.h"

#include <string>

#include "attnviz/core/choices.h"
#include "attnviz/model/mask.h"
#include "options/option_groups.h"
#include "options/option_values.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

void define_help(OptionList& list) {
  list.add_flag("General", "-h,--help", "show this help");
  list.add_flag("General", "--version", "show the version");
}

void define_show(OptionList& list, ShowOptions& options) {
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_model(list, options);
  define_attention(list, options, "all; more than 12 of several layers as an overview");
  list.add_value(
      "Attention", "--side-by-side", "LIST",
      "masks or temperatures beside each other: causal,none or 0.5,1,2",
      [&options](const std::string& word) { options.side_by_side = parse_variants(word); });
  define_patterns(list, options.pattern);
  list.add_choice(
      "Attention", "--merge", std::array{Choice{"words", true}},
      "pieces of one word as one: weights are summed over its keys and averaged over its "
      "queries",
      options.merge_words);
  define_next_tokens(list, options);
  define_files(list, options.output, Result::kAttention);
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
      [&options](const std::string& word) { options.query = word; });
  define_steps(list, options);
  define_inspection_output(list, options);
  define_run(list, options);
}

void define_render(OptionList& list, RenderOptions& options) {
  // Attention as JSON or .npy; - or a pipe: standard input.
  list.add_positional(kFile, [&options](const std::string& name) { options.file = name; });
  const auto take_tokens = [&list](const std::string& name, const std::string& description,
                                   std::optional<std::vector<std::string>>& tokens) {
    list.add_value("Input", name, "TOKENS", description,
                   [name, &tokens](const std::string& word) { tokens = parse_tokens(name, word); });
  };
  take_tokens("--tokens",
              "the tokens, with spaces between them or as a JSON list (default: the file's, else "
              "their indices)",
              options.tokens.queries);
  take_tokens("--key-tokens", "those of the keys, when they are others (cross-attention)",
              options.tokens.keys);
  list.add_value(
      "Attention", "--mask", "causal|none|window:W|strided:S|block:B",
      "who could see whom: what was masked is drawn apart from 0 (default: as the file says)",
      [&options](const std::string& word) { options.mask = parse_mask(word); });
  define_heads(list, options.heads, "all; more than 12 of several layers as an overview");
  define_patterns(list, options.pattern);
  define_files(list, options.output, Result::kAttention);
  define_drawing(list, options.drawing);
  define_talk(list, options.talk);
}

void define_tokenize(OptionList& list, TokenizeOptions& options) {
  define_input(list, options.input);
  define_many_texts(list, options.input);
  define_tokenizer(list, options.tokenizer);
  define_weights_file(
      list, options.weights,
      "the model whose tokenizer or vocabulary gives the ids (default: demo, without "
      "--tokenizer)");
  list.add_flag("Output", "--json", "print a JSON document, one line a text", options.json);
  define_talk(list, options.talk);
}

void define_info(OptionList& list, InfoOptions& options) {
  list.add_positional(kFile, [&options](const std::string& name) { options.weights = name; });
  define_weights_file(
      list, options.weights,
      "weights JSON, a Hugging Face folder or .safetensors file, a GGUF file, or the "
      "name of a model on this machine (attnviz models; default: demo, the embedded one)");
  define_described(list, options.described);
  list.add_flag("Output", "--json", "print a JSON document (attnviz.info/1)", options.json);
  define_text_style(list, options.style);
  define_color(list, options.color);
  define_talk(list, options.talk);
}

void define_models(OptionList& list, ModelsOptions& options) {
  list.add_flag("Output", "--json", "print a JSON document (attnviz.models/1)", options.json);
  define_text_style(list, options.style);
  define_color(list, options.color);
  define_talk(list, options.talk);
}

void define_weights(OptionList& list, WeightsOptions& options) {
  define_shape(list, options.model);
  list.add_value("Output", "-o,--output", "FILE", "write here (default: standard output)",
                 [&options](const std::string& word) { options.output = word; });
  define_talk(list, options.talk);
}

void define_tour(OptionList& list, TourOptions& options) {
  define_text(list, options.input);
  list.add_flag("Output", "--all", "print all screens at once, as a pipe gets them", options.all);
  define_text_style(list, options.style);
  define_color(list, options.color);
}

}  // namespace attnviz::app
