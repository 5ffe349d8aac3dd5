// The stages of a tokenizer, one by one.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/text/files/stages_json.h"
#include "attnviz/text/tokenizers/byte_level.h"
#include "attnviz/text/tokenizers/regex.h"
#include "attnviz/text/tokenizers/vocabulary.h"
#include "support/stopwatch.h"
#include "text/stage_runs.h"

namespace attnviz {
namespace {

using test::normalized;
using test::words;
using Strings = std::vector<std::string>;

std::string decoded(std::string_view decoder, const Strings& pieces) {
  const JsonTree tree = JsonTree::parse(decoder, "stage.json");
  std::vector<Decoder::Piece> made;
  for (const std::string& piece : pieces) {
    made.push_back({piece});
  }
  read_decoder(tree.root()).decode(made);
  std::string text;
  for (const Decoder::Piece& piece : made) {
    text += piece.text;
  }
  return text;
}

}  // namespace

TEST_CASE("Split: the behaviours for matches, as documented by Hugging Face") {
  const auto split = [](std::string_view behavior) {
    return words(R"({"type": "Split", "pattern": {"String": "-"}, "behavior": ")" +
                     std::string(behavior) + R"(", "invert": false})",
                 "the-final--countdown");
  };
  CHECK(split("Removed") == Strings{"the", "final", "countdown"});
  CHECK(split("Isolated") == Strings{"the", "-", "final", "-", "-", "countdown"});
  CHECK(split("MergedWithPrevious") == Strings{"the-", "final-", "-", "countdown"});
  CHECK(split("MergedWithNext") == Strings{"the", "-final", "-", "-countdown"});
  CHECK(split("Contiguous") == Strings{"the", "-", "final", "--", "countdown"});
}

TEST_CASE("Split: patterns are regular expressions with Unicode classes, and may be inverted") {
  const std::string_view inverted = R"({"type": "Split", "pattern": {"Regex": "\\p{L}+"},
      "behavior": "Removed", "invert": true})";
  CHECK(words(inverted, "né 12 猫") == Strings{"né", "猫"});
  CHECK(words(inverted,
              "a\xFF"
              "b\xC3") == Strings{"a", "b"});
}

TEST_CASE("pre-tokenizers cut as their names say") {
  CHECK(words(R"({"type": "Whitespace"})", "Hey, you_2!  猫") ==
        Strings{"Hey", ",", "you_2", "!", "猫"});
  CHECK(words(R"({"type": "Whitespace"})", "हिन्दी, e\u0301") == Strings{"हिन्दी", ",", "e\u0301"});
  CHECK(words(R"({"type": "WhitespaceSplit"})", " a,b\u3000c\n") == Strings{"a,b", "c"});
  CHECK(words(R"({"type": "Punctuation"})", "a?!b。") == Strings{"a", "?", "!", "b", "。"});
  CHECK(words(R"({"type": "Digits", "individual_digits": true})", "a12b") ==
        Strings{"a", "1", "2", "b"});
  CHECK(words(R"({"type": "Digits", "individual_digits": false})", "a12b") ==
        Strings{"a", "12", "b"});
  CHECK(words(R"({"type": "BertPreTokenizer"})", "it's 5$") == Strings{"it", "'", "s", "5", "$"});
  CHECK(words(R"({"type": "CharDelimiterSplit", "delimiter": "|"})", "a|b||") == Strings{"a", "b"});
  CHECK(words(R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
                   {"type": "Digits", "individual_digits": true}]})",
              "a1 2b") == Strings{"a", "1", "2", "b"});
}

TEST_CASE("ByteLevel: GPT-2's pattern, and a character a byte") {
  CHECK(words(R"({"type": "ByteLevel", "add_prefix_space": false})", "I'll go  2é\n") ==
        Strings{"I", "'ll", "Ġgo", "Ġ", "Ġ2", "Ã©", "Ċ"});
  CHECK(words(R"({"type": "ByteLevel"})", "a") == Strings{"Ġa"});
  CHECK(words(R"({"type": "ByteLevel"})", " a") == Strings{"Ġa"});
  CHECK(words(R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})", "a b") ==
        Strings{"aĠb"});
}

TEST_CASE("ByteLevel: every byte has a character, which maps back to it") {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string piece(byte_level_character(static_cast<unsigned char>(byte)));
    CHECK(byte_level_decoded(piece) == std::string(1, static_cast<char>(byte)));
  }
  CHECK(byte_level_character(' ') == "Ġ");
  CHECK(byte_level_character(0xAD) == "Ń");
  CHECK(byte_level_decoded("a▁") == "a▁");  // ▁ stands for no byte
}

TEST_CASE("Metaspace: spaces become marks, and words begin with them") {
  const auto metaspace = [](std::string_view scheme) {
    return R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": ")" +
           std::string(scheme) + "\"}";
  };
  CHECK(words(metaspace("always"), "Hey  you") == Strings{"▁Hey", "▁", "▁you"});
  CHECK(words(metaspace("always"), " Hey") == Strings{"▁Hey"});
  CHECK(words(metaspace("never"), "Hey you") == Strings{"Hey", "▁you"});
  CHECK(words(metaspace("first"), "Hey you") == Strings{"▁Hey", "▁you"});
  CHECK(words(R"({"type": "Metaspace", "replacement": "▁", "add_prefix_space": false,
                  "split": false})",
              "Hey you") == Strings{"Hey▁you"});
}

TEST_CASE("normalizers change what their names say") {
  CHECK(normalized(R"({"type": "Strip", "strip_left": true, "strip_right": false})", "  a ") ==
        "a ");
  CHECK(normalized(R"({"type": "Strip", "strip_left": false, "strip_right": true})", " a\u3000") ==
        " a");
  CHECK(normalized(R"({"type": "Strip"})", " \n ") == "");
  CHECK(normalized(R"({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "_"})",
                   "a  b c") == "a_b c");
  CHECK(normalized(R"({"type": "Prepend", "prepend": "▁"})", "") == "");
  CHECK(normalized(R"({"type": "NFKD"})", "é½") == "e\u03011\u20442");
  CHECK(normalized(R"({"type": "NFKC"})", "ㅋㅏ가ㄳㅋㅋ") == "카갃\u110F\u110F");
  CHECK(normalized(R"({"type": "NFC"})", "ㅋㅏ가ㄳ") == "ㅋㅏ가ㄳ");
  CHECK(normalized(R"({"type": "Lowercase"})", "İΣǅ") == "i\u0307σǆ");
  CHECK(normalized(R"({"type": "BertNormalizer", "strip_accents": false})", "É\tx\u0001y\u200D") ==
        "é xy");
  CHECK(normalized(R"({"type": "BertNormalizer"})", "a\vb\fc\u0085d\u2028e\rf") == "abcd e f");
  CHECK(normalized(R"({"type": "BertNormalizer", "lowercase": false})", "É猫") == "É 猫 ");
  CHECK(normalized(R"({"type": "Nmt"})", "a\u0001b\u200Bc\n") == "ab c ");
  CHECK(normalized(R"({"type": "ByteLevel"})", "a é") == "aĠÃ©");
}

TEST_CASE("a prefix only at the beginning: text removed before it still counts as a beginning") {
  const auto prepended = [](std::size_t offset) {
    AlignedText text("  a", offset);
    SpaceNormalization spaces;
    spaces.space = "▁";
    spaces.removes_extra = spaces.adds_prefix = spaces.only_at_beginning = true;
    space_normalizer(spaces)(text);
    return std::string(text.text());
  };
  CHECK(prepended(0) == "▁a");
  CHECK(prepended(4) == "a");
}

TEST_CASE("normalizers keep bytes that are not UTF-8") {
  for (const char* type : {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt",
                           "BertNormalizer", "Strip"}) {
    CAPTURE(type);
    const std::string stage = R"({"type": ")" + std::string(type) + "\"}";
    CHECK(normalized(stage, "a\xFF\xE2\x82") == "a\xFF\xE2\x82");
  }
}

TEST_CASE("charsmap: the longest entry is replaced, and keeps its position") {
  // A double array with one entry, "A": its node is 0x41 (root offset 0), its value at 0x41 ^ 0x40.
  std::vector<std::uint32_t> units(0x42, 0);
  units[0x41] = (0x40u << 10) | 0x100u | 0x41u;
  units[1] = 0x80000000u;
  std::string bytes;
  const auto append = [&](std::uint32_t value) {
    for (int i = 0; i < 4; ++i) {
      bytes += static_cast<char>(value >> (8 * i));
    }
  };
  append(static_cast<std::uint32_t>(4 * units.size()));
  for (const std::uint32_t unit : units) {
    append(unit);
  }
  bytes += std::string("bc\0", 3);
  AlignedText text("xAy", 10);
  charsmap_normalizer(bytes, "")(text);
  CHECK(text.text() == "xbcy");
  CHECK(text.source({1, 2}) == ByteRange{11, 12});
  CHECK(text.source({2, 4}) == ByteRange{11, 13});
  CHECK_THROWS_AS(charsmap_normalizer("ab", "here: "), Error);
  CHECK_THROWS_AS(charsmap_normalizer(std::string_view("\xFF\0\0\0abcd", 8), "here: "), Error);
  bytes += std::string(1024, 'x') + std::string(1, '\0');
  charsmap_normalizer(bytes, "");
  CHECK_THROWS_WITH_AS(charsmap_normalizer(bytes + std::string(1025, 'x'), "here: "),
                       "here: expected replacements of at most 1024 bytes, found 1025", Error);
}

TEST_CASE("charsmap: a trie that leads back into itself has entries of up to 64 bytes") {
  // The node of "a" is 0x61, its offset 0x61 leads to its value at 0, and by "a" to itself. The
  // value, the root's unit, is the replacement at 0.
  std::vector<std::uint32_t> units(0x62, 0);
  units[0x61] = (0x61u << 10) | 0x100u | 0x61u;
  std::string bytes("\x88\x01\0\0", 4);  // 4 * 0x62
  for (const std::uint32_t unit : units) {
    for (int i = 0; i < 4; ++i) {
      bytes += static_cast<char>(unit >> (8 * i));
    }
  }
  bytes += std::string("b\0", 2);
  AlignedText text(std::string(100, 'a'), 0);
  charsmap_normalizer(bytes, "")(text);
  CHECK(text.text() == "bb");
  CHECK(text.source({1, 2}) == ByteRange{64, 100});
}

TEST_CASE("normalizers that double a text again and again are stopped") {
  const auto doubled = [](int times) {
    std::string stages;
    for (int i = 0; i < times; ++i) {
      stages += std::string(i == 0 ? "" : ",") +
                R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})";
    }
    return normalized(R"({"type": "Sequence", "normalizers": [)" + stages + "]}", "a");
  };
  CHECK(doubled(12).size() == std::size_t{1} << 12);  // 64 bytes more would be too many
  CHECK_THROWS_WITH_AS(doubled(40),
                       "the tokenizer makes 1 byte of text longer and longer: expected at most "
                       "4160 bytes when normalized, found more",
                       Error);
}

TEST_CASE("decoders join pieces to text") {
  CHECK(decoded(R"({"type": "WordPiece"})", {"un", "##aff", "##able", "it", "!"}) ==
        "unaffable it!");
  CHECK(decoded(R"({"type": "Metaspace", "replacement": "▁"})", {"▁Hey", "▁you"}) == "Hey you");
  CHECK(decoded(R"({"type": "BPEDecoder"})", {"ab</w>", "c", "d</w>"}) == "ab cd");
  CHECK(decoded(R"({"type": "Sequence", "decoders": [{"type": "ByteFallback"}]})",
                {"<0xE7>", "<0x8C>", "<0xAB>", "<0xG0>"}) == "猫<0xG0>");
  CHECK(decoded(R"({"type": "Strip", "content": "_", "start": 1, "stop": 1})", {"__a_", "_b"}) ==
        "_ab");
}

TEST_CASE("templates put special tokens around one text and around two") {
  const JsonTree tree = JsonTree::parse(R"({"type": "RobertaProcessing", "sep": ["</s>", 2],
      "cls": ["<s>", 0], "trim_offsets": true})",
                                        "stage.json");
  const PostProcessor post = read_post_processor(tree.root());
  CHECK(post.single.size() == 3);
  REQUIRE(post.pair.size() == 6);
  CHECK(post.pair[2].id == 2);
  CHECK(post.pair[3].id == 2);
  CHECK(post.pair[4].kind == TemplateItem::Kind::kSecond);
  CHECK(post.pair[4].segment == 0);
}

TEST_CASE("an unknown stage or behaviour is named, with the known ones") {
  const auto message = [](auto read, std::string_view json) {
    const JsonTree tree = JsonTree::parse(json, "t.json");
    try {
      read(tree.root());
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUnsupported);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(read_post_processor, R"({"type": "BertProcesing"})") ==
        "t.json: type: the post-processor \"BertProcesing\" is not supported (did you mean "
        "\"BertProcessing\"?); there are BertProcessing, ByteLevel, RobertaProcessing, Sequence "
        "and TemplateProcessing");
  CHECK(message(read_normalizer, R"({"type": "X"})").find("NFKC") != std::string::npos);
  CHECK(message(read_pre_tokenizer, R"({"type": "X"})").find("Metaspace") != std::string::npos);
  CHECK(message(read_decoder, R"({"type": "CTC"})").find("ByteFallback") != std::string::npos);
  CHECK(message(read_pre_tokenizer, R"({"type": "Split", "pattern": {"Regex": "(a"}})")
            .find("t.json: pattern.Regex: expected a regular expression") == 0);
}

TEST_CASE("a regular expression that takes too many steps is stopped and reported") {
  const Regex hostile("(a+)+$", "t.json: pattern: ");
  CHECK(hostile.find_all("baa") == std::vector<ByteRange>{{1, 3}});
  CHECK_THROWS_WITH_AS(hostile.find_all(std::string(5000, 'a') + "b"),
                       "t.json: pattern: the pattern \"(a+)+$\" takes too many steps in 5001 bytes "
                       "of text",
                       Error);
  CHECK_THROWS_AS(hostile.find_all(std::string(std::size_t{1} << 20, 'a') + "b"), Error);
  // From each of 200,000 letters to the end: each match alone takes few steps.
  for (const char* const pattern : {"a+b|.", "(?=(a+))a*b|."}) {
    CAPTURE(pattern);
    CHECK_THROWS_AS(Regex(pattern, "").find_all(std::string(200'000, 'a')), Error);
  }
  CHECK(Regex("b*", "").find_all("abba") == std::vector<ByteRange>{{0, 0}, {1, 3}, {4, 4}});
}

TEST_CASE("steps of a regular expression are counted over all texts") {
  const Regex slow("(?:a+b|a)", "");
  const std::string text(2000, 'a');
  StageSteps steps;
  const auto read_many = [&] {
    for (int i = 0; i < 1000; ++i) {
      steps.allow_for(text.size());
      const std::size_t n_found = RegexSearch(slow, text.size(), &steps).find_all(text).size();
      REQUIRE(n_found == 2000);
    }
  };
  CHECK_THROWS_AS(read_many(), Error);
}

TEST_CASE("ordinary texts of any length take few steps of a regular expression") {
  // Like Llama 3's known pattern, except for the group around it.
  const Regex words(
      "(?:(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
      " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)",
      "");
  std::string text;
  while (text.size() < 3'000'000) {
    text += "It's 1234 o'clock,\r\n\n    and\tthe   cat—naïve, «猫» — sat...   \n";
  }
  CHECK(words.find_all(text).size() > 100'000);
}

TEST_CASE("a regular expression that continues without backtracking is stopped within a second") {
  struct Slow {
    std::string_view pattern;
    std::size_t n_bytes;
  };
  // Contents of a look-around or an atomic group are repeated without backtracking, and so is a*
  // before another character; references and empty rounds have their own length.
  for (const Slow& slow :
       {Slow{"(?:(?=(?>a*))(?>aa?)){3000}[yz]", 5000}, Slow{"(?>(?:(?=(?>a*))a)*)[xz]", 5000},
        Slow{"(?>(?:(?=(?>(?:(?=(?>a*))a)*))a)*)[xz]", 800}, Slow{"(a)\\1{60000}b", 100'000},
        Slow{"(a+)(?:\\1c|a)*[xz]", 100'000}, Slow{"(?<all>a+)(?:\\k<all>c|a)*[xz]", 100'000},
        Slow{"(?:(?!c)){10000}x", 1 << 20}, Slow{"(?:(?!a++b)a)*[xz]", 100'000},
        Slow{"(?:a*x|a)*[yz]", 100'000}, Slow{"(?:(?!a++{)a)*[xz]", 100'000},
        Slow{"a++\\b[^c]", 1 << 18}, Slow{"(?:\\X(?=\\X*+)b?)*[xz]", 100'000},
        Slow{"(?:(?<=a{0,1000})a)*[xz]", 5000}, Slow{"(?:(?=(?:a?){1000}c?)a)*[xz]", 5000}}) {
    CAPTURE(slow.pattern);
    const Regex regex(slow.pattern, "");
    const test::Stopwatch watch;
    // The pattern's last character occurs in the text, or the whole text would be skipped at once.
    try {
      const std::string text = std::string(slow.n_bytes, 'a') + "c.xyb";
      const std::size_t n_found = regex.find_all(text).size();
      CHECK(n_found <= slow.n_bytes);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUnsupported);
    }
    WARN(watch.is_quick());
    CHECK(watch.is_in_time());
  }
}

TEST_CASE("a regular expression with too many repetitions, even hidden ones, is refused") {
  const std::string text(8000, 'b');
  for (const std::string& pattern :
       {std::string("(?:(?:a?){1000}){100000}"),
        std::string("(?:(?!(?:(?>a?)){100000}x)b?){100000}"), std::string(100'000, 'a'),
        std::string("(?:(?:a?){1000}?){100}"), std::string("(?:(?!c)){60000}x"),
        std::string("(?:(?!c)){40000}(?:(?!d)){40000}"),
        std::string("(?<a>(?!c){1000})(?<b>\\g<a>{1000})\\g<b>"),
        std::string(1000, '(') + std::string(1000, ')'), std::string("a\\")}) {
    CHECK_THROWS_AS(Regex(pattern, "").find_all(text), Error);
  }
  const auto refusal = [](std::string_view pattern) {
    try {
      const Regex regex(pattern, "t.json: ");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUnsupported);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal("a(*ERROR{-5})") ==
        "t.json: expected a regular expression without (*, found \"a(*ERROR{-5})\"");
  for (const char* const item : {"(*", "(?{", "(?~", "(?(", "(?x", "\\g", "\\c", "\\10"}) {
    const std::string pattern = std::string("a") + item + "})";
    CAPTURE(pattern);
    CHECK(refusal(pattern).find(std::string("without ") + item + ", found") != std::string::npos);
  }
  for (const char* const item : {"a*", "a+?", "a{2,}", "\\X", "(?:b|(a)\\1)"}) {
    CHECK(refusal(std::string("(?<!") + item + ")c").find("in a look-behind") != std::string::npos);
  }
  CHECK(refusal("[[:a.:]]").find("without [:a.:], found") != std::string::npos);
  // Numbers that are not repetitions: literal, in a class, in an escape that is not one.
  CHECK(Regex("[\\x{99999}]{2,9}\\p{Lu}{1,3}|\\{70000}", "").find_all("{70000}").size() == 1);
}

TEST_CASE("a regular expression means the same however its repetitions and groups are written") {
  using Ranges = std::vector<ByteRange>;
  CHECK(Regex("(?:a{2}){2}+|b*?c", "").find_all("aaaaaaaabbc") == Ranges{{0, 8}, {8, 11}});
  CHECK(Regex("a(?#(*FAIL\\) comment)+(?:(?#b)|b)", "").find_all("aaab") == Ranges{{0, 3}});
  CHECK(Regex("[(*]+|\\(*x", "").find_all("(*)((x") == Ranges{{0, 2}, {3, 5}, {5, 6}});
  CHECK(Regex("a{,2}b|a{x}|{", "").find_all("aaab{a{x}") == Ranges{{1, 4}, {4, 5}, {5, 9}});
  CHECK(Regex("(['\"])\\w*\\1|(?i)k+|z", "").find_all("\"ab\" 'c\" KkZz") ==
        Ranges{{0, 4}, {9, 11}, {11, 12}, {12, 13}});
  CHECK(Regex("(?<=ab|c)d|(?<!(?:x){1,2})y++", "").find_all("abdcdxyyy") ==
        Ranges{{2, 3}, {4, 5}, {7, 9}});
  CHECK(Regex("\\p{L}{2}|\\x{31}{2}|\\X", "").find_all("ab11e\u0301") ==
        Ranges{{0, 2}, {2, 4}, {4, 7}});
}

TEST_CASE("a class of punctuation includes symbols if it is a POSIX class") {
  CHECK(Regex("[[:punct:]]", "").find_all("a$") == std::vector<ByteRange>{{1, 2}});
  CHECK(Regex("[[:^punct:]]", "").find_all("a$") == std::vector<ByteRange>{{0, 1}});
  CHECK(Regex("\\[:punct:]", "").find_all("[:punct:]") == std::vector<ByteRange>{{0, 9}});
  // A ] at the beginning of a class is one of its characters.
  CHECK(Regex("[][:punct:]]", "").find_all("$]a") == std::vector<ByteRange>{{0, 1}, {1, 2}});
  CHECK(Regex("[^][:punct:]]", "").find_all("$]a") == std::vector<ByteRange>{{2, 3}});
  CHECK(Regex("[a[]b[:punct:]]]", "").find_all("$b") == std::vector<ByteRange>{{0, 1}, {1, 2}});
}

TEST_CASE("a regular expression that takes too long at every word is stopped as early as in one") {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += std::string(30, 'a') + "b ";
  }
  CHECK_THROWS_AS(words(R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
                {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"}]})",
                        text),
                  Error);
}

TEST_CASE("a regular expression cuts a megabyte of white space, and long words with deep groups") {
  const Regex llama3(
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
      " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      "");
  CHECK(llama3.find_all(std::string(1'020'000, ' ') + "hello world") ==
        std::vector<ByteRange>{{0, 1'019'999}, {1'019'999, 1'020'005}, {1'020'005, 1'020'011}});
  CHECK(Regex("(?:[a-z]\\d?)+", "").find_all(std::string(5000, 'a') + " b c") ==
        std::vector<ByteRange>{{0, 5000}, {5001, 5002}, {5003, 5004}});
}

TEST_CASE("a prefix index finds all pieces that a text begins with, short ones first") {
  const PrefixIndex index({"b", "a", "abc", "", "abd", "ab", "a"});
  std::vector<std::uint32_t> found;
  const auto note = [&](std::uint32_t number, std::size_t) { found.push_back(number); };
  index.prefixes("abcd", note);
  CHECK(found == std::vector<std::uint32_t>{6, 5, 2});
  found.clear();
  index.prefixes("c", note);
  CHECK(found.empty());
}

}  // namespace attnviz
