// Sums of head scores as files: the format `attnviz.heads-partial/1`.
#pragma once

#include <string_view>

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/corpus_scores.h"

namespace attnviz {

/// Exact: what is read again adds up to the same bits.
void write_corpus_scores(const CorpusScores& scores, const ByteSink& sink);

/// Whether a file begins as such a document does.
bool are_corpus_scores(std::string_view bytes) noexcept;

/// `name` stands in front of every message. Throws Error{kMalformed}.
CorpusScores read_corpus_scores(std::string_view bytes, std::string_view name);

}  // namespace attnviz
