// What a reader should know about the weights of a picture: that it would be nearly of one colour,
// that rows do not sum to 1. What is said below a picture of attention.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/pool_grid.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"

namespace attnviz {

/// "nearly all weights are below 0.1: the scale log or row-max shows them" for a linear scale
/// over more than 32 keys where 99 of 100 weights lie below a tenth of the range; else nothing.
/// Weights of exactly 0 do not count: masked ones are 0, and so are those that nothing would show.
/// With a grid the same of a picture's cells, for weights that nobody kept.
std::string flat_note(const Heatmap& heatmap, const PoolGrid* grid = nullptr);

/// "2 of 48 rows do not sum to 1: head 0.3, query 5 sums to 0.83", or nothing when all do within
/// 0.001, or are all 0, or when dropout explains it.
std::string row_sum_note(const AttentionDocument& document);

/// Whether what is said to be weights can be none: numbers below 0 or above 1, where neither
/// dropout nor a difference explains them.
bool look_like_scores(const AttentionDocument& document);

/// Whether learned sinks get a column. Of weights that nobody kept none is drawn.
bool draws_sinks(const AttentionDocument& document);

/// The lines that each of the documents says, and what they differ in.
std::vector<std::string> shared_notes(std::span<const AttentionDocument> documents);

}  // namespace attnviz
