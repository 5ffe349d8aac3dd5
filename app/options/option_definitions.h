// The options of each command, bound to the structs of options.h. Nothing else defines an option:
// help, man page and completions are made from these.
#pragma once

#include <CLI/CLI.hpp>

#include <array>

#include "options/options.h"

namespace attnviz::app {

/// Option groups in the order in which help lists them.
inline constexpr std::array kOptionGroups = {"Input",      "Model",  "Attention",
                                             "Prediction", "Output", "General"};

/// Names of the positional arguments: the text, and a word after it that nobody expects.
inline constexpr const char* kText = "TEXT";
inline constexpr const char* kSecondText = "SECOND_TEXT";
inline constexpr const char* kFile = "FILE";

// Each binds `options`, which must outlive the app's parse; values out of range throw
// Error{kUsage} from it. An option's type name is what help shows as its value: "FILE", "N", or
// "a|b|c" where a choice is meant.
void define_help(CLI::App& app);
void define_show(CLI::App& app, ShowOptions& options);
void define_inspect(CLI::App& app, InspectOptions& options);
void define_render(CLI::App& app, RenderOptions& options);
void define_tokenize(CLI::App& app, TokenizeOptions& options);
void define_info(CLI::App& app, InfoOptions& options);
void define_models(CLI::App& app, ModelsOptions& options);
void define_weights(CLI::App& app, WeightsOptions& options);
void define_tour(CLI::App& app, TourOptions& options);

// What no option can tell alone, which model is meant when none is named among it. Throw
// Error{kUsage}.
void check_show(const CLI::App& app, ShowOptions& options);
void check_inspect(const CLI::App& app, InspectOptions& options);
void check_render(const CLI::App& app, const RenderOptions& options);
void check_tokenize(const CLI::App& app, TokenizeOptions& options);
void check_info(const CLI::App& app, InfoOptions& options);
void check_models(const CLI::App& app, const ModelsOptions& options);
void check_weights(const CLI::App& app, const WeightsOptions& options);

}  // namespace attnviz::app
