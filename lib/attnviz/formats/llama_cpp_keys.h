// The keys of GGUF files that llama.cpp has names for. Tokens of a GGUF file's vocabulary that
// llama.cpp knows by their names alone.
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
  bool ends_text = false;  // or a turn of a talk: what a model writes ends with it
};

/// Those of a vocabulary, pieces by id, in order of their ids: special ones although converters
/// have called them normal; of several with one name the last. <|end|> ends no text beside <|call|>
/// and <|return|>, and </s> is a piece like others beside <|tool_response>. Source: llama.cpp,
/// llama_vocab::impl::load().
std::vector<GgufNamedToken> gguf_named_tokens(std::span<const std::string_view> pieces);

// Keys of files that change nothing of what is computed, although nobody reads them.

/// A row of a table of such keys.
struct IgnorableKey {
  std::string_view key;  // a star at its beginning or its end stands for anything
  std::string_view why;
  std::optional<double> number = std::nullopt;  // no other value is harmless; of flags 0 or 1
  std::string_view text = {};                   // so, too
};

/// Reasons that several tables give.
inline constexpr std::string_view kNeutral = "its value changes nothing";
inline constexpr std::string_view kOtherPart =
    "of pictures or sound: only the part of the text runs";
inline constexpr std::string_view kOtherTask = "of a head for another task";
inline constexpr std::string_view kMultiToken =
    "of multi-token prediction: it guesses tokens further ahead, and the model runs without";

/// Why a key with this value, as far as it is a number or a text, is harmless: of the first row
/// that says so. Empty when none does.
std::string_view why_ignorable(std::span<const IgnorableKey> table, std::string_view key,
                               std::optional<double> number, std::string_view text = {});

/// Whether a row names the key, regardless of the value.
bool names_key(std::span<const IgnorableKey> table, std::string_view key);

/// Whether it is an empty string or array, or an array of zeros or of false.
bool is_nothing(const GgufValue& value);

/// A number, or 0 or 1 of a flag.
std::optional<double> plain_number(const GgufValue& value);

}  // namespace attnviz
