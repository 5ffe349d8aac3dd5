#include "attnviz/formats/safetensors.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "support/failure.h"
#include "support/stopwatch.h"

namespace attnviz {

namespace {

using test::Failure;
// The eight bytes of the length, the header, and the data.
std::string file_of(std::string_view header, std::string_view data = {}) {
  std::string file;
  for (std::size_t i = 0; i < 8; ++i) {
    file += static_cast<char>(header.size() >> 8 * i & 0xFF);
  }
  return file.append(header).append(data);
}

Failure header_failure(std::string_view bytes) {
  return test::failure_of([&] { Safetensors(bytes, "m.safetensors"); });
}

}  // namespace

TEST_CASE("safetensors: names, types, shapes and bytes, viewed in the file") {
  // In another order than the bytes, with padding after the header, as written by others.
  const std::string bytes =
      file_of(R"({"__metadata__":{"format":"pt"},)"
              R"("b":{"dtype":"I64","shape":[],"data_offsets":[8,16]},)"
              R"("a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},)"
              R"("empty":{"dtype":"F32","shape":[0,3],"data_offsets":[16,16]},)"
              R"("wörd":{"dtype":"U8","shape":[1],"data_offsets":[16,17]}}  )",
              "aaaabbbbccccdddde");
  const Safetensors file(bytes, "m.safetensors");
  REQUIRE(file.tensors().size() == 4);
  const StoredTensor* a = file.find("a");
  REQUIRE(a != nullptr);
  CHECK(a->name == "a");
  CHECK(a->type == StoredType::kF16);
  CHECK(std::vector<std::size_t>(a->shape.begin(), a->shape.end()) ==
        std::vector<std::size_t>{2, 2});
  CHECK(a->bytes == "aaaabbbb");
  CHECK(a->bytes.data() == bytes.data() + bytes.size() - 17);
  CHECK(a->n_numbers() == 4);
  CHECK(file.find("b")->shape.empty());
  CHECK(file.find("b")->n_numbers() == 1);
  CHECK(file.find("empty")->n_numbers() == 0);
  CHECK(file.find("wörd")->bytes == "e");
  CHECK(file.find("c") == nullptr);
  CHECK(Safetensors(file_of("{}"), "m").tensors().empty());
}

TEST_CASE("safetensors: a file written by another program") {
  const std::filesystem::path path =
      ATTNVIZ_SOURCE_DIR "/../shared/reference/models/gpt-nano-sort/model.safetensors";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no ", path.string());
    return;
  }
  const MappedFile mapped(path);
  const Safetensors file(mapped.bytes(), path.string());
  const StoredTensor* attention = file.find("transformer.h.0.attn.c_attn.weight");
  REQUIRE(attention != nullptr);
  CHECK(attention->type == StoredType::kF32);
  CHECK(attention->n_numbers() == 48 * 144);
}

TEST_CASE("safetensors: every type has the size given in its name") {
  CHECK(stored_type_name(StoredType::kF8E4M3) == "F8_E4M3");
  CHECK(stored_block(StoredType::kF8E5M2).bytes == 1);
  CHECK(stored_type_name(StoredType::kBf16) == "BF16");
  CHECK(stored_block(StoredType::kBf16).bytes == 2);
  CHECK(stored_block(StoredType::kF64).bytes == 8);
  CHECK(stored_type_name(StoredType::kBool) == "BOOL");
  CHECK(stored_block(StoredType::kBool).bytes == 1);
  CHECK(stored_type_name(StoredType::kU16) == "U16");
  CHECK(stored_block(StoredType::kU16).bytes == 2);
}

TEST_CASE("safetensors: broken files are refused, and the message says what is wrong") {
  struct Case {
    std::string bytes;
    const char* says;
  };
  const auto one = [](const char* tensor, std::string_view data = "12345678") {
    return file_of(std::string(R"({"w":)") + tensor + "}", data);
  };
  std::string cut_short =
      file_of(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234");
  cut_short.resize(20);
  const Case cases[] = {
      {"", "too short"},
      {"1234567", "too short"},
      {cut_short, "cut short"},
      {std::string(8, '\xFF') + "{}", "cut short"},
      {file_of(""), "does not begin with {"},
      {file_of(" {}"), "does not begin with {"},
      {file_of("[]"), "does not begin with {"},
      {file_of("{"), "line 1, column 2"},
      {file_of("{} x"), "line 1, column 4"},
      {file_of("{\"\xFF\":1}"), "line 1, column 3"},
      {file_of(R"({"a":{"a":{"a":{"a":{"a":{"a":1}}}}}})"), "deeper than"},
      {file_of(R"({"w":1})"), "tensor \"w\": expected an object"},
      {file_of(R"({"w":{},"w":{}})"), "names \"w\" twice"},
      {one(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"), "\"dtype\" twice"},
      {one(R"({"shape":[2],"data_offsets":[0,8]})"), "dtype is missing"},
      {one(R"({"dtype":4,"shape":[2],"data_offsets":[0,8]})"), "dtype: expected a string"},
      {one(R"({"dtype":"F32","data_offsets":[0,8]})"), "shape is missing"},
      {one(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})"), "shape: expected a list"},
      {one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), "shape: expected whole"},
      {one(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"), "shape: expected whole"},
      {one(R"({"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8]})"),
       "shape: expected whole"},
      {one(R"({"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]})"),
       "[4294967296, 4294967296, 2] numbers of type F32 do not take 8 bytes"},
      {one(R"({"dtype":"F32","shape":[2]})"), "data_offsets is missing"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"), "expected [begin, end]"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8,8]})"), "expected [begin, end]"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), "expected [begin, end]"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,12]})"),
       "end at 12, those of the file at 8"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})"), "do not take 8 bytes"},
      {one(R"({"dtype":"F32","shape":[],"data_offsets":[0,8]})"), "do not take 8 bytes"},
      {one(R"({"dtype":"F32","shape":[0],"data_offsets":[0,8]})"), "do not take 8 bytes"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"), "end at byte 4, the file at 8"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), "after a gap"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]},"v":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
       "inside another one"},
      {file_of(R"({"__metadata__":[]})"), "__metadata__: expected an object"},
      {file_of(R"({"__metadata__":{"a":1}})"), "__metadata__: \"a\": expected a string"},
  };
  for (const Case& broken : cases) {
    CAPTURE(broken.says);
    const Failure failure = header_failure(broken.bytes);
    CAPTURE(failure.message);
    CHECK(failure.kind == ErrorKind::kMalformed);
    CHECK(failure.message.starts_with("m.safetensors: "));
    CHECK(failure.message.find(broken.says) != std::string::npos);
  }
}

TEST_CASE("safetensors: a header of 80,000 tensors is read at once") {
  std::string header;
  for (std::size_t i = 0; i < 80'000; ++i) {
    header += (i == 0 ? "{" : ",") + in_quotes("h." + std::to_string(i)) +
              R"(:{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  const std::string bytes = file_of(header + "}");
  const test::Stopwatch watch;
  CHECK(Safetensors(bytes, "m.safetensors").tensors().size() == 80'000);
  CHECK(watch.is_in_time());  // walking all tensors for each one would take minutes
}

TEST_CASE("safetensors: bytes of other types hold at most 8 numbers each") {
  const std::string bytes =
      file_of(R"({"w":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", "1");
  const Safetensors file(bytes, "m.safetensors");
  REQUIRE(file.find("w") != nullptr);
  CHECK(file.find("w")->other_type == "F4");
  CHECK(file.find("w")->bytes == "1");
  for (const char* shape : {"[9]", "[4294967296,4294967296,4294967296]"}) {
    CAPTURE(shape);
    const Failure failure = header_failure(file_of(
        R"({"w":{"dtype":"F4","shape":)" + std::string(shape) + R"(,"data_offsets":[0,1]}})", "1"));
    CHECK(failure.kind == ErrorKind::kMalformed);
    CHECK(failure.message.find("numbers of type F4 do not take 1 bytes") != std::string::npos);
  }
}

TEST_CASE("safetensors: well-formed but unknown types are distinguished from broken files") {
  std::string padded = "{}";
  padded.resize(32'000'001, ' ');
  CHECK(header_failure(file_of(padded)).kind == ErrorKind::kUnsupported);
}

}  // namespace attnviz
