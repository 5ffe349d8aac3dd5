// A word's vectors in several texts, compared, for programs.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/lessons/meaning_document.h"

namespace attnviz {

/// The format `attnviz.meaning/1`, as its schema describes it.
void write_meaning_json(const MeaningDocument& document, const ByteSink& sink);

/// A row for each point of the run and each pair of texts.
void write_meaning_csv(const MeaningDocument& document, const ByteSink& sink);

}  // namespace attnviz
