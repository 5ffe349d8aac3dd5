#include "attnviz/attention/encoder_decoder.h"

#include <cassert>
#include <utility>
#include <vector>

#include "attnviz/attention/engine.h"

namespace attnviz {

MatrixBuffer encode(const Model& model, const ModelInput& source, const AttentionRequest& request,
                    RunObserver* observer) {
  assert(model.encoder != nullptr);
  const Model& encoder = *model.encoder;
  OutputRows output(encoder, 0, source.size());
  std::vector<RunObserver*> observers{&output};
  if (observer != nullptr) {
    observers.push_back(observer);
  }
  ObserverGroup all(std::move(observers));
  run(encoder, source, request, all);
  MatrixBuffer encoded = output.take();
  apply_norm(encoder.head.norm, encoded.view(), encoded.view());
  return encoded;
}

}  // namespace attnviz
