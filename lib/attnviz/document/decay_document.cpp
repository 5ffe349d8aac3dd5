#include "attnviz/document/decay_document.h"

#include <memory>

namespace attnviz {

AttentionDocument decay_document(const Model& model, const TokenizedText& text,
                                 const AttentionRequest& request, const std::vector<HeadId>& heads,
                                 const DecayStore& decays) {
  AttentionDocument document = attention_document(model, text, request, heads);
  document.kind = PatternKind::kDecay;
  document.run.mask = Mask{MaskKind::kCausal};
  const std::size_t n_tokens = text.size();
  const auto shares = std::make_shared<MatrixBuffer>(heads.size() * n_tokens, n_tokens);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Matrix own = shares->view().row_block(i * n_tokens, n_tokens);
    decays.fill(heads[i], own);
    document.patterns[i].weights = own;
  }
  document.notes.emplace_back(
      "how much of what a state took in at one token is there at another, before anything is "
      "written over it; no attention: nothing chooses where to look");
  document.storage = shares;
  return document;
}

}  // namespace attnviz
