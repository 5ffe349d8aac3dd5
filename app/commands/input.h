// The texts of a command, one after another: TEXT, a file, standard input, lines, JSON lines, ids.
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

/// A text, or token ids or the messages of a chat instead; and an optional second text. For an
/// encoder-decoder, also the decoder's input if its line gives it: a text or ids.
struct InputText {
  std::variant<std::string, std::vector<TokenId>, Chat> content;
  std::optional<std::string> pair = {};
  std::optional<std::string> target = {};
  std::optional<std::vector<TokenId>> decoder_ids = {};
  std::shared_ptr<const templates::Value> tools = {};  // for a chat without tools of its own

  bool has_target() const noexcept { return target || decoder_ids; }
};

/// Reads texts one at a time, so that a stream is answered line by line. The line end that closes a
/// file or a line is not part of the text.
class TextSource {
 public:
  /// Opens the file. Throws Error{kIo}, and Error{kUsage} if nothing is given and standard input is
  /// a terminal; if the model may have a text of its own, or_else() decides instead.
  TextSource(const InputOptions& input, const Verbosity& verbosity,
             bool model_may_have_one = false);

  /// Uses `text` instead if no source is given and standard input provides nothing. Does nothing
  /// for an empty `text`. Call before reading. Throws Error{kIo}, and Error{kUsage} if there is no
  /// text at all.
  void or_else(const std::string& text);

  /// Returns the next text, or nothing at the end; skips blank lines of a stream with a warning.
  /// Throws Error{kIo}, Error{kUsage} for a blank or oversized text, and Error{kMalformed} naming
  /// the line for JSON of any other form.
  std::optional<InputText> next();

  /// Passes every text to `answer`, in order. Throws as next(), and what `answer` throws; an error
  /// about one of many texts names its line, unless it is Error{kIo}.
  void for_each(const std::function<void(const InputText&)>& answer);

  /// Skips the next lines of many texts without parsing them.
  void skip_lines(std::size_t count);
  /// The lines that have been read or skipped.
  const LinesRead& lines() const noexcept { return lines_; }
  /// The input's name in messages.
  const std::string& name() const noexcept { return name_; }
  /// The share of a file that has been read; 0 if unknown.
  double share_read() const;
  /// Ends the input after this text.
  void stop() noexcept { stopped_ = true; }
  /// Whether stop() was called, or an Interruption has ended the reading.
  bool is_stopped() const noexcept { return stopped_; }

  /// Whether the input is empty. Call before reading; waits for the first bytes. Throws Error{kIo}.
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
  bool ended_ = false;        // no more bytes for buffer_
  bool finished_ = false;     // the last text was returned
  std::string buffer_;        // read, not yet returned
  std::size_t consumed_ = 0;  // bytes of buffer_
  LinesRead lines_;
  std::size_t texts_ = 0;
  bool stopped_ = false;
  bool absent_ = false;  // neither given nor on standard input
  bool skipped_ = false;
  std::shared_ptr<const templates::Value> tools_;  // from --tools
};

/// The tokens of a text, made according to `options`. Throws Error{kUsage} if there are none, for
/// an id out of range, for a request that the tokenizer cannot meet, for a target, which would go
/// unread, and what rendered_chat() throws.
TokenizedText tokenize(const Tokenizer& tokenizer, const InputText& text,
                       const InputOptions& options);

/// Warns about the probable mistake in a prompt that prompt_fault() finds; with --lint-prompt
/// throws it as Error{kUnexpected} instead.
void check_prompt(const TokenizedText& text, const Tokenizer& tokenizer,
                  const InputOptions& options, const Verbosity& verbosity);

/// The index of the token that `word` names; reports which of several was taken, unless quiet.
/// Throws Error{kUsage} that begins with `option` if there is none. Precondition: the text has
/// tokens.
std::size_t chosen_token(const TokenizedText& text, const std::string& word,
                         std::string_view option, const Verbosity& verbosity);

/// As above, for --focus; nothing if it is not given.
std::optional<Focus> chosen_focus(const PatternOptions& options, const TokenizedText& text,
                                  const Verbosity& verbosity);

/// Reads a JSON list of lists of token ids. Throws Error{kIo}, and Error{kMalformed} with the
/// position.
std::vector<std::vector<TokenId>> read_id_lists(const std::filesystem::path& file);

// Chats, rendered by the model's own template, and JSON that is parsed whole: lines, messages, ids.

/// A chat; a text becomes the user's message.
Chat chat_of(const std::variant<std::string, std::vector<TokenId>, Chat>& content);

/// The messages as the tokenizer's chat template renders them; names of special tokens are parsed
/// as these tokens. The result begins with at most one BOS: if the template writes none, the
/// tokenizer adds it when ChatTemplate::tokenizer_adds_bos or --bos asks for it.
///
/// Throws Error{kUsage} if there is no template, naming where it was looked for; what render_chat()
/// throws; and Error{kUnsupported} naming what the template leaves out of the prompt.
TokenizedText tokenize_chat(const Tokenizer& tokenizer, Chat chat, const InputOptions& options);

/// `where` prefixes error messages. Throws Error{kMalformed} for invalid JSON, or lists and objects
/// nested more than 64 deep.
nlohmann::json parsed_json(std::string_view text, const std::string& where);

/// Throws Error{kMalformed} unless `list` is an array of at least one token id.
std::vector<TokenId> ids_in(const nlohmann::json& list, const std::string& where);

}  // namespace attnviz::app
