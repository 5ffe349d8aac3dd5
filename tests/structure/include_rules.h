// What a source may include: the layers of the library, and where third-party headers may stand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz::test {

/// No source is longer; one idea fits.
constexpr std::size_t kMaxLines = 450;

/// What is wrong with one source, a sentence each; empty when nothing is. `path` is relative to the
/// source folder: "lib/attnviz/text/labels.cpp", "app/main.cpp".
std::vector<std::string> structure_faults(std::string_view path, std::string_view content);

}  // namespace attnviz::test
