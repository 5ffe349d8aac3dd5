// What a source may include: the rooms of library and program, and where third-party headers may
// stand.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz::test {

/// No source is longer; one idea fits.
constexpr std::size_t kMaxLines = 450;
/// No folder has more; one is a room that can be taken in.
constexpr std::size_t kMaxSources = 46;

/// What is wrong with one source, a sentence each; empty when nothing is. `path` is relative to the
/// source folder: "lib/attnviz/text/labels.cpp", "app/main.cpp".
std::vector<std::string> structure_faults(std::string_view path, std::string_view content);

/// What is wrong with how sources lie in folders: crowded ones, and two headers of one name.
std::vector<std::string> folder_faults(std::span<const std::string> paths);

}  // namespace attnviz::test
