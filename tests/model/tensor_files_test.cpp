#include "attnviz/formats/tensor_files.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "support/failure.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {

namespace {

using test::Failure;
using test::safetensors_of;
using test::TemporaryFolder;
using test::write_file;

Failure index_failure(const std::filesystem::path& index) {
  return test::failure_of([&] { TensorFiles::open_index(index); });
}

}  // namespace

TEST_CASE("tensor files: an index brings the tensors of several files together") {
  const TemporaryFolder folder;
  write_file(folder.file("a.safetensors"), safetensors_of({{"x", {2}, {1.0f, 2.0f}}}));
  write_file(folder.file("b.safetensors"), safetensors_of({{"y", {1, 1}, {3.0f}}}));
  write_file(folder.file("i.json"),
             R"({"metadata": {"total_size": 12},
                 "weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})");
  const TensorFiles files = TensorFiles::open_index(folder.file("i.json"));
  CHECK(files.size() == 2);
  REQUIRE(files.find("y"));
  CHECK(files.find("y").tensor->shape.size() == 2);
  CHECK(files.find("y").file == folder.file("b.safetensors"));
  CHECK(!files.find("z"));
  CHECK(files.tensors().front().tensor->name == "x");
}

TEST_CASE("tensor files: invalid indexes are refused") {
  const TemporaryFolder folder;
  write_file(folder.file("a.safetensors"), safetensors_of({{"x", {1}, {1.0f}}}));
  write_file(folder.file("b.safetensors"),
             safetensors_of({{"x", {1}, {1.0f}}, {"y", {1}, {1.0f}}}));
  struct Case {
    std::string_view index;
    ErrorKind kind;
    std::string_view message;
  };
  const std::vector<Case> cases = {
      {"", ErrorKind::kMalformed, "i.json"},
      {"[1]", ErrorKind::kMalformed, "expected an object"},
      {"{}", ErrorKind::kMalformed, "weight_map"},
      {R"({"weight_map": 3})", ErrorKind::kMalformed, "expected an object"},
      {R"({"weight_map": {}})", ErrorKind::kMalformed, "no tensors"},
      {R"({"weight_map": {"x": 3}})", ErrorKind::kMalformed, "expected a string"},
      {R"({"weight_map": {"x": ""}})", ErrorKind::kMalformed, "same folder"},
      {R"({"weight_map": {"x": ".."}})", ErrorKind::kMalformed, "same folder"},
      {R"({"weight_map": {"x": "../a.safetensors"}})", ErrorKind::kMalformed, "same folder"},
      {R"({"weight_map": {"x": "/etc/passwd"}})", ErrorKind::kMalformed, "same folder"},
      {R"({"weight_map": {"x": "a\u0000b"}})", ErrorKind::kMalformed, "same folder"},
      {R"({"weight_map": {"x": "missing.safetensors"}})", ErrorKind::kIo, "missing.safetensors"},
      {R"({"weight_map": {"z": "a.safetensors"}})", ErrorKind::kMalformed, "z: not in"},
      {R"({"weight_map": {"x": "a.safetensors", "y": "a.safetensors"}})", ErrorKind::kMalformed,
       "y: not in a.safetensors"},
      {R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})", ErrorKind::kMalformed,
       "also in"},
      {R"({"weight_map": {"x": "a.safetensors", "x": "a.safetensors"}})", ErrorKind::kMalformed,
       "x"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.index);
    write_file(folder.file("i.json"), std::string(one.index));
    const Failure failure = index_failure(folder.file("i.json"));
    CHECK(failure.kind == one.kind);
    CHECK(failure.message.find(one.message) != std::string::npos);
    CAPTURE(failure.message);
  }
}

}  // namespace attnviz
