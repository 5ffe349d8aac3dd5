// Whether there are the tokens that someone asks about.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnviz {

/// Throws Error{kUsage} unless the text of `n_tokens` has token `at`.
void require_token(std::size_t at, std::size_t n_tokens);

/// Throws Error{kUsage} unless the vocabulary of `n_vocab` has token `id`.
void require_id(std::uint32_t id, std::size_t n_vocab);

}  // namespace attnviz
