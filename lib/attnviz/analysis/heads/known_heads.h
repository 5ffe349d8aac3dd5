// What papers call the heads of a model that they took apart.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/choices.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// A model whose heads papers name.
enum class KnownModel { kGpt2 };

inline constexpr std::array kKnownModels = {Choice{"gpt2", KnownModel::kGpt2}};

/// Throws Error{kUsage} that says what it would have to be when `model` is another one, by its
/// family and shape.
void require_known(const Model& model, KnownModel known);

/// "induction", "name mover", …
///
/// Source  gpt2: Wang et al. 2022, "Interpretability in the Wild", figure 2.
std::optional<std::string_view> known_name(KnownModel known, HeadId head) noexcept;

/// Where the names are from, for people.
std::string_view known_source(KnownModel known) noexcept;

}  // namespace attnviz
