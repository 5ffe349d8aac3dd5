#include "attnviz/document/corpus_scores.h"

#include <fmt/core.h>

namespace attnviz {

namespace {

bool are_alike(const RunFacts& a, const RunFacts& b) {
  return a.mask == b.mask && a.temperature == b.temperature && a.scale == b.scale &&
         a.dropout == b.dropout && (a.dropout == 0.0f || a.dropout_seed == b.dropout_seed);
}

}  // namespace

std::string CorpusScores::difference(const CorpusScores& other) const {
  if (model_print != other.model_print) {
    return fmt::format("another model: {} has the fingerprint {}, {} {}", other.model.name,
                       other.model_print, model.name, model_print);
  }
  if (tokenizer_print != other.tokenizer_print) {
    return fmt::format("another tokenizer, {} in place of {}", other.model.tokenizer,
                       model.tokenizer);
  }
  if (heads != other.heads) {
    return fmt::format("other heads: {} in place of {}", other.heads.size(), heads.size());
  }
  if (band != other.band) {
    return fmt::format("another band: {} in place of {}", other.band, band);
  }
  return are_alike(run, other.run) ? "" : "another mask, temperature, scale or dropout";
}

void CorpusScores::add(const CorpusScores& other) {
  n_lines = 0;
  lines_print.clear();
  raw.add(other.raw);
  weighted.add(other.weighted);
  uniform.add(other.uniform);
}

HeadsDocument CorpusScores::document() const {
  HeadsDocument document;
  document.model = model;
  document.run = run;
  document.source = CorpusSource{raw.n_texts()};
  document.heads = heads;
  document.raw = raw;
  document.weighted = weighted;
  document.uniform = uniform.means(0);
  return document;
}

}  // namespace attnviz
