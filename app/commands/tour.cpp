#include "commands/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/analysis/heads/head_names.h"
#include "attnviz/analysis/tour.h"
#include "attnviz/core/cpus.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/run_facts.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/tour_page.h"
#include "commands/input.h"
#include "commands/unread_keys.h"
#include "options/shell_words.h"
#include "stores/model_source.h"
#include "system/keys.h"
#include "system/output_file.h"
#include "system/talk.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

constexpr const char* kDefaultText = "The cat sat on the mat because it was tired";

// `own`: the text that the model was made for, if any.
std::string chosen_text(const TourOptions& options, const std::string& own) {
  std::string usual = own.empty() ? kDefaultText : own;
  if (!options.input.text && !stdin_is_pipe_or_file()) {
    return usual;
  }
  TextSource source(options.input, {});
  if (!options.input.text && source.is_empty()) {
    return usual;
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
  /// `has_more`: of the same screen.
  Move ask(bool is_first, bool is_last, bool has_more) {
    const std::size_t columns = stdout_drawing({}, {}).columns;
    const std::string question = question_of(is_first, is_last, has_more, columns);
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
      if (move == Move::kAgain && (pressed.key != Key::kReturned || is_told_twice())) {
        continue;
      }
      write_to_stdout("\n");
      if (move == Move::kAgain || !move) {
        write_to_stdout((move ? std::string() : keys_there(columns)) + question);
        continue;
      }
      return *move;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kAtOnce{400};

  // A shell may let the program go on twice.
  bool is_told_twice() {
    const auto now = Clock::now();
    const bool is_twice = returned_ && now - *returned_ < kAtOnce;
    returned_ = now;
    return is_twice;
  }

  // One line also in narrow windows, which leave no room for arrows.
  static std::string question_of(bool is_first, bool is_last, bool has_more, std::size_t columns) {
    const char* const what = has_more ? "more" : "next";
    std::string question = fmt::format(
        "[{}{}{}] ", is_last ? "Enter: end" : fmt::format("Enter or right arrow: {}", what),
        is_first ? "" : "   left arrow: back", is_last ? "" : "   q: quit");
    return question.size() <= columns
               ? question
               : fmt::format("[Enter: {}{}{}] ", is_last ? "end" : what,
                             is_first ? "" : "  b: back", is_last ? "" : "  q: quit");
  }

  static std::string keys_there(std::size_t columns) {
    std::string lines;
    for (const char* const keys : {"Enter, Space, the right arrow and Page Down go on;",
                                   "b, the left arrow and Page Up go back; q leaves."}) {
      for (const std::string& line : wrap(keys, columns)) {
        lines += line + '\n';
      }
    }
    return lines;
  }

  KeyReader keys_;
  bool is_behind_letter_ = false;
  std::optional<Clock::time_point> returned_;
};

Model opened_model(ModelSource& source, const TourOptions& options) {
  Model model = open_model(source, options.model);
  report_unread_keys(model.config, options.talk);
  return model;
}

// A tour, and the model that its numbers are of.
class ShownTour {
 public:
  explicit ShownTour(const TourOptions& options)
      : options_(options),
        source_(model_source(options.model)),
        model_(opened_model(source_, options)),
        tokenizer_(open_tokenizer(options.tokenizer, source_, model_)),
        model_option_(model_option()),
        heads_command_("attnviz heads" + model_option_) {
    if (!is_embedded(source_)) {
      model_.config.named_heads = names();
    }
    const std::string text = chosen_text(options, model_.text);
    tour_ = tour_of(text);
    if (!model_.inputs.empty()) {  // no words for probes: only its text has scores
      heads_command_ += " " + typed_word(text);
    }
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
                  fmt::format("{}. That is of the tour's own text, {}; give one that this model "
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
    report_unread_keys(model_.config.name, *tokenizer_, options_.talk);
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

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Where the walk stands: a screen that is longer than the window is shown in parts.
struct Place {
  std::size_t screen = 0;
  std::size_t part = 0;
};

// Prints a part of a screen; whether the screen goes on.
bool show_part(const ShownTour& tour, Place& place) {
  constexpr std::size_t kOfQuestion = 2;  // it, and the empty line before it
  constexpr std::size_t kFewest = 4;
  const std::string text = tour.text(place.screen);
  const std::vector<std::string_view> lines = lines_of(text);
  const std::size_t rows = stdout_rows();
  const std::size_t room =
      rows == 0 ? lines.size() : std::max(rows, kFewest + kOfQuestion) - kOfQuestion;
  const std::size_t n_parts = (lines.size() + room - 1) / room;
  place.part = std::min(place.part, n_parts - 1);  // the window may have grown
  const std::size_t first = place.part * room;
  std::string shown;
  for (std::size_t i = first; i < std::min(first + room, lines.size()); ++i) {
    shown += lines[i];
  }
  write_to_stdout(shown + '\n');
  return place.part + 1 < n_parts;
}

void walk(const ShownTour& tour) {
  Question question;
  Place place;
  for (;;) {
    const bool has_more = show_part(tour, place);
    const bool is_first = place.screen == 0 && place.part == 0;
    const bool is_last = !has_more && place.screen + 1 == tour.screens();
    switch (question.ask(is_first, is_last, has_more)) {
      case Move::kLeave:
        return;
      case Move::kNext:
        place = has_more ? Place{place.screen, place.part + 1} : Place{place.screen + 1, 0};
        break;
      case Move::kBack:
        place = place.part > 0 ? Place{place.screen, place.part - 1}
                               : Place{place.screen - (place.screen > 0 ? 1 : 0), 0};
        break;
      case Move::kAgain:
        break;
    }
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
