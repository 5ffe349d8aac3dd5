// What fuzz targets do with the data they read, and the conditions they check.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz::test {

/// Ends the process, which is a finding, unless the condition holds.
void require(bool holds);

/// Reads all bytes, so that a sanitizer checks that they exist.
void use(std::string_view bytes);

/// Runs code that may throw an Error about a broken file, called "fuzz", and nothing else: neither
/// an Error that blames the caller, nor one with an overlong message.
void refused_or_done(const std::function<void()>& run);

/// Checks that the ranges of tokens ascend and lie within the source.
void require_ranges(const TokenizedText& text);

/// Tokenizes `text` and some others, decodes the results, and reads every token's piece.
void run_tokenizer(const ModelTokenizer& tokenizer, std::string_view text = {});

/// The parts of an input separated by NUL; the last one is the rest. Missing parts are empty.
std::vector<std::string_view> parts_of(std::string_view input, std::size_t n_parts);

/// A file of the repository, below tests/reference but for a path that begins with /.
std::string reference_file(const std::string& path);

/// Files with this extension below a folder of file(), the smallest first, of up to `most_bytes`
/// each.
std::vector<std::filesystem::path> reference_files(const std::string& folder,
                                                   std::string_view ending,
                                                   std::size_t most_bytes = 64 << 10);
/// The contents of these files.
std::vector<std::string> files_below(const std::string& folder, std::string_view ending,
                                     std::size_t most_bytes = 64 << 10);

}  // namespace attnviz::test
