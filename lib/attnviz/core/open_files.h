// Files that several readers look at, each opened once.
#pragma once

#include <filesystem>
#include <map>
#include <memory>

#include "attnviz/core/mapped_file.h"

namespace attnviz {

/// A handle: copies know the same files. Used by one thread at a time.
class OpenFiles {
 public:
  /// The file at `path`, which is opened when it is asked for the first time. What cannot be mapped
  /// (a pipe, an empty file) is not kept. Throws what MappedFile throws.
  MappedFile open(const std::filesystem::path& path);

 private:
  using Files = std::map<std::filesystem::path, MappedFile>;
  std::shared_ptr<Files> files_ = std::make_shared<Files>();
};

}  // namespace attnviz
