// One of several GGUF files, by the name of its quantisation.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/store.h"

namespace attnviz::app {

/// A file, and the name that files of one model differ in.
struct GgufChoice {
  std::filesystem::path path;
  std::string tag;  // "Q4_K_M"; where there is none, or where it is not the only one, the stem
};

/// Those in a folder and in the folders in it, in order: of shards the first, and no projectors
/// (mmproj-…). `prefix`: only files whose names begin so, which is no part of their tags.
/// What cannot be read is added to `unread`.
std::vector<GgufChoice> gguf_files_in(const std::filesystem::path& folder,
                                      std::string_view prefix = {}, Unread* unread = nullptr);

/// The file that `name` asks for with its tag, whatever the case. Without a tag, or with "latest":
/// the only one, or Q4_K_M; throws Error{kUsage} that names them when it is neither. Nothing when
/// there is none.
std::optional<std::filesystem::path> choose_gguf(const std::vector<GgufChoice>& files,
                                                 const ModelName& name);

}  // namespace attnviz::app
