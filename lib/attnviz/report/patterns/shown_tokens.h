// Selects and arranges the tokens of a picture: heatmaps with some of their rows and columns,
// transposed, or without special tokens.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/text/units.h"

namespace attnviz {

/// The picture of `queries` and `keys` alone, in rising order, at least one of each; labels and
/// numbers stay the same. Weights are copied unchanged. Precondition: panels have values.
Heatmap with_tokens(const Heatmap& heatmap, const std::vector<std::size_t>& queries,
                    const std::vector<std::size_t>& keys);

/// Removes the first key, and the first query if it sees nothing else; rescales each row to sum to
/// 1. Throws Error{kUsage} if there is only one key, or for a negative weight.
void drop_first_key(Heatmap& heatmap);

/// Inserts a first column "sink" with the weights `sinks` [panels, queries], which go to no key.
/// Rows are found by their query numbers.
void put_sinks_first(Heatmap& heatmap, const std::vector<std::vector<float>>& sinks);

/// Scales each row to sum to 1, except rows of zeros.
void scale_rows_to_one(Heatmap& heatmap);

/// Keys as rows and queries as columns. Shares of a row remain those of the query.
Heatmap transposed(const Heatmap& heatmap);

PoolGrid transposed(const PoolGrid& grid);
PooledMatrix transposed(const PooledMatrix& cells);

/// The roles of the tokens' turns; empty without turns.
LabelRoles label_roles(const std::vector<TokenTurn>& turns);

/// Removes spaces around words in labels, which would be drawn as signs, unless nothing else is
/// left.
void drop_space_marks(std::vector<std::string>& labels);

/// The marks that remain without the tokens that are not drawn: those added by the tokenizer, or
/// the first one. Keys of another text are numbered after the queries. If sinks are drawn,
/// `drop_sink` removes these instead of the first token.
TokenMarks shown_marks(const AttentionDocument& document, bool draws_sinks);

/// The tokens that the tokenizer added, in quotes, each once, in order; keys of another text come
/// after the queries.
std::vector<std::string> added_tokens(const AttentionDocument& document);
/// The number of added tokens.
std::size_t n_added(const AttentionDocument& document);

/// The panels without added tokens. Throws Error{kUsage} if nothing would be left.
Heatmap without_added(const Heatmap& heatmap, const AttentionDocument& document);

}  // namespace attnviz
