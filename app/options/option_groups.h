// Options that commands share, group by group. Each binds its values, which must outlive the
// parsing.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "options/option_definitions.h"
#include "options/option_parser.h"
#include "options/options.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

inline GivenModel given_model(const std::string& word) {
  return word == kDemo ? GivenModel(EmbeddedModel()) : NamedModel{word};
}

/// A setter of the model of this name.
template <class Choice>
OptionList::Setter to_model(Choice& model) {
  return [&model](const std::string& word) { model = given_model(word); };
}

inline constexpr const char* kModelNames = "-m,-w,--model,--weights";

/// What makes a text a chat.
inline const OptionNames kChatOptions = {"--chat", "--system", "--messages"};

/// --strict: unknown keys or tensors in a model's files are an error.
void define_strict(OptionList& list, Verbosity& verbosity);

template <class Choice>
void define_named_model(OptionList& list, Choice& model, Verbosity& verbosity,
                        const std::string& description) {
  list.add_value("Model", kModelNames, "FILE", description, to_model(model))
      .about("schema", "weights: attnviz -m FILE TEXT")
      .common();
  define_strict(list, verbosity);
}

/// What a model in numbers is made of: any of its sizes asks for one.
template <class Numbers, class Choice>
Numbers& in_numbers(Choice& model) {
  return std::holds_alternative<Numbers>(model) ? std::get<Numbers>(model)
                                                : model.template emplace<Numbers>();
}

using ShapeOf = std::function<RandomShape&()>;

void define_text(OptionList& list, InputOptions& input);
void define_input(OptionList& list, InputOptions& input);
void define_reading(OptionList& list, InputOptions& input);
void define_chat(OptionList& list, InputOptions& input);
void define_many_texts(OptionList& list, InputOptions& input);
void define_tokenizer(OptionList& list, std::optional<std::string>& tokenizer);
void define_sizes(OptionList& list, const std::string& what, const std::string& usual_d_head,
                  const ShapeOf& shape);
void define_shape(OptionList& list, ModelOptions& model);
void define_model(OptionList& list, AttentionOptions& options);
void define_cutting(OptionList& list, AttentionOptions& options);
void define_random(OptionList& list, AttentionOptions& options);

void define_selection(OptionList& list, HeadOptions& selection, const char* default_heads);
void define_softmax(OptionList& list, AttentionRequest& request);
void define_what_if(OptionList& list, WhatIf& what_if);
void define_attention(OptionList& list, AttentionOptions& options, const char* default_heads);
void define_names(OptionList& list, AttentionOptions& options);
void define_verbosity(OptionList& list, Verbosity& verbosity);
void define_run(OptionList& list, AttentionOptions& options);
void define_color(OptionList& list, ColorChoice& color);
void define_fonts(OptionList& list, std::vector<std::filesystem::path>& fonts);
void define_colormap(OptionList& list, DrawingRequest& request);
void define_figure(OptionList& list, DrawingRequest& request, LookOptions& look);
/// Of every figure, cells or not.
void define_figure_look(OptionList& list, LookOptions& look);
void define_drawing(OptionList& list, DrawingOptions& drawing);
void define_files(OptionList& list, OutputOptions& output, Result result);
void define_text_style(OptionList& list, StyleOptions& options);
/// Which two texts or models a command line of diff means. Throws Error{kUsage} for any other
/// number.
void settle_compared(DiffOptions& options);
void define_printed(OptionList& list, PrintOptions& options, const std::string& schema);

}  // namespace attnviz::app
