#include "attnviz/formats/gguf.h"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/tensor_files.h"
#include "support/failure.h"
#include "support/gguf_builder.h"
#include "support/run_program.h"

namespace attnviz {

namespace {

using test::Failure;
using test::GgufBuilder;
using test::TemporaryFolder;
using test::write_file;

Failure split_failure(const std::filesystem::path& path) {
  return test::failure_of([&] { GgufFiles{path}; });
}

// A shard as llama.cpp writes it: the first has the metadata of the model.
GgufBuilder shard(std::uint16_t number, std::uint16_t count, std::int32_t n_tensors,
                  std::string_view tensor, bool big_endian = false) {
  GgufBuilder builder(big_endian);
  if (number == 0) {
    builder.add_string("general.architecture", "llama");
  }
  builder.add_u16("split.no", number)
      .add("split.tensors.count", GgufType::kI32, builder.number(n_tensors))
      .add_u16("split.count", count);
  builder.tensors = {
      {std::string(tensor), {2}, 0, builder.numbers({1.0f, 2.0f + static_cast<float>(number)})}};
  return builder;
}

const char* const kNames[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                              "m-00003-of-00003.gguf"};

// Three shards, one of which a test may corrupt.
void write_shards(const TemporaryFolder& folder, bool big_endian = false) {
  write_file(folder.file(kNames[0]), shard(0, 3, 3, "a", big_endian).bytes());
  write_file(folder.file(kNames[1]), shard(1, 3, 3, "b", big_endian).bytes());
  write_file(folder.file(kNames[2]), shard(2, 3, 3, "c", big_endian).bytes());
}

}  // namespace

TEST_CASE("GGUF files: a single file is a model under any name") {
  const TemporaryFolder folder;
  GgufBuilder builder;
  builder.add_u32("x", 1);
  builder.tensors = {{"w", {1}, 24, "w"}};
  for (const char* name : {"sha256-00ff", "m-00001-of-00002.gguf"}) {
    write_file(folder.file(name), builder.bytes());
    const GgufFiles files(folder.file(name));
    CHECK(files.tensors().size() == 1);
    CHECK(files.tensors().find("w").tensor->bytes == "w");
    CHECK(files.tensors().find("w").file == folder.file(name));
    CHECK(!files.tensors().find("v"));
  }
  // A model that was split into a single shard.
  write_file(folder.file("one.gguf"), shard(0, 1, 1, "a").bytes());
  const GgufFiles one(folder.file("one.gguf"));
  CHECK(one.tensors().size() == 1);
  CHECK(one.tensors().find("a").file == folder.file("one.gguf"));
}

TEST_CASE("GGUF files: any shard opens all of them, with the metadata of the first") {
  for (const bool big_endian : {false, true}) {
    const TemporaryFolder folder;
    write_shards(folder, big_endian);
    for (const char* name : kNames) {
      CAPTURE(name);
      const GgufFiles files(folder.file(name));
      CHECK(files.first().find("general.architecture")->as_string() == "llama");
      CHECK(files.tensors().find("a").file == folder.file(kNames[0]));
      CHECK(files.tensors().find("c").file == folder.file(kNames[2]));
      CHECK(files.tensors().size() == 3);
      CHECK(files.tensors().find("b").file == folder.file(kNames[1]));
      // In this machine's byte order, from files of either order.
      std::array<float, 2> numbers{};
      const std::string_view bytes = files.tensors().find("c").tensor->bytes;
      REQUIRE(bytes.size() == sizeof(numbers));
      std::memcpy(numbers.data(), bytes.data(), sizeof(numbers));
      CHECK(numbers == std::array{1.0f, 4.0f});
    }
  }
}

TEST_CASE("GGUF files: shards that do not fit together are refused") {
  struct Case {
    std::string_view what;
    std::function<void(const TemporaryFolder&)> spoil;
    std::string_view message;
  };
  const auto replace = [](std::size_t index, const GgufBuilder& builder) {
    return [index, bytes = builder.bytes()](const TemporaryFolder& folder) {
      write_file(folder.file(kNames[index]), bytes);
    };
  };
  GgufBuilder no_number;
  no_number.add_u16("split.count", 3);
  GgufBuilder no_count;
  no_count.add_u16("split.no", 1);
  GgufBuilder odd_number;
  odd_number.add_string("split.no", "1").add_u16("split.count", 3);
  const std::vector<Case> cases = {
      {"second missing",
       [](const TemporaryFolder& folder) { std::filesystem::remove(folder.file(kNames[1])); },
       "one of 3 shards of a model: expected all of them in its folder, missing: "
       "m-00002-of-00003.gguf"},
      {"two missing",
       [](const TemporaryFolder& folder) {
         std::filesystem::remove(folder.file(kNames[1]));
         std::filesystem::remove(folder.file(kNames[2]));
       },
       "missing: m-00002-of-00003.gguf and m-00003-of-00003.gguf"},
      {"a tensor twice", replace(1, shard(1, 3, 3, "a")), "00002-of-00003.gguf: a: also in "},
      {"the same shard twice", replace(1, shard(0, 3, 3, "a")),
       "00002-of-00003.gguf: split.no: expected 1, as the file's name says, found 0"},
      {"no number", replace(2, no_number),
       "split.no: expected 2, as the file's name says, found no"},
      {"a number that is none", replace(1, odd_number), "split.no: expected a whole number"},
      {"another count", replace(2, shard(2, 4, 3, "c")),
       "00003-of-00003.gguf: split.count: expected 3, as the file's name says, found 4"},
      {"no count", replace(1, no_count), "split.count: expected 3, as the file's name says, found"},
      {"another number of tensors", replace(0, shard(0, 3, 4, "a")),
       "00001-of-00003.gguf: split.tensors.count: expected 4 tensors in 3 files, found 3"},
      {"a negative number of tensors", replace(0, shard(0, 3, -1, "a")),
       "split.tensors.count: expected a whole number"},
      {"cut short",
       [](const TemporaryFolder& folder) {
         std::filesystem::resize_file(folder.file(kNames[1]), 20);
       },
       "00002-of-00003.gguf: header"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.what);
    const TemporaryFolder folder;
    write_shards(folder);
    one.spoil(folder);
    const Failure failure = split_failure(folder.file(kNames[0]));
    CAPTURE(failure.message);
    CHECK(failure.kind == ErrorKind::kMalformed);
    CHECK(failure.message.find(one.message) != std::string::npos);
  }
}

TEST_CASE("GGUF files: a shard whose name does not lead to the others is refused at once") {
  for (const char* name :
       {"m.gguf", "m-00001-of-00002.gguf", "m-00004-of-00003.gguf", "m-00000-of-00003.gguf",
        "m-0001-of-0003.gguf", "-of-00003.gguf", "m-00001-of-00003", "m_00001-of-00003.gguf",
        "m-0000a-of-00003.gguf", "m--0001-of-00003.gguf", "00001-of-00003.gguf"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    write_file(folder.file(name), shard(0, 3, 3, "a").bytes());
    const Failure failure = split_failure(folder.file(name));
    CHECK(failure.kind == ErrorKind::kMalformed);
    CHECK(failure.message.find("split.count: one of 3 shards of a model: expected a name like "
                               "NAME-00001-of-00003.gguf") != std::string::npos);
  }
}

TEST_CASE("GGUF files: 65535 missing shards take no time") {
  const TemporaryFolder folder;
  const std::string name = folder.file("m-00001-of-65535.gguf");
  write_file(name, shard(0, 65535, 1, "a").bytes());
  const auto begin = std::chrono::steady_clock::now();
  const Failure failure = split_failure(name);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
  CHECK(failure.kind == ErrorKind::kMalformed);
  CHECK(failure.message.find("missing: m-00002-of-65535.gguf, m-00003-of-65535.gguf, "
                             "m-00004-of-65535.gguf and more") != std::string::npos);
}

TEST_CASE("tensor files: those of GGUF files stay open as long as the tensors") {
  const TemporaryFolder folder;
  write_shards(folder);
  auto gguf = std::make_shared<const GgufFiles>(folder.file(kNames[1]));
  TensorFiles files = TensorFiles::of_gguf(gguf);
  CHECK(files.name() == folder.file(kNames[0]));
  CHECK(files.size() == 3);
  CHECK(files.tensors().front().tensor->name == "a");
  CHECK(gguf->first().find("general.architecture")->as_string() == "llama");
  gguf = nullptr;
  const TensorFiles moved = std::move(files);
  CHECK(moved.find("c").tensor->type == StoredType::kF32);
  CHECK(moved.find("c").file == folder.file(kNames[2]));
}

}  // namespace attnviz
