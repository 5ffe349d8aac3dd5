// The samples that come with the program: models made by hand, and attention to draw.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/store.h"

namespace attnviz::app {

/// What stands before a sample's name: "sample:four-heads".
inline constexpr std::string_view kSamplePrefix = "sample:";
inline constexpr const char* kSampleStore = "samples";

/// Where they lie: installed beside the program, or in the sources that it was built from; empty
/// where neither is.
std::filesystem::path samples_folder();

/// The names of all, with their prefix, in order: files of weights and of attention.
std::vector<std::string> sample_names();

/// The file that "sample:NAME" means; nothing for other words, and for a file of that name. Throws
/// Error{kIo} that lists the names there are.
std::optional<std::filesystem::path> sample_path(const std::filesystem::path& given);

/// Whether that is a sample that render draws, and no model.
bool is_sample_of_attention(const std::string& word);

/// The samples that are models.
Store sample_store();

}  // namespace attnviz::app
