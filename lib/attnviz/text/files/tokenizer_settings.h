// What the files beside a tokenizer say of it: tokenizer_config.json and its like.
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

/// A JSON file of a folder; nullopt when there is none. Throws what OpenFiles::open() and
/// JsonTree::parse() throw.
std::optional<JsonTree> read_beside(const std::filesystem::path& folder, const char* name,
                                    OpenFiles& files);

/// Whether something is there by this name that is no folder.
bool is_file(const std::filesystem::path& path);

/// The template that is used if no other is chosen.
inline constexpr const char* kDefaultTemplate = "default";

/// "chat_template" of a file: "…", [{"name": "default", "template": "…"}, …] or {"default": "…",
/// …}.
std::vector<NamedTemplate> templates_in(const JsonNode& value);
/// Adds one; it replaces another of its name.
void add_template(std::vector<NamedTemplate>& all, NamedTemplate one);
/// Sets the default template, the named ones, and where they are from.
void set_templates(ChatTemplate& chat, std::vector<NamedTemplate> all);

/// tokenizer_config.json, special_tokens_map.json and added_tokens.json, as far as they are there.
/// Throws Error{kMalformed} at a member of the wrong kind, when that is asked for.
class TokenizerSettings {
 public:
  /// Throw as read_beside() does.
  TokenizerSettings(const std::filesystem::path& folder, OpenFiles& files);
  explicit TokenizerSettings(const NamedBytes& config);

  std::optional<bool> flag(std::string_view key) const;
  bool flag(std::string_view key, bool otherwise) const { return flag(key).value_or(otherwise); }
  std::size_t number(std::string_view key, std::size_t otherwise) const;

  /// "RobertaTokenizer" or "RobertaTokenizerFast"; empty when it is not said.
  std::string tokenizer_class() const;

  /// Whether a model is given the types of tokens, text A or text B: as model_input_names says, or
  /// else as RoBERTa's and XLM-RoBERTa's tokenizers, which give none.
  bool asks_for_token_types() const;

  /// Tokens with ids: "added_tokens_decoder": {"32000": {"content": "<|user|>", …}, …}, else
  /// {"<|user|>": 32000, …} of added_tokens.json, of which those are special that are named. Throws
  /// Error{kMalformed} for an id that no vocabulary has.
  std::vector<AddedToken> added_tokens() const;
  /// Whether they are of "added_tokens_decoder", which says their flags, too.
  bool has_added_tokens_decoder() const { return in_config("added_tokens_decoder").has_value(); }
  /// In front of what is wrong with them.
  std::string added_tokens_where() const;

  /// "bos_token": "<s>" or {"content": "<s>", …}.
  std::optional<std::string> token(std::string_view key) const;
  /// All that have a name in the order in which transformers adds them to a vocabulary, without
  /// ids; "mask_token" with `lstrip` where only its text is said.
  std::vector<AddedToken> named_tokens(bool lstrip_of_mask) const;
  /// Whether the file says that there is no such token.
  bool denies(std::string_view key) const;

  /// Of tokenizer_config.json: one text, which is the default one, or several with names.
  std::vector<NamedTemplate> chat_templates() const;
  /// These with the tokens that templates use; nothing without templates.
  std::optional<ChatTemplate> chat_template(std::vector<NamedTemplate> all) const;

  /// Throws Error{kUnsupported} when the flag `key` is said and, null being `null_means`, another
  /// one than `expected`, which tokenizer.json calls `name`.
  void check_flag(std::string_view key, std::string_view name, bool expected,
                  std::optional<bool> null_means = std::nullopt) const;
  /// Throws Error{kUnsupported} for what BertTokenizer would do otherwise than BERT.
  void check_words() const;

 private:
  std::optional<JsonNode> in_config(std::string_view key) const;
  // Where a special token is named first.
  std::optional<JsonNode> named(std::string_view key) const;

  std::optional<JsonTree> config_;
  std::optional<JsonTree> names_;
  std::optional<JsonTree> added_;
};

/// "file: key" of a value.
std::string place_of(const JsonNode& value);

}  // namespace attnviz
