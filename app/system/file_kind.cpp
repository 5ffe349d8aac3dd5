#include "system/file_kind.h"

#include <sys/stat.h>

#include <array>
#include <string>

#include "attnviz/core/ascii.h"

namespace attnviz::app {

namespace {

// Of a file, or the ending of its name.
struct Beginning {
  std::string_view bytes;
  FileKind kind;
};

// Each of four bytes or more: shorter ones begin texts, too. From the formats' specifications.
constexpr std::array kBeginnings = {Beginning{"\x89PNG", FileKind::kPicture},
                                    Beginning{"\xFF\xD8\xFF\xE0", FileKind::kPicture},
                                    Beginning{"\xFF\xD8\xFF\xE1", FileKind::kPicture},
                                    Beginning{"\xFF\xD8\xFF\xDB", FileKind::kPicture},
                                    Beginning{"GIF87a", FileKind::kPicture},
                                    Beginning{"GIF89a", FileKind::kPicture},
                                    Beginning{"%PDF-", FileKind::kPdf},
                                    Beginning{"PK\x03\x04", FileKind::kArchive},
                                    Beginning{"\x93NUMPY", FileKind::kNumPy},
                                    Beginning{"GGUF", FileKind::kGguf}};

constexpr std::array kEndings = {
    Beginning{".png", FileKind::kPicture},  Beginning{".jpg", FileKind::kPicture},
    Beginning{".jpeg", FileKind::kPicture}, Beginning{".gif", FileKind::kPicture},
    Beginning{".webp", FileKind::kPicture}, Beginning{".svg", FileKind::kPage},
    Beginning{".html", FileKind::kPage},    Beginning{".pdf", FileKind::kPdf},
    Beginning{".zip", FileKind::kArchive},  Beginning{".npy", FileKind::kNumPy}};

}  // namespace

FileKind kind_of_bytes(std::string_view first) noexcept {
  for (const Beginning& beginning : kBeginnings) {
    if (first.starts_with(beginning.bytes)) {
      return beginning.kind;
    }
  }
  const bool is_webp = first.starts_with("RIFF") && first.substr(0, 12).ends_with("WEBP");
  return is_webp ? FileKind::kPicture : FileKind::kOther;
}

FileKind kind_of_name(const std::filesystem::path& path) {
  const std::string extension = ascii_lower(path.extension().string());
  for (const Beginning& ending : kEndings) {
    if (extension == ending.bytes) {
      return ending.kind;
    }
  }
  return FileKind::kOther;
}

std::string_view name_of(FileKind kind) noexcept {
  switch (kind) {
    case FileKind::kPicture:
      return "a picture";
    case FileKind::kPage:
      return "a page or a drawing";
    case FileKind::kPdf:
      return "a PDF document";
    case FileKind::kArchive:
      return "an archive";
    case FileKind::kNumPy:
      return "a NumPy array";
    case FileKind::kGguf:
      return "a GGUF model";
    case FileKind::kOther:
      break;
  }
  return {};
}

std::optional<FileId> id_of(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  return FileId{info.st_dev, info.st_ino};
}

}  // namespace attnviz::app
