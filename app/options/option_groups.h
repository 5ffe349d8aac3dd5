// The options of each command, bound to the structs of command_options.h, and the groups that
// commands share. Options are defined nowhere else: help, man page and completions are made from
// these. Each option is bound to a value that must outlive the parsing.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "options/command_options.h"
#include "options/option_parser.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

/// Option groups in the order in which help lists them.
inline constexpr std::array kOptionGroups = {"Input",      "Model",  "Attention",
                                             "Prediction", "Output", "General"};

/// Names of the positional arguments: the text, and an unexpected word after it.
inline constexpr const char* kText = "TEXT";
inline constexpr const char* kSecondText = "SECOND_TEXT";
inline constexpr const char* kOtherText = "OTHER_TEXT";  // expected by diff
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kScores = "SCORE";  // numbers, which may begin with a minus
inline constexpr const char* kLesson = "NAME";
inline constexpr const char* kWord = "WORD";

// Values out of range throw Error{kUsage} during parsing.
void define_help(OptionList& list);  // and the other options that all commands have
void define_show(OptionList& list, ShowOptions& options);
void define_rollout(OptionList& list, ShowOptions& options);
void define_inspect(OptionList& list, InspectOptions& options);
void define_heads(OptionList& list, HeadsOptions& options);
void define_why(OptionList& list, WhyOptions& options);
void define_cite(OptionList& list, CiteOptions& options);
void define_diff(OptionList& list, DiffOptions& options);
void define_render(OptionList& list, RenderOptions& options);
void define_tokenize(OptionList& list, TokenizeOptions& options);
void define_info(OptionList& list, InfoOptions& options);
void define_models(OptionList& list, ModelsOptions& options);
void define_weights(OptionList& list, WeightsOptions& options);
void define_merge(OptionList& list, MergeOptions& options);
void define_tour(OptionList& list, TourOptions& options);
void define_lesson(OptionList& list, LessonOptions& options);
void define_softmax_command(OptionList& list, SoftmaxOptions& options);
void define_meaning(OptionList& list, MeaningOptions& options);

/// The value of --max-memory in bytes, if given. Throws Error{kUsage} unless it is a size.
std::optional<double> max_memory(const Given& given);

// Checks that involve several options, for every command that writes files and for single commands.
// They throw Error{kUsage}.
void check_output(const OutputOptions& output);
void check_show(const Given& given, ShowOptions& options);
void check_inspect(const Given& given, const InspectOptions& options);
void check_heads(const Given& given, HeadsOptions& options);
void check_why(const Given& given, const WhyOptions& options);
void check_cite(const Given& given, const CiteOptions& options);
void check_diff(const Given& given, DiffOptions& options);
void check_merge(const Given& given, const MergeOptions& options);
void check_render(const Given& given, const RenderOptions& options);
void check_tokenize(const Given& given, TokenizeOptions& options);
void check_meaning(const Given& given, const MeaningOptions& options);

// Shared by several commands.

inline GivenModel given_model(const std::string& word) {
  return word == kDemo ? GivenModel(EmbeddedModel()) : NamedModel{word};
}

/// Sets the model to the one with this name.
template <class Choice>
OptionList::Setter to_model(Choice& model) {
  return [&model](const std::string& word) { model = given_model(word); };
}

inline constexpr const char* kModelNames = "-m,-w,--model,--weights";

/// Options that make a text a chat.
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

/// The described model in `model`; replaces any other, because any size option asks for one.
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
/// Options of every figure, with or without cells.
void define_figure_look(OptionList& list, LookOptions& look);
void define_drawing(OptionList& list, DrawingOptions& drawing);
void define_files(OptionList& list, OutputOptions& output, Result result);
void define_text_style(OptionList& list, StyleOptions& options);
/// Determines which two texts or models a diff command line compares. Throws Error{kUsage} unless
/// there are exactly two.
void settle_compared(DiffOptions& options);
void define_printed(OptionList& list, PrintOptions& options, const std::string& schema);

}  // namespace attnviz::app
