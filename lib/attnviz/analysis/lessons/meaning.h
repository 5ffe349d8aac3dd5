// A word's vectors in the residual stream, and how alike they are in different texts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Where a word stands in a text.
struct WordPlace {
  std::vector<std::size_t> tokens;  // rising
  std::string note;                 // which of several places it is; or empty
};

/// The tokens of `word`: a whole word of the text, as choose_token() takes one ("bank", "bank#2"),
/// or several words that stand behind each other. Throws Error{kUsage} that begins with `parameter`
/// when the text does not have it.
WordPlace place_of_word(const TokenizedText& text, const std::string& word,
                        std::string_view parameter);

/// The mean over `tokens`, at least one, of the residual stream: row 0 before the first layer, row
/// i behind layer i - 1; [n_layers + 1, d_model]. Behind a last layer without W_O there is no
/// stream, and no row. Throws what run() throws.
MatrixBuffer word_vectors(const Model& model, const TokenizedText& text,
                          const AttentionRequest& request, std::span<const std::size_t> tokens);

/// a · b / (|a| |b|); nothing where one of them is 0 or not finite.
std::optional<double> cosine(std::span<const float> a, std::span<const float> b) noexcept;

}  // namespace attnviz
