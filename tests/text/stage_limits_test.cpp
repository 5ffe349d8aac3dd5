// Tokenizers whose few bytes ask for more work than there is time.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/text/files/stages_json.h"
#include "text/stage_runs.h"
#include "text/tiny_tokenizers.h"

namespace attnviz {
namespace {

// A Sequence of equal stages.
std::string sequence(std::string_view key, std::size_t n, std::string_view stage) {
  std::string stages;
  for (std::size_t i = 0; i < n; ++i) {
    stages += i > 0 ? "," : "";
    stages += stage;
  }
  return fmt::format(R"({{"type": "Sequence", "{}": [{}]}})", key, stages);
}

std::string replace(std::string_view from, std::string_view to) {
  return fmt::format(R"({{"type": "Replace", "pattern": {{"String": "{}"}}, "content": "{}"}})",
                     from, to);
}

Decoder decoder_of(std::string_view stage) {
  return read_decoder(JsonTree::parse(stage, "t.json").root());
}

constexpr const char* kTooLong =
    "t.json: makes a piece longer and longer: expected at most 4160 bytes, found more";

}  // namespace

TEST_CASE("decoders that make a piece longer and longer are stopped") {
  for (const std::string& steps :
       {sequence("decoders", 36, replace("a", "aa")),
        sequence("decoders", 2, replace("a", std::string(60'000, 'a')))}) {
    const Decoder decoder = decoder_of(steps);
    CHECK_THROWS_WITH_AS(decoder.piece_text("a"), kTooLong, Error);
    std::vector<Decoder::Piece> pieces = {{"b"}, {"a"}};
    CHECK_THROWS_WITH_AS(decoder.decode(pieces), kTooLong, Error);
    CHECK(decoder.piece_text("b") == "b");
  }
  CHECK(decoder_of(sequence("decoders", 12, replace("a", "aa"))).piece_text("a").size() == 4096);
}

TEST_CASE("a decoder strips half a million signs at once") {
  const Decoder decoder =
      decoder_of(R"({"type": "Strip", "content": "_", "start": 4000000, "stop": 4000000})");
  const std::string many(500'000, '_');
  std::vector<Decoder::Piece> pieces = {{many + "a_" + many}};
  decoder.decode(pieces);
  CHECK(pieces[0].text == "a");
}

TEST_CASE("a sequence has at most 256 stages, with those of the sequences in it") {
  const auto message = [](auto read, const std::string& stage) {
    try {
      read(JsonTree::parse(stage, "t.json").root());
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kMalformed);
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string upper = R"({"type": "Lowercase"})";
  CHECK(message(read_normalizer, sequence("normalizers", 256, upper)).empty());
  CHECK(message(read_normalizer, sequence("normalizers", 257, upper)) ==
        "t.json: normalizers: expected at most 256 stages, found 257");
  CHECK(message(read_normalizer, sequence("normalizers", 16, sequence("normalizers", 16, upper))) ==
        "t.json: normalizers: expected at most 256 stages, found 272");
  CHECK(message(read_pre_tokenizer, sequence("pretokenizers", 300, R"({"type": "Whitespace"})")) ==
        "t.json: pretokenizers: expected at most 256 stages, found 300");
  CHECK(message(read_post_processor, sequence("processors", 300, R"({"type": "ByteLevel"})")) ==
        "t.json: processors: expected at most 256 stages, found 300");
  CHECK(message(read_decoder, sequence("decoders", 300, R"({"type": "Fuse"})")) ==
        "t.json: decoders: expected at most 256 stages, found 300");
}

TEST_CASE("pieces of Unigram of which each begins another are at most 128, and affixes 64 bytes") {
  const auto unigram = [](std::size_t n) {
    std::string pieces = R"(["<unk>", 0])";
    for (std::size_t i = 1; i <= n; ++i) {
      pieces += fmt::format(R"(, ["{}", -1])", std::string(i, 'a'));
    }
    return fmt::format(R"({{"model": {{"type": "Unigram", "unk_id": 0, "vocab": [{}]}}}})", pieces);
  };
  CHECK(test::tokenizer_of(unigram(128)).tokenize(std::string(1000, 'a')).size() == 8);
  CHECK_THROWS_AS(test::tokenizer_of(unigram(129)), Error);
  for (const char* const key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    CAPTURE(key);
    const auto bpe = [key](std::size_t n) {
      return fmt::format(R"({{"model": {{"type": "BPE", "{}": "{}", "vocab": {{"a": 0}},
                              "merges": []}}}})",
                         key, std::string(n, '#'));
    };
    CHECK(test::tokenizer_of(bpe(64)).vocabulary_size() == 1);
    CHECK_THROWS_WITH_AS(
        test::tokenizer_of(bpe(65)),
        fmt::format("tiny.json: model.{}: expected at most 64 bytes, found 65", key).c_str(),
        Error);
  }
}

TEST_CASE("a template puts at most 4096 tokens around a text") {
  const auto made = [](std::size_t n_items, std::size_t n_ids) {
    std::string items = R"({"Sequence": {"id": "A", "type_id": 0}})";
    for (std::size_t i = 0; i < n_items; ++i) {
      items += R"(,{"SpecialToken": {"id": "<s>", "type_id": 0}})";
    }
    std::string ids = "0";
    for (std::size_t i = 1; i < n_ids; ++i) {
      ids += ",0";
    }
    const std::string stage = fmt::format(
        R"({{"type": "TemplateProcessing", "single": [{0}],
             "pair": [{0}, {{"Sequence": {{"id": "B", "type_id": 0}}}}],
             "special_tokens": {{"<s>": {{"id": "<s>", "ids": [{1}], "tokens": []}}}}}})",
        items, ids);
    return read_post_processor(JsonTree::parse(stage, "t.json").root()).single.size();
  };
  CHECK(made(60, 60) == 3601);
  CHECK_THROWS_WITH_AS(made(3000, 3000),
                       "t.json: single[2]: expected at most 4096 tokens around a text, found more",
                       Error);
}

}  // namespace attnviz
