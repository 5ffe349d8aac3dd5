// Each step of an inspection as a formula with its shapes.

#include <fmt/core.h>

#include <cmath>

#include "attnviz/document/words/step_words.h"

namespace attnviz {

namespace {

const char* norm_name(const Norm& norm) noexcept {
  return norm.kind == NormKind::kLayer ? "LayerNorm" : "RMSNorm";
}

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

// Rows of d_model numbers through a matrix of `d` columns.
std::string projection_shape(const std::string& from, const std::string& to, std::size_t d_model,
                             std::size_t d) {
  return fmt::format("{} · {} → {}", from, matrix(d_model, d), to);
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

namespace step_formulas {

StepFormula x(const Inspection& head) {
  return {fmt::format("x, the vector that enters layer {}", head.head.layer),
          vector(head.d_model())};
}

StepFormula norm(const Inspection& head) {
  return {fmt::format("y = {}(x) = {}", norm_name(head.norm), norm_formula(head.norm, "x")),
          vector(head.d_model())};
}

StepFormula query(const Inspection& head) {
  return {projected(head, "q", "Q", head.weights_in.query),
          projection_shape(vector(head.d_model()), vector(head.d_head()), head.d_model(),
                           head.d_head())};
}

StepFormula keys(const Inspection& head) {
  return {projected(head, "k", "K", head.weights_in.key) + " for each token",
          projection_shape(matrix(head.n_tokens(), head.d_model()),
                           matrix(head.n_tokens(), head.d_head()), head.d_model(), head.d_head())};
}

StepFormula query_key_norm(const Inspection& head) {
  const Norm& norm = head.query_norm.present() ? head.query_norm : head.key_norm;
  const char* const which = !head.key_norm.present()     ? "q"
                            : !head.query_norm.present() ? "k"
                                                         : "q and each k";
  return {fmt::format("{} through {}: {}", which, norm_name(norm),
                      norm_formula(norm, head.query_norm.present() ? "q" : "k")),
          vector(head.d_head())};
}

StepFormula rope(const Inspection& head) {
  return {fmt::format("q turned by position {}, each k by its own (rope)", head.query),
          vector(head.d_head())};
}

StepFormula scores(const Inspection& head) {
  return {"scores = q · k for each key",
          fmt::format("{} · {} → {}", vector(head.d_head()), matrix(head.d_head(), head.n_tokens()),
                      vector(head.n_tokens()))};
}

StepFormula scale(const Inspection& head) {
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
  return {formula + numbers, vector(head.n_tokens())};
}

StepFormula cap(const Inspection& head) {
  const std::string formula = fmt::format("capped = {0} · tanh(scaled ÷ {0})", head.soft_cap);
  return {head.request.temperature == 1.0f
              ? formula
              : fmt::format("{}, then ÷ {}, the temperature", formula, head.request.temperature),
          vector(head.n_tokens())};
}

StepFormula mask(const Inspection& head) {
  const std::string from = head.soft_cap > 0.0f ? "capped" : "scaled";
  const std::string bias = head.bias.empty() ? "" : from + " + alibi, ";
  return {bias + mask_rule(head.mask), vector(head.n_tokens())};
}

StepFormula softmax(const Inspection& head) {
  const std::string formula = "weight = exp(s − max) ÷ sum";
  return {head.request.dropout > 0.0f
              ? fmt::format("{}, then dropout {}", formula, head.request.dropout)
              : formula,
          vector(head.n_tokens())};
}

StepFormula values(const Inspection& head) {
  return {
      projected(head, "v", "V", head.weights_in.value) + "; share = weight · v",
      projection_shape(matrix(head.n_tokens(), head.d_model()),
                       matrix(head.n_tokens(), head.d_value()), head.d_model(), head.d_value())};
}

StepFormula context(const Inspection& head) {
  return {"context = sum of all weight · v",
          fmt::format("{} · {} → {}", vector(head.n_tokens()),
                      matrix(head.n_tokens(), head.d_value()), vector(head.d_value()))};
}

StepFormula output(const Inspection& head) {
  if (!head.has_output()) {
    return {"output: the context itself, there is no W_O", vector(head.d_value())};
  }
  return {"output = context · W_O",
          fmt::format("{} · {} → {}", vector(head.d_value()),
                      matrix(head.d_value(), head.d_model()), vector(head.d_model()))};
}

StepFormula residual(const Inspection& head) {
  if (!head.has_output()) {
    return {head.n_heads == 1 ? "result = context (x is not added without W_O)"
                              : "result = all heads' contexts side by side",
            vector(head.result.size())};
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
  return {"result = " + sum, vector(head.result.size())};
}

}  // namespace step_formulas

}  // namespace attnviz
