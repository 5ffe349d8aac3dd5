// Files written by other programs, and broken ones made from them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/gguf.h"
#include "support/json.h"
#include "support/run_program.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

const fs::path kOurs = ATTNVIZ_SOURCE_DIR "/tests/reference/gguf";
const fs::path kReference = ATTNVIZ_SOURCE_DIR "/../shared/reference/gguf";

bool is_missing(std::string_view what) {
  if (fs::exists(kReference / what)) {
    return false;
  }
  MESSAGE("SKIPPED: no ../shared/reference/gguf/", std::string(what));
  return true;
}

struct Outcome {
  bool opened = false;
  ErrorKind kind = ErrorKind::kUsage;
  std::string message;
};

Outcome open(const fs::path& path) {
  try {
    const GgufFiles files(path);
    return {true, {}, {}};
  } catch (const Error& error) {
    return {false, error.kind(), error.what()};
  }
}

// Broken as files; the others are broken as models. Names begin with numbers.
const std::set<std::string> kBrokenFiles = {"002", "005", "008", "011", "014", "017", "023", "026",
                                            "029", "032", "035", "038", "041", "044", "050", "053",
                                            "056", "062", "065", "068", "071", "074", "140", "sha"};

// The bytes of a file with pieces [offset, size, what is put there in hexadecimal] replaced.
std::string edited(const std::string& base, const nlohmann::json& edits) {
  std::string bytes;
  std::size_t done = 0;
  for (const auto& edit : edits) {
    const auto offset = edit.at(0).get<std::size_t>();
    bytes += base.substr(done, offset - done);
    const auto digits = edit.at(2).get<std::string>();
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    }
    done = offset + edit.at(1).get<std::size_t>();
  }
  return bytes + base.substr(done);
}

// Two files with the same tensors, one of them big-endian.
void check_same_tensors(const fs::path& little, const fs::path& big) {
  const GgufFiles a(little);
  const GgufFiles b(big);
  CHECK(b.first().is_big_endian());
  REQUIRE(a.tensors().size() == b.tensors().size());
  REQUIRE(b.tensors().size() > 0);
  for (const FoundTensor& tensor : a.tensors().all()) {
    CAPTURE(tensor.tensor->name);
    const FoundTensor other = b.tensors().find(tensor.tensor->name);
    REQUIRE(other);
    CHECK(other.tensor->type == tensor.tensor->type);
    CHECK(std::ranges::equal(other.tensor->shape, tensor.tensor->shape));
    CHECK((other.tensor->bytes == tensor.tensor->bytes));
  }
  for (const Gguf::Entry& entry : a.first().metadata()) {
    CAPTURE(entry.key);
    const GgufValue* const other = b.first().find(entry.key);
    REQUIRE(other != nullptr);
    CHECK(other->text() == entry.value.text());
    CHECK(other->as_strings() == entry.value.as_strings());
    CHECK(other->as_numbers() == entry.value.as_numbers());
  }
}

}  // namespace

TEST_CASE("GGUF reference: blocks of big-endian files are converted to little-endian ones") {
  std::size_t n_types = 0;
  for (auto number = 0; number <= static_cast<int>(kLastStoredType); ++number) {
    StoredTensor tensor;
    tensor.type = static_cast<StoredType>(number);
    const std::string name(stored_type_name(tensor.type));
    if (!fs::exists(kOurs / "quants" / (name + ".bin"))) {
      continue;  // not of this format
    }
    CAPTURE(name);
    const std::string expected = test::read_file(kOurs / "quants" / (name + ".bin"));
    const fs::path big = kOurs / "quants" / (name + ".big.bin");
    const std::string bytes = fs::exists(big) ? test::read_file(big) : expected;
    tensor.bytes = bytes;
    const std::vector<char> turned = turned_bytes(tensor);
    CHECK((std::string(turned.begin(), turned.end()) == expected));
    ++n_types;
  }
  CHECK(n_types == 30);
}

TEST_CASE("GGUF reference: small models of all kinds open, variants of one with the same tensors") {
  for (const fs::directory_entry& entry : fs::directory_iterator(kOurs / "models")) {
    if (entry.path().extension() == ".gguf") {
      const std::string name = entry.path().filename();
      CAPTURE(name);
      CHECK(open(entry.path()).message == "");
    }
  }
  const fs::path folder = kOurs / "models";
  check_same_tensors(folder / "llama-q8-q5.gguf", folder / "llama-q8-q5-big-endian.gguf");
  const GgufFiles one(folder / "llama-q8-q5.gguf");
  for (const char* name :
       {"llama-q8-q5-v2.gguf", "llama-q8-q5-align-64.gguf", "llama-q8-q5-shuffled.gguf",
        "llama-q8-q5-every-kind.gguf", "llama-q8-q5-split-00002-of-00002.gguf",
        "llama-q8-q5-split-00003-of-00003.gguf"}) {
    CAPTURE(name);
    const GgufFiles other(folder / name);
    REQUIRE(other.tensors().size() == one.tensors().size());
    for (const FoundTensor& tensor : one.tensors().all()) {
      const FoundTensor same = other.tensors().find(tensor.tensor->name);
      REQUIRE(same);
      CHECK((same.tensor->bytes == tensor.tensor->bytes));
    }
  }
}

TEST_CASE("GGUF reference: files of impossible models are still valid files") {
  const auto index = test::read_json(kOurs / "bad/index.json");
  CHECK(index.size() > 50);
  for (const auto& entry : index) {
    const auto what = entry.at("what").get<std::string>();
    CAPTURE(what);
    const std::string bytes = edited(
        test::read_file(kOurs / "models" / entry.at("base").get<std::string>()), entry.at("edits"));
    CHECK_NOTHROW(Gguf(bytes, "m.gguf"));
  }
}

TEST_CASE("GGUF reference: models written by llama.cpp's tools open") {
  if (is_missing("models")) {
    return;
  }
  std::size_t n_models = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kReference / "models")) {
    const std::string name = entry.path().filename();
    CAPTURE(name);
    const GgufFiles files(entry.path());
    std::set<std::string_view> parts;
    for (const FoundTensor& found : files.tensors().all()) {
      parts.insert(found.file);
    }
    CHECK((parts.size() > 1) == (name.find("-split-") != std::string::npos));
    CHECK(files.tensors().find("token_embd.weight"));
    CHECK(files.first().find("tokenizer.ggml.tokens")->as_strings()->size() ==
          files.tensors().find("token_embd.weight").tensor->shape.front());
    ++n_models;
  }
  CHECK(n_models > 8);
}

TEST_CASE("GGUF reference: big-endian files hold the same numbers and keys") {
  if (is_missing("odd") || is_missing("models")) {
    return;
  }
  check_same_tensors(kReference / "odd/plain.gguf", kReference / "odd/big-endian.gguf");
  check_same_tensors(kReference / "models/stories260k-q8_0.gguf",
                     kReference / "models/stories260k-q8_0-be.gguf");
}

TEST_CASE("GGUF reference: unusual files open") {
  if (is_missing("odd/index.json")) {
    return;
  }
  const auto index = test::read_json(kReference / "odd/index.json");
  for (const auto& entry : index.at("files")) {
    const auto name = entry.at("file").get<std::string>();
    CAPTURE(name);
    CHECK(open(kReference / "odd" / name).message == "");
  }
}

TEST_CASE("GGUF reference: files with a broken format are refused, with their name") {
  if (is_missing("bad/index.json")) {
    return;
  }
  const auto index = test::read_json(kReference / "bad/index.json");
  CHECK(open(kReference / "bad" / index.at("valid").get<std::string>()).opened);
  std::size_t n_refused = 0;
  for (const auto& entry : index.at("files")) {
    const auto name = entry.at("file").get<std::string>();
    CAPTURE(name);
    const Outcome outcome = open(kReference / "bad" / name);
    CAPTURE(outcome.message);
    if (!outcome.opened) {
      ++n_refused;
      CHECK((outcome.kind == ErrorKind::kMalformed || outcome.kind == ErrorKind::kUnsupported));
      CHECK(outcome.message.find(fs::path(name).filename().string().substr(0, 6)) !=
            std::string::npos);
      CHECK(entry.at("expect") != "nan");
    }
    if (kBrokenFiles.contains(name.substr(0, 3))) {
      CHECK(!outcome.opened);
    }
  }
  CHECK(n_refused >= kBrokenFiles.size());
}

}  // namespace attnviz
