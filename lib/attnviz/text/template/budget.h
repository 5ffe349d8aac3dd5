// The limits of a template, which is input and may be hostile. Positions in a template, for
// messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "attnviz/core/error.h"

namespace attnviz::templates {

/// Throws Error{kMalformed}; the code that runs the template adds the position.
[[noreturn]] inline void fail(const std::string& message) {
  throw Error(ErrorKind::kMalformed, message);
}

/// The error of a template that exceeds its budget, which it would also do with other texts.
class TooMuch : public Error {
 public:
  explicit TooMuch(const std::string& message) : Error(ErrorKind::kMalformed, message) {}
};

/// An error that already has its position in the template.
class HasPlace {};
template <class Base>
class Placed : public Base, public HasPlace {
 public:
  using Base::Base;
};

/// Counts what a template uses, and throws TooMuch above the limits. Rendering an ordinary chat
/// uses a thousandth of them.
class Budget {
 public:
  static constexpr std::size_t kMostItems = 100000;  // in one list
  static constexpr std::size_t kBytesPerItem = 40;   // approximate size of a value in a list
  static constexpr std::size_t kReadPerValue = 16;   // cost of reading a value of any size

  void step(std::size_t count = 1) {
    steps_ += count;
    if (steps_ > kMostSteps) {
      throw TooMuch("too many steps");
    }
  }
  /// One iteration of a loop, which creates its scope and, if needed, `loop`.
  void turn(bool makes_loop) { step(makes_loop ? kStepsOfNamedTurn : kStepsOfTurn); }
  /// Bytes of text that is created.
  void make(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMostBytes) {
      throw TooMuch("the texts are too long");
    }
  }
  /// Bytes of output, all of which become tokens.
  void write(std::size_t bytes) {
    n_written_ += bytes;
    if (n_written_ > kMostWritten) {
      throw TooMuch("the text is too long");
    }
    make(bytes);
  }
  /// What one step reads, in bytes or items: possibly all of a long text, again and again.
  void read(std::size_t size) {
    n_read_ += size;
    if (n_read_ > kMostRead) {
      throw TooMuch("long texts or many names are read too often");
    }
  }
  /// The position of `what` in a text, or npos. Unlike std::string_view::find(), takes linear time.
  std::size_t find(std::string_view text, std::string_view what) {
    const void* const found = memmem(text.data(), text.size(), what.data(), what.size());
    const std::size_t at =
        found == nullptr ? std::string_view::npos
                         : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    read(1 + (found == nullptr ? text.size() : at + what.size()));
    return at;
  }
  /// A change of a text to upper or lower case.
  void recase(std::size_t bytes) {
    constexpr std::size_t kOfChange = 8;  // times the cost of reading it
    read(kOfChange * bytes);
  }
  /// A search for `what`, which may be compared with the text at every position.
  void search(std::size_t text, std::size_t what) {
    read(text > kMostRead ? kMostRead : text * (1 + std::min(what, text) / kAtOnce));
  }
  /// A search among `names` names, each of which may begin like `name`.
  void look_up(std::size_t names, std::string_view name) {
    read(1 + names * (1 + name.size() / kAtOnce));
  }
  /// Items of one list, before they are created. Each may cost as much as a step, and the list
  /// itself as much as several: its memory is allocated twice, and freed.
  void make_items(std::size_t count) {
    if (count > kMostItems) {
      throw TooMuch("a list is too long");
    }
    make(count * kBytesPerItem);
    step(kStepsOfList + count);
  }

  /// One level deeper, as long as this object lives.
  class Level {
   public:
    explicit Level(Budget& budget) : budget_(budget) {
      if (++budget_.depth_ > kDeepest) {
        --budget_.depth_;
        throw TooMuch("too deep");
      }
    }
    ~Level() { --budget_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Budget& budget_;
  };

 private:
  static constexpr std::size_t kAtOnce = 64;  // bytes that are compared in the time of one
  static constexpr std::size_t kStepsOfTurn = 6;
  static constexpr std::size_t kStepsOfNamedTurn = 20;
  static constexpr std::size_t kStepsOfList = 4;
  static constexpr std::size_t kMostSteps = 1500000;
  static constexpr std::size_t kMostBytes = 64000000;
  static constexpr std::size_t kMostWritten = 16000000;
  static constexpr std::size_t kMostRead = 256000000;
  static constexpr std::size_t kDeepest = 400;

  std::size_t steps_ = 0;
  std::size_t bytes_ = 0;
  std::size_t n_written_ = 0;
  std::size_t n_read_ = 0;
  std::size_t depth_ = 0;
};

/// "line 3, column 14", counted from 1, the column in characters.
std::string place_in(std::string_view source, std::size_t at);

/// Throws `message` with its position; `where` is a prefix of messages.
[[noreturn]] void fail_at(std::string_view where, std::string_view source, std::size_t at,
                          std::string_view message, ErrorKind kind = ErrorKind::kMalformed);

}  // namespace attnviz::templates
