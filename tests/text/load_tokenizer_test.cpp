#include "attnviz/text/files/load_tokenizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "support/gguf_writer.h"
#include "support/run_program.h"
#include "support/stopwatch.h"
#include "text/tiny_tokenizers.h"
#include "tiny_tokenizers.h"

namespace attnviz {
namespace {

using test::described;

void write(const test::TemporaryFolder& folder, const std::string& name, std::string_view bytes) {
  test::write_file(folder.file(name), std::string(bytes));
}

constexpr std::string_view kPieces = R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3, "Ġ": 4})";

using test::field;

// A piece of tokenizer.model; the score is one of -1.0 and -2.0.
std::string piece(std::string_view text, bool is_better, char type) {
  const std::string score =
      is_better ? std::string("\x15\0\0\x80\xBF", 5) : std::string("\x15\0\0\0\xC0", 5);
  return field(1, field(1, text) + score + std::string{'\x18', type});
}

// <unk> <s> </s>, and pieces that spell "abc" with ▁: BPE or Unigram, without removing spaces.
std::string sentencepiece(char model_type) {
  return piece("<unk>", false, 2) + piece("<s>", false, 3) + piece("</s>", false, 3) +
         piece("▁", false, 1) + piece("a", false, 1) + piece("b", false, 1) + piece("c", false, 1) +
         piece("bc", true, 1) + piece("ab", false, 1) + field(2, std::string{'\x18', model_type}) +
         field(3, std::string{'\x20', '\0'});
}

}  // namespace

TEST_CASE("a folder without a tokenizer says which files were looked for") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.json", kPieces);  // without its merges
  try {
    load_tokenizer(folder.path());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kIo);
    CHECK(std::string_view(error.what())
              .find("found none of tokenizer.json, tokenizer.model, spiece.model, source.spm "
                    "with vocab.json, vocab.json with merges.txt, "
                    "vocab.txt") != std::string_view::npos);
  }
  CHECK_THROWS_AS(load_tokenizer(folder.path() / "nowhere"), Error);
}

TEST_CASE("vocab.json and merges.txt are GPT-2's tokenizer; the config may ask for BOS") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.json", kPieces);
  write(folder, "merges.txt", "#version: 0.2\na b\n");
  CHECK(described(load_tokenizer(folder.path())->tokenize("ab a")) ==
        "2=ab[0,2) 4= [2,3) 0=a[3,4)");
  write(folder, "tokenizer_config.json", R"({"add_bos_token": true,
      "bos_token": {"content": "<|endoftext|>"}, "pad_token": null, "add_prefix_space": true})");
  const auto tokenizer = load_tokenizer(folder.path());
  CHECK(described(tokenizer->tokenize("ab")) == "3=<|endoftext|>[0,0)! 4= [0,0) 2=ab[0,2)");
  CHECK(tokenizer->special_ids().bos == 3);
  CHECK_FALSE(tokenizer->special_ids().pad.has_value());
}

TEST_CASE("add_bos_token and add_eos_token also apply next to a template with the same tokens") {
  const test::TemporaryFolder folder;
  const auto made = [&](std::string_view before, std::string_view config) {
    write(folder, "tokenizer.json",
          R"({"added_tokens": [{"id": 1, "content": "<s>", "special": true},
                               {"id": 2, "content": "</s>", "special": true},
                               {"id": 3, "content": "[X]", "special": true}],
              "post_processor": {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": ")" +
              std::string(before) + R"(", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                         {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]},
                                   "[X]": {"id": "[X]", "ids": [3], "tokens": ["[X]"]}}},
              "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}})");
    write(folder, "tokenizer_config.json", config);
    return described(load_tokenizer(folder.path())->tokenize("a"));
  };
  CHECK(made("<s>", "{}") == "1=<s>[0,0)! 0=a[0,1)");
  CHECK(made("<s>", R"({"add_bos_token": false})") == "0=a[0,1)");
  CHECK(made("<s>", R"({"add_bos_token": false, "add_eos_token": true})") ==
        "0=a[0,1) 2=</s>[1,1)!");
  CHECK(made("<s>", R"({"add_eos_token": true})") == "1=<s>[0,0)! 0=a[0,1) 2=</s>[1,1)!");
  CHECK(made("[X]", R"({"add_bos_token": true})") == "3=[X][0,0)! 0=a[0,1)");
}

TEST_CASE("vocab.json and merges.txt of RoBERTa and BART put <s> and </s> around a text") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.json", R"({"<s>": 0, "</s>": 1, "a": 2})");
  write(folder, "merges.txt", "#version: 0.2\n");
  write(folder, "tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})");
  CHECK(described(load_tokenizer(folder.path())->tokenize("a")) ==
        "0=<s>[0,0)! 2=a[0,1) 1=</s>[1,1)!");
}

TEST_CASE("vocab.json and merges.txt of Qwen2 cut as it does: every digit alone") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.json", R"({"1": 0, "2": 1, "12": 2, "Ã©": 3, "Ã": 4, "©": 5})");
  write(folder, "merges.txt", "1 2\nÃ ©\n");
  write(folder, "tokenizer_config.json", R"({"tokenizer_class": "Qwen2Tokenizer"})");
  CHECK(described(load_tokenizer(folder.path())->tokenize("12e\u0301")) ==
        "0=1[0,1) 1=2[1,2) 3=é[2,5)");
}

TEST_CASE("vocab.txt is BERT's tokenizer, in lower case unless the config says otherwise") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nab\nAB\n");
  CHECK(described(load_tokenizer(folder.path())->tokenize("AB")) ==
        "2=[CLS][0,0)! 4=ab[0,2) 3=[SEP][2,2)!");
  write(folder, "tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(described(load_tokenizer(folder.path())->tokenize("AB")) ==
        "2=[CLS][0,0)! 5=AB[0,2) 3=[SEP][2,2)!");
  write(folder, "vocab.txt", "[UNK]\ne\né\n中\n中中\n");
  write(folder, "tokenizer_config.json", "{}");
  CHECK(described(load_tokenizer(folder.path())->tokenize("É中中")) ==
        "1=e[0,2) 3=中[2,5) 3=中[5,8)");
  write(folder, "tokenizer_config.json",
        R"({"strip_accents": false, "tokenize_chinese_chars": false})");
  CHECK(described(load_tokenizer(folder.path())->tokenize("É 中中")) == "2=é[0,2) 4=中中[3,9)");
}

TEST_CASE("tokenizer.json takes precedence, and special_tokens_map.json names its tokens") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.txt", "[UNK]\n");
  write(folder, "tokenizer.json",
        R"({"added_tokens": [{"id": 1, "content": "<end>", "special": true}],
      "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}})");
  write(folder, "special_tokens_map.json", R"({"eos_token": "<end>"})");
  const auto tokenizer = load_tokenizer(folder.path());
  CHECK(tokenizer->name() == "WordLevel");
  CHECK(tokenizer->special_ids().eos == 1);
  CHECK(tokenizer->special_ids().unk == 0);
  CHECK_FALSE(tokenizer->tokenize("?").tokens.front().added);
}

TEST_CASE("tokenizer.model: BPE merges the best-scoring pair, Unigram takes the best sum") {
  const test::TemporaryFolder folder;
  write(folder, "tokenizer.model", sentencepiece(2));
  const auto bpe = load_tokenizer(folder.path());
  CHECK(bpe->name() == "SentencePiece BPE");
  CHECK(described(bpe->tokenize("abc")) == "1=<s>[0,0)! 3= [0,0) 4=a[0,1) 7=bc[1,3)");
  CHECK(described(bpe->tokenize(" ab猫")) ==
        "1=<s>[0,0)! 3= [0,0) 3= [0,1) 8=ab[1,3) 0=<unk>[3,6)!");
  CHECK(bpe->special_ids().eos == 2);
  CHECK(bpe->from_ids(std::vector<TokenId>{3, 4, 7, 3, 8}).source == "abc ab");
  write(folder, "tokenizer.model", sentencepiece(1));
  const auto unigram = load_tokenizer(folder.path());
  // ▁ a bc: -5; ▁ ab c: -6.
  CHECK(described(unigram->tokenize("abc")) == "1=<s>[0,0)! 3= [0,0) 4=a[0,1) 7=bc[1,3)");
}

// transformers' LlamaTokenizer.
TEST_CASE("tokenizer.model: no space before a text if the settings say so") {
  const test::TemporaryFolder folder;
  write(folder, "tokenizer.model", sentencepiece(2));
  for (const char* legacy : {"", R"("legacy": false, )", R"("legacy": true, )"}) {
    write(folder, "tokenizer_config.json",
          "{" + std::string(legacy) + R"("add_prefix_space": false})");
    const auto tokenizer = load_tokenizer(folder.path());
    CHECK(described(tokenizer->tokenize("abc")) == "1=<s>[0,0)! 4=a[0,1) 7=bc[1,3)");
    CHECK(tokenizer->from_ids(std::vector<TokenId>{4, 7}).source == "abc");
  }
}

TEST_CASE("tokenizer.model: its special tokens are found in a text, however files name them") {
  const test::TemporaryFolder folder;
  write(folder, "tokenizer.model", sentencepiece(2));
  TokenizeOptions options;
  options.parse_special = true;
  for (const char* eos :
       {R"("</s>")", R"({"content": "</s>"})", R"({"content": "</s>", "normalized": true})"}) {
    CAPTURE(eos);
    write(folder, "special_tokens_map.json", std::string(R"({"eos_token": )") + eos + "}");
    write(folder, "added_tokens.json", R"({"<user>": 9})");
    const auto tokenizer = load_tokenizer(folder.path());
    const std::vector<TokenId> ids = tokenizer->tokenize("ab</s>c<user>", options).ids();
    CHECK(std::ranges::count(ids, TokenId{2}) == 1);
    CHECK(ids.back() == 9);
  }
}

TEST_CASE("spiece.model is T5's: </s> after a text, sentinel tokens after the pieces") {
  const test::TemporaryFolder folder;
  write(folder, "spiece.model", sentencepiece(1));
  write(folder, "tokenizer_config.json", R"({"extra_ids": 3})");
  const auto tokenizer = load_tokenizer(folder.path());
  CHECK(described(tokenizer->tokenize("abc")) == "3= [0,0) 4=a[0,1) 7=bc[1,3) 2=</s>[3,3)!");
  CHECK(tokenizer->piece(11) == "<extra_id_0>");
  CHECK(tokenizer->piece(9) == "<extra_id_2>");
  write(folder, "tokenizer_config.json", R"({"extra_ids": 65537})");
  CHECK_THROWS_AS(load_tokenizer(folder.path()), Error);
}

TEST_CASE("source.spm and target.spm are Marian's, with the ids of a vocab.json for both") {
  const test::TemporaryFolder folder;
  write(folder, "source.spm", sentencepiece(1));
  write(folder, "target.spm", sentencepiece(1));
  write(folder, "vocab.json", R"({"</s>": 0, "<unk>": 1, "bc": 2, "▁": 3, "a": 4, "d": 5,
                                  ">>fra<<": 6, "<pad>": 7})");
  for (const char* name : {"", "source.spm", "target.spm"}) {
    const auto tokenizer = load_tokenizer(folder.path() / name);
    CHECK(described(tokenizer->tokenize("abc")) == "3= [0,0) 4=a[0,1) 2=bc[1,3) 0=</s>[3,3)!");
    // Unknown to the SentencePiece model, but in the vocabulary.
    CHECK(tokenizer->tokenize("d").tokens[1].id == 5);
    CHECK(tokenizer->tokenize("e").tokens[1].id == 1);
    CHECK(tokenizer->tokenize(">>fra<<a").tokens.front().id == 6);
    CHECK(tokenizer->special_ids().pad == 7);
  }
  write(folder, "vocab.json", R"({"</s>": 0, "a": 2})");
  CHECK_THROWS_AS(load_tokenizer(folder.path()), Error);
  write(folder, "vocab.json", "[]");
  CHECK_THROWS_AS(load_tokenizer(folder.path()), Error);
}

TEST_CASE("a config that contradicts the stages of tokenizer.json is refused") {
  const test::TemporaryFolder folder;
  const auto refusal = [&](std::string_view stages, std::string_view config) {
    write(folder, "tokenizer.json",
          "{" + std::string(stages) +
              R"(, "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}})");
    write(folder, "tokenizer_config.json", config);
    try {
      load_tokenizer(folder.path());
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUnsupported);
      const std::string message = error.what();
      return message.substr(message.find("config.json: ") + 13);
    }
    return std::string();
  };
  const std::string bert = R"("normalizer": {"type": "BertNormalizer", "clean_text": true,
      "handle_chinese_chars": true, "strip_accents": null, "lowercase": false})";
  CHECK(refusal(bert, R"({"do_lower_case": true})") ==
        "do_lower_case: expected false, as lowercase in tokenizer.json is, found true: which of "
        "them holds depends on the library");
  CHECK(refusal(bert, R"({"strip_accents": true})").find("strip_accents: expected false") == 0);
  CHECK(refusal(bert, R"({"tokenize_chinese_chars": false})")
            .find("tokenize_chinese_chars: expected true, as handle_chinese_chars in") == 0);
  CHECK(refusal(bert, R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false,
      "strip_accents": null, "tokenize_chinese_chars": true, "add_prefix_space": true})")
            .empty());
  // A class without flags of its own.
  CHECK(refusal(bert, R"({"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": true})")
            .empty());
  // An accent that is kept when letters are lower-cased: null leaves this open.
  CHECK(refusal(R"("normalizer": {"type": "BertNormalizer", "strip_accents": false})",
                R"({"do_lower_case": true, "strip_accents": null})")
            .find("strip_accents: expected false, as strip_accents in tokenizer.json is, found "
                  "null") == 0);

  const std::string bytes = R"({"type": "ByteLevel", "add_prefix_space": false})";
  CHECK(refusal("\"pre_tokenizer\": " + bytes, R"({"add_prefix_space": true})")
            .find("add_prefix_space: expected false, as add_prefix_space in tokenizer.json") == 0);
  CHECK(refusal("\"pre_tokenizer\": " + bytes, R"({"add_prefix_space": false})").empty());
  // Neither a sequence nor Metaspace gets another value.
  CHECK(refusal(R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [)" + bytes + "]}",
                R"({"add_prefix_space": true})")
            .empty());
  CHECK(refusal(R"("pre_tokenizer": {"type": "Metaspace", "replacement": "_"})",
                R"({"add_prefix_space": false})")
            .empty());
}

TEST_CASE("tokens added to a vocabulary later are found in the config") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.json", kPieces);
  write(folder, "merges.txt", "a b\n");
  write(folder, "tokenizer_config.json", R"({"added_tokens_decoder": {
      "7": {"content": "<user>", "special": true}, "8": {"content": "bb", "special": false}}})");
  const auto tokenizer = load_tokenizer(folder.path());
  CHECK(tokenizer->vocabulary_size() == 9);
  TokenizeOptions options;
  options.parse_special = true;
  CHECK(described(tokenizer->tokenize("<user>abbb", options)) ==
        "7=<user>[0,6)! 0=a[6,7) 8=bb[7,9) 1=b[9,10)");
  write(folder, "tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "y"}}})");
  CHECK_THROWS_AS(load_tokenizer(folder.path()), Error);
}

TEST_CASE("a hundred thousand tokens added later are found without delay") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.json", kPieces);
  write(folder, "merges.txt", "a b\n");
  std::string list;
  for (int id = 7; id < 100'007; ++id) {
    list += (list.empty() ? "\"" : ",\"") + std::to_string(id) + R"(": {"content": "<x)" +
            std::to_string(id) + R"(>", "special": true})";
  }
  write(folder, "tokenizer_config.json", R"({"added_tokens_decoder": {)" + list + "}}");
  const test::Stopwatch watch;
  CHECK(load_tokenizer(folder.path())->vocabulary_size() == 100'007);
  CHECK(watch.is_in_time());  // comparing each with all others would take longer
}

TEST_CASE("a setting of the wrong kind is an error of its file") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.txt", "[UNK]\n");
  write(folder, "tokenizer_config.json", R"({"do_lower_case": "yes"})");
  try {
    load_tokenizer(folder.path());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kMalformed);
    CHECK(
        std::string_view(error.what())
            .find("tokenizer_config.json: do_lower_case: expected true or false, found a string") !=
        std::string_view::npos);
  }
}

TEST_CASE(
    "a chat template: a separate file takes precedence over settings, these over processors'") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.json", kPieces);
  write(folder, "merges.txt", "a b\n");
  const auto source = [&folder] {
    const auto tokenizer = load_tokenizer(folder.path());
    const ChatTemplate* const chat = tokenizer->chat_template();
    return chat == nullptr ? "none" : chat->source;
  };
  CHECK(source() == "none");
  write(folder, "chat_template.json", R"({"chat_template": "of a processor"})");
  CHECK(source() == "of a processor");
  write(folder, "tokenizer_config.json", R"({"chat_template": null})");
  CHECK(source() == "of a processor");
  write(folder, "tokenizer_config.json",
        R"({"chat_template": [{"name": "tool_use", "template": "of tools"},
                              {"name": "default", "template": "of a list"}]})");
  CHECK(source() == "of a list");
  write(folder, "tokenizer_config.json", R"({"chat_template": {"default": "of an object"}})");
  CHECK(source() == "of an object");
  write(folder, "tokenizer_config.json",
        R"({"chat_template": "of settings", "bos_token": "<|endoftext|>",
            "eos_token": {"content": "b"}, "pad_token": "a", "unk_token": null,
            "additional_special_tokens": ["ab", {"content": "b"}]})");
  CHECK(source() == "of settings");
  write(folder, "chat_template.jinja", "of a file");
  CHECK(source() == "of a file");
  const auto tokenizer = load_tokenizer(folder.path());
  const ChatTemplate& chat = *tokenizer->chat_template();
  CHECK(chat.bos_token == "<|endoftext|>");
  CHECK(chat.eos_token == "b");
  CHECK(chat.other_tokens == std::vector<std::pair<std::string, std::string>>{{"pad_token", "a"}});
  CHECK(chat.additional_special_tokens == std::vector<std::string>{"ab", "b"});
  CHECK(chat.language == TemplateLanguage::kJinja);
  CHECK_FALSE(chat.tokenizer_adds_bos);
  CHECK(chat.where == folder.file("chat_template.jinja"));
}

TEST_CASE("named chat templates are kept: from a list, a processor, files and GGUF") {
  const test::TemporaryFolder folder;
  write(folder, "vocab.json", kPieces);
  write(folder, "merges.txt", "a b\n");
  const auto described_templates = [](const Tokenizer& tokenizer) {
    const ChatTemplate& chat = *tokenizer.chat_template();
    std::string all = chat.source;
    for (const NamedTemplate& one : chat.named) {
      all += ", " + one.name + "=" + one.source;
    }
    return all;
  };
  const auto found = [&] { return described_templates(*load_tokenizer(folder.path())); };
  write(folder, "chat_template.json",
        R"({"chat_template": {"default": "p", "tool_use": "u", "rag": null}})");
  CHECK(found() == "p, tool_use=u");
  write(folder, "tokenizer_config.json",
        R"({"chat_template": [{"name": "tool_use", "template": "a"},
                              {"name": "default", "template": "b"},
                              {"name": "tool_use", "template": "c"}]})");
  CHECK(found() == "b, tool_use=c");
  CHECK(load_tokenizer(folder.path())->chat_template()->named[0].where ==
        folder.file("tokenizer_config.json") + ": chat_template[2].template");
  write(folder, "tokenizer_config.json",
        R"({"chat_template": [{"name": "tool_use", "template": "a"}]})");
  CHECK(found() == ", tool_use=a");
  write(folder, "chat_template.jinja", "f");
  CHECK(found() == "f");
  std::filesystem::create_directory(folder.path() / "additional_chat_templates");
  write(folder, "additional_chat_templates/tool_use.jinja", "t");
  write(folder, "additional_chat_templates/readme.md", "x");
  CHECK(found() == "f, tool_use=t");
  const std::vector<std::filesystem::path> read = tokenizer_files(folder.path());
  CHECK(std::ranges::count(read, folder.path() / "additional_chat_templates/tool_use.jinja") == 1);

  const std::string bytes = test::GgufWriter()
                                .text("tokenizer.ggml.model", "gpt2")
                                .texts("tokenizer.ggml.tokens", {"a", "b", "ab"})
                                .i32s("tokenizer.ggml.token_type", {1, 1, 1})
                                .texts("tokenizer.ggml.merges", {"a b"})
                                .text("tokenizer.chat_template", "g")
                                .texts("tokenizer.chat_templates", {"tool_use"})
                                .text("tokenizer.chat_template.tool_use", "h")
                                .file();
  CHECK(described_templates(*load_tokenizer(Gguf(bytes, "tiny.gguf"))) == "g, tool_use=h");
}

}  // namespace attnviz
