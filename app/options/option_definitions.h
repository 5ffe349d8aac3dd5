// The options of each command, bound to the structs of options.h. Nothing else defines an option:
// help, man page and completions are made from these.
#pragma once

#include <array>
#include <optional>

#include "options/option_parser.h"
#include "options/options.h"

namespace attnviz::app {

/// Option groups in the order in which help lists them.
inline constexpr std::array kOptionGroups = {"Input",      "Model",  "Attention",
                                             "Prediction", "Output", "General"};

/// Names of the positional arguments: the text, and a word after it that nobody expects.
inline constexpr const char* kText = "TEXT";
inline constexpr const char* kSecondText = "SECOND_TEXT";
inline constexpr const char* kOtherText = "OTHER_TEXT";  // that diff expects
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kScores = "SCORE";  // numbers, which may begin with a minus
inline constexpr const char* kLesson = "NAME";
inline constexpr const char* kWord = "WORD";

// Each binds `options`, which must outlive the parsing; values out of range throw
// Error{kUsage} from it.
void define_help(OptionList& list);  // and what else all commands have
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

/// Bytes, when --max-memory is given. Throws Error{kUsage} for what is no size.
std::optional<double> max_memory(const Given& given);

// What the rows cannot say, of every command that writes files and of some commands. Throw
// Error{kUsage}.
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

}  // namespace attnviz::app
