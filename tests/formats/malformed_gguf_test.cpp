#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/gguf.h"
#include "support/failure.h"
#include "support/gguf_builder.h"

namespace attnviz {

namespace {

using namespace std::literals;
using test::Failure;
using test::GgufBuilder;

constexpr ErrorKind kMalformed = ErrorKind::kMalformed;
constexpr ErrorKind kUnsupported = ErrorKind::kUnsupported;
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

Failure gguf_failure(std::string_view bytes) {
  return test::failure_of([&] { Gguf(bytes, "m.gguf"); });
}

GgufBuilder valid(bool big_endian = false) {
  GgufBuilder builder(big_endian);
  builder.add_string("general.architecture", "llama")
      .add_u32("x.n", 7)
      .add("x.flag", GgufType::kBool, "\1"s)
      .add("x.words", GgufType::kArray,
           builder.array(GgufType::kString, 2, builder.strings({"a", "bc"})))
      .add("x.rows", GgufType::kArray,
           builder.array(GgufType::kArray, 1,
                         builder.array(GgufType::kU16, 2, builder.numbers<std::uint16_t>({1, 2}))));
  builder.tensors = {{"norm", {4, 2}, 0, std::string(32, 'n')},
                     {"blocks", {32}, 8, std::string(34, 'b')},
                     {"half", {3}, 1, std::string(6, 'h')}};
  return builder;
}

struct Corruption {
  std::string_view what;
  std::function<void(GgufBuilder&)> mutate;
  ErrorKind kind;
  std::string_view says;
};

using Builder = GgufBuilder;

// A mutation of the second tensor, "blocks": a row of 32 in Q8_0 at offset 32, where 34 bytes are.
std::function<void(Builder&)> on_blocks(void (*mutate)(Builder::Tensor&)) {
  return [mutate](Builder& b) { mutate(b.tensors[1]); };
}

// A key x.k of some type with these bytes as its value.
std::function<void(Builder&)> key(GgufType type, std::string (*value)(const Builder&)) {
  return [type, value](Builder& b) { b.add("x.k", type, value(b)); };
}

// Arrays of one array each, `depth` of them around an empty one.
std::string nested(const Builder& b, int depth) {
  std::string bytes = b.array(GgufType::kU8, 0, "");
  for (int i = 1; i < depth; ++i) {
    bytes = b.array(GgufType::kArray, 1, bytes);
  }
  return bytes;
}

const std::vector<Corruption>& header_corruptions() {
  static const std::vector<Corruption> all = {
      {"magic", [](Builder& b) { b.magic = "GGUG"; }, kMalformed, "m.gguf: expected a GGUF file"},
      {"magic backwards", [](Builder& b) { b.magic = "FUGG"; }, kMalformed, "found \"FUGG\""},
      {"magic of GGML", [](Builder& b) { b.magic = "lmgg"; }, kUnsupported, "a GGML file"},
      {"version 0", [](Builder& b) { b.version = 0; }, kUnsupported, "version 2 or 3, found 0"},
      {"version 1", [](Builder& b) { b.version = 1; }, kUnsupported, "found 1; convert the file"},
      {"version 4", [](Builder& b) { b.version = 4; }, kUnsupported, "version 2 or 3, found 4"},
      {"version 99", [](Builder& b) { b.version = 99; }, kUnsupported, "found 99"},
      {"version of 32 bits", [](Builder& b) { b.version = 0xFFFFFFFF; }, kUnsupported,
       "found 4294967295"},
      {"version of the other byte order, 4", [](Builder& b) { b.version = 0x04000000; },
       kUnsupported, "version 2 or 3, found 4"},
      {"version of the other byte order, contents of this",
       [](Builder& b) { b.version = 0x03000000; }, kMalformed, "header: keys: expected at most"},
      {"2^64 - 1 keys", [](Builder& b) { b.n_keys = kHuge; }, kMalformed,
       "header: keys: expected at most"},
      {"2^60 tensors", [](Builder& b) { b.n_tensors = std::uint64_t{1} << 60; }, kMalformed,
       "found a count of 1152921504606846976"},
      {"2^64 - 1 tensors", [](Builder& b) { b.n_tensors = kHuge; }, kMalformed,
       "header: tensors: expected at most"},
      {"a key too many", [](Builder& b) { b.n_keys = 6; }, kMalformed, "m.gguf: "},
      {"a key too few", [](Builder& b) { b.n_keys = 4; }, kMalformed,
       "m.gguf: tensor x.rows: expected at most 4 dim"},
      {"a tensor too many", [](Builder& b) { b.n_tensors = 4; }, kMalformed, "m.gguf: tensor"},
      {"more keys than any model has",
       [](Builder& b) {
         b.n_keys = (std::uint64_t{1} << 20) + 1;
         b.tail = std::string(std::size_t{16} << 20, '\0');
       },
       kUnsupported, "expected at most 1048576 keys"},
      {"more tensors than any model has",
       [](Builder& b) {
         b.n_tensors = (std::uint64_t{1} << 20) + 1;
         b.tail = std::string(std::size_t{26} << 20, '\0');
       },
       kUnsupported, "found 5 and 1048577"},
  };
  return all;
}

const std::vector<Corruption>& key_corruptions() {
  static const std::vector<Corruption> all = {
      {"no name", [](Builder& b) { b.add_u32("", 1); }, kMalformed,
       "key 6: expected a name, found an empty one"},
      {"twice", [](Builder& b) { b.add_u32("x.n", 7); }, kMalformed,
       "x.n: expected every key once"},
      {"twice, of two types", [](Builder& b) { b.add_string("x.n", "7"); }, kMalformed,
       "x.n: expected every key once"},
      {"length 2^63", [](Builder& b) { b.add_raw_key(b.number(std::uint64_t{1} << 63)); },
       kMalformed, "key 6: its name: expected 9223372036854775808 bytes"},
      {"length 2^64 - 1", [](Builder& b) { b.add_raw_key(b.number(kHuge)); }, kMalformed,
       "key 6: its name: expected 18446744073709551615 bytes"},
      {"name of 64 KiB", [](Builder& b) { b.add_u32(std::string(65537, 'k'), 1); }, kMalformed,
       "expected a name of at most 65536 bytes, found one of 65537"},
      {"type 13", [](Builder& b) { b.add("x.k", static_cast<GgufType>(13), "12345678"); },
       kMalformed, "x.k: expected a type of values from 0 to 12, found 13"},
      {"type 2^32 - 1", [](Builder& b) { b.add("x.k", static_cast<GgufType>(0xFFFFFFFF), "1234"); },
       kMalformed, "found 4294967295"},
      {"bool 2", key(GgufType::kBool, [](const Builder&) { return "\2"s; }), kMalformed,
       "x.k: expected a bool of 0 or 1, found 2"},
      {"bool 255", key(GgufType::kBool, [](const Builder&) { return "\xFF"s; }), kMalformed,
       "found 255"},
      {"bools with a 7",
       key(GgufType::kArray,
           [](const Builder& b) { return b.array(GgufType::kBool, 3, "\1\7\0"s); }),
       kMalformed, "x.k: expected a bool of 0 or 1, found 7"},
      {"a string beyond the file",
       key(GgufType::kString, [](const Builder& b) { return b.number(std::uint64_t{100000}); }),
       kMalformed, "x.k: its value: expected 100000 bytes"},
      {"a string of 2^63 - 1",
       key(GgufType::kString, [](const Builder& b) { return b.number(kHuge >> 1); }), kMalformed,
       "x.k: its value: expected 9223372036854775807 bytes"},
      {"a string of 2^64 - 1",
       key(GgufType::kString, [](const Builder& b) { return b.number(kHuge); }), kMalformed,
       "x.k: its value: expected 18446744073709551615 bytes"},
      {"an array of type 13",
       key(GgufType::kArray,
           [](const Builder& b) { return b.array(static_cast<GgufType>(13), 1, "12345678"); }),
       kMalformed, "x.k: expected a type of values from 0 to 12"},
      {"2^62 u32",
       key(GgufType::kArray,
           [](const Builder& b) { return b.array(GgufType::kU32, std::uint64_t{1} << 62, ""); }),
       kMalformed, "x.k: the elements of its array: expected at most"},
      {"2^61 f64",
       key(GgufType::kArray,
           [](const Builder& b) { return b.array(GgufType::kF64, std::uint64_t{1} << 61, ""); }),
       kMalformed, "found a count of 2305843009213693952"},
      {"2^64 - 1 u8",
       key(GgufType::kArray, [](const Builder& b) { return b.array(GgufType::kU8, kHuge, ""); }),
       kMalformed, "the elements of its array: expected at most"},
      {"2^64 - 1 strings",
       key(GgufType::kArray,
           [](const Builder& b) { return b.array(GgufType::kString, kHuge, ""); }),
       kMalformed, "the elements of its array: expected at most"},
      {"2^40 arrays of 2^40",
       key(GgufType::kArray,
           [](const Builder& b) {
             return b.array(GgufType::kArray, std::uint64_t{1} << 40,
                            b.array(GgufType::kU8, std::uint64_t{1} << 40, ""));
           }),
       kMalformed, "the elements of its array: expected at most"},
      {"an array of 2^40 in an array",
       key(GgufType::kArray,
           [](const Builder& b) {
             return b.array(GgufType::kArray, 1,
                            b.array(GgufType::kU8, std::uint64_t{1} << 40, ""));
           }),
       kMalformed, "found a count of 1099511627776"},
      {"a string beyond the file in an array",
       key(GgufType::kArray,
           [](const Builder& b) {
             return b.array(GgufType::kString, 2, b.string("a") + b.number(kHuge));
           }),
       kMalformed, "x.k: the elements of its array: expected 18446744073709551615 bytes"},
      {"an element of type 13 in an array of arrays",
       key(GgufType::kArray,
           [](const Builder& b) {
             return b.array(GgufType::kArray, 1, b.array(static_cast<GgufType>(13), 0, ""));
           }),
       kMalformed, "x.k: expected a type of values"},
      {"arrays nine deep", key(GgufType::kArray, [](const Builder& b) { return nested(b, 9); }),
       kMalformed, "x.k: arrays inside of arrays, deeper than 8"},
      {"arrays 100000 deep",
       key(GgufType::kArray,
           [](const Builder& b) {
             std::string bytes;
             for (int i = 0; i < 100000; ++i) {
               bytes += b.array(GgufType::kArray, 1, "");
             }
             return bytes;
           }),
       kMalformed, "deeper than 8"},
      {"alignment 0", [](Builder& b) { b.add_u32("general.alignment", 0); }, kMalformed,
       "general.alignment: expected a power of 2 from 8 to 1048576, found 0"},
      {"alignment 1", [](Builder& b) { b.add_u32("general.alignment", 1); }, kMalformed,
       "general.alignment: expected a power of 2"},
      {"alignment 3", [](Builder& b) { b.add_u32("general.alignment", 3); }, kMalformed, "found 3"},
      {"alignment 4", [](Builder& b) { b.add_u32("general.alignment", 4); }, kMalformed, "found 4"},
      {"alignment 48", [](Builder& b) { b.add_u32("general.alignment", 48); }, kMalformed,
       "found 48"},
      {"alignment 2^21", [](Builder& b) { b.add_u32("general.alignment", 1U << 21); }, kMalformed,
       "found 2097152"},
      {"alignment -32",
       [](Builder& b) { b.add("general.alignment", GgufType::kI32, b.number(-32)); }, kMalformed,
       "found -32"},
      {"alignment 32.0",
       [](Builder& b) { b.add("general.alignment", GgufType::kF32, b.number(32.0f)); }, kMalformed,
       "general.alignment: expected a power of 2"},
      {"alignment \"32\"", [](Builder& b) { b.add_string("general.alignment", "32"); }, kMalformed,
       "found \"32\""},
      {"alignment [32]",
       [](Builder& b) {
         b.add("general.alignment", GgufType::kArray, b.array(GgufType::kU8, 1, " "));
       },
       kMalformed, "found [u8 x 1]"},
      {"alignment 2^63",
       [](Builder& b) {
         b.add("general.alignment", GgufType::kU64, b.number(std::uint64_t{1} << 63));
       },
       kMalformed, "found 9223372036854775808"},
  };
  return all;
}

const std::vector<Corruption>& tensor_corruptions() {
  using Tensor = Builder::Tensor;
  static const std::vector<Corruption> all = {
      {"twice", on_blocks([](Tensor& t) { t.name = "norm"; }), kMalformed,
       "tensor norm: expected every tensor once"},
      {"name of 64 KiB", on_blocks([](Tensor& t) { t.name = std::string(65537, 't'); }), kMalformed,
       "tensor 2: expected a name of at most 65536 bytes"},
      {"5 dimensions", on_blocks([](Tensor& t) {
         t.dimensions = {32, 1, 1, 1, 1};
       }),
       kMalformed, "tensor blocks: expected at most 4 dimensions, found 5"},
      {"2^20 dimensions",
       on_blocks([](Tensor& t) { t.dimensions = std::vector<std::uint64_t>(1 << 20, 1); }),
       kMalformed, "at most 4 dimensions, found 1048576"},
      {"a dimension of 0", on_blocks([](Tensor& t) {
         t.dimensions = {32, 0};
       }),
       kMalformed, "tensor blocks: expected dimensions of at least 1, found 0"},
      {"a row of 0", on_blocks([](Tensor& t) { t.dimensions = {0}; }), kMalformed,
       "dimensions of at least 1"},
      {"a dimension of -1", on_blocks([](Tensor& t) {
         t.dimensions = {32, kHuge};
       }),
       kMalformed, "found [32, 18446744073709551615] of Q8_0"},
      {"2^32 x 2^32", on_blocks([](Tensor& t) {
         t.dimensions = {std::uint64_t{1} << 32, std::uint64_t{1} << 32};
       }),
       kMalformed, "tensor blocks: expected a tensor that fits into the file"},
      {"a product of 2^64", on_blocks([](Tensor& t) {
         t.dimensions = {1 << 16, 1 << 16, 1 << 16, 1 << 16};
       }),
       kMalformed, "found [65536, 65536, 65536, 65536] of Q8_0"},
      {"a product of 2^64 + 32, which would wrap to a row", on_blocks([](Tensor& t) {
         t.dimensions = {32, (std::uint64_t{1} << 59) + 1};
       }),
       kMalformed, "tensor blocks: expected a tensor that fits into the file"},
      {"2^62 floats, whose bytes would wrap to none", on_blocks([](Tensor& t) {
         t.type = 0;
         t.dimensions = {std::uint64_t{1} << 62};
       }),
       kMalformed, "tensor blocks: expected a tensor that fits"},
      {"10^12 rows", on_blocks([](Tensor& t) {
         t.dimensions = {32, 1000000000000};
       }),
       kMalformed, "found [32, 1000000000000] of Q8_0, 34000000000000 bytes"},
      {"one row too many",
       [](Builder& b) {
         b.tensors[2].dimensions = {3, 2};
       },
       kMalformed,
       "tensor half: expected its 12 bytes at 96 of the data, found the end of the file after 102 "
       "bytes"},
      {"a row of half a block", on_blocks([](Tensor& t) {
         t.dimensions = {16, 2};
       }),
       kMalformed,
       "tensor blocks: expected rows of whole blocks of 32 weights, as Q8_0 has, found [16, 2]"},
      {"a scalar in blocks", on_blocks([](Tensor& t) { t.dimensions = {}; }), kMalformed,
       "expected rows of whole blocks of 32 weights, as Q8_0 has, found []"},
      {"Q4_K in rows of 32", on_blocks([](Tensor& t) { t.type = 12; }), kMalformed,
       "whole blocks of 256 weights, as Q4_K has"},
      {"type Q4_2", on_blocks([](Tensor& t) { t.type = 4; }), kUnsupported,
       "m.gguf: tensor blocks: type Q4_2 is not supported"},
      {"type Q4_3", on_blocks([](Tensor& t) { t.type = 5; }), kUnsupported, "type Q4_3 is not"},
      {"type Q8_1", on_blocks([](Tensor& t) { t.type = 9; }), kUnsupported, "type Q8_1 is not"},
      {"type Q8_K", on_blocks([](Tensor& t) { t.type = 15; }), kUnsupported, "type Q8_K is not"},
      {"type Q4_0_4_4", on_blocks([](Tensor& t) { t.type = 31; }), kUnsupported,
       "tensor blocks: type Q4_0_4_4 is not supported"},
      {"type Q4_0_8_8", on_blocks([](Tensor& t) { t.type = 33; }), kUnsupported, "Q4_0_8_8"},
      {"type IQ4_NL_4_4", on_blocks([](Tensor& t) { t.type = 36; }), kUnsupported, "IQ4_NL_4_4"},
      {"type NVFP4", on_blocks([](Tensor& t) { t.type = 40; }), kUnsupported, "type NVFP4 is not"},
      {"type Q1_0", on_blocks([](Tensor& t) { t.type = 41; }), kUnsupported, "type Q1_0 is not"},
      {"type Q2_0", on_blocks([](Tensor& t) { t.type = 42; }), kUnsupported, "type Q2_0 is not"},
      {"type 43", on_blocks([](Tensor& t) { t.type = 43; }), kUnsupported, "type number 43 is not"},
      {"type 2^32 - 1", on_blocks([](Tensor& t) { t.type = 0xFFFFFFFF; }), kUnsupported,
       "type number 4294967295 is not"},
      {"an offset of 33", on_blocks([](Tensor& t) { t.offset = 33; }), kMalformed,
       "tensor blocks: expected an offset that is a multiple of 32, found 33"},
      {"an offset of 8 with an alignment of 32", on_blocks([](Tensor& t) { t.offset = 8; }),
       kMalformed, "multiple of 32, found 8"},
      {"an offset after the file", on_blocks([](Tensor& t) { t.offset = 1 << 20; }), kMalformed,
       "tensor blocks: expected its 34 bytes at 1048576 of the data"},
      {"an offset of 2^64 - 32", on_blocks([](Tensor& t) { t.offset = kHuge - 31; }), kMalformed,
       "expected its 34 bytes at 18446744073709551584 of the data"},
      {"an offset of 2^63", on_blocks([](Tensor& t) { t.offset = std::uint64_t{1} << 63; }),
       kMalformed, "at 9223372036854775808 of the data"},
      {"the offset of another tensor", on_blocks([](Tensor& t) { t.offset = 0; }), kMalformed,
       "inside of"},
      {"the last bytes of another tensor", [](Builder& b) { b.tensors[2].offset = 64; }, kMalformed,
       "tensor half: begins at 64, inside of blocks, which ends at 66"},
      {"one that covers two others",
       [](Builder& b) {
         b.tensors[0].dimensions = {4, 6};
         b.tensors[0].offset = 0;
       },
       kMalformed, "inside of norm, which ends at 96"},
      {"a name with a control sequence", on_blocks([](Tensor& t) {
         t.name = "\x1B[2J";
         t.type = 4;
       }),
       kUnsupported, "tensor \\x1B[2J: type Q4_2"},
  };
  return all;
}

void check_all(const std::vector<Corruption>& corruptions) {
  for (const bool big_endian : {false, true}) {
    for (const Corruption& one : corruptions) {
      CAPTURE(big_endian);
      CAPTURE(one.what);
      GgufBuilder builder = valid(big_endian);
      one.mutate(builder);
      const Failure failure = gguf_failure(builder.bytes());
      CAPTURE(failure.message);
      CHECK(failure.kind == one.kind);
      CHECK(failure.message.find(one.says) != std::string::npos);
      CHECK(failure.message.starts_with("m.gguf: "));
      CHECK(failure.message.size() < 400);
    }
  }
}

}  // namespace

TEST_CASE("malformed GGUF: the file corrupted below is valid, in both byte orders") {
  for (const bool big_endian : {false, true}) {
    CHECK(gguf_failure(valid(big_endian).bytes()).message == "nothing was thrown");
    GgufBuilder builder = valid(big_endian);
    builder.add("x.k", GgufType::kArray, nested(builder, 8));
    CHECK(gguf_failure(builder.bytes()).message == "nothing was thrown");
  }
}

TEST_CASE("malformed GGUF: impossible headers") {
  check_all(header_corruptions());
}

TEST_CASE("malformed GGUF: impossible metadata") {
  check_all(key_corruptions());
}

TEST_CASE("malformed GGUF: impossible tensors") {
  check_all(tensor_corruptions());
}

TEST_CASE("malformed GGUF: a file cut off at any byte is refused") {
  const std::string bytes = valid().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    // A copy, so that the sanitizer knows where it ends.
    const std::string cut(bytes, 0, size);
    CHECK(gguf_failure(cut).kind == kMalformed);
  }
}

TEST_CASE("malformed GGUF: with any byte changed, the file opens or is refused") {
  const std::string valid_bytes = valid().bytes();
  std::size_t n_refused = 0;
  for (std::size_t at = 0; at < valid_bytes.size(); ++at) {
    for (const int mask : {0x01, 0x20, 0x80, 0xFF}) {
      std::string bytes = valid_bytes;
      bytes[at] = static_cast<char>(bytes[at] ^ mask);
      const Failure failure = gguf_failure(bytes);
      const bool refused = failure.kind == kMalformed || failure.kind == kUnsupported;
      n_refused += refused ? 1 : 0;
      CHECK((refused || failure.kind == ErrorKind::kUsage));
    }
  }
  CHECK(n_refused > 4 * 100);  // lengths, counts and types
}

}  // namespace attnviz
