#include "attnviz/formats/gguf_metadata.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "support/gguf_builder.h"

namespace attnviz {

namespace {

using namespace std::literals;
using test::GgufBuilder;

std::string bytes_of_a_file() {
  GgufBuilder b;
  b.add_u32("seven", 7)
      .add_u32("zero", 0)
      .add("u64", GgufType::kU64, b.number(std::uint64_t{12}))
      .add("minus", GgufType::kI32, b.number(-1))
      .add("2^31", GgufType::kI64, b.number(std::int64_t{1} << 31))
      .add("2^31+1", GgufType::kI64, b.number((std::int64_t{1} << 31) + 1))
      .add("2^32-1", GgufType::kU64, b.number((std::uint64_t{1} << 32) - 1))
      .add("2^32", GgufType::kU64, b.number(std::uint64_t{1} << 32))
      .add("half", GgufType::kF32, b.number(0.5f))
      .add("nan", GgufType::kF32, b.number(std::numeric_limits<float>::quiet_NaN()))
      .add("inf", GgufType::kF64, b.number(std::numeric_limits<double>::infinity()))
      .add("below", GgufType::kF64, b.number(-0.25))
      .add("yes", GgufType::kBool, "\1"s)
      .add_string("llama", "llama")
      .add_string("latin", "caf\xE9")
      .add("words", GgufType::kArray, b.array(GgufType::kString, 2, b.strings({"a", "\xFF"})))
      .add("scores", GgufType::kArray, b.array(GgufType::kF32, 2, b.numbers({-1.5f, 2.0f})))
      .add("mask", GgufType::kArray, b.array(GgufType::kBool, 3, "\1\0\1"s))
      .add("rows", GgufType::kArray, b.array(GgufType::kArray, 1, b.array(GgufType::kU8, 1, "\5")));
  return b.bytes();
}

}  // namespace

TEST_CASE("GGUF metadata: values, and what stands in for those that are missing") {
  const std::string bytes = bytes_of_a_file();
  const Gguf file(bytes, "m.gguf");
  const GgufMetadata metadata(file);
  CHECK(metadata.has("seven"));
  CHECK(!metadata.has("eight"));
  CHECK(metadata.size("seven") == 7);
  CHECK(metadata.size("u64") == 12);
  CHECK(metadata.size("2^31") == 2147483648U);
  CHECK(metadata.size_or("seven", 9) == 7);
  CHECK(metadata.size_or("eight", 9) == 9);
  CHECK(metadata.id("zero") == 0);
  CHECK(metadata.id("2^32-1") == 4294967295U);
  CHECK(metadata.id("eight") == std::nullopt);
  CHECK(metadata.positive("half") == 0.5);
  CHECK(metadata.positive("seven") == 7);
  CHECK(metadata.positive_or("eight", 1e-5) == 1e-5);
  CHECK(metadata.number_or("below", 3) == -0.25);
  CHECK(metadata.number_or("eight", 3) == 3);
  CHECK(metadata.flag("yes") == true);
  CHECK(metadata.flag("eight") == std::nullopt);
  CHECK(metadata.flag_or("yes", false));
  CHECK(metadata.flag_or("eight", true));
  CHECK(metadata.text("llama") == "llama");
  CHECK(metadata.text_or("eight", "none") == "none");
  CHECK(metadata.strings("words") == std::vector<std::string_view>{"a", "\xFF"});
  CHECK(metadata.strings("eight").empty());
  CHECK(metadata.numbers("scores") == std::vector<double>{-1.5, 2});
  CHECK(metadata.numbers("eight").empty());
  CHECK(metadata.flags("mask") == std::vector<bool>{true, false, true});
  CHECK(metadata.flags("eight").empty());
}

TEST_CASE("GGUF metadata: messages name file and key, and say what was expected and found") {
  const std::string bytes = bytes_of_a_file();
  const Gguf file(bytes, "m.gguf");
  const GgufMetadata metadata(file);
  struct Case {
    std::function<void()> read;
    std::string_view message;
  };
  const std::vector<Case> cases = {
      {[&] { metadata.size("eight"); },
       "m.gguf: eight: expected a whole number from 1 to 2147483648, found no such key"},
      {[&] { metadata.size("zero"); },
       "m.gguf: zero: expected a whole number from 1 to 2147483648, "
       "found u32 0"},
      {[&] { metadata.size("minus"); }, "found i32 -1"},
      {[&] { metadata.size("2^31+1"); }, "found i64 2147483649"},
      {[&] { metadata.size("half"); }, "found f32 0.5"},
      {[&] { metadata.size("yes"); }, "found bool true"},
      {[&] { metadata.size("llama"); }, "found string \"llama\""},
      {[&] { metadata.size("scores"); }, "found [f32 x 2]"},
      {[&] { metadata.size_or("zero", 3); }, "found u32 0"},
      {[&] { metadata.id("minus"); }, "expected a whole number from 0 to 4294967295, found i32 -1"},
      {[&] { metadata.id("2^32"); }, "found u64 4294967296"},
      {[&] { metadata.id("half"); }, "found f32 0.5"},
      {[&] { metadata.positive("eight"); }, "expected a finite number greater than 0, found no"},
      {[&] { metadata.positive("zero"); }, "found u32 0"},
      {[&] { metadata.positive("below"); }, "found f64 -0.25"},
      {[&] { metadata.positive("nan"); },
       "m.gguf: nan: expected a finite number greater than 0, "
       "found f32 nan"},
      {[&] { metadata.positive_or("inf", 1); }, "found f64 inf"},
      {[&] { metadata.number_or("nan", 1); }, "expected a finite number, found f32 nan"},
      {[&] { metadata.number_or("llama", 1); }, "expected a finite number, found string"},
      {[&] { metadata.flag("seven"); }, "expected a bool, found u32 7"},
      {[&] { metadata.flag_or("llama", true); }, "expected a bool, found string \"llama\""},
      {[&] { metadata.text("seven"); }, "expected a string of UTF-8, found u32 7"},
      {[&] { metadata.text("latin"); }, "expected a string of UTF-8, found string \"caf<E9>\""},
      {[&] { metadata.text("eight"); }, "expected a string of UTF-8, found no such key"},
      {[&] { metadata.text_or("words", ""); }, "found [string x 2]"},
      {[&] { metadata.strings("llama"); }, "expected an array of strings, found string \"llama\""},
      {[&] { metadata.strings("scores"); }, "expected an array of strings, found [f32 x 2]"},
      {[&] { metadata.numbers("words"); }, "expected an array of numbers, found [string x 2]"},
      {[&] { metadata.numbers("mask"); }, "expected an array of numbers, found [bool x 3]"},
      {[&] { metadata.numbers("rows"); }, "expected an array of numbers, found [array x 1]"},
      {[&] { metadata.flags("scores"); }, "expected an array of bools, found [f32 x 2]"},
      {[&] { metadata.flags("yes"); }, "expected an array of bools, found bool true"},
      {[&] { metadata.fail("a\x1B", "said"); }, "m.gguf: a\\x1B: said"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.message);
    std::string message = "nothing was thrown";
    try {
      one.read();
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kMalformed);
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find(one.message) != std::string::npos);
    CHECK(message.starts_with("m.gguf: "));
  }
}

}  // namespace attnviz
