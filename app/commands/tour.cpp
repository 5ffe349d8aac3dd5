#include "commands/commands.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/analysis/heads/naming.h"
#include "attnviz/analysis/tour.h"
#include "attnviz/core/ascii.h"
#include "attnviz/core/cpus.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/document/run_facts.h"
#include "attnviz/terminal/tour_view.h"
#include "commands/input.h"
#include "options/shell_words.h"
#include "outputs/output_file.h"
#include "stores/model_source.h"
#include "system/keys.h"
#include "system/progress_line.h"
#include "system/talk.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

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

// A tour, and the model that its numbers are of.
class ShownTour {
 public:
  explicit ShownTour(const TourOptions& options)
      : options_(options),
        source_(model_source(options.model)),
        model_(open_model(source_, options.model)),
        tokenizer_(open_tokenizer(options.tokenizer, source_, model_)),
        model_option_(model_option()),
        heads_command_("attnviz heads" + model_option_) {
    if (!is_embedded(source_)) {
      model_.config.named_heads = names();
    }
    tour_ = tour_of(chosen_text(options));
    tour_.learned_simple_english = is_embedded(source_);
    tell_differences();
  }
  ShownTour(const ShownTour&) = delete;
  ShownTour& operator=(const ShownTour&) = delete;

  std::size_t screens() const { return tour_screens(tour_); }

  // Asked for anew each time: a window may change its size meanwhile.
  std::string text(std::size_t screen) const {
    const TourOptionNames names = {"--head", "--query",     "--truncate right", "--temperature",
                                   "--help", model_option_, heads_command_};
    return render_tour_screen(tour_, screen, stdout_drawing(options_.style, options_.color), names);
  }

 private:
  std::string model_option() const {
    const StoredModel* const stored = stored_model(source_);
    return stored != nullptr      ? " -m " + typed_word(stored->given())
           : is_embedded(source_) ? ""
                                  : " --random";
  }

  Tour tour_of(const std::string& text) const {
    try {
      return make_tour(model_, *tokenizer_, text);
    } catch (const Error& error) {
      if (text != kDefaultText || options_.input.text || is_embedded(source_)) {
        throw;
      }
      throw Error(error.kind(),
                  fmt::format("{}\nThat is of the tour's own text, {}; give one that this model "
                              "takes: attnviz tour{} \"TEXT\"",
                              error.what(), attnviz::quoted(kDefaultText), model_option_));
    }
  }

  // None where the model does not take the probes that they are earned on.
  std::vector<NamedHead> names() const {
    if (model_.config.is_too_long(kShortestNamedProbe + 1)) {
      return {};
    }
    ProgressLine progress("probes", {});
    AttentionRequest request;
    request.n_threads = available_threads();
    request.report = progress.report();
    try {
      return measured_names(model_, dynamic_cast<const ModelTokenizer*>(tokenizer_.get()), request);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kIo || error.kind() == ErrorKind::kMalformed) {
        throw;
      }
      return {};
    }
  }

  void tell_differences() const {
    const ModelFacts facts = model_facts(model_, tour_.text);
    if (facts.random) {
      say(model_title(facts) +
          " mean nothing: the tour shows how attention is computed, not what "
          "it learns");
    }
    for (const std::string& sentence : tour_left_out(tour_)) {
      say(sentence + "; what its heads score: " + heads_command_);
    }
  }

  const TourOptions& options_;
  ModelSource source_;
  Model model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::string model_option_;
  std::string heads_command_;
  Tour tour_;
};

void walk(const ShownTour& tour) {
  Question question;
  std::size_t screen = 0;
  for (;;) {
    write_to_stdout(tour.text(screen) + '\n');
    const Move move = question.ask(screen == 0, screen + 1 == tour.screens());
    if (move == Move::kLeave) {
      return;
    }
    screen = move == Move::kNext ? screen + 1 : screen - (screen > 0 ? 1 : 0);
    write_to_stdout("\n");
  }
}

}  // namespace

void run(const TourOptions& options) {
  const ShownTour tour(options);
  if (!options.all && stdin_is_terminal() && stdout_is_terminal()) {
    return walk(tour);
  }
  std::string all;
  for (std::size_t screen = 0; screen < tour.screens(); ++screen) {
    all += (screen == 0 ? "" : "\n") + tour.text(screen);
  }
  write_to_stdout(all);
}

}  // namespace attnviz::app
