#include "attnviz/formats/gguf.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/gguf_builder.h"

namespace attnviz {

namespace {

using namespace std::literals;
using test::GgufBuilder;

std::vector<std::size_t> shape_of(const StoredTensor& tensor) {
  return {tensor.shape.begin(), tensor.shape.end()};
}

std::string turned(const StoredTensor& tensor) {
  const std::vector<char> bytes = turned_bytes(tensor);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("GGUF: a file byte by byte, as specified by the format") {
  const std::string bytes =
      "GGUF\3\0\0\0"          // version 3
      "\1\0\0\0\0\0\0\0"      // one tensor
      "\2\0\0\0\0\0\0\0"      // two keys
      "\4\0\0\0\0\0\0\0a.bc"  // a.bc
      "\4\0\0\0\x39\x30\0\0"  // u32 12345
      "\1\0\0\0\0\0\0\0s"     // s
      "\x8\0\0\0\2\0\0\0\0\0\0\0hi"
      "\1\0\0\0\0\0\0\0w"  // tensor w
      "\2\0\0\0"           // of two dimensions
      "\3\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
      "\1\0\0\0"          // F16
      "\0\0\0\0\0\0\0\0"  // offset 0
      "\0\0\0\0\0\0\0\0\0\0"
      "\0\0\0\0\0\0\0\0\0\0"  // padding to 128
      "abcdefghijkl"s;
  REQUIRE(bytes.size() == 128 + 12);
  CHECK(is_gguf(bytes));
  const Gguf file(bytes, "m.gguf");
  CHECK(file.file() == "m.gguf");
  CHECK(file.version() == 3);
  CHECK(!file.is_big_endian());
  CHECK(file.alignment() == 32);
  REQUIRE(file.metadata().size() == 2);
  CHECK(file.metadata()[0].key == "a.bc");
  CHECK(file.find("a.bc")->as_unsigned() == 12345);
  CHECK(file.find("s")->as_string() == "hi");
  CHECK(file.find("t") == nullptr);
  REQUIRE(file.tensors().size() == 1);
  const StoredTensor& w = file.tensors()[0];
  CHECK(w.name == "w");
  CHECK(w.type == StoredType::kF16);
  CHECK(shape_of(w) == std::vector<std::size_t>{2, 3});
  CHECK(w.bytes == "abcdefghijkl");
  CHECK(w.bytes.data() == bytes.data() + 128);
}

TEST_CASE("GGUF: numbers of every type, in both byte orders and both versions") {
  for (const bool big_endian : {false, true}) {
    for (const std::uint32_t version : {2U, 3U}) {
      CAPTURE(big_endian);
      CAPTURE(version);
      GgufBuilder builder(big_endian);
      builder.version = version;
      builder.add("u8", GgufType::kU8, builder.number(std::uint8_t{200}))
          .add("i8", GgufType::kI8, builder.number(std::int8_t{-100}))
          .add("u16", GgufType::kU16, builder.number(std::uint16_t{0x1234}))
          .add("i16", GgufType::kI16, builder.number(std::int16_t{-0x1234}))
          .add("u32", GgufType::kU32, builder.number(0x12345678U))
          .add("i32", GgufType::kI32, builder.number(-0x12345678))
          .add("f32", GgufType::kF32, builder.number(0.15625f))
          .add("no", GgufType::kBool, "\0"s)
          .add("yes", GgufType::kBool, "\1"s)
          .add("u64", GgufType::kU64, builder.number(0x123456789ABCDEF0ULL))
          .add("most", GgufType::kU64, builder.number(0xFFFFFFFFFFFFFFFFULL))
          .add("i64", GgufType::kI64, builder.number(-0x123456789ABCDEF0LL))
          .add("f64", GgufType::kF64, builder.number(-1e300));
      const std::string bytes = builder.bytes();
      const Gguf file(bytes, "m");
      CHECK(file.is_big_endian() == big_endian);
      CHECK(file.version() == version);
      CHECK(file.find("u8")->as_unsigned() == 200);
      CHECK(file.find("u8")->as_signed() == 200);
      CHECK(file.find("i8")->as_signed() == -100);
      CHECK(file.find("i8")->as_unsigned() == std::nullopt);
      CHECK(file.find("u16")->as_unsigned() == 0x1234);
      CHECK(file.find("i16")->as_signed() == -0x1234);
      CHECK(file.find("u32")->as_unsigned() == 0x12345678);
      CHECK(file.find("u32")->type() == GgufType::kU32);
      CHECK(file.find("u32")->size() == 1);
      CHECK(file.find("i32")->as_number() == -305419896.0);
      CHECK(file.find("f32")->as_number() == 0.15625);
      CHECK(file.find("f32")->as_unsigned() == std::nullopt);
      CHECK(file.find("f32")->as_signed() == std::nullopt);
      CHECK(file.find("no")->as_bool() == false);
      CHECK(file.find("yes")->as_bool() == true);
      CHECK(file.find("yes")->as_unsigned() == std::nullopt);
      CHECK(file.find("yes")->as_number() == std::nullopt);
      CHECK(file.find("u8")->as_bool() == std::nullopt);
      CHECK(file.find("u64")->as_unsigned() == 0x123456789ABCDEF0ULL);
      CHECK(file.find("most")->as_unsigned() == std::numeric_limits<std::uint64_t>::max());
      CHECK(file.find("most")->as_signed() == std::nullopt);
      CHECK(file.find("i64")->as_signed() == -0x123456789ABCDEF0LL);
      CHECK(file.find("f64")->as_number() == -1e300);
      CHECK(file.find("f64")->as_string() == std::nullopt);
      CHECK(file.find("f64")->as_numbers() == std::nullopt);
    }
  }
}

TEST_CASE("GGUF: strings of any bytes, lists, and lists in lists") {
  for (const bool big_endian : {false, true}) {
    CAPTURE(big_endian);
    GgufBuilder builder(big_endian);
    const auto row = [&builder](std::initializer_list<std::uint16_t> numbers) {
      return builder.array(GgufType::kU16, numbers.size(), builder.numbers(numbers));
    };
    builder.add_string("any", "a\0\xFF\n"s)
        .add("words", GgufType::kArray,
             builder.array(GgufType::kString, 3, builder.strings({"the", "", "cat"})))
        .add("scores", GgufType::kArray,
             builder.array(GgufType::kF32, 2, builder.numbers({-1.5f, 2.25f})))
        .add("ids", GgufType::kArray,
             builder.array(GgufType::kI32, 3, builder.numbers<std::int32_t>({-1, 0, 70000})))
        .add("bools", GgufType::kArray, builder.array(GgufType::kBool, 3, "\1\0\1"s))
        .add("none", GgufType::kArray, builder.array(GgufType::kU64, 0, ""))
        .add("rows", GgufType::kArray,
             builder.array(GgufType::kArray, 3, row({1, 2}) + row({}) + row({515})))
        .add_u32("after", 9);
    const std::string bytes = builder.bytes();
    const Gguf file(bytes, "m");
    CHECK(file.find("any")->as_string() == "a\0\xFF\n"sv);
    CHECK(file.find("words")->as_strings() == std::vector<std::string_view>{"the", "", "cat"});
    CHECK(file.find("words")->as_numbers() == std::nullopt);
    CHECK(file.find("words")->element_type() == GgufType::kString);
    CHECK(file.find("scores")->as_numbers() == std::vector<double>{-1.5, 2.25});
    CHECK(file.find("scores")->as_strings() == std::nullopt);
    CHECK(file.find("ids")->as_numbers() == std::vector<double>{-1, 0, 70000});
    CHECK(file.find("ids")->size() == 3);
    CHECK(file.find("ids")->as_unsigned() == std::nullopt);
    CHECK(file.find("ids")->as_string() == std::nullopt);
    CHECK(file.find("bools")->as_numbers() == std::nullopt);
    CHECK(file.find("bools")->as_flags() == std::vector<bool>{true, false, true});
    CHECK(file.find("ids")->as_flags() == std::nullopt);
    CHECK(file.find("none")->as_numbers()->empty());
    CHECK(file.find("rows")->element_type() == GgufType::kArray);
    CHECK(file.find("rows")->size() == 3);
    CHECK(file.find("rows")->as_numbers() == std::nullopt);
    CHECK(file.find("after")->as_unsigned() == 9);
  }
}

TEST_CASE("GGUF: values in readable form") {
  GgufBuilder builder;
  builder.add_string("short", "llama")
      .add_string("lines", "a b\nc\x1B")
      .add_string("long", std::string(100, 'x'))
      .add_string("cats", "🐱🐱🐱🐱🐱🐱🐱🐱")
      .add_u32("u32", 12)
      .add("f32", GgufType::kF32, builder.number(1e-5f))
      .add("nan", GgufType::kF32, builder.number(std::nanf("")))
      .add("bool", GgufType::kBool, "\1"s)
      .add("i8", GgufType::kI8, "\xFF"s)
      .add("list", GgufType::kArray, builder.array(GgufType::kString, 1, builder.string("x")));
  const std::string bytes = builder.bytes();
  const Gguf file(bytes, "m");
  CHECK(file.find("short")->text() == "\"llama\"");
  CHECK(file.find("short")->text(7) == "\"llama\"");
  CHECK(file.find("short")->text(6) == "\"l…\"");
  CHECK(file.find("lines")->text() == "\"a b⏎c\\x1B\"");
  CHECK(file.find("long")->text() == "\"" + std::string(55, 'x') + "…\"");
  CHECK(file.find("cats")->text(20) == "\"🐱🐱🐱…\"");
  CHECK(file.find("u32")->text() == "12");
  CHECK(file.find("f32")->text() == "1e-05");
  CHECK(file.find("nan")->text() == "nan");
  CHECK(file.find("bool")->text() == "true");
  CHECK(file.find("i8")->text() == "-1");
  CHECK(file.find("list")->text() == "[string x 1]");
  CHECK(gguf_type_name(GgufType::kF64) == "f64");
  CHECK(gguf_type_name(static_cast<GgufType>(13)) == "unknown");
}

TEST_CASE("GGUF: tensors, with gaps, in any order, in blocks, and as vectors padded by ggml") {
  GgufBuilder builder;
  builder.tensors = {
      {"late", {4}, 0, std::string(16, 'l'), 192},
      {"early", {3, 2}, 1, std::string(12, 'e'), 0},
      {"blocks", {64, 2, 1}, 8, std::string(136, 'b'), 32},
      {"filled", {5, 1, 1, 1}, 24, std::string(5, 'f'), 224},
      {"deep", {1, 2, 1, 3}, 24, std::string(6, 'd'), 256},
      {"one", {1}, 24, "o", 288},
      {"scalar", {}, 24, "s", 320},
      {"", {1}, 24, "n", 352},
  };
  std::string bytes = builder.bytes();
  bytes.resize(bytes.size() + 200);
  const Gguf file(bytes, "m");
  const auto tensors = file.tensors();
  REQUIRE(tensors.size() == 8);
  CHECK(tensors[0].name == "late");
  CHECK(tensors[0].bytes.data() == tensors[1].bytes.data() + 192);
  CHECK(tensors[1].bytes.size() == 12);
  CHECK(shape_of(tensors[1]) == std::vector<std::size_t>{2, 3});
  CHECK(tensors[2].type == StoredType::kQ8_0);
  CHECK(shape_of(tensors[2]) == std::vector<std::size_t>{2, 64});
  CHECK(tensors[2].bytes.size() == 136);
  CHECK(shape_of(tensors[3]) == std::vector<std::size_t>{5});
  CHECK(shape_of(tensors[4]) == std::vector<std::size_t>{3, 1, 2, 1});
  CHECK(shape_of(tensors[5]) == std::vector<std::size_t>{1});
  CHECK(tensors[6].shape.empty());
  CHECK(tensors[6].n_numbers() == 1);
  CHECK(tensors[7].name.empty());
}

TEST_CASE("GGUF: the alignment is 32 unless the file says otherwise") {
  for (const std::uint32_t alignment : {8U, 16U, 64U, 4096U, 1048576U}) {
    CAPTURE(alignment);
    GgufBuilder builder;
    builder.alignment = alignment;
    builder.add_u32("general.alignment", alignment);
    builder.tensors = {{"a", {1}, 24, "a"}, {"b", {1}, 24, "b"}};
    const std::string bytes = builder.bytes();
    const Gguf file(bytes, "m");
    CHECK(file.alignment() == alignment);
    CHECK(static_cast<std::size_t>(file.tensors()[0].bytes.data() - bytes.data()) % alignment == 0);
    CHECK(file.tensors()[0].bytes == "a");
    CHECK(file.tensors()[1].bytes == "b");
  }
  // With another type than writers use.
  GgufBuilder builder;
  builder.alignment = 64;
  builder.add("general.alignment", GgufType::kI64, builder.number(std::int64_t{64}));
  const std::string bytes = builder.bytes();
  CHECK(Gguf(bytes, "m").alignment() == 64);
}

TEST_CASE("GGUF: a file may hold only metadata, and end without padding") {
  GgufBuilder builder;
  builder.add_u32("split.count", 2);
  const std::string bytes = builder.bytes();
  CHECK(bytes.size() % 32 != 0);
  const Gguf file(bytes, "m");
  CHECK(file.tensors().empty());
  CHECK(file.find("split.count")->as_unsigned() == 2);
  CHECK(is_gguf("GGUF"));
  CHECK(!is_gguf("GGU"));
  CHECK(!is_gguf("FUGG"));
  CHECK(!is_gguf(""));
}

TEST_CASE("GGUF: every type has ggml's number, and rows as long as ggml's blocks") {
  struct Case {
    std::uint32_t number;
    std::string_view name;
    std::size_t bytes;  // of 256 numbers
  };
  // From ggml's table of types.
  constexpr Case kCases[] = {
      {0, "F32", 1024},    {1, "F16", 512},    {2, "Q4_0", 144},    {3, "Q4_1", 160},
      {6, "Q5_0", 176},    {7, "Q5_1", 192},   {8, "Q8_0", 272},    {10, "Q2_K", 84},
      {11, "Q3_K", 110},   {12, "Q4_K", 144},  {13, "Q5_K", 176},   {14, "Q6_K", 210},
      {16, "IQ2_XXS", 66}, {17, "IQ2_XS", 74}, {18, "IQ3_XXS", 98}, {19, "IQ1_S", 50},
      {20, "IQ4_NL", 144}, {21, "IQ3_S", 110}, {22, "IQ2_S", 82},   {23, "IQ4_XS", 136},
      {24, "I8", 256},     {25, "I16", 512},   {26, "I32", 1024},   {27, "I64", 2048},
      {28, "F64", 2048},   {29, "IQ1_M", 56},  {30, "BF16", 512},   {34, "TQ1_0", 54},
      {35, "TQ2_0", 66},   {39, "MXFP4", 136},
  };
  for (const Case& one : kCases) {
    CAPTURE(one.name);
    GgufBuilder builder;
    builder.tensors = {{"w", {256}, one.number, std::string(one.bytes, 'w')}};
    const std::string bytes = builder.bytes();
    const Gguf file(bytes, "m");
    CHECK(stored_type_name(file.tensors()[0].type) == one.name);
    CHECK(file.tensors()[0].bytes.size() == one.bytes);
  }
}

TEST_CASE("GGUF: type 4 is Ollama's MXFP4, as bytes, only in its own architecture") {
  const auto file_with = [](std::string_view architecture, std::uint64_t row) {
    GgufBuilder builder;
    builder.add_string("general.architecture", architecture);
    builder.tensors = {{"w", {row, 2}, 4, std::string(68, 'w')}};
    return builder.bytes();
  };
  const std::string bytes = file_with("gptoss", 64);
  const Gguf file(bytes, "m");
  CHECK(file.tensors()[0].type == StoredType::kU8);
  CHECK(file.tensors()[0].shape[1] == 34);
  CHECK_THROWS_AS(Gguf(file_with("gptoss", 63), "m"), Error);
  CHECK_THROWS_AS(Gguf(file_with("llama", 64), "m"), Error);
}

TEST_CASE("GGUF: tensors of big-endian files are swapped: numbers and scales, but not quants") {
  const auto turn = [](StoredType type, std::string_view bytes) {
    StoredTensor tensor;
    tensor.type = type;
    tensor.bytes = bytes;
    return turned(tensor);
  };
  CHECK(turn(StoredType::kF32, "abcdefgh") == "dcbahgfe");
  CHECK(turn(StoredType::kBf16, "abcd") == "badc");
  CHECK(turn(StoredType::kF64, "abcdefgh") == "hgfedcba");
  CHECK(turn(StoredType::kI8, "abc") == "abc");
  const auto quants = [](std::size_t n) { return std::string(n / 2, 'q').append(n - n / 2, 'r'); };
  CHECK(turn(StoredType::kQ4_0, "ab" + quants(16) + "cd" + quants(16)) ==
        "ba" + quants(16) + "dc" + quants(16));
  CHECK(turn(StoredType::kQ5_1, "abcd" + quants(20)) == "badc" + quants(20));
  CHECK(turn(StoredType::kQ8_0, "ab" + quants(32)) == "ba" + quants(32));
  CHECK(turn(StoredType::kQ2_K, quants(80) + "abcd") == quants(80) + "badc");
  CHECK(turn(StoredType::kQ3_K, quants(108) + "ab") == quants(108) + "ba");
  CHECK(turn(StoredType::kQ4_K, "abcd" + quants(140)) == "badc" + quants(140));
  CHECK(turn(StoredType::kQ6_K, quants(208) + "ab") == quants(208) + "ba");
  CHECK(turn(StoredType::kIQ1_M, quants(48) + "abcdefgh") == quants(48) + "badcfehg");
  CHECK(turn(StoredType::kTQ1_0, quants(52) + "ab") == quants(52) + "ba");
  CHECK(turn(StoredType::kMXFP4, "a" + quants(16)) == "a" + quants(16));
}

}  // namespace attnviz
