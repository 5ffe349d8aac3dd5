// What a source may include: the rooms of library and program, and where third-party headers are
// allowed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz::test {

/// The longest source allowed; enough for one idea.
constexpr std::size_t kMaxLines = 450;
/// The most sources allowed in a folder, so that it can be taken in at a glance.
constexpr std::size_t kMaxSources = 46;

/// The faults of one source, a sentence each; empty if there are none. `path` is relative to the
/// source folder: "lib/attnviz/text/labels.cpp", "app/main.cpp".
std::vector<std::string> structure_faults(std::string_view path, std::string_view content);

/// The faults of the folders: crowded ones, and two headers of one name.
std::vector<std::string> folder_faults(std::span<const std::string> paths);

}  // namespace attnviz::test
