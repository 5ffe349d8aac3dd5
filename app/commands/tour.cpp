#include "commands/commands.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "attnviz/analysis/tour.h"
#include "attnviz/core/ascii.h"
#include "attnviz/model/hugging_face.h"
#include "attnviz/terminal/tour_view.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "commands/input.h"
#include "outputs/output_file.h"
#include "system/keys.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

constexpr TourOptionNames kOptionNames = {"--head", "--query", "--truncate right", "--temperature",
                                          "--help"};
constexpr const char* kDefaultText = "The cat sat on the mat because it was tired";

std::string chosen_text(const TourOptions& options) {
  if (!options.input.text && !stdin_is_pipe_or_file()) {
    return kDefaultText;
  }
  TextSource source(options.input, {});
  if (!options.input.text && source.is_empty()) {
    return kDefaultText;
  }
  auto input = source.next();
  return std::get<std::string>(std::move(input->content));
}

enum class Move { kNext, kBack, kLeave, kAgain };

// Whether a key is a letter, whatever the case.
bool is_letter(const KeyPress& pressed, char letter) {
  return pressed.key == Key::kLetter &&
         ascii_lower(std::string(1, pressed.letter)).front() == letter;
}

// Nothing for a key that does nothing.
std::optional<Move> move_of(const KeyPress& pressed, bool is_last) {
  switch (pressed.key) {
    case Key::kEndOfInput:
      return Move::kLeave;
    case Key::kReturned:
      return Move::kAgain;
    case Key::kEnter:
      return is_last ? Move::kLeave : Move::kNext;
    case Key::kRight:
    case Key::kDown:
    case Key::kPageDown:
      return is_last ? Move::kAgain : Move::kNext;  // a key that is held down does not leave
    case Key::kLeft:
    case Key::kUp:
    case Key::kPageUp:
    case Key::kBackspace:
      return Move::kBack;
    case Key::kLetter:
    case Key::kOther:
      break;
  }
  if (is_letter(pressed, ' ') || is_letter(pressed, 'n')) {
    return is_last ? Move::kLeave : Move::kNext;
  }
  if (is_letter(pressed, 'b')) {
    return Move::kBack;
  }
  return is_letter(pressed, 'q') ? std::optional(Move::kLeave) : std::nullopt;
}

// Asks which screen is next. Who types lines, or lets a program type them, ends each letter with an
// Enter that is no key of its own: it comes at once.
class Question {
 public:
  Move ask(bool is_first, bool is_last) {
    const std::string question =
        fmt::format("[{}{}{}] ", is_last ? "Enter: end" : "Enter or right arrow: next",
                    is_first ? "" : "   left arrow: back", is_last ? "" : "   q: quit");
    write_to_stdout(question);
    const auto asked = Clock::now();
    for (;;) {
      const KeyPress pressed = keys_.next();
      if (pressed.key == Key::kEnter && is_behind_letter_ && Clock::now() - asked < kAtOnce) {
        is_behind_letter_ = false;
        continue;
      }
      is_behind_letter_ = pressed.key == Key::kLetter && pressed.letter != ' ';
      const std::optional<Move> move = move_of(pressed, is_last);
      if (move == Move::kAgain && pressed.key != Key::kReturned) {
        continue;
      }
      write_to_stdout("\n");
      if (move == Move::kAgain || !move) {
        write_to_stdout((move ? std::string() : kKeysThere) + question);
        continue;
      }
      return *move;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kAtOnce{400};
  static constexpr const char* kKeysThere =
      "Enter, Space, the right arrow and Page Down go on;\n"
      "b, the left arrow and Page Up go back; q leaves.\n";

  KeyReader keys_;
  bool is_behind_letter_ = false;
};

// Asked for anew each time: a window may change its size meanwhile.
std::string screen_text(const Tour& tour, std::size_t screen, const TourOptions& options) {
  return render_tour_screen(tour, screen, stdout_drawing(options.style, options.color),
                            kOptionNames);
}

void walk(const Tour& tour, const TourOptions& options) {
  Question question;
  std::size_t screen = 0;
  for (;;) {
    write_to_stdout(screen_text(tour, screen, options) + '\n');
    const Move move = question.ask(screen == 0, screen + 1 == kTourScreens);
    if (move == Move::kLeave) {
      return;
    }
    screen = move == Move::kNext ? screen + 1 : screen - (screen > 0 ? 1 : 0);
    write_to_stdout("\n");
  }
}

}  // namespace

void run(const TourOptions& options) {
  const std::string text = chosen_text(options);
  const Model model = demo_model();
  const auto tokenizer = demo_tokenizer();
  const Tour tour = make_tour(model, *tokenizer, text);
  if (!options.all && stdin_is_terminal() && stdout_is_terminal()) {
    return walk(tour, options);
  }
  std::string all;
  for (std::size_t screen = 0; screen < kTourScreens; ++screen) {
    all += (screen == 0 ? "" : "\n") + screen_text(tour, screen, options);
  }
  write_to_stdout(all);
}

}  // namespace attnviz::app
