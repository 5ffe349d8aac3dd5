#include "attnviz/text/files/load_tokenizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attnviz/core/demo_files.h"
#include "attnviz/core/error.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/tensor_index.h"
#include "attnviz/text/files/tokenizer_files.h"
#include "attnviz/text/files/tokenizer_settings.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kT5Model = "spiece.model";

void set_special_ids(TokenizerParts& parts, const TokenizerSettings& settings) {
  SpecialIds& ids = parts.special;
  const std::pair<const char*, std::optional<TokenId>*> names[] = {
      {"bos_token", &ids.bos},  {"eos_token", &ids.eos}, {"pad_token", &ids.pad},
      {"unk_token", &ids.unk},  {"sep_token", &ids.sep}, {"cls_token", &ids.cls},
      {"mask_token", &ids.mask}};
  for (const auto& [key, id] : names) {
    if (const auto name = settings.token(key)) {
      *id = find_token(parts, *name);
    }
  }
  find_special_ids(parts);
  for (const auto& [key, id] : names) {
    if (settings.denies(key)) {
      id->reset();
    }
  }
}

// Adds BOS and EOS as the settings ask for. Otherwise the file's own setting stays, and so does a
// template with other tokens.
void add_surrounding_tokens(TokenizerParts& parts, std::optional<bool> adds_bos,
                            std::optional<bool> adds_eos) {
  const Template& items = parts.post.single;
  const auto is_special = [](const TemplateItem& item, std::optional<TokenId> id) {
    return item.kind == TemplateItem::Kind::kSpecial && item.id == id;
  };
  const bool has_bos = !items.empty() && is_special(items.front(), parts.special.bos);
  const bool has_eos = !items.empty() && is_special(items.back(), parts.special.eos);
  const bool wants_bos = parts.special.bos && adds_bos.value_or(has_bos);
  const bool wants_eos = parts.special.eos && adds_eos.value_or(has_eos);
  const bool has_others = std::ranges::any_of(items, [&](const TemplateItem& item) {
    return item.kind == TemplateItem::Kind::kSpecial && !is_special(item, parts.special.bos) &&
           !is_special(item, parts.special.eos);
  });
  if (has_others || (wants_bos == has_bos && wants_eos == has_eos)) {
    return;
  }
  std::vector<TokenId> first;
  std::vector<TokenId> last;
  if (wants_bos) {
    first.push_back(*parts.special.bos);
  }
  if (wants_eos) {
    last.push_back(*parts.special.eos);
  }
  parts.post = surrounding(first, last);
}

// Checks values of tokenizer.json that the settings repeat: if they differ, transformers may use
// the settings' value for tokenizers of a named class.
void check_agreement(const TokenizerParts& parts, const TokenizerSettings& settings) {
  if (parts.adds_prefix_space) {
    settings.check_flag("add_prefix_space", "add_prefix_space", *parts.adds_prefix_space);
  }
  // If the settings have the flag, transformers rebuilds these tokenizers from the vocabulary.
  const std::string kind = settings.tokenizer_class();
  if (parts.prepends_space && (kind.starts_with("LlamaTokenizer") || kind.starts_with("T5"))) {
    settings.check_flag("add_prefix_space",
                        *parts.prepends_space ? "Prepend or prepend_scheme" : "Prepend (none)",
                        *parts.prepends_space);
  }
  if (parts.bert_normalization && !settings.tokenizer_class().starts_with("PreTrainedTokenizer")) {
    const BertNormalization& does = *parts.bert_normalization;
    settings.check_flag("do_lower_case", "lowercase", does.lowercase);
    // null means the same value as lower case.
    settings.check_flag("strip_accents", "strip_accents", does.strip_accents, does.lowercase);
    settings.check_flag("tokenize_chinese_chars", "handle_chinese_chars",
                        does.handle_chinese_chars);
  }
}

// A model treats missing token types as 0.
void leave_out_token_types(PostProcessor& post) {
  for (Template* items : {&post.single, &post.pair}) {
    for (TemplateItem& item : *items) {
      item.segment = 0;
    }
  }
}

// Surrounds a text with the named tokens, by default those of `cls` and `sep`.
void surround(TokenizerParts& parts, const TokenizerSettings& settings, std::string_view cls,
              std::string_view sep, PostProcessor (*post)(TokenId cls, TokenId sep)) {
  const auto first = find_token(parts, settings.token("cls_token").value_or(std::string(cls)));
  const auto last = find_token(parts, settings.token("sep_token").value_or(std::string(sep)));
  if (first && last) {
    parts.post = post(*first, *last);
  }
}

TokenizerParts read_gpt2(const fs::path& folder, const TokenizerSettings& settings,
                         OpenFiles& files) {
  const TokenizerClass kind =
      find_tokenizer_class(folder, settings, VocabularyForm::kByteLevelBpe, files);
  const MappedFile vocabulary = files.open(folder / "vocab.json");
  const MappedFile merges = files.open(folder / "merges.txt");
  const std::string vocabulary_name = (folder / "vocab.json").string();
  const std::string merges_name = (folder / "merges.txt").string();
  TokenizerParts parts =
      read_gpt2_files({vocabulary.bytes(), vocabulary_name}, {merges.bytes(), merges_name},
                      settings.flag("add_prefix_space", false));
  if (kind.name.starts_with("Qwen")) {
    use_qwen2_words(parts);
  }
  for (AddedToken& token : parts.added) {
    token.lstrip = kind.is_like_roberta() && token.content == "<mask>";
  }
  add_own_tokens(parts, settings, kind.is_like_roberta());
  if (kind.is_like_roberta()) {
    surround(parts, settings, "<s>", "</s>", roberta_post_processor);
  }
  return parts;
}

TokenizerParts read_bert(const MappedFile& file, const fs::path& path,
                         const TokenizerSettings& settings, OpenFiles& files) {
  find_tokenizer_class(path.parent_path(), settings, VocabularyForm::kWordPiece, files);
  settings.check_words();
  const std::string name = path.string();
  BertNormalization normalization;
  normalization.lowercase = settings.flag("do_lower_case", true);
  normalization.strip_accents = settings.flag("strip_accents", normalization.lowercase);
  normalization.handle_chinese_chars = settings.flag("tokenize_chinese_chars", true);
  TokenizerParts parts = read_bert_vocabulary({file.bytes(), name}, normalization,
                                              settings.token("unk_token").value_or("[UNK]"));
  add_own_tokens(parts, settings);
  surround(parts, settings, "[CLS]", "[SEP]", bert_post_processor);
  return parts;
}

TokenizerParts read_sentencepiece(const MappedFile& file, const fs::path& path,
                                  const TokenizerSettings& settings, OpenFiles& files) {
  const bool is_t5 = path.filename() == kT5Model;
  find_tokenizer_class(path.parent_path(), settings,
                       is_t5 ? VocabularyForm::kT5 : VocabularyForm::kSentencePiece, files);
  constexpr std::size_t kExtraIds = 100;
  TokenizerParts parts =
      is_t5 ? read_t5_model(file.bytes(), path.string(), settings.number("extra_ids", kExtraIds))
            : read_sentencepiece_model(file.bytes(), path.string(), settings.flag("legacy", true),
                                       settings.flag("add_prefix_space", true));
  add_own_tokens(parts, settings);
  return parts;
}

TokenizerParts read_parts(const MappedFile& file, const fs::path& path,
                          const TokenizerSettings& settings, OpenFiles& files) {
  if (path.filename() == "vocab.json" || path.filename() == "merges.txt") {
    return read_gpt2(path.parent_path(), settings, files);
  }
  if (path.extension() == ".spm") {
    const MappedFile vocabulary = files.open(path.parent_path() / "vocab.json");
    const std::string name = path.string();
    const std::string vocabulary_name = (path.parent_path() / "vocab.json").string();
    TokenizerParts parts =
        read_marian_model({file.bytes(), name}, {vocabulary.bytes(), vocabulary_name});
    add_own_tokens(parts, settings);
    return parts;
  }
  if (path.extension() == ".model") {
    return read_sentencepiece(file, path, settings, files);
  }
  if (path.extension() == ".txt") {
    return read_bert(file, path, settings, files);
  }
  TokenizerParts parts = read_tokenizer_json(file.bytes(), path.string());
  add_missing_tokens(parts, settings);
  return parts;
}

fs::path find_in_folder(const fs::path& folder) {
  struct Named {
    std::string_view name;
    std::string_view with = {};  // a second file that must exist
  };
  for (const auto& [name, with] :
       {Named{"tokenizer.json"}, Named{"tokenizer.model"}, Named{kT5Model},
        Named{"source.spm", "vocab.json"}, Named{"vocab.json", "merges.txt"}, Named{"vocab.txt"}}) {
    if (is_file(folder / name) && (with.empty() || is_file(folder / with))) {
      return folder / name;
    }
  }
  if (const fs::path pieces = folder / "sentencepiece.bpe.model"; is_file(pieces)) {
    throw Error(ErrorKind::kIo,
                fmt::format("{}: the ids of XLM-RoBERTa and mBART are not in this file, and it is "
                            "not read: expected a tokenizer.json beside it, as save_pretrained() "
                            "of transformers writes it",
                            pieces.string()));
  }
  throw Error(ErrorKind::kIo, fmt::format("{}: expected a tokenizer, found none of tokenizer.json, "
                                          "tokenizer.model, spiece.model, source.spm with "
                                          "vocab.json, vocab.json with merges.txt, vocab.txt",
                                          folder.string()));
}

// The first of several files, which has the tokenizer.
fs::path first_shard(const fs::path& path) {
  const std::string file = path.filename().string();
  const std::optional<ShardName> shard = parse_shard_name(file);
  return shard ? path.parent_path() / shard_name(shard->name, 1, shard->count) : path;
}

constexpr const char* kMoreTemplates = "additional_chat_templates";

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code no_folder;
  for (const auto& entry : fs::directory_iterator(folder, no_folder)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// transformers' order: files with only templates, then the tokenizer's settings, then those of a
// multimodal processor.
std::optional<ChatTemplate> find_chat_template(const fs::path& folder,
                                               const TokenizerSettings& settings,
                                               OpenFiles& files) {
  std::vector<NamedTemplate> all;
  const auto add = [&](const std::string& name, const fs::path& path) {
    const MappedFile file = files.open(path);
    add_template(all, {name, std::string(file.bytes()), path.string()});
  };
  if (const fs::path path = folder / "chat_template.jinja"; is_file(path)) {
    add(kDefaultTemplate, path);
  } else {
    all = settings.chat_templates();
  }
  for (const fs::path& path : files_in(folder / kMoreTemplates)) {
    if (path.extension() == ".jinja" && is_file(path)) {
      add(path.stem().string(), path);
    }
  }
  if (const auto processor = read_beside(folder, "chat_template.json", files);
      processor && all.empty()) {
    if (const auto value = find_value(processor->root(), "chat_template")) {
      all = templates_in(*value);
    }
  }
  return settings.chat_template(std::move(all));
}

std::unique_ptr<ModelTokenizer> finished(TokenizerParts parts, const TokenizerSettings& settings,
                                         std::optional<bool> adds_bos) {
  check_agreement(parts, settings);
  if (!settings.asks_for_token_types()) {
    leave_out_token_types(parts.post);
  }
  set_special_ids(parts, settings);
  const auto flag = settings.flag("add_bos_token");
  add_surrounding_tokens(parts, flag ? flag : adds_bos, settings.flag("add_eos_token"));
  return std::make_unique<ModelTokenizer>(std::move(parts));
}

}  // namespace

std::unique_ptr<ModelTokenizer> load_tokenizer(const fs::path& file_or_folder, OpenFiles files) {
  std::error_code ignored;
  const fs::path path =
      fs::is_directory(file_or_folder, ignored) ? find_in_folder(file_or_folder) : file_or_folder;
  const MappedFile file = files.open(path);
  if (is_gguf(file.bytes())) {
    const fs::path first = first_shard(path);
    const MappedFile first_file = first == path ? file : files.open(first);
    return load_tokenizer(Gguf(first_file.bytes(), first.string()));
  }
  const TokenizerSettings settings(path.parent_path(), files);
  TokenizerParts parts = read_parts(file, path, settings, files);
  std::optional<ChatTemplate> chat;
  std::optional<Error> chat_error;
  try {
    chat = find_chat_template(path.parent_path(), settings, files);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kIo) {
      throw;
    }
    chat_error = error;
    parts.ignored_keys.push_back({"chat_template", "it cannot be read, which only chats need"});
  }
  auto tokenizer =
      finished(std::move(parts), settings,
               path.extension() == ".model" && path.filename() != kT5Model ? std::optional(true)
                                                                           : std::nullopt);
  if (chat) {
    tokenizer->set_chat_template(std::move(*chat));
  } else if (chat_error) {
    tokenizer->set_chat_error(std::move(*chat_error));
  }
  return tokenizer;
}

std::unique_ptr<ModelTokenizer> load_tokenizer(const Gguf& gguf) {
  const GgufMetadata metadata(gguf);
  auto tokenizer = std::make_unique<ModelTokenizer>(read_gguf_tokenizer(metadata));
  constexpr std::string_view kKey = "tokenizer.chat_template";
  std::vector<NamedTemplate> all;
  for (const Gguf::Entry& entry : gguf.metadata()) {
    const std::string name(entry.key.substr(std::min(kKey.size() + 1, entry.key.size())));
    if (entry.key.starts_with(kKey) && (entry.key == kKey || entry.key[kKey.size()] == '.')) {
      add_template(all,
                   {name.empty() ? kDefaultTemplate : name, std::string(metadata.text(entry.key)),
                    fmt::format("{}: {}", gguf.file(), entry.key)});
    }
  }
  if (!all.empty()) {
    const SpecialIds& ids = tokenizer->special_ids();
    const auto name_of = [&tokenizer](std::optional<TokenId> id) {
      return id ? tokenizer->piece(*id) : std::string();
    };
    ChatTemplate chat{.source = "",
                      .bos_token = name_of(ids.bos),
                      .eos_token = name_of(ids.eos),
                      .tokenizer_adds_bos = true};
    set_templates(chat, std::move(all));
    tokenizer->set_chat_template(std::move(chat));
  }
  return tokenizer;
}

std::unique_ptr<ModelTokenizer> load_tokenizer(const NamedBytes& tokenizer_json,
                                               const NamedBytes& tokenizer_config) {
  const TokenizerSettings settings(tokenizer_config);
  TokenizerParts parts = read_tokenizer_json(tokenizer_json.bytes, tokenizer_json.name);
  add_missing_tokens(parts, settings);
  auto tokenizer = finished(std::move(parts), settings, std::nullopt);
  if (auto chat = settings.chat_template(settings.chat_templates())) {
    tokenizer->set_chat_template(std::move(*chat));
  }
  return tokenizer;
}

std::unique_ptr<ModelTokenizer> demo_tokenizer() {
  return load_tokenizer(demo_file(kDemoTokenizer, "demo: tokenizer.json"),
                        demo_file(kDemoTokenizerConfig, "demo: tokenizer_config.json"));
}

std::vector<fs::path> tokenizer_files(const fs::path& file_or_folder) {
  constexpr const char* kBeside[] = {"tokenizer.json",
                                     "tokenizer_config.json",
                                     "special_tokens_map.json",
                                     "added_tokens.json",
                                     "config.json",
                                     "vocab.json",
                                     "merges.txt",
                                     "source.spm",
                                     "target.spm",
                                     "chat_template.jinja",
                                     "chat_template.json"};
  std::vector<fs::path> files = {file_or_folder};
  const fs::path folder = file_or_folder.parent_path();
  for (const fs::path& from :
       {file_or_folder, file_or_folder / kMoreTemplates, folder / kMoreTemplates}) {
    std::ranges::copy(files_in(from), std::back_inserter(files));
  }
  for (const char* const name : kBeside) {
    files.push_back(folder / name);
  }
  if (const auto shard = parse_shard_name(file_or_folder.filename().string())) {
    files.push_back(folder / shard_name(shard->name, 1, shard->count));
  }
  return files;
}

}  // namespace attnviz
