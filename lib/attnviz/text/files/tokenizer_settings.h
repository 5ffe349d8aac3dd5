// The settings in the files that accompany a tokenizer: tokenizer_config.json and others.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/text/chat.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

/// A JSON file of a folder; nullopt if it does not exist. Throws what OpenFiles::open() and
/// JsonTree::parse() throw.
std::optional<JsonTree> read_beside(const std::filesystem::path& folder, const char* name,
                                    OpenFiles& files);

/// Whether the path exists and is not a folder.
bool is_file(const std::filesystem::path& path);

/// The template that is used if no other is chosen.
inline constexpr const char* kDefaultTemplate = "default";

/// "chat_template" of a file: "…", [{"name": "default", "template": "…"}, …] or {"default": "…",
/// …}.
std::vector<NamedTemplate> templates_in(const JsonNode& value);
/// Adds a template, replacing one of the same name.
void add_template(std::vector<NamedTemplate>& all, NamedTemplate one);
/// Sets the default template, the named ones, and where they come from.
void set_templates(ChatTemplate& chat, std::vector<NamedTemplate> all);

/// tokenizer_config.json, special_tokens_map.json and added_tokens.json, those that exist. Queries
/// throw Error{kMalformed} for a member of the wrong kind.
class TokenizerSettings {
 public:
  /// Throw as read_beside() does.
  TokenizerSettings(const std::filesystem::path& folder, OpenFiles& files);
  explicit TokenizerSettings(const NamedBytes& config);

  std::optional<bool> flag(std::string_view key) const;
  bool flag(std::string_view key, bool otherwise) const { return flag(key).value_or(otherwise); }
  std::size_t number(std::string_view key, std::size_t otherwise) const;

  /// "RobertaTokenizer" or "RobertaTokenizerFast"; empty if not given.
  std::string tokenizer_class() const;

  /// Whether a model receives token types (text A or text B): according to model_input_names, by
  /// default not for the tokenizers of RoBERTa and XLM-RoBERTa.
  bool asks_for_token_types() const;

  /// Tokens with ids: "added_tokens_decoder": {"32000": {"content": "<|user|>", …}, …}, otherwise
  /// {"<|user|>": 32000, …} of added_tokens.json, where tokens that are also named are special.
  /// Throws Error{kMalformed} for an id beyond any vocabulary.
  std::vector<AddedToken> added_tokens() const;
  /// Whether they come from "added_tokens_decoder", which also has their flags.
  bool has_added_tokens_decoder() const { return in_config("added_tokens_decoder").has_value(); }
  /// The prefix of messages about them.
  std::string added_tokens_where() const;

  /// "bos_token": "<s>" or {"content": "<s>", …}.
  std::optional<std::string> token(std::string_view key) const;
  /// All named tokens, without ids, in the order in which transformers adds them to a vocabulary;
  /// `lstrip_of_mask` is the flag `lstrip` of a "mask_token" that is only given as a text.
  std::vector<AddedToken> named_tokens(bool lstrip_of_mask) const;
  /// Whether the file states that this token does not exist.
  bool denies(std::string_view key) const;

  /// The templates of tokenizer_config.json: a single text, which is the default template, or
  /// several with names.
  std::vector<NamedTemplate> chat_templates() const;
  /// These templates with the tokens that they use; nothing without templates.
  std::optional<ChatTemplate> chat_template(std::vector<NamedTemplate> all) const;

  /// Throws Error{kUnsupported} if the flag `key` is set (null means `null_means`) and is not
  /// `expected`, the value of `name` in tokenizer.json.
  void check_flag(std::string_view key, std::string_view name, bool expected,
                  std::optional<bool> null_means = std::nullopt) const;
  /// Throws Error{kUnsupported} for settings that make BertTokenizer cut words differently from
  /// BERT.
  void check_words() const;

 private:
  std::optional<JsonNode> in_config(std::string_view key) const;
  // The first mention of a special token.
  std::optional<JsonNode> named(std::string_view key) const;

  std::optional<JsonTree> config_;
  std::optional<JsonTree> names_;
  std::optional<JsonTree> added_;
};

/// "file: key" of a value.
std::string place_of(const JsonNode& value);

}  // namespace attnviz
