#include "attnviz/text/files/tokenizer_files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "support/gguf_writer.h"
#include "support/json.h"
#include "support/run_program.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using test::GgufWriter;
using Ids = std::vector<TokenId>;

const fs::path kGguf = fs::path(ATTNVIZ_SOURCE_DIR) / "../shared/reference/gguf";

bool is_missing(const fs::path& path) {
  if (fs::exists(path)) {
    return false;
  }
  MESSAGE("SKIPPED: no " << path.string());
  return true;
}

Ids ids_of(const ModelTokenizer& tokenizer, std::string_view text, bool adds_special = true,
           bool parses_special = false) {
  TokenizeOptions options;
  options.add_special_tokens = adds_special;
  options.parse_special = parses_special;
  return tokenizer.tokenize(text, options).ids();
}

ModelTokenizer tokenizer_of(const GgufWriter& writer) {
  const std::string file = writer.file();
  const Gguf gguf(file, "tiny.gguf");
  return ModelTokenizer(read_gguf_tokenizer(GgufMetadata(gguf)));
}

void check_fails(const GgufWriter& writer, ErrorKind kind, const std::vector<std::string>& parts) {
  try {
    tokenizer_of(writer);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(message.starts_with("tiny.gguf: "));
    for (const std::string& part : parts) {
      CHECK(message.find(part) != std::string::npos);
    }
  }
}

// <unk>, <s> and </s>, three letters, two pieces made of them, the bytes of é, a user's token.
GgufWriter llama() {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "llama")
      .texts("tokenizer.ggml.tokens",
             {"<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁a", "<0xC3>", "<0xA9>", "<user>"})
      .floats("tokenizer.ggml.scores", {0, 0, 0, -9, -9, -9, -2, -1, 0, 0, 0})
      .i32s("tokenizer.ggml.token_type", {2, 3, 3, 1, 1, 1, 1, 1, 6, 6, 4});
  return writer;
}

// GPT-2's letters for "a", "b", "1", "2" and a space; ab and 12 are pieces.
GgufWriter gpt2() {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2")
      .texts("tokenizer.ggml.tokens", {"a", "b", "1", "2", "Ġ", "ab", "12", "121", "<|endoftext|>"})
      .i32s("tokenizer.ggml.token_type", {1, 1, 1, 1, 1, 1, 1, 1, 3})
      .texts("tokenizer.ggml.merges", {"a b", "1 2"});
  return writer;
}

GgufWriter bert() {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "bert")
      .texts("tokenizer.ggml.tokens",
             {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁a", "b", "▁ab", "▁!", "c", "[MASK]"})
      .i32s("tokenizer.ggml.token_type", {3, 3, 3, 3, 1, 1, 1, 1, 1, 3})
      .u32("tokenizer.ggml.unknown_token_id", 1)
      .u32("tokenizer.ggml.cls_token_id", 2)
      .u32("tokenizer.ggml.seperator_token_id", 3);
  return writer;
}

GgufWriter t5() {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "t5")
      .texts("tokenizer.ggml.tokens", {"<pad>", "</s>", "<unk>", "▁", "a", "▁a", "b", "ab"})
      .floats("tokenizer.ggml.scores", {0, 0, 0, -3, -3, -4, -3, -2})
      .i32s("tokenizer.ggml.token_type", {3, 3, 2, 1, 1, 1, 1, 1})
      .flag("tokenizer.ggml.add_space_prefix", true)
      .flag("tokenizer.ggml.remove_extra_whitespaces", true);
  return writer;
}

}  // namespace

TEST_CASE("GGUF tokenizers: the ids that llama.cpp gives for the reference's texts") {
  if (is_missing(kGguf / "tok")) {
    return;
  }
  // Which model contains which tokenizer, according to the models' references.
  std::map<std::string, fs::path> files;
  for (const auto& entry : fs::directory_iterator(kGguf / "refs")) {
    const auto meta = test::read_json(entry.path() / "meta.json");
    files.emplace(meta["tokenizer"], kGguf / "models" / meta["file"].get<std::string>());
  }
  std::size_t n_tokenizers = 0;
  for (const auto& entry : fs::directory_iterator(kGguf / "tok")) {
    const auto reference = test::read_json(entry.path());
    const std::string name = reference["tokenizer"];
    CAPTURE(name);
    if (!files.contains(name)) {
      MESSAGE("SKIPPED: no model with the tokenizer " << name);
      continue;
    }
    ++n_tokenizers;
    const auto tokenizer = load_tokenizer(files[name]);
    for (const auto& item : reference["cases"]) {
      const std::string text = item["text"];
      CAPTURE(text);
      CHECK(ids_of(*tokenizer, text, false) == item["ids"].get<Ids>());
      CHECK(ids_of(*tokenizer, text) == item["ids_full"].get<Ids>());
      CHECK(ids_of(*tokenizer, text, true, true) == item["ids_special"].get<Ids>());
    }
  }
  CHECK(n_tokenizers > 0);
}

TEST_CASE("GGUF tokenizers: every shard, and the other byte order, give the same tokenizer") {
  const fs::path models = kGguf / "models";
  if (is_missing(models)) {
    return;
  }
  const Ids expected = ids_of(*load_tokenizer(models / "stories260k-f32.gguf"), "Once upon a time");
  for (const char* name :
       {"stories260k-f16-split-00001-of-00002.gguf", "stories260k-f16-split-00002-of-00002.gguf",
        "stories260k-q8_0-be.gguf"}) {
    CAPTURE(name);
    CHECK(ids_of(*load_tokenizer(models / name), "Once upon a time") == expected);
  }
}

TEST_CASE("GGUF tokenizers: faulty ones of the reference are reported with file and key") {
  const fs::path bad = kGguf / "bad";
  if (is_missing(bad)) {
    return;
  }
  const std::pair<const char*, const char*> files[] = {
      {"116-tokens-empty.gguf", "tokenizer.ggml.tokens"},
      {"119-scores-short.gguf", "tokenizer.ggml.scores"},
      {"122-types-99.gguf", "tokenizer.ggml.token_type"},
      {"125-tok-model-foo.gguf", "tokenizer.ggml.model"},
      {"128-merges-unknown.gguf", "tokenizer.ggml.merges"},
      {"131-bpe-no-bytes.gguf", "tokenizer.ggml.merges"}};
  for (const auto& file : files) {
    const char* const name = file.first;
    const char* const key = file.second;
    CAPTURE(name);
    try {
      load_tokenizer(bad / name);
      FAIL_CHECK("no error");
    } catch (const Error& error) {
      const std::string message = error.what();
      CAPTURE(message);
      CHECK(message.find(name) != std::string::npos);
      CHECK(message.find(key) != std::string::npos);
    }
  }
}

TEST_CASE("llama: the piece with the highest score is merged first, after a space and BOS") {
  const ModelTokenizer tokenizer = tokenizer_of(llama());
  CHECK(tokenizer.name() == "SentencePiece BPE");
  CHECK(ids_of(tokenizer, "ab") == Ids{1, 7, 5});
  CHECK(ids_of(tokenizer, "ab", false) == Ids{7, 5});
  CHECK(ids_of(tokenizer, "b ab") == Ids{1, 3, 5, 7, 5});
  CHECK(ids_of(tokenizer, "b  ab") == Ids{1, 3, 5, 3, 7, 5});  // no space is dropped
  CHECK(ids_of(tokenizer, "") == Ids{1});
  CHECK(tokenizer.from_ids(Ids{7, 5, 3, 5}).source == "ab b");
}

TEST_CASE("llama: text without a piece becomes bytes, and <unk> if there are no bytes") {
  const ModelTokenizer tokenizer = tokenizer_of(llama());
  CHECK(ids_of(tokenizer, "é") == Ids{1, 3, 8, 9});
  CHECK(ids_of(tokenizer, "aü") == Ids{1, 7, 0});
  CHECK(tokenizer.from_ids(Ids{8, 9}).source == "é");
}

TEST_CASE("llama: names of special tokens are text by default; user-defined tokens always match") {
  const ModelTokenizer tokenizer = tokenizer_of(llama());
  CHECK(ids_of(tokenizer, "<s>a") == Ids{1, 3, 0, 4});
  CHECK(ids_of(tokenizer, "<s>a", true, true) == Ids{1, 1, 7});
  CHECK(ids_of(tokenizer, "a<user>ab") == Ids{1, 7, 10, 7, 5});
  CHECK(tokenizer.is_special(1));
  CHECK(!tokenizer.is_special(10));
}

TEST_CASE("llama: the file's own settings for the leading space, BOS and EOS") {
  CHECK(ids_of(tokenizer_of(llama().flag("tokenizer.ggml.add_space_prefix", false)), "ab") ==
        Ids{1, 6});
  CHECK(ids_of(tokenizer_of(llama().flag("tokenizer.ggml.add_bos_token", false)), "a") == Ids{7});
  CHECK(ids_of(tokenizer_of(llama().flag("tokenizer.ggml.add_eos_token", true)), "a") ==
        Ids{1, 7, 2});
  const GgufWriter other = llama()
                               .u32("tokenizer.ggml.bos_token_id", 10)
                               .u32("tokenizer.ggml.eos_token_id", 4'000'000'000)
                               .flag("tokenizer.ggml.add_eos_token", true);
  CHECK(ids_of(tokenizer_of(other), "a") == Ids{10, 7, 2});  // an id without a piece is not added
}

TEST_CASE("llama: files without types recognise bytes by name, and special tokens by their ids") {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "llama")
      .texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "▁", "a", "<0xC3>", "<0xA9>"})
      .floats("tokenizer.ggml.scores", {0, 0, 0, -1, -1, 0, 0})
      .u32("tokenizer.ggml.bos_token_id", 1)
      .u32("tokenizer.ggml.eos_token_id", 2);
  const ModelTokenizer tokenizer = tokenizer_of(writer);
  CHECK(ids_of(tokenizer, "é<s>", true, true) == Ids{1, 3, 5, 6, 1});
  CHECK(tokenizer.special_ids().unk == 0U);
}

TEST_CASE("gpt2: merges in their order, within words cut by the file's pattern") {
  const ModelTokenizer tokenizer = tokenizer_of(gpt2().text("tokenizer.ggml.pre", "gpt-2"));
  CHECK(tokenizer.name() == "byte-level BPE");
  CHECK(ids_of(tokenizer, "ab 12") == Ids{5, 4, 6});
  CHECK(ids_of(tokenizer, "121") == Ids{6, 2});
  CHECK(ids_of(tokenizer, "a<|endoftext|>", true, true) == Ids{0, 8});
  CHECK(ids_of(tokenizer_of(gpt2().text("tokenizer.ggml.pre", "qwen2")), "12") == Ids{2, 3});
  CHECK(ids_of(tokenizer_of(gpt2()), "121") == Ids{7 - 1, 2});  // "default"
}

TEST_CASE("gpt2: Llama 3's whole-word pieces come before any merge, and BOS is added") {
  const ModelTokenizer tokenizer = tokenizer_of(
      gpt2().text("tokenizer.ggml.pre", "llama-bpe").u32("tokenizer.ggml.bos_token_id", 8));
  CHECK(ids_of(tokenizer, "121") == Ids{8, 7});
  CHECK(ids_of(tokenizer, "1212") == Ids{8, 7, 3});  // three digits are a word
}

TEST_CASE("gpt2: a requested BOS must exist") {
  CHECK(ids_of(tokenizer_of(gpt2().flag("tokenizer.ggml.add_bos_token", true)), "a") == Ids{8, 0});
  check_fails(GgufWriter()
                  .text("tokenizer.ggml.model", "gpt2")
                  .texts("tokenizer.ggml.tokens", {"a"})
                  .texts("tokenizer.ggml.merges", {})
                  .flag("tokenizer.ggml.add_bos_token", true),
              ErrorKind::kMalformed, {"tokenizer.ggml.add_bos_token", "bos_token_id"});
}

TEST_CASE("gemma4: ranked merges over ▁ for spaces, cut at line ends, bytes for the rest, BOS") {
  for (const bool is_named : {true, false}) {  // as llama.cpp's and Ollama's converters write it
    GgufWriter writer;
    writer.text("tokenizer.ggml.model", is_named ? "gemma4" : "llama")
        .text("general.architecture", "gemma4")
        .text("tokenizer.ggml.pre", "gemma4")
        .texts("tokenizer.ggml.tokens", {"<pad>", "<eos>", "<bos>", "<unk>", "<0xC3>", "<0xA9>",
                                         "▁", "a", "b", "\n", "ab", "▁ab", "\n\n", "<|turn>"})
        .i32s("tokenizer.ggml.token_type", {3, 3, 3, 2, 6, 6, 1, 1, 1, 1, 1, 1, 1, 3})
        .texts("tokenizer.ggml.merges", {"\n \n", "a b", "▁ ab"})
        .u32("tokenizer.ggml.bos_token_id", 2)
        .u32("tokenizer.ggml.unknown_token_id", 3)
        .flag("tokenizer.ggml.add_bos_token", false);
    const ModelTokenizer tokenizer = tokenizer_of(writer);
    CHECK(ids_of(tokenizer, "ab ab") == Ids{2, 10, 11});
    CHECK(ids_of(tokenizer, " ab\n\n\nb") == Ids{2, 11, 12, 9, 8});
    CHECK(ids_of(tokenizer, "aé b") == Ids{2, 7, 4, 5, 6, 8});
    CHECK(ids_of(tokenizer, "<|turn>ab", true, true) == Ids{2, 13, 10});
    CHECK(tokenizer.from_ids(Ids{10, 11, 4, 5}).source == "ab abé");
  }
}

TEST_CASE("bert: pieces with a mark begin words, between CLS and SEP") {
  const ModelTokenizer tokenizer = tokenizer_of(bert());
  CHECK(tokenizer.name() == "WordPiece");
  CHECK(ids_of(tokenizer, "Abc a!") == Ids{2, 6, 8, 4, 7, 3});
  CHECK(ids_of(tokenizer, "á") == Ids{2, 4, 3});        // no accents in lower case
  CHECK(ids_of(tokenizer, "b ab") == Ids{2, 1, 6, 3});  // b begins no word
  CHECK(tokenizer.from_ids(Ids{6, 8, 4}).source == "abc a");
  CHECK(tokenizer.special_ids().mask == 9U);
  CHECK(ids_of(tokenizer_of(bert().flag("tokenizer.ggml.normalizer.lowercase", false)), "A a") ==
        Ids{2, 1, 4, 3});
}

TEST_CASE("t5: the most probable pieces, before EOS") {
  const ModelTokenizer tokenizer = tokenizer_of(t5());
  CHECK(tokenizer.name() == "Unigram");
  // ▁ ab: -5; ▁a b: -7.
  CHECK(ids_of(tokenizer, "ab") == Ids{3, 7, 1});
  CHECK(ids_of(tokenizer, "  a   b ") == Ids{5, 3, 6, 1});
  CHECK(ids_of(tokenizer, "aé") == Ids{5, 2, 1});
  CHECK(ids_of(tokenizer_of(t5().flag("tokenizer.ggml.add_eos_token", false)), "a") == Ids{5});
}

TEST_CASE("t5: an invalid character map is reported") {
  check_fails(t5().bytes("tokenizer.ggml.precompiled_charsmap", "\x10"), ErrorKind::kMalformed,
              {"tokenizer.ggml.precompiled_charsmap"});
}

TEST_CASE("GGUF tokenizers: harmless unread keys are known, each with its reason") {
  CHECK(tokenizer_of(llama()).ignored_keys().empty());
  const ModelTokenizer tokenizer = tokenizer_of(llama()
                                                    .text("tokenizer.ggml.pre", "default")
                                                    .u32("tokenizer.ggml.fim_pre_token_id", 4)
                                                    .u32("tokenizer.ggml.mask_token_id", 4294967295)
                                                    .u32("tokenizer.ggml.eot_token_id", 2));
  REQUIRE(tokenizer.ignored_keys().size() == 3);  // the model reads what ends a turn
  CHECK(tokenizer.ignored_keys()[0].name == "tokenizer.ggml.pre");
  CHECK(tokenizer.ignored_keys()[0].why == "another model of tokenizer uses it");
  CHECK(tokenizer.ignored_keys()[1].name == "tokenizer.ggml.fim_pre_token_id");
  CHECK(tokenizer.ignored_keys()[1].why == "the id of a token");
  CHECK(tokenizer.ignored_keys()[2].why == "no token has this id");
}

TEST_CASE("GGUF tokenizers: errors are reported with their key") {
  const auto model = [](const char* name) {
    return GgufWriter().text("tokenizer.ggml.model", name);
  };
  check_fails(GgufWriter().text("general.architecture", "llama"), ErrorKind::kIo,
              {"tokenizer.ggml.model"});
  check_fails(model("no_vocab"), ErrorKind::kUnsupported, {"tokenizer.ggml.model", "no_vocab"});
  check_fails(model("llama"), ErrorKind::kMalformed, {"tokenizer.ggml.tokens"});
  check_fails(model("llama").text("tokenizer.ggml.tokens", "a"), ErrorKind::kMalformed,
              {"tokenizer.ggml.tokens", "string"});
  check_fails(model("llama").texts("tokenizer.ggml.tokens", {"a", "b", "a"}), ErrorKind::kMalformed,
              {"tokenizer.ggml.tokens", "\"a\" twice"});
  check_fails(model("llama")
                  .texts("tokenizer.ggml.tokens", {"a", "b"})
                  .floats("tokenizer.ggml.scores", {1}),
              ErrorKind::kMalformed, {"tokenizer.ggml.scores", "2 scores", "found 1"});
  check_fails(model("llama")
                  .texts("tokenizer.ggml.tokens", {"a", "b"})
                  .i32s("tokenizer.ggml.token_type", {1}),
              ErrorKind::kMalformed, {"tokenizer.ggml.token_type", "2 types", "found 1"});
  check_fails(model("llama")
                  .texts("tokenizer.ggml.tokens", {"a", "b"})
                  .i32s("tokenizer.ggml.token_type", {1, 7}),
              ErrorKind::kMalformed, {"tokenizer.ggml.token_type", "found 7 of token 1"});
  check_fails(model("gpt2").texts("tokenizer.ggml.tokens", {"a"}), ErrorKind::kMalformed,
              {"tokenizer.ggml.merges"});
  check_fails(
      model("gpt2").texts("tokenizer.ggml.tokens", {"a"}).texts("tokenizer.ggml.merges", {"ab"}),
      ErrorKind::kMalformed, {"tokenizer.ggml.merges", "\"ab\""});
  check_fails(model("gpt2")
                  .texts("tokenizer.ggml.tokens", {"a", "b"})
                  .texts("tokenizer.ggml.merges", {"a b"}),
              ErrorKind::kMalformed, {"tokenizer.ggml.merges[0]", "\"ab\""});
  check_fails(gpt2().text("tokenizer.ggml.pre", "qwen"), ErrorKind::kUnsupported,
              {"tokenizer.ggml.pre", "\"qwen\"", "did you mean \"qwen2\"", "llama-bpe"});
}

TEST_CASE("an empty piece keeps its id") {
  const ModelTokenizer tokenizer =
      tokenizer_of(GgufWriter()
                       .text("tokenizer.ggml.model", "gpt2")
                       .texts("tokenizer.ggml.tokens", {"", "a", "", "b"})
                       .texts("tokenizer.ggml.merges", {}));
  CHECK(ids_of(tokenizer, "ba") == Ids{3, 1});
  CHECK(tokenizer.vocabulary_size() == 4);
}

TEST_CASE("Ollama's files give the intended tokens of a text") {
  const fs::path dialects = fs::path(ATTNVIZ_SOURCE_DIR) / "../shared/reference/dialects";
  if (is_missing(dialects)) {
    return;
  }
  for (const char* name : {"gemma3-vision", "llama3-no-pre"}) {
    const auto expected = test::read_json(dialects / name / "text.json");
    for (const char* form : {"llamacpp.gguf", "ollama.gguf"}) {
      CAPTURE(form);
      const auto tokenizer = load_tokenizer(dialects / name / form);
      CHECK(ids_of(*tokenizer, expected["text"].get<std::string>()) == expected["ids"].get<Ids>());
    }
  }
}

TEST_CASE("Unigram: a character map may be written as base64 characters") {
  const std::string map("\x04\0\0\0\0\0\0\0", 8);
  CHECK(ids_of(tokenizer_of(t5().bytes("tokenizer.ggml.precompiled_charsmap", map)), "a") ==
        ids_of(tokenizer_of(t5().texts("tokenizer.ggml.precompiled_charsmap",
                                       {"B", "A", "A", "A", "AAAA", "AAA="})),
               "a"));
  check_fails(t5().texts("tokenizer.ggml.precompiled_charsmap", {"B", "!"}), ErrorKind::kMalformed,
              {"precompiled_charsmap", "base64"});
}

// Pairs as in Hugging Face's XLM-R and RoBERTa, and in llama.cpp's reranking.
TEST_CASE("GGUF tokenizers: encoders that begin and end a text encode pairs like RoBERTa") {
  const ModelTokenizer xlm = tokenizer_of(t5().u32("tokenizer.ggml.bos_token_id", 0)
                                              .flag("tokenizer.ggml.add_bos_token", true)
                                              .flag("tokenizer.ggml.add_eos_token", true));
  TokenizeOptions how;
  how.pair = "b";
  const TokenizedText text = xlm.tokenize("a", how);
  Ids ids;
  for (const Token& token : text.tokens) {
    ids.push_back(token.id);
    CHECK(token.segment == 0);
  }
  CHECK(ids.front() == 0);
  CHECK(ids.back() == 1);
  CHECK(std::count(ids.begin(), ids.end(), 1) == 3);  // <s> A </s></s> B </s>
  CHECK(std::count(ids.begin(), ids.end(), 0) == 1);
}

}  // namespace attnviz
