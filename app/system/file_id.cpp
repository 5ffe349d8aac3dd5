#include "system/file_id.h"

#include <sys/stat.h>

namespace attnviz::app {

std::optional<FileId> id_of(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  return FileId{info.st_dev, info.st_ino};
}

}  // namespace attnviz::app
