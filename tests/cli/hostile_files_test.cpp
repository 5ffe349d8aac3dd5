// Pipes and devices, files that are not what they seem, and files that change while they are read.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"
#include "support/sanitized.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("a named pipe or a device instead of a file is refused, not waited for") {
  const TemporaryFolder folder;
  mkfifo(folder.file("pipe.json").c_str(), 0600);
  fs::create_symlink("pipe.json", folder.file("link.json"));
  fs::create_directory(folder.file("model"));
  mkfifo(folder.file("model/config.json").c_str(), 0600);
  write_file(folder.file("model/model.safetensors"), "");
  using Arguments = std::vector<std::string>;
  for (const Arguments& words :
       {Arguments{"-m", "pipe.json", "x"}, Arguments{"-m", "link.json", "x"},
        Arguments{"tokenize", "--tokenizer", "pipe.json", "x"}, Arguments{"render", "pipe.json"},
        Arguments{"merge", "pipe.json"}, Arguments{"--font", "pipe.json", "x"},
        Arguments{"info", "-m", "model"}}) {
    CAPTURE(words);
    const ProgramResult run = in_folder(folder, words);
    CHECK(run.exit_code == 1);
    CHECK(contains(run.err, ".json"));
  }
  const ProgramResult device = attnviz({"-m", "/dev/zero", "x"});
  CHECK(device.exit_code == 1);
  CHECK(mentions(device.err, {"/dev/zero"}));
}

TEST_CASE("a model may come through the pipe of a <(command), except GGUF") {
  const TemporaryFolder folder;
  const ProgramResult weights = in_shell(
      folder, "\"$PROGRAM\" info --json -m <(sleep 0.1; cat \"$SOURCE/samples/four-heads.json\")");
  CHECK(weights.exit_code == 0);
  const ProgramResult gguf = in_shell(
      folder,
      "\"$PROGRAM\" info -m <(cat \"$SOURCE/tests/reference/gguf/models/gpt2-all-bytes.gguf\")");
  CHECK(gguf.exit_code == 4);
  CHECK(mentions(gguf.err, {"GGUF"}));
}

TEST_CASE("a model that becomes shorter while it is read is an error, and leaves no files") {
  // To nothing, and within the last page, where zeros follow the new end.
  for (const std::string size : {"1", "-1"}) {
    CAPTURE(size);
    const TemporaryFolder folder;
    // The second text is given when the first one's document is there, and the file is cut.
    const ProgramResult run =
        in_shell(folder,
                 "model=$'m\\xc2\\x9b31m.gguf'\n"
                 "cp \"$SOURCE/tests/reference/gguf/models/gpt2-all-bytes.gguf\" \"$model\"\n"
                 "{ echo '{\"ids\": [1, 2]}'; while ! [ -s out ]; do sleep 0.02; done\n"
                 "  truncate -s " +
                     size +
                     " \"$model\"; echo '{\"ids\": [3, 4]}'; } |\n"
                     "\"$PROGRAM\" --json-lines --json -q -m \"$model\" -o x.json > out; code=$?\n"
                     "rm out \"$model\"\n"
                     "exit $code");
    if (!kSanitized || size != "1") {  // a sanitizer handles the signal itself
      CHECK(run.exit_code == 1);
      CHECK(run.err.starts_with("attnviz: m\\u{009B}31m.gguf: "));
      CHECK(lines_of(run.err).size() == 1);
    }
    CHECK(folder.names().empty());
  }
}

TEST_CASE("a file that replaces another does not run as its owner") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), "old");
  chmod(folder.file("a.json").c_str(), 07751);
  CHECK(in_folder(folder, {"cat", "-q", "-o", "a.json"}).exit_code == 0);
  struct stat info {};
  stat(folder.file("a.json").c_str(), &info);
  CHECK((info.st_mode & 07777) == 0751);
}

TEST_CASE("a file that replaces another can be read only by those who could read that one") {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.json");
  const auto replaced = [&] {
    CHECK(in_folder(folder, {"cat", "-q", "-o", "a.json"}).exit_code == 0);
    struct stat info {};
    stat(file.c_str(), &info);
    return info;
  };
  write_file(file, "old");
  if (chown(file.c_str(), static_cast<uid_t>(-1), 12345) != 0) {
    MESSAGE("SKIPPED: only root can give a file to any group");
  } else {
    chmod(file.c_str(), 0640);
    const struct stat info = replaced();
    CHECK(info.st_gid == 12345);
    CHECK((info.st_mode & 0777) == 0640);
  }
  // rw- of the owner, r-- of user 1000, --- of the group, r-- at most, --- of others: acl(5).
  const std::string list(
      "\2\0\0\0"
      "\1\0\6\0\377\377\377\377"
      "\2\0\4\0\350\3\0\0"
      "\4\0\0\0\377\377\377\377"
      "\20\0\4\0\377\377\377\377"
      "\40\0\0\0\377\377\377\377",
      44);
  constexpr const char* kAccessList = "system.posix_acl_access";
  write_file(file, "old");
  if (setxattr(file.c_str(), kAccessList, list.data(), list.size(), 0) != 0) {
    MESSAGE("SKIPPED: no access control lists in the folder of temporary files");
  } else {
    replaced();
    std::string kept(100, '\0');
    const ssize_t size = getxattr(file.c_str(), kAccessList, kept.data(), kept.size());
    CHECK(kept.substr(0, static_cast<std::size_t>(std::max<ssize_t>(size, 0))) == list);
    // A folder may give lists to what is made in it; the file that was there had none.
    setxattr(folder.path().c_str(), "system.posix_acl_default", list.data(), list.size(), 0);
    removexattr(file.c_str(), kAccessList);
    chmod(file.c_str(), 0640);
    replaced();
    CHECK(getxattr(file.c_str(), kAccessList, nullptr, 0) < 0);
    removexattr(folder.path().c_str(), "system.posix_acl_default");
  }
}

TEST_CASE("a pipe that does not wait is waited for, on both ends") {
  const TemporaryFolder folder;
  const std::string words(10'000, 'a');
  write_file(folder.file("in.txt"), words);
  const std::vector<std::string> command = {"tokenize", "--tokenizer", "chars",
                                            "--json",   "-f",          "in.txt"};
  const std::string whole = in_folder(folder, command).out;
  REQUIRE(whole.size() > 100'000);  // more than a pipe holds
  const ProgramResult run = in_shell(folder,
                                     "{ dd oflag=nonblock status=none < /dev/null; \"$PROGRAM\" "
                                     "tokenize --tokenizer chars --json\\\n"
                                     "  -f in.txt; } | { sleep 0.3; cat; }");
  CHECK(run.err.empty());
  CHECK(run.out == whole);
  const ProgramResult read = in_shell(
      folder,
      "{ sleep 0.2; cat in.txt; } |\n"
      "{ dd iflag=nonblock count=0 status=none; \"$PROGRAM\" tokenize --tokenizer chars --json; }");
  CHECK(read.err.empty());
  CHECK(read.out == whole);
}

}  // namespace attnviz::test
