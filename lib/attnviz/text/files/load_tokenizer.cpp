#include "attnviz/text/files/load_tokenizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attnviz/core/demo_files.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/parse_number.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/shard_name.h"
#include "attnviz/text/files/demo_vocabulary.h"
#include "attnviz/text/files/gguf_tokenizer.h"
#include "attnviz/text/files/sentencepiece_model.h"
#include "attnviz/text/files/tokenizer_json.h"
#include "attnviz/text/files/vocabulary_files.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kT5Model = "spiece.model";

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

// A JSON file beside the tokenizer; nullopt when there is none.
std::optional<JsonTree> read_beside(const fs::path& folder, const char* name, OpenFiles& files) {
  const fs::path path = folder / name;
  if (!is_file(path)) {
    return std::nullopt;
  }
  const MappedFile file = files.open(path);
  return JsonTree::parse(file.bytes(), path.string());
}

// The one that is taken where nobody asks for another.
constexpr std::string_view kDefaultTemplate = "default";

// "…", [{"name": "default", "template": "…"}, …] or {"default": "…", …}.
std::optional<std::string_view> default_template(const JsonNode& value) {
  if (value.kind() == JsonKind::kObject) {
    const auto found = find_value(value, kDefaultTemplate);
    return found ? std::optional(found->as_string()) : std::nullopt;
  }
  if (value.kind() != JsonKind::kList) {
    return value.as_string();
  }
  for (const JsonNode& one : value.as_list("a list of templates")) {
    if (one.at("name").as_string() == kDefaultTemplate) {
      return one.at("template").as_string();
    }
  }
  return std::nullopt;
}

// "file: key", without what where() has behind it.
std::string place_of(const JsonNode& value) {
  const std::string where = value.where();
  return where.substr(0, where.rfind(':'));
}

// What tokenizer_config.json and special_tokens_map.json say.
class Settings {
 public:
  Settings(const fs::path& folder, OpenFiles& files)
      : config_(read_beside(folder, "tokenizer_config.json", files)),
        names_(read_beside(folder, "special_tokens_map.json", files)) {}
  explicit Settings(const NamedBytes& config)
      : config_(JsonTree::parse(config.bytes, config.name)) {}

  std::optional<bool> flag(std::string_view key) const {
    const auto value = config_ ? find_value(config_->root(), key) : std::nullopt;
    return value ? std::optional(value->as_bool()) : std::nullopt;
  }
  bool flag(std::string_view key, bool otherwise) const { return flag(key).value_or(otherwise); }

  std::size_t number(std::string_view key, std::size_t otherwise) const {
    const auto value = config_ ? find_value(config_->root(), key) : std::nullopt;
    return value ? static_cast<std::size_t>(value->as_unsigned()) : otherwise;
  }

  // "RobertaTokenizer" or "RobertaTokenizerFast"; empty when it is not said.
  std::string tokenizer_class() const {
    return config_ ? std::string(text_or(config_->root(), "tokenizer_class", "")) : std::string();
  }

  // "added_tokens_decoder": {"32000": {"content": "<|user|>", …}, …}.
  std::vector<AddedToken> added_tokens() const {
    std::vector<AddedToken> tokens;
    const auto list = config_ ? find_value(config_->root(), "added_tokens_decoder") : std::nullopt;
    if (!list) {
      return tokens;
    }
    const std::vector<JsonNode> members = list->as_object();
    tokens.reserve(members.size());
    for (const JsonNode& member : members) {
      const std::string_view key = member.key();
      const auto id = parse_number<TokenId>(key);
      if (!id || *id >= Vocabulary::kMostIds) {
        member.fail(
            fmt::format("expected an id below {}, found {}", Vocabulary::kMostIds, quoted(key)));
      }
      tokens.push_back(read_added_token(member, *id));
    }
    return tokens;
  }

  // "bos_token": "<s>" or {"content": "<s>", …}.
  std::optional<std::string> token(std::string_view key) const {
    for (const auto* tree : {&config_, &names_}) {
      const auto value = *tree ? find_value((*tree)->root(), key) : std::nullopt;
      if (value) {
        return std::string(value->kind() == JsonKind::kObject ? value->at("content").as_string()
                                                              : value->as_string());
      }
    }
    return std::nullopt;
  }
  // Whether the file says that there is no such token.
  bool denies(std::string_view key) const {
    const auto value = config_ ? config_->root().find(key) : std::nullopt;
    return value && value->kind() == JsonKind::kNull;
  }

  // Of tokenizer_config.json: one text, or several with names.
  std::optional<ChatTemplate> chat_template() const {
    const auto value = config_ ? find_value(config_->root(), "chat_template") : std::nullopt;
    const auto source = value ? default_template(*value) : std::nullopt;
    return source ? std::optional(chat_template(*source, place_of(*value))) : std::nullopt;
  }
  // That which a file of its own holds.
  ChatTemplate chat_template(std::string_view source, std::string where) const {
    return {.source = std::string(source),
            .where = std::move(where),
            .bos_token = token("bos_token").value_or(""),
            .eos_token = token("eos_token").value_or("")};
  }

  // Throws when the flag `key` is said and, null being `null_means`, another one than `expected`,
  // which tokenizer.json calls `name`.
  void check_flag(std::string_view key, std::string_view name, bool expected,
                  std::optional<bool> null_means = std::nullopt) const {
    const bool is_null = denies(key);
    const auto found = is_null ? null_means : flag(key);
    if (found && *found != expected) {
      const std::string_view value = is_null ? "null" : *found ? "true" : "false";
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected {}, as {} in tokenizer.json is, found {}: which of them "
                              "holds depends on the library",
                              config_->root().at(key).where(), expected, name, value));
    }
  }

 private:
  std::optional<JsonTree> config_;
  std::optional<JsonTree> names_;
};

// The settings' tokens take the place of those that the file's own names suggest.
void add_tokens(TokenizerParts& parts, std::vector<AddedToken> tokens) {
  std::vector<AddedToken> all = std::move(parts.added);
  all.insert(all.end(), std::move_iterator(tokens.begin()), std::move_iterator(tokens.end()));
  // Of those with one id the last.
  std::unordered_set<TokenId> ids;
  std::vector<AddedToken> kept;
  for (auto token = all.rbegin(); token != all.rend(); ++token) {
    if (ids.insert(token->id).second) {
      kept.push_back(std::move(*token));
    }
  }
  parts.added.assign(std::move_iterator(kept.rbegin()), std::move_iterator(kept.rend()));
}

void set_special_ids(TokenizerParts& parts, const Settings& settings) {
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

// BOS and EOS as the settings ask for them. What they do not say is as the file itself has it, and
// so is a template of other tokens.
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

// What tokenizer.json has is said again in the settings, where transformers may give its own
// tokenizers, those of a class with a name, another value.
void check_agreement(const TokenizerParts& parts, const Settings& settings) {
  if (parts.adds_prefix_space) {
    settings.check_flag("add_prefix_space", "add_prefix_space", *parts.adds_prefix_space);
  }
  if (parts.bert_normalization && !settings.tokenizer_class().starts_with("PreTrainedTokenizer")) {
    const BertNormalization& does = *parts.bert_normalization;
    settings.check_flag("do_lower_case", "lowercase", does.lowercase);
    // As letters that become small ones, when it is null.
    settings.check_flag("strip_accents", "strip_accents", does.strip_accents, does.lowercase);
    settings.check_flag("tokenize_chinese_chars", "handle_chinese_chars",
                        does.handle_chinese_chars);
  }
}

TokenizerParts read_gpt2(const fs::path& folder, const Settings& settings, OpenFiles& files) {
  const MappedFile vocabulary = files.open(folder / "vocab.json");
  const MappedFile merges = files.open(folder / "merges.txt");
  const std::string vocabulary_name = (folder / "vocab.json").string();
  const std::string merges_name = (folder / "merges.txt").string();
  TokenizerParts parts =
      read_gpt2_files({vocabulary.bytes(), vocabulary_name}, {merges.bytes(), merges_name},
                      settings.flag("add_prefix_space", false));
  const std::string name = settings.tokenizer_class();
  const auto first = find_token(parts, "<s>");
  const auto last = find_token(parts, "</s>");
  if ((name.starts_with("Roberta") || name.starts_with("Bart")) && first && last) {
    parts.post = roberta_post_processor(*first, *last);
  } else if (name.starts_with("Qwen2")) {
    use_qwen2_words(parts);
  }
  return parts;
}

TokenizerParts read_parts(const MappedFile& file, const fs::path& path, const Settings& settings,
                          OpenFiles& files) {
  if (path.filename() == "vocab.json" || path.filename() == "merges.txt") {
    return read_gpt2(path.parent_path(), settings, files);
  }
  if (path.filename() == kT5Model) {
    constexpr std::size_t kExtraIds = 100;
    return read_t5_model(file.bytes(), path.string(), settings.number("extra_ids", kExtraIds));
  }
  if (path.extension() == ".spm") {
    const MappedFile vocabulary = files.open(path.parent_path() / "vocab.json");
    const std::string name = path.string();
    const std::string vocabulary_name = (path.parent_path() / "vocab.json").string();
    return read_marian_model({file.bytes(), name}, {vocabulary.bytes(), vocabulary_name});
  }
  if (path.extension() == ".model") {
    return read_sentencepiece_model(file.bytes(), path.string(), settings.flag("legacy", true));
  }
  if (path.extension() == ".txt") {
    const std::string name = path.string();
    BertNormalization normalization;
    normalization.lowercase = settings.flag("do_lower_case", true);
    normalization.strip_accents = settings.flag("strip_accents", normalization.lowercase);
    normalization.handle_chinese_chars = settings.flag("tokenize_chinese_chars", true);
    return read_bert_vocabulary({file.bytes(), name}, normalization);
  }
  return read_tokenizer_json(file.bytes(), path.string());
}

fs::path find_in_folder(const fs::path& folder) {
  struct Named {
    std::string_view name;
    std::string_view with = {};  // a file that must be there, too
  };
  for (const auto& [name, with] :
       {Named{"tokenizer.json"}, Named{"tokenizer.model"}, Named{kT5Model},
        Named{"source.spm", "vocab.json"}, Named{"vocab.json", "merges.txt"}, Named{"vocab.txt"}}) {
    if (is_file(folder / name) && (with.empty() || is_file(folder / with))) {
      return folder / name;
    }
  }
  throw Error(ErrorKind::kIo, fmt::format("{}: expected a tokenizer, found none of tokenizer.json, "
                                          "tokenizer.model, spiece.model, source.spm with "
                                          "vocab.json, vocab.json with merges.txt, vocab.txt",
                                          folder.string()));
}

// Of one of several files the first, which has the tokenizer.
fs::path first_shard(const fs::path& path) {
  const std::string file = path.filename().string();
  const std::optional<ShardName> shard = parse_shard_name(file);
  return shard ? path.parent_path() / shard_name(shard->name, 1, shard->count) : path;
}

// transformers' order: a file of the template alone, then the tokenizer's settings, then those of
// a model that reads more than texts.
std::optional<ChatTemplate> find_chat_template(const fs::path& folder, const Settings& settings,
                                               OpenFiles& files) {
  if (const fs::path path = folder / "chat_template.jinja"; is_file(path)) {
    const MappedFile file = files.open(path);
    return settings.chat_template(file.bytes(), path.string());
  }
  auto chat = settings.chat_template();
  if (const auto processor = read_beside(folder, "chat_template.json", files); processor && !chat) {
    if (const auto value = find_value(processor->root(), "chat_template")) {
      chat = settings.chat_template(value->as_string(), place_of(*value));
    }
  }
  return chat;
}

std::unique_ptr<ModelTokenizer> finished(TokenizerParts parts, const Settings& settings,
                                         std::optional<bool> adds_bos) {
  check_agreement(parts, settings);
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
  const Settings settings(path.parent_path(), files);
  TokenizerParts parts = read_parts(file, path, settings, files);
  if (path.extension() != ".json" || path.filename() == "vocab.json") {
    add_tokens(parts, settings.added_tokens());
  }
  auto tokenizer =
      finished(std::move(parts), settings,
               path.extension() == ".model" && path.filename() != kT5Model ? std::optional(true)
                                                                           : std::nullopt);
  if (auto chat = find_chat_template(path.parent_path(), settings, files)) {
    tokenizer->set_chat_template(std::move(*chat));
  }
  return tokenizer;
}

std::unique_ptr<ModelTokenizer> load_tokenizer(const Gguf& gguf) {
  const GgufMetadata metadata(gguf);
  auto tokenizer = std::make_unique<ModelTokenizer>(read_gguf_tokenizer(metadata));
  constexpr const char* kKey = "tokenizer.chat_template";
  if (metadata.has(kKey)) {
    const SpecialIds& ids = tokenizer->special_ids();
    const auto name_of = [&tokenizer](std::optional<TokenId> id) {
      return id ? tokenizer->piece(*id) : std::string();
    };
    tokenizer->set_chat_template({.source = std::string(metadata.text(kKey)),
                                  .where = fmt::format("{}: {}", gguf.file(), kKey),
                                  .bos_token = name_of(ids.bos),
                                  .eos_token = name_of(ids.eos),
                                  .tokenizer_adds_bos = true});
  }
  return tokenizer;
}

std::unique_ptr<ModelTokenizer> load_tokenizer(const NamedBytes& tokenizer_json,
                                               const NamedBytes& tokenizer_config,
                                               const Vocabulary::Tables* ready) {
  const Settings settings(tokenizer_config);
  auto tokenizer = finished(read_tokenizer_json(tokenizer_json.bytes, tokenizer_json.name, ready),
                            settings, std::nullopt);
  if (auto chat = settings.chat_template()) {
    tokenizer->set_chat_template(std::move(*chat));
  }
  return tokenizer;
}

std::unique_ptr<ModelTokenizer> demo_tokenizer() {
  const auto [bytes, name] = demo_file(kDemoTokenizer, "demo: tokenizer.json");
  std::string rest(bytes.substr(0, kDemoVocabularyText.begin));
  rest += "null";
  rest += bytes.substr(kDemoVocabularyText.end);
  return load_tokenizer({rest, name},
                        demo_file(kDemoTokenizerConfig, "demo: tokenizer_config.json"),
                        &kDemoVocabulary);
}

}  // namespace attnviz
