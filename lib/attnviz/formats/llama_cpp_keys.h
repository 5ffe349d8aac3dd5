// The GGUF keys that llama.cpp knows, and the tokens of a GGUF vocabulary that llama.cpp identifies
// by name alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf.h"

namespace attnviz {

/// Whether llama.cpp reads a key of this name in files of some architecture. Keys of an
/// architecture are given without its name, "rope.freq_base"; those of a tokenizer in full,
/// "tokenizer.ggml.pre".
///
/// Source  llama.cpp, src/llama-arch.cpp, LLM_KV_NAMES, 2026.
bool is_llama_cpp_key(std::string_view key);

struct GgufNamedToken {
  std::uint32_t id = 0;
  bool ends_text = false;  // or a turn of a chat: generated text ends with it
};

/// The special tokens of a vocabulary (pieces by id) that llama.cpp recognises by name, sorted by
/// id: they are special even if a converter marked them as normal; among several with one name, the
/// last. <|end|> does not end a text in a vocabulary with <|call|> and <|return|>, and </s> is an
/// ordinary piece in one with <|tool_response>. Source: llama.cpp, llama_vocab::impl::load().
std::vector<GgufNamedToken> gguf_named_tokens(std::span<const std::string_view> pieces);

// Keys of files that are not read because they do not affect the computation.

/// A row of a table of these keys.
struct IgnorableKey {
  std::string_view key;  // a star at its beginning or its end stands for anything
  std::string_view why;
  std::optional<double> number = std::nullopt;  // the only harmless value; 0 or 1 for flags
  std::string_view text = {};                   // likewise
};

/// Reasons shared by several tables.
inline constexpr std::string_view kNeutral = "its value changes nothing";
inline constexpr std::string_view kOtherPart =
    "of pictures or sound: only the part of the text runs";
inline constexpr std::string_view kOtherTask = "of a head for another task";
inline constexpr std::string_view kMultiToken =
    "of multi-token prediction: it guesses tokens further ahead, and the model runs without";

/// Why a key with this value (if it is a number or a text) is harmless: the reason in the first row
/// that applies. Empty when no row applies.
std::string_view why_ignorable(std::span<const IgnorableKey> table, std::string_view key,
                               std::optional<double> number, std::string_view text = {});

/// Whether a row names the key, regardless of the value.
bool names_key(std::span<const IgnorableKey> table, std::string_view key);

/// Whether it is an empty string or array, or an array of only zeros or only false.
bool is_nothing(const GgufValue& value);

/// A number, or 0 or 1 for a flag.
std::optional<double> plain_number(const GgufValue& value);

}  // namespace attnviz
