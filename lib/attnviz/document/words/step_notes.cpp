// What the numbers of a step come from, told with it even when nothing is to be explained.

#include <fmt/core.h>

#include <string>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/document/words/step_words.h"

namespace attnviz {

namespace {

std::string norm_note(const Norm& norm, std::span<const float> x, const char* name) {
  const NormNumbers numbers = norm_numbers(norm, x);
  return norm.kind == NormKind::kLayer
             ? fmt::format("mean = {:.4g}, variance = {:.4g}, so the root = {:.4g}", numbers.mean,
                           numbers.square, numbers.divisor)
             : fmt::format("mean of {}² = {:.4g}, so the root = {:.4g}", name, numbers.square,
                           numbers.divisor);
}

}  // namespace

namespace step_notes {

std::string norm(const Inspection& head) {
  return norm_note(head.norm, head.x(), "x");
}

std::string keys(const Inspection& head) {
  if (head.n_kv_heads == head.n_heads) {
    return {};
  }
  if (head.n_kv_heads == 1) {
    return fmt::format("{} heads of the layer share W_K and W_V",
                       head.n_heads == 2 ? "both" : fmt::format("all {}", head.n_heads));
  }
  return fmt::format(
      "the layer's {} heads share {} pairs of W_K and W_V: head {} looks with pair {}",
      head.n_heads, head.n_kv_heads, head.head.head, head.kv_head);
}

std::string query_key_norm(const Inspection& head) {
  return head.query_norm.present()
             ? "of q: " + norm_note(head.query_norm, head.projected_queries().row(head.query), "q")
             : "";
}

std::string rope(const Inspection& head) {
  const InspectedRope& rope = *head.rope;
  const std::size_t pairs = rope.n_pairs();
  std::string text =
      pairs == 1
          ? fmt::format("the pair of dimensions (0, 1) turns, by position · frequency")
          : fmt::format("{} pairs of dimensions {} turn, each by position · its frequency", pairs,
                        rope.pairing == RopePairing::kHalves ? fmt::format("(i, i + {})", pairs)
                                                             : "(2i, 2i + 1)");
  if (const std::size_t left = head.d_head() - 2 * pairs; left == 1) {
    text += fmt::format("; dimension {} stays as it is", 2 * pairs);
  } else if (left > 1) {
    text += fmt::format("; dimensions {} to {} stay as they are", 2 * pairs, head.d_head() - 1);
  }
  if (rope.scaling != "none") {
    text += fmt::format("; scaling {}, factor {:.4g}", rope.scaling, rope.factor);
    if (rope.short_text > 0) {
      const bool is_long = head.n_tokens() > rope.short_text;
      text += fmt::format(", {} {}: {} frequencies", is_long ? "above" : "up to",
                          counted(rope.short_text, "token"),
                          rope.scaling == "dynamic" ? is_long ? "lowered" : "unchanged"
                          : is_long                 ? "the long text's"
                                                    : "the short text's");
    }
  }
  if (rope.magnitude != 1.0f) {
    text += fmt::format("; what turns is multiplied by {:.4g}", rope.magnitude);
  }
  return text;
}

std::string mask(const Inspection& head) {
  if (head.mask.kind != MaskKind::kWindow) {
    return {};
  }
  const std::size_t outside = head.mask.first_key(head.query);
  const std::size_t later = head.n_tokens() - 1 - head.query;
  std::vector<std::string> parts;
  if (outside > 0) {
    parts.push_back(fmt::format("{} before the window of {}", counted(outside, "key"),
                                counted(head.mask.size, "token")));
  }
  if (later > 0) {
    parts.push_back(fmt::format("{} after the query", counted(later, "key")));
  }
  return parts.empty() ? "" : "hidden: " + joined(parts, "and");
}

std::string residual(const Inspection& head) {
  switch (head.order) {
    case LayerOrder::kAttentionOnly:
      return {};
    case LayerOrder::kParallel:
      return "the layer's MLP, which looks at x beside attention, adds its own part to this";
    case LayerOrder::kPreNorm:
    case LayerOrder::kPostNorm:
      break;
  }
  return "the layer's MLP comes next";
}

}  // namespace step_notes

}  // namespace attnviz
