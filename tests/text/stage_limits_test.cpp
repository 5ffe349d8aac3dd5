// Tokenizers whose few bytes would demand too much work.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/text/files/stages_json.h"
#include "attnviz/text/tokenizers/regex.h"
#include "support/repeated.h"
#include "support/stopwatch.h"
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

TEST_CASE("decoders that make many pieces a bit longer are stopped, and so are long pieces") {
  const Decoder decoder = decoder_of(replace("a", std::string(4000, 'x')));
  std::vector<Decoder::Piece> pieces(200, {"a"});
  decoder.decode(pieces);
  CHECK(pieces[199].text.size() == 4000);
  pieces.assign(300, {"a"});
  CHECK_THROWS_WITH_AS(decoder.decode(pieces),
                       "t.json: expected at most 1125376 bytes in 300 pieces of a text, found more",
                       Error);
  const std::string unknown(1024, 'u');
  const ModelTokenizer tokenizer =
      test::tokenizer_of(fmt::format(R"({{"pre_tokenizer": {{"type": "WhitespaceSplit"}},
                      "model": {{"type": "WordLevel", "vocab": {{"{0}": 0}}, "unk_token": "{0}"}}}})",
                                     unknown));
  CHECK(tokenizer.tokenize(test::repeated("a ", 1300)).size() == 1300);
  CHECK_THROWS_WITH_AS(
      tokenizer.tokenize(test::repeated("a ", 1400)),
      "tiny.json: expected at most 1398272 bytes in 1366 pieces of a text, found more", Error);
  CHECK_THROWS_AS(tokenizer.from_ids(std::vector<TokenId>(1400, 0)), Error);
}

TEST_CASE("search texts of stages have at most 1024 bytes") {
  const auto fails = [](auto read, std::string_view stage, std::string_view message) {
    const auto read_it = [&](std::size_t size) {
      read(JsonTree::parse(fmt::format(fmt::runtime(stage), std::string(size, 'a')), "t.json")
               .root());
    };
    CAPTURE(stage);
    read_it(1024);
    CHECK_THROWS_WITH_AS(read_it(1025), std::string(message).c_str(), Error);
  };
  constexpr std::string_view kReplace =
      R"({{"type": "Replace", "pattern": {{"String": "{}"}}, "content": "b"}})";
  constexpr std::string_view kInString =
      "t.json: pattern.String: expected at most 1024 bytes, found 1025";
  constexpr std::string_view kMetaspace = R"({{"type": "Metaspace", "replacement": "{}"}})";
  constexpr std::string_view kInMetaspace =
      "t.json: replacement: expected at most 1024 bytes, found 1025";
  fails(read_normalizer, kReplace, kInString);
  fails(read_decoder, kReplace, kInString);
  fails(read_pre_tokenizer,
        R"({{"type": "Split", "pattern": {{"String": "{}"}}, "behavior": "Isolated"}})", kInString);
  fails(read_pre_tokenizer, kMetaspace, kInMetaspace);
  fails(read_decoder, kMetaspace, kInMetaspace);
  fails(read_pre_tokenizer, R"({{"type": "CharDelimiterSplit", "delimiter": "{}"}})",
        "t.json: delimiter: expected at most 1024 bytes, found 1025");
  fails(read_decoder, R"({{"type": "BPEDecoder", "suffix": "{}"}})",
        "t.json: suffix: expected at most 1024 bytes, found 1025");
}

TEST_CASE("stages that read many added tokens again and again are stopped") {
  const auto made = [](std::size_t n_tokens, const std::string& normalizer) {
    std::string tokens;
    for (std::size_t i = 0; i < n_tokens; ++i) {
      tokens += fmt::format(R"({}{{"id": {}, "content": "{:A>800}", "normalized": true}})",
                            i > 0 ? "," : "", i + 1, i);
    }
    return test::tokenizer_of(fmt::format(
        R"({{"added_tokens": [{}], "normalizer": {},
             "model": {{"type": "WordLevel", "vocab": {{"a": 0}}, "unk_token": "a"}}}})",
        tokens, normalizer));
  };
  const std::string lower = R"({"type": "Lowercase"})";
  constexpr const char* kTooMany =
      "tiny.json: the tokenizer's stages take too many steps in 800 bytes of text";
  CHECK(made(5000, sequence("normalizers", 8, lower)).vocabulary_size() == 5001);
  CHECK_THROWS_WITH_AS(made(5000, sequence("normalizers", 256, lower)), kTooMany, Error);
}

TEST_CASE("a text read by many slow patterns is stopped, even if each reads it only a few times") {
  const ModelTokenizer tokenizer = test::tokenizer_of(fmt::format(
      R"({{"normalizer": {}, "model": {{"type": "WordLevel", "vocab": {{"a": 0}},
                                        "unk_token": "a"}}}})",
      sequence("normalizers", 256,
               R"x({"type": "Replace", "pattern": {"Regex": "(?:a+b|a)"}, "content": "a"})x")));
  CHECK(tokenizer.tokenize("aaaaaaaa").size() == 1);
  CHECK_THROWS_AS(tokenizer.tokenize(std::string(4000, 'a')), Error);
}

TEST_CASE("the work of stages is counted over all texts") {
  const std::string model =
      R"("model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"})";
  const auto made = [&](std::size_t n) {
    return test::tokenizer_of(fmt::format(R"({{"normalizer": {}, {}}})",
                                          sequence("normalizers", n, R"({"type": "NFC"})"), model));
  };
  const std::string text = test::repeated("é", 20'000);
  CHECK(made(8).tokenize(text).size() == 1);
  const ModelTokenizer many = made(256);
  const test::Stopwatch watch;
  CHECK_THROWS_WITH_AS(
      many.tokenize(text),
      "tiny.json: the tokenizer's stages take too many steps in 40000 bytes of text", Error);
  const ModelTokenizer lines = made(256);
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 20'000; ++i) {
          lines.tokenize("éé");
        }
      }(),
      Error);
  CHECK(watch.is_in_time());
}

TEST_CASE("stages with many matches or pieces are stopped, however cheap each is") {
  const std::string model =
      R"("model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"})";
  const auto check_stopped = [&](const std::string& stages, std::size_t n_bytes) {
    CAPTURE(stages.substr(0, 200));
    const ModelTokenizer tokenizer = test::tokenizer_of("{" + stages + ", " + model + "}");
    const test::Stopwatch watch;
    CHECK_THROWS_AS(tokenizer.tokenize(std::string(n_bytes, 'a')), Error);
    CHECK(watch.is_in_time());
  };
  const std::string empty = R"({"type": "Replace", "pattern": {"Regex": ""}, "content": "x"})";
  const std::string split =
      R"({"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated"})";
  check_stopped("\"normalizer\": " + sequence("normalizers", 5, empty), 500'000);
  check_stopped("\"normalizer\": " + sequence("normalizers", 256, empty), 500'000);
  check_stopped("\"normalizer\": " + sequence("normalizers", 256, replace("a", "aa")), 500'000);
  check_stopped("\"pre_tokenizer\": " + sequence("pretokenizers", 64, split), 300'000);
  const std::string spread =
      R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated"})";
  check_stopped("\"pre_tokenizer\": " + sequence("pretokenizers", 64, spread), 300'000);
  // Known tokenizers may have three stages that cut at each character.
  const ModelTokenizer few = test::tokenizer_of(
      "{\"pre_tokenizer\": " + sequence("pretokenizers", 3, split) + ", " + model + "}");
  CHECK(few.tokenize(std::string(300'000, 'a')).size() == 300'000);
}

TEST_CASE("merges whose ids would collide in a hash table are read as fast as others") {
  // With a well-known hash of two ids, which multiplies by 2^64 over the golden ratio, all pairs of
  // these fall into 1024 slots of a table of 2^19.
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  constexpr std::size_t kCount = 548;
  const auto next = [](TokenId id, unsigned shift) {
    do {
      ++id;
    } while ((id * kFactor >> shift & ((1U << 19) - 1)) >= 512);
    return id;
  };
  std::set<TokenId> taken;
  std::string vocabulary;
  const auto add = [&](TokenId id, const std::string& piece) {
    vocabulary += fmt::format(R"({}"{}": {})", vocabulary.empty() ? "" : ", ", piece, id);
    taken.insert(id);
  };
  TokenId left = 0;
  TokenId right = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    left = next(left, 0);
    add(left, fmt::format("l{}", i));
    do {
      right = next(right, 32);
    } while (taken.contains(right));
    add(right, fmt::format("r{}", i));
  }
  std::string merges;
  TokenId id = 0;
  for (std::size_t i = 0; i < kCount * kCount; ++i) {
    do {
      ++id;
    } while (taken.contains(id));
    const std::size_t l = i / kCount;
    const std::size_t r = i % kCount;
    vocabulary += fmt::format(R"(, "l{}r{}": {})", l, r, id);
    merges += fmt::format(R"({}"l{} r{}")", i > 0 ? ", " : "", l, r);
  }
  const test::Stopwatch watch;
  const ModelTokenizer tokenizer = test::tokenizer_of(fmt::format(
      R"({{"model": {{"type": "BPE", "vocab": {{{}}}, "merges": [{}]}}}})", vocabulary, merges));
  CHECK(tokenizer.id_of("l547r547").has_value());
  CHECK(watch.is_in_time());
}

TEST_CASE("a decoder strips half a million characters without delay") {
  const Decoder decoder =
      decoder_of(R"({"type": "Strip", "content": "_", "start": 4000000, "stop": 4000000})");
  const std::string many(500'000, '_');
  std::vector<Decoder::Piece> pieces = {{many + "a_" + many}};
  decoder.decode(pieces);
  CHECK(pieces[0].text == "a");
}

TEST_CASE("a sequence has at most 256 stages, including those of nested sequences") {
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

TEST_CASE(
    "the regular expressions of a sequence have at most 16 KiB, and each at most 1024 counts") {
  const auto made = [](std::size_t n_stages, std::string_view part, std::size_t n_parts) {
    const std::string stage =
        fmt::format(R"({{"type": "Split", "pattern": {{"Regex": "{}"}}, "behavior": "Isolated"}})",
                    test::repeated(part, n_parts));
    return [stages = sequence("pretokenizers", n_stages, stage)] {
      read_pre_tokenizer(JsonTree::parse(stages, "t.json").root());
    };
  };
  made(16, "a", 1024)();
  CHECK_THROWS_WITH_AS(
      made(17, "a", 1024)(),
      "t.json: pretokenizers: expected at most 16384 bytes of regular expressions, found 17408",
      Error);
  made(1, "a|", 1024)();
  const std::string message = "expected a regular expression without more than 1024 groups";
  for (const char* const part : {"a|", "()", "a*"}) {
    CAPTURE(part);
    try {
      made(1, part, 1025)();
      FAIL("that is read");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find(message) != std::string::npos);
    }
  }
}

TEST_CASE("a pattern that separates flag emoji takes a step for each one before a flag") {
  for (const char* const pattern : {"\\\\X", "\\\\y", "a|\\\\Y."}) {
    CAPTURE(pattern);
    const ModelTokenizer tokenizer = test::tokenizer_of(fmt::format(
        R"({{"pre_tokenizer": {{"type": "Split", "pattern": {{"Regex": "{}"}},
                                "behavior": "Isolated"}},
             "model": {{"type": "WordLevel", "vocab": {{"a": 0}}, "unk_token": "a"}}}})",
        pattern));
    CHECK(tokenizer.tokenize(test::repeated("\U0001F1E6", 100)).size() > 0);
    CHECK_THROWS_AS(tokenizer.tokenize(test::repeated("\U0001F1E6", 50'000)), Error);
  }
}

TEST_CASE("added tokens whose ids have equal hashes are found as fast as others") {
  // As many as a table of 2357 slots takes, with ids that are all multiples of that.
  constexpr std::size_t kCount = 1769;
  std::string tokens;
  for (std::size_t i = 0; i < kCount; ++i) {
    tokens +=
        fmt::format(R"({}{{"id": {}, "content": "<{}>"}})", i > 0 ? "," : "", 2357 * i + 1, i);
  }
  const ModelTokenizer tokenizer = test::tokenizer_of(fmt::format(
      R"({{"added_tokens": [{}], "model": {{"type": "WordLevel", "vocab": {{"a": 0}}}}}})",
      tokens));
  const test::Stopwatch watch;
  CHECK(tokenizer.tokenize(test::repeated("<0><7>", 1'500'000)).size() == 3'000'000);
  CHECK(watch.is_in_time());
}

TEST_CASE("at most 128 Unigram pieces may be prefixes of each other, and affixes have 64 bytes") {
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

TEST_CASE("a template finds its special tokens without delay among any number of members") {
  std::string members;
  for (std::size_t i = 0; i < 100'000; ++i) {
    members += fmt::format(R"("k{}": 0, )", i);
  }
  const std::string stage = fmt::format(
      R"({{"type": "TemplateProcessing", "pair": [{{"Sequence": {{"id": "A", "type_id": 0}}}},
             {{"Sequence": {{"id": "B", "type_id": 0}}}}],
           "single": [{}{{"Sequence": {{"id": "A", "type_id": 0}}}}],
           "special_tokens": {{"X": {{{} "ids": []}}}}}})",
      test::repeated(R"({"SpecialToken": {"id": "X", "type_id": 0}}, )", 60'000), members);
  CHECK(read_post_processor(JsonTree::parse(stage, "t.json").root()).single.size() == 1);
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

TEST_CASE("a regular expression: steps that look at many groups count as many steps") {
  std::string pattern = "a()";
  for (int i = 0; i < 400; ++i) {
    pattern += "\\1{1}";
  }
  pattern += "(?!a|\\z)|b";
  for (int i = 0; i < 600; ++i) {
    pattern += "()";
  }
  const Regex of_groups(pattern, "p: ");
  CHECK_THROWS_WITH_AS(of_groups.find_all(std::string(3000, 'a')),
                       doctest::Contains("takes too many steps"), Error);
  CHECK_THROWS_WITH_AS(Regex("(?<n>a)|(?<n>b)", "p: "),
                       doctest::Contains("without several groups of one name"), Error);
}

}  // namespace attnviz
