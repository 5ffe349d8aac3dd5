// Each step of an inspection as a formula with its shapes, and the facts behind its numbers.

#include <fmt/core.h>

#include <cctype>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/document/inspection_words.h"

namespace attnviz {

namespace {

using Step = InspectionStep;

std::string vector(std::size_t size) {
  return fmt::format("[{}]", size);
}

std::string matrix(std::size_t rows, std::size_t cols) {
  return fmt::format("[{}, {}]", rows, cols);
}

// What attention looks at.
const char* look(const Inspection& head) noexcept {
  return head.norm.present() ? "y" : "x";
}

std::string projected(const Inspection& head, const char* to, const char* name,
                      const Projection& projection) {
  const std::string bias = projection.bias.empty() ? "" : fmt::format(" + b_{}", name);
  return fmt::format("{} = {} · W_{}{}", to, look(head), name, bias);
}

// What a norm makes of the vector called `of`.
std::string norm_formula(const Norm& norm, const char* of) {
  const std::string divisor =
      norm.kind == NormKind::kLayer
          ? fmt::format("({} − mean) ÷ √(variance + {:.6g})", of, norm.epsilon)
          : fmt::format("{0} ÷ √(mean of {0}² + {1:.6g})", of, norm.epsilon);
  const std::string gain =
      norm.weight_offset == 0.0f ? "w" : fmt::format("({} + w)", norm.weight_offset);
  return fmt::format("{} · {}{}", divisor, gain, norm.bias.empty() ? "" : " + b");
}

std::string norm_step(const Inspection& head) {
  return fmt::format("y = {}(x) = {}", norm_name(head.norm), norm_formula(head.norm, "x"));
}

std::string query_key_norm_step(const Inspection& head) {
  const Norm& norm = head.query_norm.present() ? head.query_norm : head.key_norm;
  const char* const which = !head.key_norm.present()     ? "q"
                            : !head.query_norm.present() ? "k"
                                                         : "q and each k";
  return fmt::format("{} through {}: {}", which, norm_name(norm),
                     norm_formula(norm, head.query_norm.present() ? "q" : "k"));
}

std::string scale_formula(const Inspection& head) {
  std::string formula = "scaled = q · k";
  std::string numbers;
  if (head.request.scale) {
    const std::size_t root = scale_root(head);
    const std::string under =
        root == head.d_head() ? std::string("d_head") : fmt::format("{}", root);
    if (root == 0) {
      formula += fmt::format(" · {:.6g}", head.own_scale);
      numbers = " (the model's own scale)";
    } else {
      formula += " ÷ √" + under;
      numbers = fmt::format(", √{} = {:.4f}", root, std::sqrt(static_cast<double>(root)));
      numbers += root == head.d_head() ? "" : " (the model's own)";
    }
  }
  if (head.request.temperature != 1.0f && head.soft_cap == 0.0f) {
    formula += fmt::format(" ÷ {}", head.request.temperature);
    numbers += ", temperature " + fmt::format("{}", head.request.temperature);
  }
  if (!head.request.scale) {
    numbers += ", not divided by √d_head";
  }
  return formula + numbers;
}

std::string cap_formula(const Inspection& head) {
  const std::string formula = fmt::format("capped = {0} · tanh(scaled ÷ {0})", head.soft_cap);
  return head.request.temperature == 1.0f
             ? formula
             : fmt::format("{}, then ÷ {}, the temperature", formula, head.request.temperature);
}

std::string mask_rule(const Mask& mask) {
  switch (mask.kind) {
    case MaskKind::kNone:
      return "mask none: every key is seen";
    case MaskKind::kCausal:
      return "mask causal: −∞ for keys after the query";
    case MaskKind::kWindow:
      return fmt::format("mask window:{0}: −∞ for keys after the query, or {0} or more before it",
                         mask.size);
    case MaskKind::kStrided:
    case MaskKind::kBlock:
      break;
  }
  return fmt::format("mask {}: −∞ for keys it hides", mask.name());
}

std::string mask_formula(const Inspection& head) {
  const std::string from = head.soft_cap > 0.0f ? "capped" : "scaled";
  const std::string bias = head.bias.empty() ? "" : from + " + alibi, ";
  return bias + mask_rule(head.mask);
}

std::string residual_formula(const Inspection& head) {
  if (!head.has_output()) {
    return head.n_heads == 1 ? "result = context (x is not added without W_O)"
                             : "result = all heads' contexts side by side";
  }
  const bool is_normed = head.after_norm.present();
  std::string sum = head.residual && !is_normed ? "x + output" : "output";
  sum += head.n_heads > 1 ? " + other heads" : "";
  sum += head.b_output.empty() ? "" : " + b_O";
  if (is_normed) {
    sum = fmt::format("x + {}({})", norm_name(head.after_norm), sum);
  }
  if (head.result_norm.present()) {
    sum = fmt::format("{}({})", norm_name(head.result_norm), sum);
  }
  return "result = " + sum;
}

// In the order of the steps.
std::pair<std::string, std::string> formula_and_shape(const Inspection& head, Step step) {
  const std::size_t n = head.n_tokens();
  const std::size_t d_model = head.d_model();
  const std::size_t d_head = head.d_head();
  const std::size_t d_value = head.d_value();
  const auto shapes = [&](const std::string& from, const std::string& to, std::size_t d) {
    return fmt::format("{} · {} → {}", from, matrix(d_model, d), to);
  };
  switch (step) {
    case Step::kX:
      return {fmt::format("x, the vector that enters layer {}", head.head.layer), vector(d_model)};
    case Step::kNorm:
      return {norm_step(head), vector(d_model)};
    case Step::kQuery:
      return {projected(head, "q", "Q", head.weights_in.query),
              shapes(vector(d_model), vector(d_head), d_head)};
    case Step::kKeys:
      return {projected(head, "k", "K", head.weights_in.key) + " for each token",
              shapes(matrix(n, d_model), matrix(n, d_head), d_head)};
    case Step::kQueryKeyNorm:
      return {query_key_norm_step(head), vector(d_head)};
    case Step::kRope:
      return {fmt::format("q turned by position {}, each k by its own (rope)", head.query),
              vector(d_head)};
    case Step::kScores:
      return {"scores = q · k for each key",
              fmt::format("{} · {} → {}", vector(d_head), matrix(d_head, n), vector(n))};
    case Step::kScale:
      return {scale_formula(head), vector(n)};
    case Step::kCap:
      return {cap_formula(head), vector(n)};
    case Step::kMask:
      return {mask_formula(head), vector(n)};
    case Step::kSoftmax:
      return {
          head.request.dropout > 0.0f
              ? fmt::format("weight = exp(s − max) ÷ sum, then dropout {}", head.request.dropout)
              : "weight = exp(s − max) ÷ sum",
          vector(n)};
    case Step::kValues:
      return {projected(head, "v", "V", head.weights_in.value) + "; share = weight · v",
              shapes(matrix(n, d_model), matrix(n, d_value), d_value)};
    case Step::kContext:
      return {"context = sum of all weight · v",
              fmt::format("{} · {} → {}", vector(n), matrix(n, d_value), vector(d_value))};
    case Step::kOutput:
      return head.has_output()
                 ? std::pair{std::string("output = context · W_O"),
                             fmt::format("{} · {} → {}", vector(d_value), matrix(d_value, d_model),
                                         vector(d_model))}
                 : std::pair{std::string("output: the context itself, there is no W_O"),
                             vector(d_value)};
    case Step::kResidual:
      break;
  }
  return {residual_formula(head), vector(head.result.size())};
}

std::string norm_note(const Norm& norm, std::span<const float> x, const char* name) {
  const NormNumbers numbers = norm_numbers(norm, x);
  return norm.kind == NormKind::kLayer
             ? fmt::format("mean = {:.4g}, variance = {:.4g}, so the root = {:.4g}", numbers.mean,
                           numbers.square, numbers.divisor)
             : fmt::format("mean of {}² = {:.4g}, so the root = {:.4g}", name, numbers.square,
                           numbers.divisor);
}

std::string rope_note(const Inspection& head) {
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

std::string mask_note(const Inspection& head) {
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

std::string keys_note(const Inspection& head) {
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

std::string residual_note(const Inspection& head) {
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

}  // namespace

std::size_t scale_root(const Inspection& head) noexcept {
  constexpr double kRounding = 1e-9;
  if (head.own_scale == 0.0) {
    return head.d_head();
  }
  const double root = 1.0 / (head.own_scale * head.own_scale);
  const double nearest = std::round(root);
  return std::abs(root - nearest) <= kRounding * root && nearest >= 1.0
             ? static_cast<std::size_t>(nearest)
             : 0;
}

const char* norm_name(const Norm& norm) noexcept {
  return norm.kind == NormKind::kLayer ? "LayerNorm" : "RMSNorm";
}

StepHeading step_heading(const Inspection& head, InspectionStep step, bool ascii) {
  auto [formula, shape] = formula_and_shape(head, step);
  StepHeading heading{1, std::move(formula), std::move(shape)};
  for (std::size_t before = 0; before < static_cast<std::size_t>(step); ++before) {
    heading.number += has_step(head, static_cast<Step>(before)) ? 1u : 0u;
  }
  if (ascii) {
    heading.formula = in_ascii(heading.formula);
    heading.shape = in_ascii(heading.shape);
  }
  return heading;
}

std::string step_note(const Inspection& head, InspectionStep step, bool ascii) {
  std::string note;
  if (step == Step::kNorm && head.norm.present()) {
    note = norm_note(head.norm, head.x(), "x");
  } else if (step == Step::kQueryKeyNorm && head.query_norm.present()) {
    note = "of q: " + norm_note(head.query_norm, head.projected_queries().row(head.query), "q");
  } else if (step == Step::kRope && head.rope) {
    note = rope_note(head);
  } else if (step == Step::kKeys) {
    note = keys_note(head);
  } else if (step == Step::kMask) {
    note = mask_note(head);
  } else if (step == Step::kResidual) {
    note = residual_note(head);
  }
  if (!note.empty()) {
    note.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(note.front())));
    note += '.';
  }
  return ascii ? in_ascii(note) : note;
}

}  // namespace attnviz
