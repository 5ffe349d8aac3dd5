// Lines for a terminal: text with colours that end where they should.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

/// Builds one line. Every coloured run ends in a reset, so that a cut line does not bleed.
class AnsiLine {
 public:
  /// Appends `text`, drawn as the SGR parameters `style` say; empty: plain.
  void put(std::string_view text, std::string_view style = {});

  /// The line without trailing plain spaces and without '\n'; empties the builder.
  std::string finish();

 private:
  std::string text_;
  std::string style_;
};

}  // namespace attnviz
