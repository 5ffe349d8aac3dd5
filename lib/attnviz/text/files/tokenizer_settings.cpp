#include "attnviz/text/files/tokenizer_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/text/files/tokenizer_files.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNamed[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                  "pad_token", "cls_token", "mask_token"};

std::string_view content_of(const JsonNode& value) {
  return value.kind() == JsonKind::kObject ? value.at("content").as_string() : value.as_string();
}

// "<s>" or {"content": "<s>", …}; precondition: the content is not empty.
AddedToken special_token(const JsonNode& value) {
  AddedToken token;
  if (value.kind() == JsonKind::kObject) {
    token = read_added_token(value, 0);
    token.normalized = token.normalized && value.find("normalized").has_value();
  } else {
    token.content = value.as_string();
  }
  token.special = true;
  return token;
}

// The values of an object, as in newer files, or of a list.
std::vector<JsonNode> values_of(const JsonNode& value) {
  if (value.kind() == JsonKind::kObject) {
    return value.as_object();
  }
  return value.kind() == JsonKind::kNumbers && value.as_numbers().empty()
             ? std::vector<JsonNode>()
             : value.as_list("a list of tokens");
}

TokenId checked_id(const JsonNode& node, std::optional<std::uint64_t> id, std::string_view found) {
  if (!id || *id >= Vocabulary::kMostIds) {
    node.fail(fmt::format("expected an id below {}, found {}", Vocabulary::kMostIds, found));
  }
  return static_cast<TokenId>(*id);
}

}  // namespace

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

std::optional<JsonTree> read_beside(const fs::path& folder, const char* name, OpenFiles& files) {
  const fs::path path = folder / name;
  if (!is_file(path)) {
    return std::nullopt;
  }
  const MappedFile file = files.open(path);
  return JsonTree::parse(file.bytes(), path.string());
}

std::string place_of(const JsonNode& value) {
  const std::string where = value.where();
  return where.substr(0, where.rfind(':'));
}

TokenizerSettings::TokenizerSettings(const fs::path& folder, OpenFiles& files)
    : config_(read_beside(folder, "tokenizer_config.json", files)),
      names_(read_beside(folder, "special_tokens_map.json", files)),
      added_(read_beside(folder, "added_tokens.json", files)) {}

TokenizerSettings::TokenizerSettings(const NamedBytes& config)
    : config_(JsonTree::parse(config.bytes, config.name)) {}

std::optional<JsonNode> TokenizerSettings::in_config(std::string_view key) const {
  return config_ ? find_value(config_->root(), key) : std::nullopt;
}

std::optional<JsonNode> TokenizerSettings::named(std::string_view key) const {
  const auto value = in_config(key);
  return value || !names_ ? value : find_value(names_->root(), key);
}

std::optional<bool> TokenizerSettings::flag(std::string_view key) const {
  const auto value = in_config(key);
  return value ? std::optional(value->as_bool()) : std::nullopt;
}

std::size_t TokenizerSettings::number(std::string_view key, std::size_t otherwise) const {
  const auto value = in_config(key);
  return value ? static_cast<std::size_t>(value->as_unsigned()) : otherwise;
}

std::string TokenizerSettings::tokenizer_class() const {
  return config_ ? std::string(text_or(config_->root(), "tokenizer_class", "")) : std::string();
}

bool TokenizerSettings::asks_for_token_types() const {
  if (const auto names = in_config("model_input_names")) {
    return std::ranges::any_of(values_of(*names), [](const JsonNode& name) {
      return name.as_string() == "token_type_ids";
    });
  }
  const std::string name = tokenizer_class();
  return !name.starts_with("RobertaTokenizer") && !name.starts_with("XLMRobertaTokenizer");
}

std::vector<AddedToken> TokenizerSettings::added_tokens() const {
  std::vector<AddedToken> tokens;
  if (const auto decoder = in_config("added_tokens_decoder")) {
    for (const JsonNode& member : decoder->as_object()) {
      const std::string_view key = member.key();
      tokens.push_back(read_added_token(
          member, checked_id(member, parse_number<std::uint64_t>(key), in_quotes(key))));
    }
    return tokens;
  }
  if (!added_) {
    return tokens;
  }
  std::set<std::string> special;
  for (const AddedToken& token : named_tokens(false)) {
    special.insert(token.content);
  }
  for (const JsonNode& member : added_->root().as_object()) {
    const std::uint64_t id = member.as_unsigned();
    AddedToken token;
    token.id = checked_id(member, id, std::to_string(id));
    token.content = member.key();
    if (token.content.empty()) {
      member.fail("expected a token, found an empty string");
    }
    token.special = special.contains(token.content);
    token.normalized = false;  // the tokenizers of these files search the original text
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::string TokenizerSettings::added_tokens_where() const {
  const auto decoder = in_config("added_tokens_decoder");
  return decoder ? decoder->where() : added_ ? added_->root().where() : std::string();
}

std::optional<std::string> TokenizerSettings::token(std::string_view key) const {
  const auto value = named(key);
  const std::string_view content = value ? content_of(*value) : std::string_view();
  return content.empty() ? std::nullopt : std::optional<std::string>(content);
}

std::vector<AddedToken> TokenizerSettings::named_tokens(bool lstrip_of_mask) const {
  std::vector<AddedToken> tokens;
  for (const std::string_view key : kNamed) {
    const auto value = named(key);
    if (value && !content_of(*value).empty()) {
      tokens.push_back(special_token(*value));
      tokens.back().lstrip |=
          lstrip_of_mask && key == "mask_token" && value->kind() == JsonKind::kString;
    }
  }
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    for (const auto* tree : {&config_, &names_}) {
      const auto list = *tree ? find_value((*tree)->root(), key) : std::nullopt;
      for (const JsonNode& value : list ? values_of(*list) : std::vector<JsonNode>()) {
        if (!content_of(value).empty()) {
          tokens.push_back(special_token(value));
        }
      }
    }
  }
  return tokens;
}

bool TokenizerSettings::denies(std::string_view key) const {
  const auto value = config_ ? config_->root().find(key) : std::nullopt;
  return value && value->kind() == JsonKind::kNull;
}

std::vector<NamedTemplate> templates_in(const JsonNode& value) {
  std::vector<NamedTemplate> all;
  const auto add = [&all](std::string_view name, const JsonNode& one) {
    add_template(all, {std::string(name), std::string(one.as_string()), place_of(one)});
  };
  if (value.kind() == JsonKind::kObject) {
    for (const JsonNode& one : value.as_object()) {
      if (one.kind() != JsonKind::kNull) {
        add(one.key(), one);
      }
    }
  } else if (value.kind() == JsonKind::kList) {
    for (const JsonNode& one : value.as_list("a list of templates")) {
      add(one.at("name").as_string(), one.at("template"));
    }
  } else if (value.kind() != JsonKind::kNumbers || !value.as_numbers().empty()) {
    add(kDefaultTemplate, value);
  }
  return all;
}

void add_template(std::vector<NamedTemplate>& all, NamedTemplate one) {
  std::erase_if(all, [&](const NamedTemplate& other) { return other.name == one.name; });
  all.push_back(std::move(one));
}

void set_templates(ChatTemplate& chat, std::vector<NamedTemplate> all) {
  chat.where = all.empty() ? "" : all.front().where;
  for (NamedTemplate& one : all) {
    if (one.name == kDefaultTemplate) {
      chat.source = std::move(one.source);
      chat.where = std::move(one.where);
    } else {
      chat.named.push_back(std::move(one));
    }
  }
}

std::vector<NamedTemplate> TokenizerSettings::chat_templates() const {
  const auto value = in_config("chat_template");
  return value ? templates_in(*value) : std::vector<NamedTemplate>();
}

std::optional<ChatTemplate> TokenizerSettings::chat_template(std::vector<NamedTemplate> all) const {
  if (all.empty()) {
    return std::nullopt;
  }
  ChatTemplate chat{.source = "",
                    .bos_token = token("bos_token").value_or(""),
                    .eos_token = token("eos_token").value_or("")};
  set_templates(chat, std::move(all));
  for (const char* key : kNamed) {
    const std::string_view name = key;
    const auto content = token(name);
    if (content && name != "bos_token" && name != "eos_token") {
      chat.other_tokens.emplace_back(name, *content);
    }
  }
  if (const auto named_ones = named("extra_special_tokens");
      named_ones && named_ones->kind() == JsonKind::kObject) {
    for (const JsonNode& value : named_ones->as_object()) {
      chat.other_tokens.emplace_back(value.key(), content_of(value));
    }
  }
  if (const auto list = named("additional_special_tokens")) {
    for (const JsonNode& value : values_of(*list)) {
      chat.additional_special_tokens.emplace_back(content_of(value));
    }
  }
  return chat;
}

void TokenizerSettings::check_flag(std::string_view key, std::string_view name, bool expected,
                                   std::optional<bool> null_means) const {
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

void TokenizerSettings::check_words() const {
  if (const auto value = in_config("do_basic_tokenize"); value && !value->as_bool()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected true, found false: attnviz cuts a text at white space and "
                            "punctuation first",
                            value->where()));
  }
  if (const auto value = in_config("never_split"); value && !values_of(*value).empty()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected none, found {}: words that stay whole are not run",
                            value->where(), counted(values_of(*value).size(), "word")));
  }
}

namespace {

// Keys after "tokenizer.ggml.". A key that the chosen model of tokenizer does not use cannot change
// ids.
constexpr std::string_view kOtherModel = "another model of tokenizer uses it";
constexpr IgnorableKey kHarmless[] = {
    {"add_bos_token", "BERT's texts always begin with [CLS]"},
    {"add_eos_token", "BERT's texts always end with [SEP]"},
    {"add_padding_token", kNeutral, 0.0},
    {"add_sep_token", "of pairs of texts"},
    {"add_space_prefix", kOtherModel},
    {"add_unknown_token", kNeutral, 0.0},
    {"merges", kOtherModel},
    {"pre", kOtherModel},
    {"precompiled_charsmap", kOtherModel},
    {"remove_extra_whitespaces", kOtherModel},
    {"scores", kOtherModel},
    {"suppress_tokens", "how another program generates texts"},
    {"token_type_count", "the embeddings give it"},
    {"*_token_id", "the id of a token"},
    {"*_token_ids", "the ids of tokens"},
};

// These keys, which end a text, are read with the model.
constexpr std::string_view kOfModel[] = {"eot_token_id", "eom_token_id", "eos_token_ids"};

}  // namespace

UnreadKeys unread_tokenizer_keys(const GgufMetadata& metadata) {
  constexpr std::string_view kPrefix = "tokenizer.ggml.";
  UnreadKeys unread;
  for (const std::string_view key : metadata.unread_keys()) {
    if (!key.starts_with(kPrefix)) {
      continue;
    }
    const std::string_view name = key.substr(kPrefix.size());
    if (std::ranges::find(kOfModel, name) != std::end(kOfModel)) {
      continue;
    }
    const GgufValue& value = *metadata.gguf().find(key);
    const std::string_view why = why_ignorable(kHarmless, name, plain_number(value));
    const bool is_known = names_key(kHarmless, name) || is_llama_cpp_key(key);
    if (!why.empty()) {
      unread.ignorable.push_back({std::string(key), why});
    } else if (!is_known) {
      unread.unknown.emplace_back(key);
    } else if (is_nothing(value) || plain_number(value) == 0.0) {
      unread.ignorable.push_back({std::string(key), kNeutral});
    } else {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: {} {}: attnviz does not know what this changes in a tokenizer",
                              metadata.gguf().file(), shown_name(key), value.text()));
    }
  }
  return unread;
}

}  // namespace attnviz
