// Single keys of the terminal that standard input is, without Enter behind them.
#pragma once

namespace attnviz::app {

enum class Key {
  kLetter,  // and digits, signs, a space
  kEnter,
  kLeft,
  kRight,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kBackspace,
  kOther,
  kEndOfInput,  // also Ctrl-D
  kReturned,    // none: the program was stopped and goes on; what stood on the terminal may be gone
};

struct KeyPress {
  Key key = Key::kOther;
  char letter = '\0';  // of kLetter, one byte
};

/// While it lives, the terminal hands over each key at once and does not show it; Ctrl-C and Ctrl-Z
/// do as everywhere, and find the terminal as it was. One at a time; precondition: standard input
/// is a terminal.
class KeyReader {
 public:
  KeyReader();
  ~KeyReader();
  KeyReader(const KeyReader&) = delete;
  KeyReader& operator=(const KeyReader&) = delete;

  /// Waits for a key. What was typed before counts, too.
  KeyPress next();

 private:
};

/// Gives the terminal back as it was, if there is a KeyReader. Safe in a signal handler.
void restore_terminal() noexcept;

}  // namespace attnviz::app
