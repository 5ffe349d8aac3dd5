// A GGUF file's metadata, read with checks. What Ollama's files say in other words than those of
// llama.cpp's converter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf.h"

namespace attnviz {

/// What a file means.
struct GgufDialect {
  struct Meant {
    std::string_view key;   // as llama.cpp writes it
    std::string_view said;  // the file's own key; empty: `value` is meant
    GgufValue value = {};
    bool overrides = false;  // what the file says at `key`; else only where it says nothing
  };
  std::vector<Meant> meant;
  /// The file's own name of its architecture, in front of keys, where another one is meant.
  std::string_view architecture;
  struct Renamed {
    std::string_view name;  // as llama.cpp writes it
    std::string_view said;
  };
  std::vector<Renamed> tensors;
  /// The vocabulary's pieces behind these have no embeddings.
  std::size_t most_tokens = std::numeric_limits<std::size_t>::max();
  std::shared_ptr<const std::string> made;  // what values look at that lie in no file
};

/// Told by what the file holds, whatever wrote it. Nothing is meant that is not said where the file
/// is one of llama.cpp's.
///
/// Source  https://github.com/ollama/ollama/blob/main/llama/compat/llama-ollama-compat.cpp
GgufDialect gguf_dialect(const Gguf& gguf);

/// Valid as long as the file. All throw Error{kMalformed} `model.gguf: llama.block_count: expected
/// …, found …` for a value of another type or out of range, and, where no other value is given, for
/// a missing one.
class GgufMetadata {
 public:
  explicit GgufMetadata(const Gguf& gguf);

  const Gguf& gguf() const noexcept { return *gguf_; }
  const GgufDialect& dialect() const noexcept { return dialect_; }
  /// The value of a key, in the words of llama.cpp's converter; null when there is none.
  const GgufValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The part of a key of the file behind the name of its architecture; nothing of other keys.
  std::optional<std::string_view> of_architecture(std::string_view key) const;
  /// The file's keys that nobody has asked for until now, in its order; a key of a dialect counts
  /// as asked for once its value has been given in place of another's.
  std::vector<std::string_view> unread_keys() const;

  /// A whole number from 1 to 2^31.
  std::size_t size(std::string_view key) const;
  std::size_t size_or(std::string_view key, std::size_t otherwise) const;
  /// From 0 to 2^32 - 1: an id, a count.
  std::optional<std::uint32_t> id(std::string_view key) const;
  /// Greater than 0 and finite.
  double positive(std::string_view key) const;
  double positive_or(std::string_view key, double otherwise) const;
  /// Finite.
  double number_or(std::string_view key, double otherwise) const;
  bool flag_or(std::string_view key, bool otherwise) const;
  std::optional<bool> flag(std::string_view key) const;
  /// UTF-8.
  std::string_view text(std::string_view key) const;
  std::string_view text_or(std::string_view key, std::string_view otherwise) const;
  /// Empty when there is none; the bytes of each may be any.
  std::vector<std::string_view> strings(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  std::vector<bool> flags(std::string_view key) const;

  /// Throws Error{kMalformed} `file: key: message`.
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;

 private:
  // The file's own, also under its own name of the architecture.
  const GgufValue* own(std::string_view key) const;
  // The value at a key, which must be there, as `read` takes it.
  template <class T, class IsRight = bool (*)(const T&)>
  T get(
      std::string_view key, std::string_view expected, std::optional<T> (GgufValue::*read)() const,
      IsRight is_right = [](const T&) { return true; }) const;

  const Gguf* gguf_;
  GgufDialect dialect_;
  std::shared_ptr<std::set<std::string, std::less<>>> asked_;  // copies share it
};

}  // namespace attnviz
