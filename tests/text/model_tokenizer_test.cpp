#include "attnviz/text/tokenizers/model_tokenizer.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "tiny_tokenizers.h"

namespace attnviz {
namespace {

using test::described;
using test::tokenizer_of;

constexpr std::string_view kByteLevel = R"({
  "added_tokens": [{"id": 10, "content": "<|endoftext|>", "special": true}],
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
  "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "ð": 5, "Ł": 6,
            "ĺ": 7, "Ģ": 8, "ðŁ": 9}, "merges": ["a b", "Ġ ab", "ð Ł"]}})";

constexpr std::string_view kSentencePiece = R"({
  "added_tokens": [{"id": 0, "content": "<unk>", "special": true},
                   {"id": 1, "content": "<s>", "special": true}],
  "normalizer": {"type": "Sequence", "normalizers": [
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
  "decoder": {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
    {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
  "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
    "vocab": {"<unk>": 0, "<s>": 1, "<0xC3>": 2, "<0xA9>": 3, "▁": 4, "a": 5, "b": 6, "ab": 7,
              "▁ab": 8}, "merges": [["a", "b"], ["▁", "ab"]]}})";

constexpr std::string_view kBert = R"({
  "added_tokens": [{"id": 0, "content": "[UNK]", "special": true},
                   {"id": 1, "content": "[CLS]", "special": true},
                   {"id": 2, "content": "[SEP]", "special": true}],
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                 "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "caf": 3, "##e": 4, ",": 5, "猫": 6, "座": 7}}})";

// A model alone, with pieces a, b, c and the given ones.
ModelTokenizer bpe(std::string_view more_pieces, std::string_view merges, std::string_view more) {
  return tokenizer_of(
      fmt::format(R"({{"model": {{"type": "BPE", "vocab": {{"a": 0, "b": 1, "c": 2{}}},
                       "merges": [{}]{}}}}})",
                  more_pieces, merges, more));
}

}  // namespace

TEST_CASE("byte-level BPE: pieces are raw bytes, and a split emoji keeps the range of each") {
  const ModelTokenizer tokenizer = tokenizer_of(kByteLevel);
  CHECK(tokenizer.name() == "byte-level BPE");
  CHECK(tokenizer.vocabulary_size() == 11);
  CHECK(described(tokenizer.tokenize("ab ab😀")) ==
        "3=ab[0,2) 4= ab[2,5) 9=<F0 9F>[5,7) 7=<98>[7,8) 8=<80>[8,9)");
  CHECK(tokenizer.from_ids(std::vector<TokenId>{3, 4, 9, 7, 8}).source == "ab ab😀");
}

TEST_CASE("byte-level BPE: bytes that are not UTF-8 are tokens like others") {
  const ModelTokenizer tokenizer = tokenizer_of(kByteLevel);
  CHECK(described(tokenizer.tokenize("a\xF0\x9F b")) ==
        "0=a[0,1) 9=<F0 9F>[1,3) 2= [3,4) 1=b[4,5)");
  CHECK(tokenizer.tokenize("").tokens.empty());
}

TEST_CASE("special tokens in a text are text, unless they are parsed") {
  const ModelTokenizer tokenizer = tokenizer_of(kByteLevel);
  TokenizeOptions options;
  CHECK(described(tokenizer.tokenize("a<|endoftext|>b", options)) == "0=a[0,1) 1=b[14,15)");
  options.parse_special = true;
  CHECK(described(tokenizer.tokenize("a<|endoftext|>b", options)) ==
        "0=a[0,1) 10=<|endoftext|>[1,14)! 1=b[14,15)");
}

TEST_CASE("BOS is added on request, and an error if there is none") {
  TokenizeOptions options;
  options.bos = true;
  CHECK(described(tokenizer_of(kByteLevel).tokenize("a", options)) ==
        "10=<|endoftext|>[0,0)! 0=a[0,1)");
  CHECK_THROWS_WITH_AS(tokenizer_of(kBert).tokenize("a", options),
                       "this WordPiece tokenizer has no token that begins a text", Error);
}

TEST_CASE("without BOS a template loses it at the beginning of a text, not at the end") {
  std::string json(kByteLevel);
  json.insert(1, R"("post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "e", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "e", "type_id": 0}}],
      "pair": [{"SpecialToken": {"id": "e", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "e", "type_id": 0}},
               {"SpecialToken": {"id": "e", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}},
               {"SpecialToken": {"id": "e", "type_id": 0}}],
      "special_tokens": {"e": {"id": "e", "ids": [10]}}},)");
  const ModelTokenizer tokenizer = tokenizer_of(json);
  TokenizeOptions options;
  options.bos = false;
  CHECK(described(tokenizer.tokenize("a", options)) == "0=a[0,1) 10=<|endoftext|>[1,1)!");
  options.pair = "b";
  CHECK(described(tokenizer.tokenize("a", options)) ==
        "0=a[0,1) 10=<|endoftext|>[1,1)! 1=b[2,3) 10=<|endoftext|>[3,3)!");
}

TEST_CASE("Metaspace only at the beginning: neither after stripped spaces nor after a token") {
  const ModelTokenizer tokenizer = tokenizer_of(R"({
      "added_tokens": [{"id": 2, "content": "<n>", "normalized": true}],
      "normalizer": {"type": "Strip"},
      "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
      "model": {"type": "WordLevel", "vocab": {"▁hello": 0, "hello": 1}}})");
  CHECK(described(tokenizer.tokenize("hello  ")) == "0= hello[0,5)");
  CHECK(described(tokenizer.tokenize("  hello")) == "1=hello[2,7)");
  CHECK(described(tokenizer.tokenize("<n>hello")) == "2=<n>[0,3) 1=hello[3,8)");
}

TEST_CASE("more different words than are cached have the right pieces, old and new") {
  const ModelTokenizer tokenizer = tokenizer_of(kByteLevel);
  std::string text;
  for (int i = 0; i < 70'000; ++i) {  // every word another number in a and b, and "ab" again
    for (int bit = 16; bit >= 0; --bit) {
      text += (i >> bit & 1) != 0 ? 'a' : 'b';
    }
    text += i % 100 == 0 ? " ab " : " ";
  }
  const TokenizedText made = tokenizer.tokenize(text);
  std::string joined;
  for (const Token& token : made.tokens) {
    joined += token.text;
  }
  CHECK(joined == text);
  CHECK(described({{}, {made.tokens.end() - 1, made.tokens.end()}}) ==
        fmt::format("2= [{},{})", text.size() - 1, text.size()));
}

TEST_CASE("SentencePiece BPE: spaces are shown as spaces, and unknown characters become bytes") {
  const ModelTokenizer tokenizer = tokenizer_of(kSentencePiece);
  CHECK(tokenizer.name() == "SentencePiece BPE");
  CHECK(tokenizer.tokenize("a").tokens.front().id == tokenizer.special_ids().bos);
  const TokenizedText text = tokenizer.tokenize("ab é");
  CHECK(described(text) == "1=<s>[0,0)! 8= ab[0,2) 4= [2,3) 2=<C3>[3,4) 3=<A9>[4,5)");
  CHECK(tokenizer.from_ids(std::vector<TokenId>{8, 4, 2, 3}).source == "ab é");
  CHECK(tokenizer.from_ids(std::vector<TokenId>{1, 8}).source == "<s> ab");
  TokenizeOptions options;
  options.bos = false;
  CHECK(described(tokenizer.tokenize("ab", options)) == "8= ab[0,2)");
  options = {};
  options.add_special_tokens = false;
  CHECK(described(tokenizer.tokenize("ab", options)) == "8= ab[0,2)");
}

TEST_CASE("SentencePiece BPE: unknown characters without byte pieces are one unknown token") {
  const ModelTokenizer tokenizer = tokenizer_of(kSentencePiece);
  CHECK(described(tokenizer.tokenize("猫座ab")) == "1=<s>[0,0)! 4= [0,0) 0=<unk>[0,6)! 7=ab[6,8)");
  // For this tokenizer the byte that is not UTF-8 is U+FFFD.
  CHECK(described(tokenizer.tokenize("ab\xFF")) == "1=<s>[0,0)! 8= ab[0,2) 0=<unk>[2,3)!");
}

TEST_CASE("BPE: the merge of the lowest rank comes first, at any position") {
  const ModelTokenizer tokenizer = bpe(R"(, "ab": 3, "bc": 4)", R"("b c", "a b")", "");
  CHECK(described(tokenizer.tokenize("abc")) == "0=a[0,1) 4=bc[1,3)");
  CHECK(described(tokenizer.tokenize("abab")) == "3=ab[0,2) 3=ab[2,4)");
}

TEST_CASE("BPE: with ignore_merges, words in the vocabulary are taken whole") {
  const std::string_view pieces = R"(, "abc": 3)";
  CHECK(described(bpe(pieces, "", R"(, "ignore_merges": true)").tokenize("abc")) == "3=abc[0,3)");
  CHECK(described(bpe(pieces, "", "").tokenize("abc")) == "0=a[0,1) 1=b[1,2) 2=c[2,3)");
}

TEST_CASE("BPE: unknown characters are left out, single, or joined") {
  const std::string_view pieces = R"(, "?": 3)";
  CHECK(described(bpe(pieces, "", "").tokenize("xya")) == "0=a[2,3)");
  CHECK(described(bpe(pieces, "", R"(, "unk_token": "?")").tokenize("xya")) ==
        "3=?[0,1) 3=?[1,2) 0=a[2,3)");
  CHECK(described(bpe(pieces, "", R"(, "unk_token": "?", "fuse_unk": true)").tokenize("xya")) ==
        "3=?[0,2) 0=a[2,3)");
}

TEST_CASE("BPE: an unk_token that is not a piece is an error only for texts that need it") {
  for (const std::string unknown : {"?", ""}) {
    const ModelTokenizer tokenizer = bpe("", "", R"(, "unk_token": ")" + unknown + "\"");
    CHECK(described(tokenizer.tokenize("ba")) == "1=b[0,1) 0=a[1,2)");
    CHECK_FALSE(tokenizer.special_ids().unk.has_value());
    const std::string message =
        "tiny.json: model: unk_token: expected a piece of the vocabulary, which \"x\" needs, found "
        "\"" +
        unknown + "\"";
    CHECK_THROWS_WITH_AS(tokenizer.tokenize("ax"), message.c_str(), Error);
  }
}

TEST_CASE("BPE: pieces that continue or end a word are written with prefix and suffix") {
  CHECK(described(bpe(R"(, "##b": 3, "a##b": 4, "ab": 5)", R"("a ##b")",
                      R"(, "continuing_subword_prefix": "##")")
                      .tokenize("ab")) == "5=ab[0,2)");
  CHECK(described(bpe(R"(, "b</w>": 3)", "", R"(, "end_of_word_suffix": "</w>")").tokenize("ab")) ==
        "0=a[0,1) 3=b</w>[1,2)");
}

TEST_CASE("WordPiece: words are lower case without accents, and ranges are those of the source") {
  const ModelTokenizer tokenizer = tokenizer_of(kBert);
  CHECK(described(tokenizer.tokenize("Café, 猫座 xyz")) ==
        "1=[CLS][0,0)! 3=caf[0,3) 4=##e[3,5) 5=,[5,6) 6=猫[7,10) 7=座[10,13) 0=[UNK][14,17)! "
        "2=[SEP][17,17)!");
  CHECK(tokenizer.from_ids(std::vector<TokenId>{3, 4, 5, 3}).source == "cafe, caf");
  CHECK(described(tokenizer.tokenize(std::string(101, 'a'))) ==
        "1=[CLS][0,0)! 0=[UNK][0,101)! 2=[SEP][101,101)!");
}

TEST_CASE("WordPiece: a pair has segments, and the second text's ranges come after the first's") {
  TokenizeOptions options;
  options.pair = "caf";
  const TokenizedText text = tokenizer_of(kBert).tokenize("x", options);
  CHECK(text.source == "x\ncaf");
  CHECK(described(text) == "1=[CLS][0,0)! 0=[UNK][0,1)! 2=[SEP][1,1)! 3=caf[2,5)' 2=[SEP][5,5)!'");
}

TEST_CASE("Unigram: the most probable cut, and unknown characters in one token") {
  const ModelTokenizer tokenizer = tokenizer_of(R"({"model": {"type": "Unigram", "unk_id": 0,
      "vocab": [["<unk>", 0], ["a", -1], ["b", -1.0], ["ab", -1.5], ["abc", -10.0], ["c", -2e0]]}})");
  CHECK(tokenizer.name() == "Unigram");
  // ab c: -3.5; a b c: -4; abc: -10.
  CHECK(described(tokenizer.tokenize("abc")) == "3=ab[0,2) 5=c[2,3)");
  CHECK(described(tokenizer.tokenize("x猫ab")) == "0=<unk>[0,4) 3=ab[4,6)");
}

TEST_CASE("Unigram: if scores overflow, the word is unknown") {
  const ModelTokenizer tokenizer = tokenizer_of(R"({"model": {"type": "Unigram", "unk_id": 0,
      "vocab": [["<unk>", 0], ["a", -1e308]]}})");
  CHECK(described(tokenizer.tokenize("a")) == "1=a[0,1)");
  CHECK(described(tokenizer.tokenize("aaa")) == "0=<unk>[0,3)");
}

TEST_CASE("WordLevel: words of the vocabulary, and one token for all others") {
  const ModelTokenizer tokenizer = tokenizer_of(R"({"pre_tokenizer": {"type": "Whitespace"},
      "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "the": 1, "cat": 2}}})");
  CHECK(described(tokenizer.tokenize("the cat!")) == "1=the[0,3) 2=cat[4,7) 0=?[7,8)");
}

TEST_CASE("every character of a normalized text keeps its position in the source") {
  const auto with = [](std::string_view form) {
    return tokenizer_of(fmt::format(R"({{"normalizer": {{"type": "{}"}},
        "model": {{"type": "BPE", "vocab": {{"é": 0, "a": 1, "f": 2, "i": 3, "e": 4, "\u0301": 5,
                   "각": 6}}, "merges": []}}}})",
                                    form));
  };
  CHECK(described(with("NFC").tokenize("e\u0301a")) == "0=é[0,3) 1=a[3,4)");
  CHECK(described(with("NFC").tokenize("\u1100\u1161\u11A8")) == "6=각[0,9)");
  CHECK(described(with("NFD").tokenize("aé")) == "1=a[0,1) 4=e[1,3) 5=\u0301[1,3)");
  CHECK(described(with("NFKC").tokenize("a\uFB01a")) == "1=a[0,1) 2=f[1,4) 3=i[1,4) 1=a[4,5)");
  CHECK(described(with("Lowercase").tokenize("AÉ")) == "1=a[0,1) 0=é[1,3)");
  CHECK(described(with("StripAccents").tokenize("e\u0301a")) == "4=e[0,1) 1=a[3,4)");
}

TEST_CASE("added tokens may strip white space or need word boundaries, and the longest wins") {
  const ModelTokenizer tokenizer = tokenizer_of(R"({"added_tokens": [
      {"id": 3, "content": "<l>", "lstrip": true}, {"id": 4, "content": "<r>", "rstrip": true},
      {"id": 5, "content": "bc", "single_word": true}, {"id": 6, "content": "<r><l>"}],
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2}, "merges": []}})");
  CHECK(described(tokenizer.tokenize("a \t<l>a")) == "0=a[0,1) 3=<l>[1,6) 0=a[6,7)");
  CHECK(described(tokenizer.tokenize("a<r> \u3000a")) == "0=a[0,1) 4=<r>[1,8) 0=a[8,9)");
  CHECK(described(tokenizer.tokenize("bc abc bc")) ==
        "5=bc[0,2) 0=a[3,4) 1=b[4,5) 2=c[5,6) 5=bc[7,9)");
  CHECK(described(tokenizer.tokenize("<r><l>")) == "6=<r><l>[0,6)");
}

TEST_CASE("ids outside the vocabulary are an error") {
  CHECK_THROWS_WITH_AS(tokenizer_of(kByteLevel).from_ids(std::vector<TokenId>{3, 11}),
                       "token id 11: expected 0 to 10, the vocabulary's last", Error);
}

TEST_CASE("pieces and ids are found in both directions") {
  const ModelTokenizer tokenizer = tokenizer_of(kByteLevel);
  CHECK(tokenizer.id_of("Ġab") == 4);
  CHECK(tokenizer.id_of("<|endoftext|>") == 10);
  CHECK_FALSE(tokenizer.id_of("abab").has_value());
  CHECK(tokenizer.piece(4) == " ab");
  CHECK(tokenizer.is_special(10));
  CHECK_FALSE(tokenizer.is_special(4));
  CHECK(tokenizer.special_ids().eos == 10);
  CHECK_FALSE(tokenizer.special_ids().cls.has_value());
}

TEST_CASE("the time for a word of a megabyte does not grow with its square") {
  const std::string text(std::size_t{1} << 20, 'a');
  const std::string_view pieces = R"(, "aa": 3, "aaaa": 4)";
  CHECK(bpe(pieces, R"("a a", "aa aa")", "").tokenize(text).size() == text.size() / 4);
  const ModelTokenizer unigram = tokenizer_of(R"({"model": {"type": "Unigram", "unk_id": 0,
      "vocab": [["?", 0], ["a", -1], ["aaaa", -1]]}})");
  CHECK(unigram.tokenize(text).size() == text.size() / 4);
  CHECK(unigram.tokenize(std::string(text.size(), 'b')).size() == 1);
  const ModelTokenizer word_piece = tokenizer_of(R"({"model": {"type": "WordPiece",
      "unk_token": "?", "max_input_chars_per_word": 100000000,
      "vocab": {"?": 0, "a": 1, "##aaaa": 2, "##aaa": 3}}})");
  CHECK(word_piece.tokenize(text).size() == text.size() / 4 + 1);
  CHECK(tokenizer_of(kByteLevel).tokenize(std::string(text.size(), '\xFF')).tokens.empty());
  const ModelTokenizer nfc = tokenizer_of(R"({"normalizer": {"type": "NFC"},
      "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}})");
  std::string marks = "e";
  for (std::size_t i = 0; i < text.size() / 4; ++i) {
    marks += "\u0301\u0323";  // out of their canonical order
  }
  CHECK(nfc.tokenize(marks).size() == 1);
}

}  // namespace attnviz
