// Keys of files that change nothing of what is computed, although nobody reads them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "attnviz/formats/gguf.h"

namespace attnviz {

/// A row of a table of such keys.
struct HarmlessKey {
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
std::string_view why_harmless(std::span<const HarmlessKey> table, std::string_view key,
                              std::optional<double> number, std::string_view text = {});

/// Whether a row names the key, regardless of the value.
bool names_key(std::span<const HarmlessKey> table, std::string_view key);

/// Whether it is an empty string or array, or an array of zeros or of false.
bool is_nothing(const GgufValue& value);

/// A number, or 0 or 1 of a flag.
std::optional<double> plain_number(const GgufValue& value);

}  // namespace attnviz
