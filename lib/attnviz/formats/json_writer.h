// JSON written as a stream: no document in memory, shortest round-trip numbers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// Whether it is none of: nothing, false, 0, empty.
template <class Content>
bool is_any(const Content& content) {
  if constexpr (std::is_same_v<Content, std::monostate>) {
    return false;
  } else if constexpr (requires { content.empty(); }) {
    return !content.empty();
  } else {
    return static_cast<bool>(content);
  }
}

/// Emits tokens of a JSON document and places the commas. The caller keeps begin/end and key/value
/// balanced (asserted in debug). Output is buffered; `finish` hands over the rest.
class JsonWriter {
 public:
  /// indent 0: one line. Otherwise objects and arrays of containers span several lines, and an
  /// array of scalars (a matrix row, the tokens) stays on one line.
  explicit JsonWriter(ByteSink sink, std::size_t indent = 0);

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);
  /// These add members to the open object.
  void begin_object(std::string_view name) {
    key(name);
    begin_object();
  }
  void begin_array(std::string_view name) {
    key(name);
    begin_array();
  }
  void member(std::string_view name, const auto& content) {
    key(name);
    value(content);
  }
  /// Leaves the member out if it is zero, empty, false or nothing.
  void member_if_any(std::string_view name, const auto& content) {
    if (is_any(content)) {
      member(name, content);
    }
  }

  /// An array of objects; `write` writes the members of each.
  void objects(std::string_view name, const auto& items, const auto& write) {
    begin_array(name);
    for (const auto& item : items) {
      begin_object();
      write(item);
      end_object();
    }
    end_array();
  }

  /// Escapes characters that a terminal could obey (controls, bidi controls); invalid UTF-8 bytes
  /// become `<F0 9F>`.
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool flag);
  void value(std::uint64_t number);
  /// The shortest decimal that reads back to the same bits, always with a point or an exponent
  /// (1.0, -0.0); NaN and infinities become null.
  void value(float number);
  /// As above, for doubles.
  void value(double number);
  void value(std::int64_t number);
  void value(std::unsigned_integral auto number) { value(std::uint64_t{number}); }
  void null();
  template <class Value>
  void value(const std::optional<Value>& content) {
    content ? value(*content) : null();
  }

  void value(std::span<const float> numbers);  // [..]
  void value(ConstMatrix rows);                // [[..], ..]
  /// An array of any type that value() accepts.
  template <std::ranges::range Items>
  requires(
      !std::convertible_to<const Items&, std::string_view> &&
      !std::convertible_to<const Items&, std::span<const float>>) void value(const Items& items) {
    begin_array();
    for (const auto& item : items) {
      value(item);
    }
    end_array();
  }

  /// Puts one or more prepared items, `[1.0, 0.5], [0.25, 0.0]`, into the open array, with a comma
  /// before them and nothing after. Long pieces reach the sink without being copied. With an indent
  /// the items of one call share a line.
  void raw_items(std::string_view items);

  /// Ends the line ('\n') and hands everything to the sink.
  void finish();

 private:
  struct Level {
    bool is_array = false;
    bool has_items = false;
    bool several_lines = false;
  };
  void separate(bool container);
  void end(char bracket);
  void new_line();
  void spill();

  ByteSink sink_;
  std::size_t indent_;
  std::vector<Level> levels_;
  bool after_key_ = false;
  std::string buffer_;
};

}  // namespace attnviz
