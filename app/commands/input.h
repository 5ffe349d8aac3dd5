// The texts to look at, one after another: TEXT, a file, standard input, lines, JSON lines, ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"
#include "options/options.h"

namespace attnviz::app {

/// A text, or token ids in place of one; and a second text.
struct InputText {
  std::variant<std::string, std::vector<TokenId>> content;
  std::optional<std::string> pair = {};
};

/// Reads texts one at a time, so that a stream is answered line by line. The line end that closes a
/// file or a line is not part of the text.
class TextSource {
 public:
  /// Opens the file. Throws Error{kIo}, or Error{kUsage} when nothing is given and standard input
  /// is a terminal.
  TextSource(const InputOptions& input, const TalkOptions& talk);
  ~TextSource();
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  /// The next text; blank lines of a stream are skipped (and told of). Empty at the end. Throws
  /// Error{kIo}, Error{kUsage} for a blank or oversized text, Error{kMalformed} naming the line for
  /// JSON that is none of ours.
  std::optional<InputText> next();

  /// Gives every text to `answer`, in order. Throws as next(), and what `answer` throws; an
  /// error about one of many texts names its line, unless it is Error{kIo}.
  void for_each(const std::function<void(const InputText&)>& answer);

  /// Whether there is nothing at all to read, before anything was. Waits for the first of it.
  /// Throws Error{kIo}.
  bool is_empty();

 private:
  std::optional<std::string> next_line();
  std::string whole();
  InputText parse_json_line(const std::string& line) const;
  bool fill();
  std::string place() const;

  const InputOptions& input_;
  bool quiet_;
  std::string name_;
  int fd_ = -1;
  bool owns_fd_ = false;
  bool ended_ = false;        // nothing more to read into buffer_
  bool finished_ = false;     // the one text, or the last, was handed out
  std::string buffer_;        // read, not yet handed out
  std::size_t consumed_ = 0;  // of buffer_
  std::size_t line_ = 0;      // 1-based
  std::size_t texts_ = 0;
};

/// Tokens of a text, as `options` want them. Throws Error{kUsage} when there are none, for an id
/// out of range, and for what the tokenizer cannot do.
TokenizedText tokenize(const Tokenizer& tokenizer, const InputText& text,
                       const InputOptions& options);

}  // namespace attnviz::app
