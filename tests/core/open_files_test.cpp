#include "attnviz/core/mapped_file.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "attnviz/core/error.h"
#include "support/run_program.h"

namespace attnviz {

TEST_CASE("OpenFiles: a file is opened once, whichever copy of it is used") {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a.txt";
  test::write_file(path, "cat\n");
  OpenFiles files;
  const MappedFile first = files.open(path);
  std::filesystem::remove(path);
  OpenFiles copy = files;
  CHECK(copy.open(path).bytes().data() == first.bytes().data());
  CHECK_THROWS_AS(OpenFiles().open(path), Error);
}

TEST_CASE("OpenFiles: a file that failed or cannot be mapped is opened anew") {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a.txt";
  OpenFiles files;
  CHECK_THROWS_AS(files.open(path), Error);
  test::write_file(path, "");
  CHECK(files.open(path).bytes().empty());
  test::write_file(path, "cat\n");
  CHECK(files.open(path).bytes() == "cat\n");
}

}  // namespace attnviz
