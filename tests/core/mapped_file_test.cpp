#include "attnviz/core/mapped_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE("MappedFile: reads files, empty ones and files without a size") {
  const auto path = std::filesystem::temp_directory_path() / "attnviz_mapped_file_test";
  std::ofstream(path, std::ios::binary) << "cat\n";
  CHECK(MappedFile(path).bytes() == "cat\n");
  std::ofstream(path, std::ios::trunc).close();
  CHECK(MappedFile(path).bytes().empty());
  std::filesystem::remove(path);
  CHECK_FALSE(MappedFile("/proc/self/status").bytes().empty());  // claims to be 0 bytes long
}

TEST_CASE("MappedFile: pages that were dropped are read again") {
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

TEST_CASE("mapped_file_at: the file whose mapping holds an address, as long as it is mapped") {
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

TEST_CASE("MappedFile: a Git LFS pointer is a file that was not downloaded") {
  const auto path = std::filesystem::temp_directory_path() / "attnviz_mapped_file_test";
  std::ofstream(path, std::ios::binary) << "version https://git-lfs.github.com/spec/v1\n"
                                           "oid sha256:2d711642b726b04401627ca9fbac32f5\n"
                                           "size 267832560\n";
  const std::string message = path.string() +
                              ": a Git LFS pointer: the file itself (267,832,560 bytes) was not "
                              "downloaded; run git lfs pull in its folder to download it";
  CHECK_THROWS_WITH_AS(MappedFile{path}, message.c_str(), Error);
  std::filesystem::remove(path);
}

TEST_CASE("MappedFile: a file of /proc that has no data yet is not waited for") {
  const std::filesystem::path kernel_messages = "/proc/kmsg";
  try {
    const MappedFile file(kernel_messages);  // data that was not read before
    MESSAGE("SKIPPED: /proc/kmsg ends");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kIo);
    CHECK(std::string(error.what()).starts_with("/proc/kmsg: cannot read: "));
  }
}

TEST_CASE("MappedFile: an unreadable file is an I/O error that names the path") {
  CHECK_THROWS_WITH_AS(MappedFile("/no/such/file"),
                       "/no/such/file: cannot read: No such file or directory", Error);
  CHECK_THROWS_WITH_AS(MappedFile("/dev/zero"), "/dev/zero: cannot read: a device, not a file",
                       Error);
  CHECK_THROWS_WITH_AS(MappedFile("/"), "/: cannot read: Is a directory", Error);
}

// Must come last: the result is remembered.
TEST_CASE("shortened_file: a file that has become shorter, while it is mapped and afterwards") {
  const auto path = std::filesystem::temp_directory_path() / "attnviz_shortened_file_test";
  const auto write = [](const std::filesystem::path& name) {
    std::ofstream(name, std::ios::binary) << std::string(5000, 'a');
  };
  write(path);
  {
    const MappedFile file(path);
    CHECK(shortened_file().empty());
    // A shorter file that replaces this one under its name does not count.
    const std::string other = path.string() + ".new";
    std::ofstream(other, std::ios::binary) << "a";
    std::filesystem::rename(other, path);
    CHECK(shortened_file().empty());
    CHECK_NOTHROW(require_whole_files());
  }
  write(path);
  {
    const MappedFile file(path);
    std::filesystem::resize_file(path, 4999);
    CHECK(shortened_file() == path);
    CHECK_THROWS_WITH_AS(require_whole_files(), doctest::Contains("the file became shorter"),
                         Error);
  }
  CHECK(shortened_file() == path);
  std::filesystem::remove(path);
}

}  // namespace attnviz
