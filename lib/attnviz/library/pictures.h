// Attention as documents and pictures.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attnviz/library/attention.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

struct AttentionDocument;  // tokens, model, run, patterns and styles: internal

/// A picture of some attention, with everything that it shows. Its views point into `patterns`,
/// which it keeps.
///
/// Example:
///     const attnviz::LanguageModel model = attnviz::demo_language_model();
///     const attnviz::TokenizedText text = model.tokenizer->tokenize("The cat sat");
///     const attnviz::Picture picture(model, text, {}, attnviz::attend(model, text));
///     std::fputs(picture.text({.columns = 60}).c_str(), stdout);
///     if (!picture.json().starts_with("{\"schema\":") || picture.png().empty()) return 1;
class Picture {
 public:
  Picture(const LanguageModel& model, const TokenizedText& text, const AttentionRequest& request,
          PatternStore patterns);

  /// Reads attention computed by any tool: attnviz.attention/1, a nested JSON list or an .npy array
  /// of [q][k], [head][q][k] or [layer][head][q][k]. Messages begin with `name`. Throws
  /// Error{kMalformed} naming the place.
  static Picture read(std::string_view bytes, std::string_view name);

  /// One line of attnviz.attention/1, ending in '\n'.
  std::string json() const;
  /// Lines for a terminal, with escape codes if options.color says so.
  std::string text(const TerminalOptions& options = {}) const;
  /// The bytes of a PNG file. Throws Error{kUsage} for a picture that is too large.
  std::string png() const;

 private:
  explicit Picture(std::shared_ptr<const AttentionDocument> document);

  std::shared_ptr<const AttentionDocument> document_;
};

}  // namespace attnviz
