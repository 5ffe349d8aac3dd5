// A GGUF file's metadata, read with checks, and the translation of Ollama's keys into those of
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

/// How a file's keys and names translate into llama.cpp's.
struct GgufDialect {
  struct Meant {
    std::string_view key;   // as llama.cpp writes it
    std::string_view said;  // the file's own key; empty: use `value`
    GgufValue value = {};
    bool overrides = false;  // replaces the file's value at `key`; else only a missing one
  };
  std::vector<Meant> meant;
  /// The file's own name for its architecture, in front of keys, where it is another name.
  std::string_view architecture;
  struct Renamed {
    std::string_view name;  // as llama.cpp writes it
    std::string_view said;
  };
  std::vector<Renamed> tensors;
  /// The vocabulary's pieces after these have no embeddings.
  std::size_t most_tokens = std::numeric_limits<std::size_t>::max();
  std::shared_ptr<const std::string> made;  // memory of values that are not in a file
};

/// Recognises the dialect from the file's contents, not from the program that wrote it. Empty for
/// files in llama.cpp's form.
///
/// Source  https://github.com/ollama/ollama/blob/main/llama/compat/llama-ollama-compat.cpp
GgufDialect gguf_dialect(const Gguf& gguf);

/// Valid as long as the file. All members throw Error{kMalformed} `model.gguf: llama.block_count:
/// expected …, found …` for a value of another type or out of range, and, without a default, for a
/// missing one.
class GgufMetadata {
 public:
  explicit GgufMetadata(const Gguf& gguf);

  const Gguf& gguf() const noexcept { return *gguf_; }
  const GgufDialect& dialect() const noexcept { return dialect_; }
  /// The value of a key that is named as llama.cpp's converter names it; null when it is missing.
  const GgufValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The part of a file's key after the name of its architecture; nullopt for other keys.
  std::optional<std::string_view> of_architecture(std::string_view key) const;
  /// The file's keys that have not been read so far, in its order. A key of a dialect counts as
  /// read once its value has replaced another key's.
  std::vector<std::string_view> unread_keys() const;

  /// A whole number from 1 to 2^31.
  std::size_t size(std::string_view key) const;
  std::size_t size_or(std::string_view key, std::size_t otherwise) const;
  /// A number from 0 to 2^32 - 1: an id, a count.
  std::optional<std::uint32_t> id(std::string_view key) const;
  /// A finite number greater than 0.
  double positive(std::string_view key) const;
  double positive_or(std::string_view key, double otherwise) const;
  /// A finite number.
  double number_or(std::string_view key, double otherwise) const;
  bool flag_or(std::string_view key, bool otherwise) const;
  std::optional<bool> flag(std::string_view key) const;
  /// A text in UTF-8.
  std::string_view text(std::string_view key) const;
  std::string_view text_or(std::string_view key, std::string_view otherwise) const;
  /// The items of a list; empty when it is missing. Strings may hold any bytes.
  std::vector<std::string_view> strings(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  std::vector<bool> flags(std::string_view key) const;

  /// Throws Error{kMalformed} `file: key: message`.
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;

 private:
  // The file's own value, also under its own name for the architecture.
  const GgufValue* own(std::string_view key) const;
  // The value at a key, converted by `read`; the key must exist.
  template <class T, class IsRight = bool (*)(const T&)>
  T get(
      std::string_view key, std::string_view expected, std::optional<T> (GgufValue::*read)() const,
      IsRight is_right = [](const T&) { return true; }) const;

  const Gguf* gguf_;
  GgufDialect dialect_;
  std::shared_ptr<std::set<std::string, std::less<>>> asked_;  // copies share it
};

}  // namespace attnviz
