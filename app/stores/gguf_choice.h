// One of several GGUF files, by the name of its quantisation.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stores/store.h"

namespace attnviz::app {

/// A file, and the name that files of one model differ in.
struct GgufChoice {
  std::filesystem::path path;
  std::string tag;  // "Q4_K_M"; where there is none, or where it is not the only one, the stem
};

/// Those in a folder itself, in order, with their stems: of shards the first, and no projectors
/// (mmproj-…). What cannot be read is added to `unread`.
std::vector<GgufChoice> gguf_files_directly_in(const std::filesystem::path& folder,
                                               Unread* unread = nullptr);

/// Those in each of some distinct folders and in the folders in it. What several links lead to is
/// looked into once.
std::vector<std::vector<GgufChoice>> gguf_files_in_each(
    const std::vector<std::filesystem::path>& folders, Unread* unread = nullptr);
/// The same of one folder.
std::vector<GgufChoice> gguf_files_in(const std::filesystem::path& folder);

/// Makes of each tag the quantisation in it, where no other file has the same.
void shorten_tags(std::vector<GgufChoice>& files);

/// The file that `name` asks for with its tag, whatever the case. Without a tag, or with "latest":
/// the only one, or Q4_K_M; throws Error{kUsage} that names them when it is neither. Nothing when
/// there is none.
std::optional<std::filesystem::path> choose_gguf(const std::vector<GgufChoice>& files,
                                                 const ModelName& name);

}  // namespace attnviz::app
