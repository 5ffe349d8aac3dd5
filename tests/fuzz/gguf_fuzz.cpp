// Any bytes as a GGUF file: it is read, walked and run on a few tokens, or refused with an Error.
// Any other exception, a crash or a sanitizer's report is a finding.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/run_model.h"
#include "support/gguf_builder.h"

namespace attnviz {

namespace {

using test::refused_or_done;
using test::require;
using test::run_model;
using test::run_tokenizer;
using test::use;

// Keeps the compiler from removing code that only reads.
volatile std::size_t sink = 0;

bool is_inside(std::string_view piece, std::string_view bytes) {
  const std::less_equal<const char*> before;
  return before(bytes.data(), piece.data()) &&
         before(piece.data() + piece.size(), bytes.data() + bytes.size());
}

void walk(const GgufValue& value) {
  require(value.text(40).size() <= 40);
  use(value.text());
  use(value.as_string().value_or(""));
  sink = sink + value.as_unsigned().value_or(0) + (value.as_bool().value_or(false) ? 1 : 0);
  sink = sink + static_cast<std::size_t>(value.as_signed().value_or(0));
  for (const std::string_view text : value.as_strings().value_or(std::vector<std::string_view>())) {
    use(text);
  }
  require(value.as_numbers().value_or(std::vector<double>(value.size())).size() == value.size());
  require(value.as_flags().value_or(std::vector<bool>(value.size())).size() == value.size());
}

void walk_metadata(const Gguf& file) {
  for (const Gguf::Entry& entry : file.metadata()) {
    require(file.find(entry.key) == &entry.value);
    walk(entry.value);
  }
}

void read_metadata(const Gguf& file) {
  const GgufMetadata metadata(file);
  for (const Gguf::Entry& entry : file.metadata()) {
    const std::string_view key = entry.key;
    refused_or_done([&] { sink = sink + metadata.size(key); });
    refused_or_done([&] { sink = sink + metadata.id(key).value_or(0); });
    refused_or_done([&] { require(metadata.positive(key) > 0); });
    refused_or_done([&] { require(std::isfinite(metadata.number_or(key, 0))); });
    refused_or_done([&] { sink = sink + (metadata.flag_or(key, true) ? 1 : 0); });
    refused_or_done([&] { use(metadata.text(key)); });
    refused_or_done([&] { sink = sink + metadata.strings(key).size(); });
    refused_or_done([&] { sink = sink + metadata.numbers(key).size(); });
    refused_or_done([&] { sink = sink + metadata.flags(key).size(); });
  }
}

void read_tensors(const Gguf& file, std::string_view bytes) {
  std::size_t size = 0;
  for (const StoredTensor& tensor : file.tensors()) {
    require(is_inside(tensor.name, bytes) && is_inside(tensor.bytes, bytes));
    require(tensor.bytes.size() == stored_bytes(tensor.type, tensor.n_numbers()));
    size += tensor.bytes.size();
    use(tensor.bytes);
    if (file.is_big_endian()) {
      const std::vector<char> turned = turned_bytes(tensor);
      require(turned.size() == tensor.bytes.size());
    }
  }
  require(size <= bytes.size());
}

// A file's path, in a folder in memory if there is one.
void read_model(std::string_view bytes) {
  namespace fs = std::filesystem;
  static const fs::path path =
      (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
      ("attnviz-fuzz-" + std::to_string(getpid()) + ".gguf");
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  refused_or_done([] { run_model(load_gguf(path)); });
  fs::remove(path);
}

// Everything that reads a whole file is called from here, one line each.
void read(std::string_view bytes) {
  refused_or_done([&] {
    const Gguf file(bytes, "fuzz");
    walk_metadata(file);
    read_metadata(file);
    read_tensors(file, bytes);
    refused_or_done([&] { run_tokenizer(*load_tokenizer(file)); });
  });
  read_model(bytes);
}

}  // namespace

namespace test {

namespace {

// A small file with a value of every kind, so that there is always a seed.
std::string built_in(bool big_endian) {
  GgufBuilder b(big_endian);
  b.add_string("general.architecture", "llama")
      .add_u32("general.alignment", 32)
      .add("x.bool", GgufType::kBool, std::string(1, '\1'))
      .add("x.f64", GgufType::kF64, b.number(0.5))
      .add("x.i16", GgufType::kI16, b.number(std::int16_t{-2}))
      .add("x.words", GgufType::kArray,
           b.array(GgufType::kString, 3, b.strings({"the", "cat", ""})))
      .add("x.scores", GgufType::kArray, b.array(GgufType::kF32, 2, b.numbers({-1.0f, 2.0f})))
      .add("x.rows", GgufType::kArray,
           b.array(GgufType::kArray, 1,
                   b.array(GgufType::kU16, 2, b.numbers<std::uint16_t>({1, 2}))));
  b.tensors = {{"norm", {8}, 0, std::string(32, 'n'), {}},
               {"halves", {4, 3}, 1, std::string(24, 'h'), {}},
               {"blocks", {64, 2}, 8, std::string(136, 'b'), {}},
               {"k", {256}, 12, std::string(144, 'k'), {}}};
  return b.bytes();
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds = {built_in(false), built_in(true)};
  for (const char* folder : {"gguf", "dialects", "experts"}) {
    std::ranges::move(files_below(folder, ".gguf"), std::back_inserter(seeds));
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
