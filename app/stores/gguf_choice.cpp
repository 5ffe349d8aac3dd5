#include "stores/gguf_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/ascii.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/shard_name.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".gguf";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Whether a part of a file's name is that of a quantisation: Q4_K_M, IQ2_XS, F16, MXFP4.
bool is_quantisation(std::string_view part) {
  const std::string name = ascii_lower(part);
  for (const char* exact : {"f16", "bf16", "f32"}) {
    if (name == exact) {
      return true;
    }
  }
  for (const std::string_view begin : {"q", "iq", "tq", "mxfp"}) {
    if (name.starts_with(begin) && name.size() > begin.size() && is_digit(name[begin.size()])) {
      return true;
    }
  }
  return false;
}

// The last part of a stem that is the name of a quantisation; empty: none.
std::string quantisation_in(std::string_view stem) {
  while (!stem.empty()) {
    const std::size_t mark = stem.find_last_of("-.");
    const std::string_view part = mark == std::string_view::npos ? stem : stem.substr(mark + 1);
    if (is_quantisation(part)) {
      return std::string(part);
    }
    stem = stem.substr(0, mark == std::string_view::npos ? 0 : mark);
  }
  return {};
}

}  // namespace

std::vector<GgufChoice> gguf_files_directly_in(const fs::path& folder, Unread* unread) {
  std::vector<GgufChoice> files;
  for (const std::string& name : names_in(folder, unread)) {
    if (!name.ends_with(kExtension) || ascii_lower(name).find("mmproj") != std::string::npos ||
        !is_file(folder / name)) {
      continue;
    }
    const std::optional<ShardName> shard = parse_shard_name(name);
    if (shard && shard->number != 1) {
      continue;
    }
    std::string_view stem = shard ? shard->name : std::string_view(name);
    stem.remove_suffix(shard ? 0 : kExtension.size());
    files.push_back({folder / name, std::string(stem)});
  }
  return files;
}

void shorten_tags(std::vector<GgufChoice>& files) {
  std::vector<std::string> short_tags;
  short_tags.reserve(files.size());
  std::map<std::string, std::size_t> counts;
  for (const GgufChoice& file : files) {
    short_tags.push_back(quantisation_in(file.tag));
    ++counts[short_tags.back()];
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!short_tags[i].empty() && counts[short_tags[i]] == 1) {
      files[i].tag = short_tags[i];
    }
  }
}

std::vector<std::vector<GgufChoice>> gguf_files_in_each(const std::vector<fs::path>& folders,
                                                        Unread* unread) {
  std::vector<std::vector<GgufChoice>> files;
  std::vector<fs::path> inner;
  std::map<std::string, std::size_t> places;  // of the folder that an inner one lies in
  for (const fs::path& folder : folders) {
    for (const std::string& name : names_in(folder)) {
      std::error_code ignored;
      if (fs::is_directory(folder / name, ignored)) {
        inner.push_back(folder / name);
        places.emplace(inner.back().string(), files.size());
      }
    }
    files.push_back(gguf_files_directly_in(folder, unread));
  }
  for (const fs::path& folder : distinct_folders(std::move(inner), folders)) {
    std::ranges::move(gguf_files_directly_in(folder, unread),
                      std::back_inserter(files[places.at(folder.string())]));
  }
  std::ranges::for_each(files, shorten_tags);
  return files;
}

std::vector<GgufChoice> gguf_files_in(const fs::path& folder) {
  return gguf_files_in_each({folder}).front();
}

std::optional<fs::path> choose_gguf(const std::vector<GgufChoice>& files, const ModelName& name) {
  const bool is_any = name.tag.empty() || name.tag == "latest";
  if (is_any && files.size() == 1) {
    return files.front().path;
  }
  const std::string wanted = ascii_lower(is_any ? "Q4_K_M" : name.tag);
  const auto found = std::ranges::find_if(
      files, [&](const GgufChoice& file) { return ascii_lower(file.tag) == wanted; });
  if (found != files.end()) {
    return found->path;
  }
  if (is_any && !files.empty()) {
    std::vector<std::string> names;
    names.reserve(files.size());
    for (const GgufChoice& file : files) {
      names.push_back(is_there(name.path()) ? file.path.string() : name.path() + ":" + file.tag);
    }
    throw Error(ErrorKind::kUsage,
                fmt::format("model {}: there are several files, and none is Q4_K_M; give one of {}",
                            attnviz::quoted(name.text()), joined(names, "and")));
  }
  return std::nullopt;
}

}  // namespace attnviz::app
