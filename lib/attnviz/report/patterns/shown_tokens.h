// Which tokens a picture shows, and on which side: heatmaps with some of their rows and columns.
// Tokens of documents that are no plain words of a text, and pictures without them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/text/units.h"

namespace attnviz {

/// The picture of `queries` and `keys` alone, in rising order, at least one of each; what they are
/// called stays as it was. Weights are copied as they are. Precondition: panels have values.
Heatmap with_tokens(const Heatmap& heatmap, const std::vector<std::size_t>& queries,
                    const std::vector<std::size_t>& keys);

/// Leaves out the first key, and the first query where it sees nothing else; what is left of each
/// row is scaled to sum to 1. Throws Error{kUsage} where there is no other key, or a negative
/// weight.
void drop_first_key(Heatmap& heatmap);

/// What each row is called in a picture's first column for `sinks` [panels, queries], which goes to
/// no key: "sink". Rows are those of the queries that the picture has, by their numbers.
void put_sinks_first(Heatmap& heatmap, const std::vector<std::vector<float>>& sinks);

/// Each row is scaled to sum to 1, unless it is nothing.
void scale_rows_to_one(Heatmap& heatmap);

/// Keys as rows and queries as columns. Shares of a row stay those of the query.
Heatmap transposed(const Heatmap& heatmap);

PoolGrid transposed(const PoolGrid& grid);
PooledMatrix transposed(const PooledMatrix& cells);

/// Whose turns the tokens are; empty without turns.
LabelRoles label_roles(const std::vector<TokenTurn>& turns);

/// Leaves out spaces around the words of labels, which would be shown as signs, where a word is
/// left.
void drop_space_marks(std::vector<std::string>& labels);

/// What stays of the marks where tokens that the tokenizer added, or the first one, are left out;
/// those of keys that are others are numbered behind the queries. Where sinks are drawn they are
/// what `drop_sink` leaves out.
TokenMarks shown_marks(const AttentionDocument& document, bool draws_sinks);

/// The tokens that the tokenizer added, in quotes, each once, in order; of keys that are others
/// behind those of the queries.
std::vector<std::string> added_tokens(const AttentionDocument& document);
/// How many there are.
std::size_t n_added(const AttentionDocument& document);

/// The panels without them. Throws Error{kUsage} where nothing would be left.
Heatmap without_added(const Heatmap& heatmap, const AttentionDocument& document);

}  // namespace attnviz
