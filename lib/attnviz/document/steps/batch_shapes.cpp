#include "attnviz/document/steps/batch_shapes.h"

#include <fmt/core.h>

#include "attnviz/core/message.h"

namespace attnviz {

namespace {

using Step = InspectionStep;

// "numbers 32 to 63"; of one "number 3".
std::string range_of(const char* one, std::size_t place, std::size_t size) {
  return size == 1 ? fmt::format("{} {}", one, place)
                   : fmt::format("{}s {} to {}", one, place * size, (place + 1) * size - 1);
}

}  // namespace

std::string batch_shape(const Inspection& head, InspectionStep step) {
  const std::size_t tokens = head.n_tokens();
  const std::size_t heads = head.n_heads;
  std::string x = fmt::format("[1, {}, {}]", tokens, head.d_model());
  const auto of_heads = [](std::size_t n, std::size_t rows, std::size_t cols) {
    return fmt::format("[1, {}, {}, {}]", n, rows, cols);
  };
  const auto projected = [&](std::size_t n, std::size_t width, const Projection& one) {
    return fmt::format("[1, {0}, {1}] · [{1}, {2} · {3}] → {4}", tokens, one.d_in(), n, one.d_out(),
                       of_heads(n, tokens, width));
  };
  std::string queries = of_heads(heads, tokens, head.d_head());
  std::string weights = of_heads(heads, tokens, tokens);
  std::string contexts = of_heads(heads, tokens, head.d_value());
  const std::size_t together = heads * head.d_value();
  switch (step) {
    case Step::kX:
    case Step::kNorm:
      return x;
    case Step::kLatents:
      return fmt::format("{} · [{}, {}] → [1, {}, {}]", x, head.d_model(),
                         head.latents.key_down.d_out(), tokens, head.latents.key_down.d_out());
    case Step::kQuery:
      return projected(heads, head.d_head(), head.weights_in.query);
    case Step::kKeys:
      return projected(head.n_kv_heads, head.d_head(), head.weights_in.key);
    case Step::kQueryKeyNorm:
    case Step::kRope:
      return queries;
    case Step::kScores:
      return fmt::format("{} · {} → {}", queries, of_heads(heads, head.d_head(), tokens), weights);
    case Step::kScale:
    case Step::kCap:
    case Step::kMask:
    case Step::kSoftmax:
      return weights;
    case Step::kValues:
      return projected(head.n_kv_heads, head.d_value(), head.weights_in.value);
    case Step::kContext:
      return fmt::format("{} · {} → {}", weights, contexts, contexts);
    case Step::kOutput:
      return fmt::format("{} → [1, {}, {}] · [{}, {}] → {}", contexts, tokens, together, together,
                         head.d_model(), x);
    case Step::kResidual:
      return head.has_output() ? x : fmt::format("{} → [1, {}, {}]", contexts, tokens, together);
  }
  return "";
}

std::string batch_sentence(const Inspection& head, InspectionStep step) {
  const std::size_t place = head.head.head;
  switch (step) {
    case Step::kQuery:
      return fmt::format("All heads at once: W_Q is that of {} side by side, this one's {}.",
                         counted(head.n_heads, "head"), range_of("column", place, head.d_head()));
    case Step::kScores:
      return head.n_kv_heads == head.n_heads
                 ? ""
                 : fmt::format("Keys are those of {}, repeated for the {} heads that share them.",
                               counted(head.n_kv_heads, "head"), head.n_heads / head.n_kv_heads);
    case Step::kOutput:
      return fmt::format(
          "Concatenated, the {} heads' contexts are {} numbers a token: this head's are {}, which "
          "meet the same rows of W_O. The sum over all heads is what their outputs come to.",
          head.n_heads, head.n_heads * head.d_value(), range_of("number", place, head.d_value()));
    default:
      return "";
  }
}

}  // namespace attnviz
