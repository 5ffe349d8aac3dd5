#include "attnviz/core/file_kind.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "support/failure.h"

namespace attnviz {
namespace {

using namespace std::string_view_literals;

std::string zip_with(std::string_view name) {
  return "PK\x03\x04" + std::string(26, '\0') + std::string(name);
}

std::string numbers(const std::vector<std::int32_t>& values) {
  std::string bytes;
  for (const std::int32_t value : values) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes += static_cast<char>(static_cast<std::uint32_t>(value) >> shift);
    }
  }
  return bytes;
}

std::string tar_file() {
  return std::string(257, 'a') + "ustar";
}

}  // namespace

TEST_CASE(
    "a file of another kind is recognised by its first bytes, other model formats with code 4") {
  struct Case {
    std::string bytes;
    ErrorKind kind;
    std::string_view part;
  };
  const Case cases[] = {
      // As PyTorch's torch.save() wrote them until 1.5, and since.
      {std::string("\x80\x02\x8a\x0al\xfc\x9c"), ErrorKind::kUnsupported, "a pickle of PyTorch"},
      {"(dp0\nVx\np1\n", ErrorKind::kUnsupported, "a pickle of PyTorch"},
      {std::string("}q\0(X", 5), ErrorKind::kUnsupported, "a pickle of PyTorch"},
      {zip_with("archive/data.pkl"), ErrorKind::kUnsupported, "an archive of PyTorch"},
      {zip_with("docs/readme.txt"), ErrorKind::kMalformed, "an archive"},
      {std::string("\x1f\x8b\x08\x00", 4), ErrorKind::kMalformed, "an archive"},
      {tar_file(), ErrorKind::kMalformed, "an archive"},
      {std::string("\x89HDF\r\n\x1a\n"), ErrorKind::kUnsupported, "an HDF5 file"},
      // Little-endian numbers: 'ggjt', 'ggla', 20240326 and 'ak42'.
      {numbers({0x67676a74, 3}), ErrorKind::kUnsupported, "a GGML file, from before GGUF"},
      {numbers({0x67676c61, 1}), ErrorKind::kUnsupported, "a GGML file, from before GGUF"},
      {numbers({20240326, 3, 1024}), ErrorKind::kUnsupported, "a checkpoint of llm.c"},
      {numbers({0x616b3432, 1}), ErrorKind::kUnsupported, "a checkpoint of llama2.c"},
      // stories15M.bin and, with a separate classifier, llama2_7b.bin.
      {numbers({288, 768, 6, 6, 6, 32000, 256}), ErrorKind::kUnsupported, "llama2.c"},
      {numbers({4096, 11008, 32, 32, 32, -32000, 2048}), ErrorKind::kUnsupported, "llama2.c"},
      {"GGUF" + numbers({3, 0}), ErrorKind::kMalformed, "a GGUF model"},
      {std::string("GGUF\0\0\0\3", 8), ErrorKind::kMalformed, "a GGUF model"},
      {"\x08\x07\x12\x07pytorch", ErrorKind::kUnsupported, "an ONNX model"},
      {std::string("\x0a\x0e\x0a\x05<unk>\x15\x00\x00\x00\x00", 14), ErrorKind::kUnsupported,
       "a SentencePiece tokenizer"},
      {"IQ== 0\nIg== 1\n", ErrorKind::kUnsupported, "the ranks of a tiktoken tokenizer"},
      {numbers({64, 0}) + R"({"a":{}})", ErrorKind::kUnsupported, "a safetensors file"},
      {R"({"schemaVersion":2,"layers":[]})", ErrorKind::kUnsupported, "a manifest of Ollama"},
      {"<!DOCTYPE html>\n<html lang=\"en\">", ErrorKind::kMalformed, "a web page, saved instead"},
      {"\n<HTML>", ErrorKind::kMalformed, "a web page, saved instead"},
      {"<?xml version=\"1.0\"?><Error>", ErrorKind::kMalformed, "a web page, saved instead"},
      {"404: Not Found\n", ErrorKind::kMalformed, "a server's answer"},
      {"\xEF\xBB\xBF<!DOCTYPE html>", ErrorKind::kMalformed, "a web page, saved instead"},
      {R"({"error":"Repository not found"})", ErrorKind::kMalformed, "a server's answer"},
      {"Entry not found", ErrorKind::kMalformed, "a server's answer"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:2d\nsize 1234567\n",
       ErrorKind::kMalformed, "a Git LFS pointer: the file itself (1,234,567 bytes) was not"},
  };
  for (const Case& item : cases) {
    CAPTURE(item.part);
    const test::Failure failure =
        test::failure_of([&] { refuse_other_kind(item.bytes, "f.json"); });
    CHECK(failure.kind == item.kind);
    CHECK(failure.message.starts_with("f.json: "));
    CAPTURE(failure.message);
    CHECK(failure.message.find(item.part) != std::string::npos);
  }
}

TEST_CASE("files not recognised as another kind are left to the reader") {
  for (const std::string_view bytes :
       {""sv, "{"sv, "{\"a\": 1}"sv, "[1, 2]"sv, "the\n5\n"sv, "\na\nB\nsee you"sv,
        "<s>\n<pad>\n"sv, "#version: 0.2\ni n\n"sv, "Ġ t\nabcd 12\n"sv, "version 1\n"sv,
        "{%- for m in messages %}"sv, "24karat gold"sv, "GGUF is a format of models"sv, "GGUF"sv,
        "lmgg as a word"sv, "0000 0\n1111 1 1\n"sv, "0000 0\nin g\n"sv, "abcd 12\nefgh 7\n"sv,
        "Not Found\n[UNK]\n[CLS]\n"sv}) {
    CAPTURE(bytes);
    CHECK_NOTHROW(refuse_other_kind(bytes, "f"));
    CHECK(kind_of_bytes(bytes) == FileKind::kOther);
  }
  CHECK_NOTHROW(refuse_other_kind("IQ== 0\nIg== 1\n", "f", FileKind::kTiktoken));
  // Texts, as they may be given to be drawn.
  CHECK(kind_of_bytes("<html>") == FileKind::kOther);
  CHECK(kind_of_bytes("Entry not found") == FileKind::kOther);
  CHECK(kind_of_bytes("PK") == FileKind::kOther);
}

TEST_CASE("the message about a pointer file says no more than the pointer contains") {
  const std::string begin = "version https://git-lfs.github.com/spec/v1\n";
  for (const std::string rest : {"", "size\n", "size x\n", "size 123456789012345678901\n"}) {
    CHECK(described_kind(FileKind::kLfsPointer, begin + rest) ==
          "a Git LFS pointer: the file itself was not downloaded; run git lfs pull in its folder "
          "to download it");
  }
}

}  // namespace attnviz
