// Phi-3 (Abdin et al. 2024): Llama with fused matrices.

#include <utility>

#include "attnviz/model/families/decoder_family.h"
#include "attnviz/model/families/families.h"

namespace attnviz {

Model read_phi3(const HfConfig& config, TensorFiles files) {
  DecoderDefaults defaults;
  defaults.n_ctx = defaults.original_n_ctx = 4096;
  defaults.epsilon = 1e-5;
  DecoderTraits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.fused = true;
  rotate_all(config, traits);
  slide_everywhere(config, sliding_window(config, 0), traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
