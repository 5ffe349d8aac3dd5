#include "attnviz/render/inspection_words.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// Formulas are written with these signs only.
constexpr std::pair<std::string_view, std::string_view> kAsciiSigns[] = {
    {"·", "*"}, {"÷", "/"}, {"−", "-"}, {"→", "->"}, {"∞", "inf"}, {"…", ".."}, {"≥", ">="}};

constexpr std::string_view kRoot = "√";

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::string vector(std::size_t size) {
  return fmt::format("[{}]", size);
}

std::string matrix(std::size_t rows, std::size_t cols) {
  return fmt::format("[{}, {}]", rows, cols);
}

std::string biased(const std::string& formula, const char* bias, const Projection& projection) {
  return projection.bias.empty() ? formula : fmt::format("{} + {}", formula, bias);
}

// ", turned by position 3 (rope)" when positions are rope.
std::string turned(const Inspection& head, const std::string& by) {
  return head.positions == Positions::kRope ? fmt::format(", turned by {} (rope)", by) : "";
}

std::string scale_formula(const Inspection& head) {
  std::string formula = "scaled = q · k";
  std::string numbers;
  if (head.request.scale) {
    formula += " ÷ √d_head";
    numbers =
        fmt::format(", √{} = {:.4f}", head.d_head(), std::sqrt(static_cast<double>(head.d_head())));
  }
  if (head.request.temperature != 1.0f) {
    formula += fmt::format(" ÷ {}", head.request.temperature);
    numbers += ", temperature " + fmt::format("{}", head.request.temperature);
  }
  if (!head.request.scale) {
    numbers += ", not divided by √d_head";
  }
  return formula + numbers;
}

std::string mask_rule(const Mask& mask) {
  switch (mask.kind) {
    case MaskKind::kNone:
      return "mask none: every key is seen";
    case MaskKind::kCausal:
      return "mask causal: −∞ for keys after the query";
    case MaskKind::kWindow:
    case MaskKind::kStrided:
    case MaskKind::kBlock:
      break;
  }
  return fmt::format("mask {}: −∞ for keys it hides", mask.name());
}

std::string mask_formula(const Inspection& head) {
  const std::string bias = head.bias.empty() ? "" : "scaled + alibi, ";
  return bias + mask_rule(head.mask);
}

std::string residual_formula(const Inspection& head) {
  if (!head.has_output()) {
    return head.n_heads == 1 ? "result = context (x is not added without W_O)"
                             : "result = all heads' contexts side by side";
  }
  std::string formula = head.residual ? "result = x + output" : "result = output";
  formula += head.n_heads > 1 ? " + other heads" : "";
  return formula + (head.b_output.empty() ? "" : " + b_O");
}

// In the order of the steps.
std::pair<std::string, std::string> formula_and_shape(const Inspection& head, InspectionStep step) {
  const std::size_t n = head.n_tokens();
  const std::size_t d_model = head.d_model();
  const std::size_t d_head = head.d_head();
  const std::size_t d_value = head.d_value();
  const auto projected = [&](const std::string& from, const std::string& to, std::size_t d) {
    return fmt::format("{} · {} → {}", from, matrix(d_model, d), to);
  };
  switch (step) {
    case InspectionStep::kX:
      return {fmt::format("x, the vector that enters layer {}", head.head.layer), vector(d_model)};
    case InspectionStep::kQuery:
      return {biased("q = x · W_Q", "b_Q", head.weights_in.query) +
                  turned(head, fmt::format("position {}", head.query)),
              projected(vector(d_model), vector(d_head), d_head)};
    case InspectionStep::kKeys:
      return {biased("k = x · W_K", "b_K", head.weights_in.key) + " for each token" +
                  turned(head, "its position"),
              projected(matrix(n, d_model), matrix(n, d_head), d_head)};
    case InspectionStep::kScores:
      return {"scores = q · k for each key",
              fmt::format("{} · {} → {}", vector(d_head), matrix(d_head, n), vector(n))};
    case InspectionStep::kScale:
      return {scale_formula(head), vector(n)};
    case InspectionStep::kMask:
      return {mask_formula(head), vector(n)};
    case InspectionStep::kSoftmax:
      return {
          head.request.dropout > 0.0f
              ? fmt::format("weight = exp(s − max) ÷ sum, then dropout {}", head.request.dropout)
              : "weight = exp(s − max) ÷ sum",
          vector(n)};
    case InspectionStep::kValues:
      return {biased("v = x · W_V", "b_V", head.weights_in.value) + "; share = weight · v",
              projected(matrix(n, d_model), matrix(n, d_value), d_value)};
    case InspectionStep::kContext:
      return {"context = sum of all weight · v",
              fmt::format("{} · {} → {}", vector(n), matrix(n, d_value), vector(d_value))};
    case InspectionStep::kOutput:
      return head.has_output()
                 ? std::pair{std::string("output = context · W_O"),
                             fmt::format("{} · {} → {}", vector(d_value), matrix(d_value, d_model),
                                         vector(d_model))}
                 : std::pair{std::string("output: the context itself, there is no W_O"),
                             vector(d_value)};
    case InspectionStep::kResidual:
      break;
  }
  return {residual_formula(head), vector(head.result.size())};
}

}  // namespace

TokenNames::TokenNames(const std::vector<std::string_view>& pieces, bool ascii) : ascii_(ascii) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string_view piece : pieces) {
    ++counts[piece];
  }
  for (const std::string_view piece : pieces) {
    labels_.push_back(ascii ? printable_ascii(piece) : printable(piece));
    is_repeated_.push_back(counts[piece] > 1);
  }
  index_width_ = std::to_string(pieces.size() - 1).size();
}

std::string TokenNames::indexed(std::size_t token) const {
  return fmt::format("{:>{}} {}", token, index_width_, labels_[token]);
}

std::string TokenNames::quoted(std::size_t token) const {
  constexpr std::size_t kColumns = 24;
  const std::string name =
      fmt::format("\"{}\"", fit_width(labels_[token], kColumns, ascii_ ? ".." : "…"));
  return is_repeated_[token] ? fmt::format("{} (token {})", name, token) : name;
}

StepHeading step_heading(const Inspection& head, InspectionStep step, bool ascii) {
  auto [formula, shape] = formula_and_shape(head, step);
  StepHeading heading{static_cast<std::size_t>(step) + 1, std::move(formula), std::move(shape)};
  if (ascii) {
    heading.formula = in_ascii(heading.formula);
    heading.shape = in_ascii(heading.shape);
  }
  return heading;
}

std::string in_ascii(std::string_view formula) {
  std::string out;
  while (!formula.empty()) {
    if (formula.starts_with(kRoot)) {
      formula.remove_prefix(kRoot.size());
      std::size_t end = 0;
      while (end < formula.size() && is_name(formula[end])) {
        ++end;
      }
      out += fmt::format("sqrt({})", formula.substr(0, end));
      formula.remove_prefix(end);
      continue;
    }
    bool is_sign = false;
    for (const auto& [sign, ascii] : kAsciiSigns) {
      if (formula.starts_with(sign)) {
        out += ascii;
        formula.remove_prefix(sign.size());
        is_sign = true;
        break;
      }
    }
    if (!is_sign) {
      out += formula.front();
      formula.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace attnviz
