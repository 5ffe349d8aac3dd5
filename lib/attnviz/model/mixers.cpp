#include "attnviz/model/mixers.h"

namespace attnviz {

std::string_view mixer_name(MixerKind kind) noexcept {
  switch (kind) {
    case MixerKind::kAttention:
      return "attention";
    case MixerKind::kConvolution:
      return "convolution";
    case MixerKind::kGatedDelta:
      return "gated delta net";
    case MixerKind::kMamba2:
      return "Mamba-2";
    case MixerKind::kNone:
      break;
  }
  return "no mixing";
}

}  // namespace attnviz
