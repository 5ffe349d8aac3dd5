// Which keys one query does not see, as the engine has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/attention/row_weights.h"

namespace attnviz {

/// 1 for each of the keys [n_keys] that is hidden from the query beside those that the mask hides;
/// empty: none is.
std::vector<std::uint8_t> hidden_from(const RowRule& rule, std::size_t query, std::size_t n_keys);

/// One query's scores of all keys, in place: minus infinity where a key is hidden, ALiBi's bias put
/// in elsewhere.
void hide_masked(const RowRule& rule, std::size_t query, std::span<float> scores);

}  // namespace attnviz
