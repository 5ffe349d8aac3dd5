// Options that commands share, group by group; option_definitions.h says which command has which.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "options/options.h"

namespace attnviz::app {

// Each binds what it is given, which must outlive the app's parse; values out of range throw
// Error{kUsage} from it.
void define_text(CLI::App& app, InputOptions& input);
void define_input(CLI::App& app, InputOptions& input);
void define_many_texts(CLI::App& app, InputOptions& input);
void define_tokenizer(CLI::App& app, std::optional<std::string>& tokenizer);
void define_weights_file(CLI::App& app, std::optional<std::filesystem::path>& weights,
                         const std::string& description);
void define_shape(CLI::App& app, ModelOptions& model);
void define_described(CLI::App& app, DescribedModel& model);
void define_model(CLI::App& app, AttentionOptions& options);
void define_heads(CLI::App& app, HeadOptions& selection, const char* default_heads);
void define_attention(CLI::App& app, AttentionOptions& options, const char* default_heads);
void define_patterns(CLI::App& app, PatternOptions& pattern);
void define_next_tokens(CLI::App& app, ShowOptions& options);
void define_talk(CLI::App& app, TalkOptions& talk);
void define_run(CLI::App& app, AttentionOptions& options);

void define_text_style(CLI::App& app, StyleChoice& style);
void define_color(CLI::App& app, ColorChoice& color);
void define_fonts(CLI::App& app, std::vector<std::filesystem::path>& fonts);
void define_drawing(CLI::App& app, DrawingOptions& drawing);
void define_files(CLI::App& app, OutputOptions& output, const std::string& formats);
void define_inspection_output(CLI::App& app, InspectOptions& options);
void define_steps(CLI::App& app, InspectOptions& options);

}  // namespace attnviz::app
