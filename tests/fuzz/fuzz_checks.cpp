#include "fuzz/fuzz_checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "attnviz/core/error.h"

namespace attnviz::test {

namespace {

namespace fs = std::filesystem;

// Keeps the compiler from removing code that only reads.
volatile std::size_t sink = 0;

fs::path reference_path(const std::string& path) {
  return fs::path(ATTNVIZ_SOURCE_DIR) /
         (path.starts_with('/') ? path.substr(1) : "tests/reference/" + path);
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void use(std::string_view bytes) {
  std::size_t sum = 0;
  for (const char byte : bytes) {
    sum += static_cast<unsigned char>(byte);
  }
  sink = sink + sum;
}

void refused_or_done(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (error.kind() == ErrorKind::kUsage || message.find("fuzz") == std::string_view::npos ||
        message.size() >= 2000) {
      std::fprintf(stderr, "an Error of kind %d: %.2000s\n", static_cast<int>(error.kind()),
                   error.what());
      std::abort();
    }
  }
}

void require_ranges(const TokenizedText& text) {
  std::size_t last = 0;
  for (const Token& token : text.tokens) {
    require(last <= token.begin && token.begin <= token.end && token.end <= text.source.size());
    last = token.begin;
    use(token.text);
  }
}

void run_tokenizer(const ModelTokenizer& tokenizer, std::string_view text) {
  for (const std::string_view one :
       {text, std::string_view("The cat's mat,  \n\tétait 猫🐱 1234<s>"),
        std::string_view("\xF0\x9F a")}) {
    const TokenizedText tokens = tokenizer.tokenize(one);
    require_ranges(tokens);
    for (const Token& token : tokens.tokens) {
      use(tokenizer.piece(token.id));
      sink = sink + (tokenizer.is_special(token.id) ? 1 : 0);
    }
    use(tokenizer.from_ids(tokens.ids()).source);
  }
}

std::vector<std::string_view> parts_of(std::string_view input, std::size_t n_parts) {
  std::vector<std::string_view> parts(n_parts);
  for (std::size_t i = 0; i + 1 < n_parts; ++i) {
    const std::size_t end = std::min(input.find('\0'), input.size());
    parts[i] = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  parts.back() = input;
  return parts;
}

std::string reference_file(const std::string& path) {
  return bytes_of(reference_path(path));
}

std::vector<fs::path> reference_files(const std::string& folder, std::string_view ending,
                                      std::size_t most_bytes) {
  std::vector<std::pair<std::size_t, fs::path>> found;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(reference_path(folder))) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending) &&
        entry.file_size() <= most_bytes) {
      found.emplace_back(entry.file_size(), entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (auto& [size, path] : found) {
    paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<std::string> files_below(const std::string& folder, std::string_view ending,
                                     std::size_t most_bytes) {
  std::vector<std::string> files;
  for (const fs::path& path : reference_files(folder, ending, most_bytes)) {
    files.push_back(bytes_of(path));
  }
  return files;
}

}  // namespace attnviz::test
