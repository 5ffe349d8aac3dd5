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
  return "MLP";
}

std::string_view mixer_phrase(MixerKind kind) noexcept {
  switch (kind) {
    case MixerKind::kConvolution:
      return "a convolution";
    case MixerKind::kGatedDelta:
      return "a gated delta net";
    case MixerKind::kNone:
      return "an MLP alone";
    case MixerKind::kAttention:
    case MixerKind::kMamba2:
      break;
  }
  return mixer_name(kind);
}

}  // namespace attnviz
