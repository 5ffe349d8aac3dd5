#include "attnviz/core/mapped_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE("MappedFile: bytes of files, empty ones too, and of files without a size") {
  const auto path = std::filesystem::temp_directory_path() / "attnviz_mapped_file_test";
  std::ofstream(path, std::ios::binary) << "cat\n";
  CHECK(MappedFile(path).bytes() == "cat\n");
  std::ofstream(path, std::ios::trunc).close();
  CHECK(MappedFile(path).bytes().empty());
  std::filesystem::remove(path);
  CHECK_FALSE(MappedFile("/proc/self/status").bytes().empty());  // claims to be 0 bytes long
}

TEST_CASE("MappedFile: what has been forgotten is read again") {
  const auto path = std::filesystem::temp_directory_path() / "attnviz_mapped_file_test";
  std::string text;
  while (text.size() < 100'000) {
    text += std::to_string(text.size()) + ' ';
  }
  std::ofstream(path, std::ios::binary) << text;
  const MappedFile file(path);
  std::filesystem::remove(path);
  file.forget(file.bytes());
  CHECK(file.bytes() == text);
  file.forget(file.bytes().substr(5000, 50'000));
  file.forget(file.bytes().substr(99'999));
  file.forget({});
  CHECK(file.bytes() == text);
  const MappedFile unmapped("/proc/self/status");
  unmapped.forget(unmapped.bytes());
  CHECK_FALSE(unmapped.bytes().empty());
}

TEST_CASE("mapped_file_at: the file whose map holds an address, as long as it is mapped") {
  const auto path = std::filesystem::temp_directory_path() / "attnviz_mapped_file_test";
  std::ofstream(path, std::ios::binary) << "cat\n";
  const char* last = nullptr;
  {
    const MappedFile file(path);
    last = file.bytes().data() + 3;
    CHECK(mapped_file_at(last) == path.string());
    CHECK(mapped_file_at(last + 1) == nullptr);
  }
  std::filesystem::remove(path);
  CHECK(mapped_file_at(last) == nullptr);
  CHECK(mapped_file_at(&path) == nullptr);
}

TEST_CASE("MappedFile: what cannot be read is an I/O error that names the path") {
  CHECK_THROWS_WITH_AS(MappedFile("/no/such/file"),
                       "/no/such/file: cannot read: No such file or directory", Error);
  CHECK_THROWS_WITH_AS(MappedFile("/dev/zero"),
                       "/dev/zero: cannot read: a device, where a file was expected", Error);
  CHECK_THROWS_WITH_AS(MappedFile("/"), "/: cannot read: Is a directory", Error);
}

}  // namespace attnviz
