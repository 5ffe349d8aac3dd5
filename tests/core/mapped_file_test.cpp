#include "attnviz/core/mapped_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE("MappedFile: bytes of files, empty ones too, and of files without a size") {
  const auto path = std::filesystem::temp_directory_path() / "attnviz_mapped_file_test";
  std::ofstream(path, std::ios::binary) << "cat\n";
  CHECK(MappedFile(path).bytes() == "cat\n");
  std::ofstream(path, std::ios::trunc).close();
  CHECK(MappedFile(path).bytes().empty());
  std::filesystem::remove(path);
  CHECK(MappedFile("/dev/null").bytes().empty());
  CHECK_FALSE(MappedFile("/proc/self/status").bytes().empty());  // claims to be 0 bytes long
}

TEST_CASE("MappedFile: what cannot be read is an I/O error that names the path") {
  CHECK_THROWS_WITH_AS(MappedFile("/no/such/file"),
                       "/no/such/file: cannot read: No such file or directory", Error);
  CHECK_THROWS_WITH_AS(MappedFile("/dev/zero"),
                       "/dev/zero: cannot read: no regular file, and longer than 256 MiB", Error);
  CHECK_THROWS_WITH_AS(MappedFile("/"), "/: cannot read: Is a directory", Error);
}

}  // namespace attnviz
