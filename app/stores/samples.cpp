#include "stores/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSampleEndings[] = {".json", ".npy"};

bool is_sample(const fs::path& file) {
  return std::ranges::find(kSampleEndings, file.extension()) != std::end(kSampleEndings);
}

// Its schema stands at the beginning of what attnviz wrote, and of what is written after it.
bool is_weights(const fs::path& file) {
  constexpr std::size_t kBeginning = 300;
  return MappedFile(file).bytes().substr(0, kBeginning).find("attnviz.weights/") !=
         std::string_view::npos;
}

std::optional<fs::path> find_sample(const fs::path& folder, std::string_view name) {
  for (const std::string& file : names_in(folder)) {
    const fs::path path = folder / file;
    if (is_sample(path) && (file == name || path.stem() == name)) {
      return path;
    }
  }
  return std::nullopt;
}

std::string name_of_sample(const fs::path& file) {
  return std::string(kSamplePrefix) + file.stem().string();
}

}  // namespace

fs::path samples_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const char* place : {ATTNVIZ_SAMPLES_INSTALLED, ATTNVIZ_SAMPLES_BUILT}) {
    fs::path folder = (program.parent_path() / place).lexically_normal();
    if (!error && is_there(folder)) {
      return folder;
    }
  }
  return {};
}

std::vector<std::string> sample_names() {
  std::vector<std::string> names;
  for (const std::string& file : names_in(samples_folder())) {
    if (is_sample(file)) {
      names.push_back(name_of_sample(file));
    }
  }
  return names;
}

std::optional<fs::path> sample_path(const fs::path& given) {
  const std::string word = given.string();
  if (!word.starts_with(kSamplePrefix) || is_there(given)) {
    return std::nullopt;
  }
  const std::string name = word.substr(kSamplePrefix.size());
  if (auto found = find_sample(samples_folder(), name)) {
    return found;
  }
  const std::vector<std::string> names = sample_names();
  throw Error(ErrorKind::kIo,
              names.empty()  ? fmt::format("{}: the samples are not installed", word)
              : name.empty() ? fmt::format("{} needs a name: {}", word, joined(names, "or"))
                             : fmt::format("{}: no such sample{}; there {} {}", word,
                                           did_you_mean(word, names),
                                           names.size() == 1 ? "is" : "are", joined(names, "and")));
}

bool is_sample_of_attention(const std::string& word) {
  const auto path = word.starts_with(kSamplePrefix)
                        ? find_sample(samples_folder(), word.substr(kSamplePrefix.size()))
                        : std::nullopt;
  try {
    return path && !is_weights(*path);
  } catch (const Error&) {
    return false;
  }
}

Store sample_store() {
  return {kSampleStore, samples_folder(),
          [](const fs::path& root, const ModelName& name) {
            return name.path() + ":" == kSamplePrefix ? find_sample(root, name.tag) : std::nullopt;
          },
          [](const fs::path& root, Unread& unread) {
            std::vector<StoreEntry> entries;
            for (const std::string& file : names_in(root, &unread)) {
              const fs::path path = root / file;
              try {
                if (is_sample(path) && is_weights(path)) {
                  entries.push_back({name_of_sample(path), path, {}});
                }
              } catch (const Error& error) {
                entries.push_back({name_of_sample(path), path, error.what()});
              }
            }
            return entries;
          }};
}

}  // namespace attnviz::app
