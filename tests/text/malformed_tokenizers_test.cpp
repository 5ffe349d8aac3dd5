// Broken tokenizer files: each message says where, what was expected, and what was found.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "attnviz/core/error.h"
#include "attnviz/text/files/tokenizer_files.h"
#include "text/tiny_tokenizers.h"

namespace attnviz {
namespace {

constexpr std::string_view kValid = R"({
  "added_tokens": [{"id": 3, "content": "<s>", "special": true}],
  "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "_"},
  "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a+"}, "behavior": "Isolated"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [3]}}},
  "decoder": {"type": "Strip", "content": " ", "start": 1, "stop": 0},
  "model": {"type": "BPE", "unk_token": "a", "byte_fallback": false,
            "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
})";

struct Corruption {
  std::string_view from;  // in kValid
  std::string_view to;
  ErrorKind kind;
  std::string_view message;  // part of it
};

constexpr ErrorKind kBad = ErrorKind::kMalformed;
constexpr ErrorKind kUnknown = ErrorKind::kUnsupported;

constexpr Corruption kCorruptions[] = {
    {"{\n", "", kBad, "t.json: line 1, column 3: expected a {, found"},
    {"\n}", "", kBad, "the file ends too early: expected a comma or }"},
    {"\n}", "\n} x", kBad, "expected the end of the file, found x"},
    {"\"model\": {", "\"model\": [{", kBad, "t.json: "},
    {"\"model\": {", "\"modell\": {", kBad, "missing key \"model\""},
    {"\"vocab\"", "\"vocabulary\"", kBad, "model: missing key \"vocab\""},
    {"{\"a\": 0, \"b\": 1, \"ab\": 2}", "7", kBad, "expected a vocabulary, found 7"},
    {"{\"a\": 0, \"b\": 1, \"ab\": 2}", "{}", kBad,
     "model: vocab: expected at least one piece, found none"},
    {"{\"a\": 0, \"b\": 1, \"ab\": 2}", "[[\"a\", 0]]", kBad,
     "expected an object of pieces and ids, found a list"},
    {"\"b\": 1", "\"b\": -1", kBad, "line 11, column 36: expected an id, found -1"},
    {"\"b\": 1", "\"b\": \"1\"", kBad, "expected an id"},
    {"\"b\": 1", "\"b\": 1.5", kBad, "expected a whole number below 2^32, found 1.5"},
    {"\"b\": 1", "\"b\": 4294967296", kBad, "expected a whole number below 2^32"},
    {"\"b\": 1", "\"b\": 4194304", kBad, "expected an id below 4194304 for \"b\""},
    {"\"b\": 1", "\"\xFF\": 1", kBad, "vocab: expected pieces in UTF-8"},
    {"\"b\": 1", "\"\\x\": 1", kBad, "expected an escape such as \\n, \\\" or \\u00E9, found x"},
    {"\"b\": 1", "\"\\u12\": 1", kBad, "expected an escape such as"},
    {"\"b\": 1", "\"\\ud800\": 1", kBad, "expected an escape that makes a pair of surrogates"},
    {"\"b\": 1", "\"b\n\": 1", kBad, "expected a closing quote before the end of the line"},
    {"\"b\": 1", "\"b\" 1", kBad, "expected a colon (:), found 1"},
    {"\"b\": 1,", "\"b\": 1", kBad, "expected a comma or }"},
    {"\"a b\"", "\"a b c\"", kBad, "expected two pieces with a space between them"},
    {"\"a b\"", "\"ab\"", kBad, "expected two pieces with a space between them"},
    {"\"a b\"", "\"a c\"", kBad,
     "model: merges[0]: expected pieces of the vocabulary, found \"c\""},
    {"\"a b\"", "\"b a\"", kBad, "expected pieces of the vocabulary, found \"ba\""},
    {"\"a b\"", "[\"a\"]", kBad, "expected a comma, found ]"},
    {"\"a b\"", "7", kBad, "expected a string, found 7"},
    {"\"unk_token\": \"a\"", "\"unk_token\": 0", kBad,
     "model.unk_token: expected a string, found a number"},
    {"\"byte_fallback\": false", "\"byte_fallback\": 0", kBad,
     "model.byte_fallback: expected true or false"},
    {"\"BPE\"", "\"BPE\", \"dropout\": 0.1", kUnknown, "model.dropout: expected none, found 0.1"},
    {"\"BPE\"", "\"BPF\"", kUnknown, "model.type: the model \"BPF\" is not supported"},
    {"\"id\": 3,", "", kBad, "added_tokens[0]: missing key \"id\""},
    {"\"id\": 3,", "\"id\": 4194304,", kBad, "added_tokens[0].id: expected a number below 4194304"},
    {"\"content\": \"<s>\"", "\"content\": \"\"", kBad,
     "added_tokens[0].content: expected a token, found an empty string"},
    {"[{\"id\": 3", "{\"0\": [{\"id\": 3", kBad, "t.json: "},
    {"\"Replace\"", "\"Replaced\"", kUnknown, "normalizer.type: the normalizer \"Replaced\""},
    {"\"type\": \"Replace\",", "", kBad, "normalizer: missing key \"type\""},
    {"{\"String\": \" \"}", "{\"string\": \" \"}", kBad,
     "normalizer.pattern: expected a \"String\" or a \"Regex\""},
    {"{\"String\": \" \"}", "\" \"", kBad, "normalizer.pattern: expected an object"},
    {", \"content\": \"_\"", "", kBad, "normalizer: missing key \"content\""},
    {"\"a+\"", "\"a+(\"", kUnknown, "pre_tokenizer.pattern.Regex: expected a regular expression"},
    {"\"Isolated\"", "\"Alone\"", kUnknown, "pre_tokenizer.behavior: the behavior \"Alone\""},
    {"\"single\": [", "\"single\": 1, \"s\": [", kBad, "post_processor.single: expected a list"},
    {"{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}]", "{\"Sequence\": {}}]", kBad,
     "missing key \"id\""},
    {"{\"Sequence\": {\"id\": \"B\"", "{\"Sequence\": {\"id\": \"C\"", kBad,
     "expected \"A\" or \"B\", found \"C\""},
    {"{\"Sequence\": {\"id\": \"B\"", "{\"Sequence\": {\"id\": \"A\"", kBad,
     "post_processor.pair: expected the sequences A and B, once each"},
    {"{\"<s>\": {\"id\"", "{\"<t>\": {\"id\"", kBad,
     "single[0].SpecialToken.id: expected one of the special_tokens, found \"<s>\""},
    {"\"ids\": [3]", "\"ids\": [-3]", kBad, "expected whole ids below 4194304, found -3"},
    {"\"ids\": [3]", "\"ids\": [2.5]", kBad, "expected whole ids below 4194304, found 2.5"},
    {"\"ids\": [3]", "\"ids\": [7]", kBad,
     "post_processor: expected ids of the vocabulary, found 7"},
    {"\"ids\": [3]", "\"ids\": \"3\"", kBad, "expected a list of numbers, found a string"},
    {"\"ids\": [3]", "\"ids\": [3, [3]]", kBad, "t.json: post_processor"},
    {"\"start\": 1", "\"start\": -1", kBad, "decoder.start: expected a whole number"},
    {"\"Strip\"", "\"CTC\"", kUnknown, "decoder.type: the decoder \"CTC\" is not supported"},
};

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kValid);
  const std::size_t position = text.find(from);
  REQUIRE(position != std::string::npos);
  return text.replace(position, from.size(), to);
}

template <class Read>
void check_fails(const Read& read, ErrorKind kind, std::string_view message) {
  CAPTURE(message);
  try {
    read();
    FAIL("no error");
  } catch (const Error& error) {
    CAPTURE(error.what());
    CHECK(error.kind() == kind);
    CHECK(std::string_view(error.what()).find(message) != std::string_view::npos);
  }
}

using test::described;
using test::field;

void read_sentencepiece(std::string_view bytes) {
  read_sentencepiece_model(bytes, "t.model", true);
}

}  // namespace

TEST_CASE("tokenizer.json: a file without errors is read") {
  const TokenizerParts parts = read_tokenizer_json(kValid, "t.json");
  CHECK(parts.model->vocabulary().size() == 3);
  CHECK(parts.post.single.size() == 2);
}

TEST_CASE("tokenizer.json: every corruption is reported with its position") {
  for (const Corruption& corruption : kCorruptions) {
    const std::string text = replaced(corruption.from, corruption.to);
    check_fails([&] { read_tokenizer_json(text, "t.json"); }, corruption.kind, corruption.message);
  }
}

TEST_CASE("tokenizer.json: a file cut off anywhere is an error, never a crash") {
  for (std::size_t size = 0; size < kValid.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(read_tokenizer_json(kValid.substr(0, size), "t.json"), Error);
  }
}

TEST_CASE("tokenizer.json: Unigram's list and unknown id are checked") {
  const auto with = [](std::string_view model) {
    return [text = R"({"model": {"type": "Unigram", )" + std::string(model) + "}}"] {
      read_tokenizer_json(text, "t.json");
    };
  };
  check_fails(with(R"("unk_id": 1, "vocab": [["a", 0]])"), kBad,
              "model.unk_id: expected the place of a piece, 0 to 0, found 1");
  check_fails(with(R"("vocab": {"a": 0})"), kBad, "expected a list of pieces with scores");
  check_fails(with(R"("vocab": [["a"]])"), kBad, "expected a comma, found ]");
  check_fails(with(R"("vocab": [["a", "0"]])"), kBad, "expected a number");
  check_fails(with(R"("vocab": ["a"])"), kBad, "expected a [");
}

TEST_CASE("a text that stages make longer and longer is reported with their file") {
  std::string stages;
  for (int i = 0; i < 40; ++i) {
    stages += i == 0 ? "" : ",";
    stages += R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})";
  }
  const auto made = [&stages](std::string_view added) {
    return ModelTokenizer(read_tokenizer_json(
        R"({"added_tokens": [)" + std::string(added) +
            R"(], "normalizer": {"type": "Sequence", "normalizers": [)" + stages +
            R"(]}, "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}})",
        "t.json"));
  };
  constexpr std::string_view kMessage =
      "t.json: the tokenizer makes 1 byte of text longer and longer: expected at most 4160 bytes";
  check_fails([&] { made("").tokenize("a"); }, kUnknown, kMessage);
  check_fails([&] { made(R"({"id": 9, "content": "a", "normalized": true})"); }, kUnknown,
              kMessage);
}

TEST_CASE("pieces that would take long to find at each position of a text are refused") {
  const auto unigram = [](std::size_t size) {
    return [text = R"({"model": {"type": "Unigram", "vocab": [["a", 0], [")" +
                   std::string(size, 'a') + R"(", 0]]}})"] { read_tokenizer_json(text, "t.json"); };
  };
  unigram(1024)();
  check_fails(unigram(1025), kBad,
              "model: vocab: expected pieces of at most 1024 bytes, found one of 1025");
  const auto added = [](std::size_t size, std::string_view normalizer) {
    const std::string text = R"({"added_tokens": [{"id": 9, "content": ")" +
                             std::string(size, 'a') + R"("}], "normalizer": )" +
                             std::string(normalizer) +
                             R"(, "model": {"type": "WordLevel", "vocab": {"a": 0}}})";
    return [text] { const ModelTokenizer made(read_tokenizer_json(text, "t.json")); };
  };
  added(1024, "null")();
  check_fails(added(1025, "null"), kBad,
              "added_tokens[0].content: expected a token of at most 1024 bytes, found 1025");
  constexpr std::string_view kDouble =
      R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})";
  added(512, kDouble)();
  check_fails(added(513, kDouble), kUnknown,
              "expected at most 1024 bytes when normalized, found 1026");
  const std::string long_piece = "\x0A\x84\x08\x0A\x81\x08" + std::string(1025, 'a');
  check_fails([&] { read_sentencepiece(long_piece); }, kBad,
              "expected at most 1024 bytes, found 1025");
}

TEST_CASE("vocab.json, merges.txt and vocab.txt: broken lines are reported") {
  const NamedBytes pieces{R"({"a": 0, "b": 1, "ab": 2})", "vocab.json"};
  CHECK(read_gpt2_files(pieces, {"#version: 0.2\na b\r\n", "merges.txt"}, false)
            .model->vocabulary()
            .size() == 3);
  check_fails(
      [&] {
        read_gpt2_files(pieces, {"a b\nab\n", "merges.txt"}, false);
      },
      kBad, "merges.txt: line 2: expected two pieces with a space between them, found \"ab\"");
  check_fails(
      [&] {
        read_gpt2_files(pieces, {"a \xFF", "merges.txt"}, false);
      },
      kBad, "merges.txt: line 1: expected UTF-8");
  check_fails(
      [&] {
        read_gpt2_files({"{}", "vocab.json"}, {"", "merges.txt"}, false);
      },
      kBad, "vocab.json: vocab: expected at least one piece, found none");
  check_fails(
      [&] {
        read_gpt2_files({"[]", "vocab.json"}, {"", "merges.txt"}, false);
      },
      kBad, "vocab.json: line 1, column 1: expected an object of pieces and ids");
  const ModelTokenizer without_unknown(read_bert_vocabulary({"a\n", "vocab.txt"}, {}));
  CHECK(described(without_unknown.tokenize("a")) == "0=a[0,1)");
  check_fails(
      [&] { without_unknown.tokenize("a cat"); }, kBad,
      "vocab.txt: unk_token: expected a piece of the vocabulary, which \"cat\" needs, found "
      "\"[UNK]\"");
}

TEST_CASE("tokenizer.model: every corruption is reported, and nothing is read past the end") {
  const std::string piece = field(1, field(1, "a"));
  read_sentencepiece(piece);
  check_fails([&] { read_sentencepiece(""); }, kBad, "expected SentencePiece's pieces, found none");
  check_fails([&] { read_sentencepiece(piece + piece); }, kBad, "found \"a\" twice");
  check_fails([&] { read_sentencepiece(field(1, "")); }, kBad, "expected a piece in UTF-8");
  check_fails([&] { read_sentencepiece(field(1, field(1, "\xFF"))); }, kBad,
              "expected a piece in UTF-8");
  check_fails([&] { read_sentencepiece("\x0A\x7F"); }, kBad,
              "t.model: byte 2 of a message of 2: expected 127 bytes of field 1, found 0");
  check_fails([&] { read_sentencepiece(std::string(11, '\xFF')); }, kBad,
              "expected a number of up to 64 bits");
  check_fails([&] { read_sentencepiece("\x08"); }, kBad, "expected the rest of a number");
  check_fails([&] { read_sentencepiece(std::string("\0\0", 2)); }, kBad, "found field 0");
  check_fails([&] { read_sentencepiece("\x0B"); }, kBad, "expected an encoding of 0, 1, 2 or 5");
  check_fails([&] { read_sentencepiece("\x0D\x01"); }, kBad, "expected 4 bytes, found the end");
  check_fails([&] { read_sentencepiece(piece + field(2, field(3, '\x03'))); }, kUnknown,
              "model type 3 is not supported");
  check_fails([&] { read_sentencepiece(piece + field(3, field(2, "abc"))); }, kBad,
              "t.model: precompiled_charsmap: expected a trie");
  check_fails([&] { read_sentencepiece(field(1, field(1, "b") + "\x15\xFF\xFF\xFF\x7F")); }, kBad,
              "\"b\": expected a finite score");
}

}  // namespace attnviz
