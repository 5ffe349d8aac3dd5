// Whether there is what someone asks about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "attnviz/model/model.h"

namespace attnviz {

/// Throws Error{kUsage} unless the text of `n_tokens` has token `at`.
void require_token(std::size_t at, std::size_t n_tokens);

/// Throws Error{kUsage} unless the vocabulary of `n_vocab` has token `id`.
void require_id(std::uint32_t id, std::size_t n_vocab);

/// Throws Error{kUnsupported} that ends in `consequence` for a model with several residual streams
/// (AltUp): what a layer writes to one of them comes out through all.
void require_one_stream(const Model& model, std::string_view consequence);

}  // namespace attnviz
