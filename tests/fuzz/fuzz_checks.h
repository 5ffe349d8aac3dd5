// What fuzz targets do with what was read, and what they hold it to.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz::test {

/// Ends the process, which is a finding, unless it holds.
void require(bool holds);

/// Reads all bytes, so that a sanitizer sees whether they are there.
void use(std::string_view bytes);

/// Runs what may throw an Error of a broken file, called "fuzz", and nothing else: neither one that
/// blames the caller, nor one whose message is endless.
void refused_or_done(const std::function<void()>& run);

/// The ranges of tokens grow, and lie in the source.
void require_ranges(const TokenizedText& text);

/// Cuts `text` and some others, decodes what came of them, and looks at every token's piece.
void run_tokenizer(const ModelTokenizer& tokenizer, std::string_view text = {});

/// Parts of an input that has them one after another with a NUL between them; the last one is the
/// rest. Those that are not there are empty.
std::vector<std::string_view> parts_of(std::string_view input, std::size_t n_parts);

/// A file of the repository, below tests/reference but for a path that begins with /.
std::string reference_file(const std::string& path);

/// Files with this ending below such a folder, the smallest first, of up to `most_bytes` each.
std::vector<std::filesystem::path> reference_files(const std::string& folder,
                                                   std::string_view ending,
                                                   std::size_t most_bytes = 64 << 10);
/// The same, read.
std::vector<std::string> files_below(const std::string& folder, std::string_view ending,
                                     std::size_t most_bytes = 64 << 10);

}  // namespace attnviz::test
