#include "attnviz/analysis/heads/known_heads.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

struct KnownHead {
  HeadId head;
  std::string_view name;
};

constexpr KnownHead kGpt2Heads[] = {{{2, 2}, "previous-token"},
                                    {{4, 11}, "previous-token"},
                                    {{0, 1}, "duplicate-token"},
                                    {{0, 10}, "duplicate-token"},
                                    {{3, 0}, "duplicate-token"},
                                    {{5, 5}, "induction"},
                                    {{5, 8}, "induction"},
                                    {{5, 9}, "induction"},
                                    {{6, 9}, "induction"},
                                    {{7, 3}, "S-inhibition"},
                                    {{7, 9}, "S-inhibition"},
                                    {{8, 6}, "S-inhibition"},
                                    {{8, 10}, "S-inhibition"},
                                    {{9, 6}, "name mover"},
                                    {{9, 9}, "name mover"},
                                    {{10, 0}, "name mover"},
                                    {{10, 7}, "negative name mover"},
                                    {{11, 10}, "negative name mover"},
                                    {{9, 0}, "backup name mover"},
                                    {{9, 7}, "backup name mover"},
                                    {{10, 1}, "backup name mover"},
                                    {{10, 2}, "backup name mover"},
                                    {{10, 6}, "backup name mover"},
                                    {{10, 10}, "backup name mover"},
                                    {{11, 2}, "backup name mover"},
                                    {{11, 9}, "backup name mover"}};

}  // namespace

void require_known(const Model& model, KnownModel /*known*/) {
  constexpr std::size_t kLayers = 12, kHeads = 12, kWidth = 768;
  const auto has_heads = [](const LayerWeights& layer) { return layer.heads.size() == kHeads; };
  if (model.config.family != "gpt2" || model.config.d_model != kWidth ||
      model.n_layers() != kLayers || !std::ranges::all_of(model.layers, has_heads)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("known heads of gpt2: expected GPT-2 small (family gpt2, {} layers of "
                            "{} heads, d_model {}), found {}{} with {} layers of {} heads, "
                            "d_model {}",
                            kLayers, kHeads, kWidth, model.config.name,
                            model.config.family.empty() ? "" : " (" + model.config.family + ")",
                            model.n_layers(), model.n_heads(), model.config.d_model),
                "known");
  }
}

std::optional<std::string_view> known_name(KnownModel /*known*/, HeadId head) noexcept {
  const auto* const found = std::ranges::find(kGpt2Heads, head, &KnownHead::head);
  return found == std::end(kGpt2Heads) ? std::nullopt : std::optional(found->name);
}

std::string_view known_source(KnownModel /*known*/) noexcept {
  return "known heads: Wang et al. 2022, \"Interpretability in the Wild\"";
}

}  // namespace attnviz
