// What a template may take: it is input, and may be hostile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "attnviz/core/error.h"

namespace attnviz::templates {

/// Throws Error{kMalformed}; whoever runs the template adds where.
[[noreturn]] inline void fail(const std::string& message) {
  throw Error(ErrorKind::kMalformed, message);
}

/// Counts what has been taken, and throws Error{kMalformed} when that is too much. A rendering of a
/// usual talk takes a thousandth of it.
class Budget {
 public:
  static constexpr std::size_t kMostItems = 100000;  // of one list
  static constexpr std::size_t kBytesPerItem = 40;   // about: what a value takes in a list
  static constexpr std::size_t kReadPerValue = 16;   // what a look at one costs, whatever its size

  void step(std::size_t count = 1) {
    steps_ += count;
    if (steps_ > kMostSteps) {
      fail("too many steps");
    }
  }
  /// A turn of a loop, which makes its scope and, where that is asked for, `loop`.
  void turn(bool makes_loop) { step(makes_loop ? kStepsOfNamedTurn : kStepsOfTurn); }
  /// Text that was made, in bytes.
  void make(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMostBytes) {
      fail("the texts are too long");
    }
  }
  /// Text of the result: all of it will be tokens.
  void write(std::size_t bytes) {
    n_written_ += bytes;
    if (n_written_ > kMostWritten) {
      fail("the text is too long");
    }
    make(bytes);
  }
  /// What one step looks at, in bytes or items: it may be all of a long text, again and again.
  void read(std::size_t size) {
    n_read_ += size;
    if (n_read_ > kMostRead) {
      fail("long texts or many names are read too often");
    }
  }
  /// A search for `what`, which may be compared with the text at each of its places.
  void search(std::size_t text, std::size_t what) {
    read(text > kMostRead ? kMostRead : text * (1 + std::min(what, text) / kAtOnce));
  }
  /// A search among so many names, each of which may begin as `name` does.
  void look_up(std::size_t names, std::string_view name) {
    read(1 + names * (1 + name.size() / kAtOnce));
  }
  /// Items of one list, before they are made. Each may be as much work as a step, and the list
  /// itself as several: it takes memory twice, and gives it back.
  void make_items(std::size_t count) {
    if (count > kMostItems) {
      fail("a list is too long");
    }
    make(count * kBytesPerItem);
    step(kStepsOfList + count);
  }

  /// One level deeper, as long as it lives.
  class Level {
   public:
    explicit Level(Budget& budget) : budget_(budget) {
      if (++budget_.depth_ > kDeepest) {
        --budget_.depth_;
        fail("too deep");
      }
    }
    ~Level() { --budget_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Budget& budget_;
  };

 private:
  static constexpr std::size_t kAtOnce = 64;  // bytes that a comparison looks at in the time of one
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

}  // namespace attnviz::templates
