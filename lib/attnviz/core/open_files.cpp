#include "attnviz/core/open_files.h"

namespace attnviz {

MappedFile OpenFiles::open(const std::filesystem::path& path) {
  if (const auto known = files_->find(path); known != files_->end()) {
    return known->second;
  }
  MappedFile file(path);
  if (file.is_mapped()) {
    files_->emplace(path, file);
  }
  return file;
}

}  // namespace attnviz
