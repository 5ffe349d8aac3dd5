// Options that commands share, group by group; option_definitions.h says which command has which.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "options/option_list.h"
#include "options/options.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

// Each binds what it is given, which must outlive the parsing; values out of range throw
// Error{kUsage} from it.
void define_text(OptionList& list, InputOptions& input);
void define_input(OptionList& list, InputOptions& input);
void define_many_texts(OptionList& list, InputOptions& input);
void define_tokenizer(OptionList& list, std::optional<std::string>& tokenizer);
void define_weights_file(OptionList& list, std::optional<std::filesystem::path>& weights,
                         const std::string& description);
void define_shape(OptionList& list, ModelOptions& model);
void define_described(OptionList& list, DescribedModel& model);
void define_model(OptionList& list, AttentionOptions& options);
void define_heads(OptionList& list, HeadOptions& selection, const char* default_heads);
void define_attention(OptionList& list, AttentionOptions& options, const char* default_heads);
void define_patterns(OptionList& list, PatternOptions& pattern);
void define_next_tokens(OptionList& list, ShowOptions& options);
void define_talk(OptionList& list, TalkOptions& talk);
void define_run(OptionList& list, AttentionOptions& options);

void define_text_style(OptionList& list, StyleChoice& style);
void define_color(OptionList& list, ColorChoice& color);
void define_fonts(OptionList& list, std::vector<std::filesystem::path>& fonts);
void define_drawing(OptionList& list, DrawingOptions& drawing);
void define_files(OptionList& list, OutputOptions& output, Result result);
void define_inspection_output(OptionList& list, InspectOptions& options);
void define_steps(OptionList& list, InspectOptions& options);

}  // namespace attnviz::app
