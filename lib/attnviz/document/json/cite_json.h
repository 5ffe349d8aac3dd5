// What an answer rests on, for programs.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/cite_document.h"

namespace attnviz {

/// The format `attnviz.cite/1`, as its schema describes it.
void write_cite_json(const CiteDocument& document, const ByteSink& sink);

/// A row for each sentence, the one that the answer loses most without first.
void write_cite_csv(const CiteDocument& document, const ByteSink& sink);

}  // namespace attnviz
