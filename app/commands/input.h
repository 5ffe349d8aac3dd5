// The texts to look at, one after another: TEXT, a file, standard input, lines, JSON lines, ids.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/analysis/heads/probe.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/text/chat.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"
#include "options/options.h"
#include "system/output_file.h"

namespace attnviz::app {

/// A text, or token ids or the messages of a chat in place of one; and a second text. What an
/// encoder-decoder's decoder has read, where its line says so: one of both.
struct InputText {
  std::variant<std::string, std::vector<TokenId>, Chat> content;
  std::optional<std::string> pair = {};
  std::optional<std::string> target = {};
  std::optional<std::vector<TokenId>> decoder_ids = {};
  std::shared_ptr<const templates::Value> tools = {};  // for a chat that has none of its own

  bool has_target() const noexcept { return target || decoder_ids; }
};

/// Reads texts one at a time, so that a stream is answered line by line. The line end that closes a
/// file or a line is not part of the text.
class TextSource {
 public:
  /// Opens the file. Throws Error{kIo}, or Error{kUsage} when nothing is given and standard input
  /// is a terminal; of that or_else() decides where the model may have a text of its own.
  TextSource(const InputOptions& input, const Verbosity& verbosity,
             bool model_may_have_one = false);

  /// `text`, unless it is empty, where nothing is given and nothing comes from standard input.
  /// Called before anything was read. Throws Error{kIo}, and Error{kUsage} when there is no text at
  /// all.
  void or_else(const std::string& text);

  /// The next text; blank lines of a stream are skipped (and told of). Empty at the end. Throws
  /// Error{kIo}, Error{kUsage} for a blank or oversized text, Error{kMalformed} naming the line for
  /// JSON that is none of ours.
  std::optional<InputText> next();

  /// Gives every text to `answer`, in order. Throws as next(), and what `answer` throws; an
  /// error about one of many texts names its line, unless it is Error{kIo}.
  void for_each(const std::function<void(const InputText&)>& answer);

  /// The next lines of many texts, which are not read.
  void skip_lines(std::size_t count);
  /// Lines that have been read or skipped.
  const LinesRead& lines() const noexcept { return lines_; }
  /// What messages call the input.
  const std::string& name() const noexcept { return name_; }
  /// The share of a file that has been read; 0 where that is not known.
  double share_read() const;
  /// No text comes after this.
  void stop() noexcept { stopped_ = true; }
  /// Whether that was asked for, or an Interruption has ended the reading.
  bool is_stopped() const noexcept { return stopped_; }

  /// Whether there is nothing at all to read, before anything was. Waits for the first of it.
  /// Throws Error{kIo}.
  bool is_empty();

 private:
  std::optional<std::string> next_line();
  std::string whole();
  InputText parse_json_line(const std::string& line) const;
  Chat parse_chat(const std::string& json) const;
  bool fill();
  std::string place() const;

  const InputOptions& input_;
  bool quiet_;
  std::string name_;
  std::optional<InputStream> stream_;
  bool ended_ = false;        // nothing more to read into buffer_
  bool finished_ = false;     // the one text, or the last, was handed out
  std::string buffer_;        // read, not yet handed out
  std::size_t consumed_ = 0;  // of buffer_
  LinesRead lines_;
  std::size_t texts_ = 0;
  bool stopped_ = false;
  bool absent_ = false;  // neither given nor to be read
  bool skipped_ = false;
  std::shared_ptr<const templates::Value> tools_;  // of --tools
};

/// Tokens of a text, as `options` want them. Throws Error{kUsage} when there are none, for an id
/// out of range, for what the tokenizer cannot do, for a target (which nobody would read), and what
/// rendered_chat() throws.
TokenizedText tokenize(const Tokenizer& tokenizer, const InputText& text,
                       const InputOptions& options);

/// Says what is probably wrong with a prompt, as prompt_fault() does; throws Error{kUnexpected}
/// that says it where that was asked for.
void check_prompt(const TokenizedText& text, const Tokenizer& tokenizer,
                  const InputOptions& options, const Verbosity& verbosity);

/// The index of the token that `word` names; says which of several was taken, unless quiet. Throws
/// Error{kUsage} that begins with `option` when there is none. Precondition: the text has tokens.
std::size_t chosen_token(const TokenizedText& text, const std::string& word,
                         std::string_view option, const Verbosity& verbosity);

/// The same of --focus; nothing where it is not given.
std::optional<Focus> chosen_focus(const PatternOptions& options, const TokenizedText& text,
                                  const Verbosity& verbosity);

/// A JSON list of lists of token ids. Throws Error{kIo}, and Error{kMalformed} with the place.
std::vector<std::vector<TokenId>> read_id_lists(const std::filesystem::path& file);

// Chats as a text to look at, rendered by the model's own template. JSON that is read whole: lines,
// messages, ids.

/// A text is what the user says.
Chat chat_of(const std::variant<std::string, std::vector<TokenId>, Chat>& content);

/// The messages as the tokenizer's chat template has them, with names of special tokens as these
/// tokens. It begins with BOS once at most: where the template writes none and
/// ChatTemplate::tokenizer_adds_bos, or --bos, says so, the tokenizer puts it there.
///
/// Throws Error{kUsage} when there is no template, naming what was looked for; what render_chat()
/// throws; and Error{kUnsupported} naming what the template leaves out of the prompt.
TokenizedText tokenize_chat(const Tokenizer& tokenizer, Chat chat, const InputOptions& options);

/// `where` stands in front of a message. Throws Error{kMalformed} for what is no JSON, or lies more
/// than 64 lists and objects deep.
nlohmann::json parsed_json(std::string_view text, const std::string& where);

/// Throws Error{kMalformed} for what is no array of at least one token id.
std::vector<TokenId> ids_in(const nlohmann::json& list, const std::string& where);

}  // namespace attnviz::app
