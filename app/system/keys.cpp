#include "system/keys.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

namespace attnviz::app {

namespace {

constexpr int kJobSignals[] = {SIGTSTP, SIGCONT};

termios as_it_was{};                  // written before is_changed is set
std::atomic<bool> is_changed{false};  // the terminal, and it is ours to give back
volatile std::sig_atomic_t is_to_stop = 0;
volatile std::sig_atomic_t has_gone_on = 0;

extern "C" void note_job_signal(int signal) {
  (signal == SIGTSTP ? is_to_stop : has_gone_on) = 1;
}

void handle(int signal, void (*handler)(int)) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);  // without SA_RESTART: waiting ends
}

void take_terminal() noexcept {
  if (tcgetattr(STDIN_FILENO, &as_it_was) != 0) {
    return;
  }
  termios changed = as_it_was;
  changed.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  changed.c_cc[VMIN] = 1;
  changed.c_cc[VTIME] = 0;
  is_changed.store(true);
  tcsetattr(STDIN_FILENO, TCSANOW, &changed);
}

// As a program that handles nothing: the shell finds its terminal, and this goes on with its own.
void stop_here() noexcept {
  restore_terminal();
  handle(SIGTSTP, SIG_DFL);
  handle(SIGCONT, SIG_IGN);  // it goes on all the same, and is not told twice
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  std::raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // here it stops
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  handle(SIGTSTP, note_job_signal);
  handle(SIGCONT, note_job_signal);
}

enum class Waited { kByte, kNothing, kSignal };

// For a byte, or so many milliseconds. Stop and go on come only here, so that none is missed.
Waited wait_for_byte(std::optional<int> milliseconds) noexcept {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  for (const int signal : kJobSignals) {
    sigdelset(&mask, signal);
  }
  pollfd waited = {STDIN_FILENO, POLLIN, 0};
  const timespec limit = {0, milliseconds.value_or(0) * 1'000'000L};
  const int count = ppoll(&waited, 1, milliseconds ? &limit : nullptr, &mask);
  return count > 0 ? Waited::kByte : count == 0 ? Waited::kNothing : Waited::kSignal;
}

// Nothing at the end of input.
std::optional<char> read_byte() noexcept {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = ::read(STDIN_FILENO, &byte, 1);
    // Another program may have left the terminal so that read() does not wait.
  } while (count < 0 && (errno == EINTR || ((errno == EAGAIN || errno == EWOULDBLOCK) &&
                                            wait_for_byte(std::nullopt) != Waited::kNothing)));
  return count == 1 ? std::optional(byte) : std::nullopt;
}

// One that belongs to the byte before: terminals send them together.
std::optional<char> next_of_sequence() noexcept {
  constexpr int kMilliseconds = 50;
  return wait_for_byte(kMilliseconds) == Waited::kByte ? read_byte() : std::nullopt;
}

// Behind an Escape: ECMA-48's control sequences, and the older ones of VT100's application mode.
Key escaped_key() noexcept {
  const std::optional<char> begin = next_of_sequence();
  if (begin != '[' && begin != 'O') {
    return Key::kOther;
  }
  std::string numbers;
  for (std::optional<char> byte; (byte = next_of_sequence());) {
    if (*byte >= '0' && *byte <= '?') {
      numbers += *byte;
      continue;
    }
    switch (*byte) {
      case 'A':
        return Key::kUp;
      case 'B':
        return Key::kDown;
      case 'C':
        return Key::kRight;
      case 'D':
        return Key::kLeft;
      case '~':
        return numbers.starts_with('5')   ? Key::kPageUp
               : numbers.starts_with('6') ? Key::kPageDown
                                          : Key::kOther;
      default:
        return Key::kOther;
    }
  }
  return Key::kOther;
}

}  // namespace

KeyReader::KeyReader() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kJobSignals) {
    sigaddset(&held, signal);
    handle(signal, note_job_signal);
  }
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  take_terminal();
}

KeyReader::~KeyReader() {
  restore_terminal();
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kJobSignals) {
    sigaddset(&held, signal);
    handle(signal, SIG_DFL);
  }
  pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
}

KeyPress KeyReader::next() {
  constexpr char kCtrlD = 4;
  constexpr char kEscape = 27;
  constexpr char kDelete = 127;
  while (wait_for_byte(std::nullopt) != Waited::kByte) {
    if (is_to_stop != 0) {
      is_to_stop = 0;
      stop_here();
    } else if (has_gone_on == 0) {
      continue;
    }
    has_gone_on = 0;
    take_terminal();
    return {Key::kReturned};
  }
  const std::optional<char> byte = read_byte();
  // Ctrl-D that was typed before the terminal was taken has become a zero.
  if (!byte || *byte == kCtrlD || *byte == '\0') {
    return {Key::kEndOfInput};
  }
  if (*byte == '\n' || *byte == '\r') {
    return {Key::kEnter};
  }
  if (*byte == kEscape) {
    return {escaped_key()};
  }
  if (*byte == kDelete || *byte == '\b') {
    return {Key::kBackspace};
  }
  if (*byte >= ' ') {
    return {Key::kLetter, *byte};
  }
  return {Key::kOther};
}

void restore_terminal() noexcept {
  if (is_changed.exchange(false)) {
    tcsetattr(STDIN_FILENO, TCSANOW, &as_it_was);
  }
}

}  // namespace attnviz::app
