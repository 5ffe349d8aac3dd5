#include "commands/commands.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
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

// Another program may have left the terminal so that read() does not wait.
void wait_for_stdin() {
  pollfd waited = {STDIN_FILENO, POLLIN, 0};
  poll(&waited, 1, -1);
}

// Asks, and reads a line of standard input without its end; empty when there is none any more. The
// terminal stays as it is, with the line editing that people and screen readers know.
std::optional<std::string> answer_to(const std::string& question) {
  write_to_stdout(question);
  std::string line;
  for (;;) {
    char c = 0;
    const ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) {
      write_to_stdout(question);  // the shell has written over it meanwhile
      continue;
    }
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_for_stdin();
      continue;
    }
    if (count <= 0) {
      return line.empty() ? std::nullopt : std::optional(line);
    }
    if (c == '\n') {
      return line;
    }
    line += c;
  }
}

// The first sign of an answer that is none of " \t", in lower case: 0 for a bare Enter or spaces.
char key_of(const std::string& answer) {
  const std::size_t at = answer.find_first_not_of(" \t\r");
  return at == std::string::npos ? '\0' : ascii_lower(answer)[at];
}

enum class Move { kNext, kBack, kLeave };

Move ask(bool is_first, bool is_last) {
  const std::string question =
      fmt::format("[Enter: {}{}{}] ", is_last ? "end" : "next", is_first ? "" : "   b Enter: back",
                  is_last ? "" : "   q Enter: quit");
  for (;;) {
    const std::optional<std::string> answer = answer_to(question);
    if (!answer) {
      write_to_stdout("\n");
      return Move::kLeave;
    }
    const char key = key_of(*answer);
    if (key == '\0' || key == 'n') {
      return is_last ? Move::kLeave : Move::kNext;
    }
    if (key == 'b' || key == 'q') {
      return key == 'b' ? Move::kBack : Move::kLeave;
    }
    write_to_stdout("Enter alone goes on, b and Enter goes back, q and Enter leaves.\n");
  }
}

// Asked for anew each time: a window may change its size meanwhile.
std::string screen_text(const Tour& tour, std::size_t screen, const TourOptions& options) {
  return render_tour_screen(tour, screen, stdout_drawing(options.style, options.color),
                            kOptionNames);
}

extern "C" void do_nothing(int) {}

// Who stopped the tour with Ctrl-Z finds the question again: without a handler read() would go on
// waiting as if nothing had been.
void interrupt_reading_on_return() {
  struct sigaction action {};
  action.sa_handler = do_nothing;
  sigaction(SIGCONT, &action, nullptr);
}

void walk(const Tour& tour, const TourOptions& options) {
  interrupt_reading_on_return();
  std::size_t screen = 0;
  for (;;) {
    write_to_stdout(screen_text(tour, screen, options) + '\n');
    const Move move = ask(screen == 0, screen + 1 == kTourScreens);
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
