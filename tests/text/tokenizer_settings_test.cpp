// Files next to a tokenizer: its class, added tokens, settings that change its ids.
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "support/run_program.h"
#include "text/tiny_tokenizers.h"

namespace attnviz {
namespace {

using test::described;

class Folder {
 public:
  explicit Folder(std::initializer_list<std::pair<const char*, std::string_view>> files) {
    for (const auto& [name, bytes] : files) {
      write(name, bytes);
    }
  }
  const Folder& write(const std::string& name, std::string_view bytes) const {
    test::write_file(folder_.file(name), std::string(bytes));
    return *this;
  }
  std::string tokens(std::string_view text) const {
    TokenizeOptions options;
    options.parse_special = true;
    return described(load_tokenizer(folder_.path())->tokenize(text, options));
  }
  // load_tokenizer()'s message, after the folder.
  std::string refusal() const {
    try {
      load_tokenizer(folder_.path());
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUnsupported);
      const std::string message = error.what();
      return message.substr(folder_.path().string().size() + 1);
    }
    return {};
  }
  const test::TemporaryFolder& folder() const { return folder_; }

 private:
  test::TemporaryFolder folder_;
};

// The pieces of a byte-level BPE.
Folder byte_level() {
  return Folder({{"vocab.json", R"({"<s>": 0, "</s>": 1, "<mask>": 2, "a": 3, "b": 4, "Ġ": 5,
                                    "ab": 6, "<c>": 7})"},
                 {"merges.txt", "#version: 0.2\na b\n"}});
}

Folder word_piece() {
  return Folder({{"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n<c>\n"}});
}

// Llama's: a ▁ before a text, and instead of each space.
Folder llama() {
  return Folder({{"tokenizer.json", R"({"normalizer": {"type": "Sequence", "normalizers": [
      {"type": "Prepend", "prepend": "▁"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
      "model": {"type": "BPE", "vocab": {"▁": 0, "a": 1}, "merges": []}})"}});
}

// "<s> A </s> B </s>" with another type from B on.
Folder pairs() {
  return Folder({{"tokenizer.json", R"({"pre_tokenizer": {"type": "Whitespace"},
      "post_processor": {"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                   {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"Sequence": {"id": "B", "type_id": 1}},
                 {"SpecialToken": {"id": "<s>", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}}},
      "model": {"type": "WordLevel", "unk_token": "?",
                "vocab": {"?": 0, "a": 1, "x": 2, "<s>": 3}}})"}});
}

Folder tokenizer_json() {
  return Folder({{"tokenizer.json", R"({"pre_tokenizer": {"type": "Whitespace"},
      "added_tokens": [{"id": 3, "content": "<s>", "special": true}],
      "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "x": 2}}})"}});
}

}  // namespace

TEST_CASE("the class comes from the settings, else from config.json, else from its model_type") {
  const Folder folder = byte_level();
  const std::string plain = "6=ab[0,2)";
  const std::string surrounded = "0=<s>[0,0)! 6=ab[0,2) 1=</s>[2,2)!";
  CHECK(folder.tokens("ab") == plain);
  for (const char* type : {"roberta", "bart", "longformer"}) {
    folder.write("config.json", R"({"model_type": ")" + std::string(type) + "\"}");
    CHECK(folder.tokens("ab") == surrounded);
  }
  folder.write("config.json", R"({"model_type": "roberta", "tokenizer_class": "GPT2Tokenizer"})");
  CHECK(folder.tokens("ab") == plain);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizerFast"})");
  CHECK(folder.tokens("ab") == surrounded);
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  folder.write("config.json", R"({"model_type": "roberta"})");
  CHECK(folder.tokens("ab") == plain);
  folder.write("config.json", R"({"model_type": "unheard"})").write("tokenizer_config.json", "{}");
  CHECK(folder.tokens("ab") == plain);
}

TEST_CASE("the tokens around a text are the named ones: RoBERTa's and BERT's") {
  const Folder roberta = byte_level();
  roberta.write("config.json", R"({"model_type": "roberta"})");
  roberta.write("special_tokens_map.json", R"({"cls_token": "<c>", "sep_token": "<new>"})");
  CHECK(roberta.tokens("ab") == "7=<c>[0,0)! 6=ab[0,2) 8=<new>[2,2)!");
  const Folder bert = word_piece();
  bert.write("tokenizer_config.json", R"({"cls_token": "<c>", "unk_token": "b"})");
  CHECK(bert.tokens("a!") == "7=<c>[0,0)! 5=a[0,1) 6=b[1,2)! 3=[SEP][2,2)!");
}

TEST_CASE("RoBERTa's <mask> includes the space before it, unless its flags are given") {
  const Folder folder = byte_level();
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  CHECK(folder.tokens("a <mask>") == "3=a[0,1) 5= [1,2) 2=<mask>[2,8)!");
  const auto of_roberta = [&folder](const std::string& mask) {
    folder.write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer")" + mask + "}");
    const std::string all = folder.tokens("a <mask>");
    return all.substr(0, all.rfind(' '));
  };
  CHECK(of_roberta("") == "0=<s>[0,0)! 3=a[0,1) 2=<mask>[1,8)!");
  CHECK(of_roberta(R"(, "mask_token": "<mask>")") == "0=<s>[0,0)! 3=a[0,1) 2=<mask>[1,8)!");
  CHECK(of_roberta(R"(, "mask_token": {"content": "<mask>", "lstrip": false})") ==
        "0=<s>[0,0)! 3=a[0,1) 5= [1,2) 2=<mask>[2,8)!");
}

TEST_CASE("flags of special tokens are taken from special_tokens_map.json") {
  const Folder folder = byte_level();
  folder.write("special_tokens_map.json", R"({"mask_token": {"content": "<mask>", "lstrip": true,
      "rstrip": true, "single_word": true}})");
  CHECK(folder.tokens("a <mask> b") == "3=a[0,1) 2=<mask>[1,9)! 4=b[9,10)");
  CHECK(folder.tokens("a<mask>b").find("=<mask>") == std::string::npos);
}

TEST_CASE("added_tokens.json has the tokens of files older than added_tokens_decoder") {
  const std::string_view added = R"({"<user>": 9, "bb": 8})";
  const Folder folder = byte_level();
  folder.write("added_tokens.json", added);
  CHECK(folder.tokens("ab<user>bb") == "6=ab[0,2) 9=<user>[2,8) 8=bb[8,10)");
  folder.write("special_tokens_map.json", R"({"additional_special_tokens": ["<user>"]})");
  CHECK(folder.tokens("<user>bb") == "9=<user>[0,6)! 8=bb[6,8)");
  // Newer files have all of it in one place.
  folder.write("tokenizer_config.json", R"({"added_tokens_decoder": {"11": {"content": "ba"}}})");
  CHECK(folder.tokens("ba bb") == "11=ba[0,2) 5= [2,3) 4=b[3,4) 4=b[4,5)");

  const Folder bert = word_piece();
  bert.write("added_tokens.json", added);
  CHECK(bert.tokens("a <user>") == "2=[CLS][0,0)! 5=a[0,1) 9=<user>[2,8) 3=[SEP][8,8)!");
  bert.write("added_tokens.json", R"({"<user>": -1})");
  CHECK_THROWS_AS(load_tokenizer(bert.folder().path()), Error);
}

TEST_CASE("named tokens missing in a vocabulary come after it, in transformers' order") {
  const Folder folder = byte_level();
  folder.write("tokenizer_config.json",
               R"({"additional_special_tokens": ["<x>", {"content": "<y>"}],
      "pad_token": "<pad>", "bos_token": "<b>", "mask_token": null})");
  CHECK(folder.tokens("<b><pad><x><y>") ==
        "8=<b>[0,3)! 9=<pad>[3,8)! 10=<x>[8,11)! 11=<y>[11,14)!");
  folder.write("tokenizer_config.json", R"({"additional_special_tokens": [], "pad_token": "<c>"})");
  CHECK(folder.tokens("<c>") == "7=<c>[0,3)!");
}

TEST_CASE("tokens that only the settings have are added to those of tokenizer.json") {
  const Folder folder = tokenizer_json();
  CHECK(folder.tokens("<x>").find("<x>") == std::string::npos);
  folder.write("tokenizer_config.json", R"({"added_tokens_decoder": {
      "3": {"content": "<s>", "special": true},
      "5": {"content": "<z>", "special": true}, "4": {"content": "<x>", "special": true}},
      "pad_token": "<p>", "bos_token": "<s>", "unk_token": "?"})");
  CHECK(folder.tokens("a <x><z> <p>") == "1=a[0,1) 4=<x>[2,5)! 5=<z>[5,8)! 6=<p>[9,12)!");
  folder.write("tokenizer_config.json", R"({"additional_special_tokens": ["<x>", "x", "<s>"]})");
  CHECK(folder.tokens("<x>ax") == "4=<x>[0,3)! 1=a[3,4) 2=x[4,5)!");
  folder.write("tokenizer_config.json", R"({"extra_special_tokens": {"image_token": "<x>"}})");
  CHECK(folder.tokens("<x>") == "4=<x>[0,3)!");
  folder.write("tokenizer_config.json",
               R"({"added_tokens_decoder": {"9": {"content": "<x>", "special": true}}})");
  CHECK(folder.refusal() ==
        "tokenizer_config.json: added_tokens_decoder: expected id 4 for \"<x>\", which "
        "tokenizer.json leaves it, found 9: which of them holds depends on the library");
}

// transformers' PreTrainedTokenizerFast adds these once more, and Hugging Face's tokenizers take
// the flags of the last.
TEST_CASE("flags in added_tokens_decoder take precedence over those of tokenizer.json") {
  const Folder folder = tokenizer_json();
  CHECK(folder.tokens("a  <s>  x") == "1=a[0,1) 3=<s>[3,6)! 2=x[8,9)");
  folder.write("tokenizer_config.json", R"({"added_tokens_decoder": {"3":
      {"content": "<s>", "lstrip": true, "rstrip": true, "special": true}}})");
  CHECK(folder.tokens("a  <s>  x") == "1=a[0,1) 3=<s>[1,8)! 2=x[8,9)");
  folder.write("tokenizer_config.json", R"({"added_tokens_decoder": {"3":
      {"content": "<s>", "single_word": true}}})");
  CHECK(folder.tokens("a<s>x").find("3=<s>") == std::string::npos);
  CHECK(folder.tokens("a <s> x") == "1=a[0,1) 3=<s>[2,5)! 2=x[6,7)");
  // transformers 5 reads tokenizer.json's again if nothing else has ids.
  folder.write("tokenizer_config.json",
               R"({"bos_token": {"content": "<s>", "lstrip": true, "rstrip": true}})");
  CHECK(folder.tokens("a  <s>  x") == "1=a[0,1) 3=<s>[3,6)! 2=x[8,9)");
}

// LlamaTokenizer of transformers 4 and 5 rebuilds its stages.
TEST_CASE("add_prefix_space of Llama's tokenizer may not contradict tokenizer.json") {
  const Folder folder = llama();
  const auto write = [&folder](const std::string& kind, const char* adds) {
    folder.write("tokenizer_config.json",
                 R"({"tokenizer_class": ")" + kind + R"(", "add_prefix_space": )" + adds + "}");
  };
  CHECK(folder.tokens("a") == "0=▁[0,0) 1=a[0,1)");
  for (const char* kind : {"LlamaTokenizer", "LlamaTokenizerFast", "T5Tokenizer"}) {
    write(kind, "false");
    CHECK(folder.refusal() ==
          "tokenizer_config.json: add_prefix_space: expected true, as Prepend or prepend_scheme in "
          "tokenizer.json is, found false: which of them holds depends on the library");
    for (const char* ignorable : {"true", "null"}) {
      write(kind, ignorable);
      CHECK(folder.refusal().empty());
    }
  }
  write("PreTrainedTokenizerFast", "false");
  CHECK(folder.refusal().empty());
  for (const char* scheme : {"always", "first", "never"}) {
    CAPTURE(scheme);
    folder.write("tokenizer.json", R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": ")" +
                                       std::string(scheme) + R"("}]},
        "model": {"type": "BPE", "vocab": {"▁": 0, "a": 1}, "merges": []}})");
    const bool is_never = std::string_view(scheme) == "never";
    write("LlamaTokenizer", "false");
    CHECK(folder.refusal().empty() == is_never);
    write("LlamaTokenizer", "true");
    CHECK(folder.refusal().empty() != is_never);
  }
}

// transformers: model_input_names; a model treats missing types as 0.
TEST_CASE("types of tokens are all 0 if the tokenizer gives a model none") {
  const Folder folder = pairs();
  const auto tokens = [&folder](const std::string& settings) {
    folder.write("tokenizer_config.json", settings);
    TokenizeOptions options;
    options.pair = "x";
    return described(load_tokenizer(folder.folder().path())->tokenize("a", options));
  };
  const std::string two_types = "3=<s>[0,0) 1=a[0,1) 2=x[2,3)' 3=<s>[3,3)'";
  const std::string one_type = "3=<s>[0,0) 1=a[0,1) 2=x[2,3) 3=<s>[3,3)";
  CHECK(tokens("{}") == two_types);
  CHECK(tokens(R"({"tokenizer_class": "BertTokenizer"})") == two_types);
  CHECK(tokens(R"({"model_input_names": ["input_ids", "token_type_ids"]})") == two_types);
  CHECK(tokens(R"({"model_input_names": ["input_ids", "attention_mask"]})") == one_type);
  CHECK(tokens(R"({"tokenizer_class": "XLMRobertaTokenizer"})") == one_type);
  CHECK(tokens(R"({"tokenizer_class": "RobertaTokenizerFast"})") == one_type);
  CHECK(tokens(R"({"tokenizer_class": "XLMRobertaTokenizer",
      "model_input_names": ["token_type_ids"]})") == two_types);
}

TEST_CASE("settings and classes that would lead to other ids are refused by name") {
  const Folder bert = word_piece();
  bert.write("tokenizer_config.json", R"({"do_basic_tokenize": false})");
  CHECK(bert.refusal().find("tokenizer_config.json: do_basic_tokenize: expected true") == 0);
  bert.write("tokenizer_config.json", R"({"never_split": ["a"]})");
  CHECK(bert.refusal() ==
        "tokenizer_config.json: never_split: expected none, found 1 word: words that stay whole "
        "are not run");
  bert.write("tokenizer_config.json", R"({"never_split": [], "do_basic_tokenize": true})");
  CHECK(bert.refusal().empty());
  bert.write("tokenizer_config.json", R"({"tokenizer_class": "MPNetTokenizer"})");
  CHECK(bert.refusal() ==
        "tokenizer_config.json: tokenizer_class: MPNetTokenizer is not known to make the tokens of "
        "vocab.txt as attnviz would: a tokenizer.json says what it does");
  const Folder clip = byte_level();
  clip.write("tokenizer_config.json", R"({"tokenizer_class": "CLIPTokenizer"})");
  CHECK(clip.refusal().find("tokenizer_config.json: tokenizer_class: CLIPTokenizer is not known to "
                            "make the tokens of vocab.json with merges.txt") == 0);
  clip.write("tokenizer_config.json", "{}").write("config.json", R"({"model_type": "clip"})");
  CHECK(clip.refusal().find("config.json: model_type: CLIPTokenizer is not known") == 0);
  for (const char* name : {"GPT2TokenizerFast", "GPTNeoXTokenizer", "CodeGenTokenizer"}) {
    clip.write("tokenizer_config.json", std::string(R"({"tokenizer_class": ")") + name + "\"}");
    CHECK(clip.refusal().empty());
  }
  // tokenizer.json has all of it.
  const Folder json = tokenizer_json();
  json.write("tokenizer_config.json",
             R"({"tokenizer_class": "CLIPTokenizer", "never_split": ["a"]})");
  CHECK(json.refusal().empty());
}

}  // namespace attnviz
