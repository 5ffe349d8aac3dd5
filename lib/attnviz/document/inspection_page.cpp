#include "attnviz/document/inspection_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/suggest.h"

namespace attnviz {

namespace {

const std::array<std::string, kInspectionSteps> kNames = {
    "x",   "norm", "query",   "keys",   "qk-norm", "rope",   "scores",  "scale",
    "cap", "mask", "softmax", "values", "context", "output", "residual"};

constexpr std::pair<std::string_view, InspectionStep> kOtherNames[] = {
    {"q", InspectionStep::kQuery},
    {"k", InspectionStep::kKeys},
    {"v", InspectionStep::kValues},
    {"weights", InspectionStep::kSoftmax}};

std::optional<InspectionStep> step_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return static_cast<InspectionStep>(i);
    }
  }
  for (const auto& [other, step] : kOtherNames) {
    if (other == name) {
      return step;
    }
  }
  return std::nullopt;
}

}  // namespace

std::span<const std::string> inspection_step_names() {
  return kNames;
}

std::string inspection_step_list() {
  std::string list;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    list += (i == 0 ? "" : ", ") + kNames[i];
    for (const auto& [other, step] : kOtherNames) {
      list += step == static_cast<InspectionStep>(i) ? fmt::format(" ({})", other) : "";
    }
  }
  return list;
}

bool has_step(const Inspection& head, InspectionStep step) noexcept {
  switch (step) {
    case InspectionStep::kNorm:
      return head.norm.present();
    case InspectionStep::kQueryKeyNorm:
      return head.norms_queries();
    case InspectionStep::kRope:
      return head.rope.has_value();
    case InspectionStep::kCap:
      return head.soft_cap > 0.0f;
    default:
      return true;
  }
}

std::vector<InspectionStep> parse_inspection_steps(std::string_view option, std::string_view list) {
  std::set<InspectionStep> steps;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view name = list.substr(begin, end - begin);
    const auto step = step_named(name);
    if (!step) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: expected {}, found {}{}", option, fmt::join(kNames, ", "),
                              quoted(name), did_you_mean(name, kNames)));
    }
    steps.insert(*step);
    begin = end + 1;
  }
  return {steps.begin(), steps.end()};
}

bool InspectionPage::shows(InspectionStep step) const noexcept {
  return steps.empty() || std::find(steps.begin(), steps.end(), step) != steps.end();
}

bool InspectionPage::shows(const Inspection& head, InspectionStep step) const noexcept {
  return has_step(head, step) && shows(step);
}

bool InspectionPage::ends_key_table(const Inspection& head, InspectionStep step) const noexcept {
  for (const InspectionStep later : {InspectionStep::kScale, InspectionStep::kCap,
                                     InspectionStep::kMask, InspectionStep::kSoftmax}) {
    if (later > step && shows(head, later)) {
      return false;
    }
  }
  return step >= InspectionStep::kScores && step <= InspectionStep::kSoftmax;
}

ShownKeys shown_keys(const Inspection& head, bool all) {
  constexpr std::size_t kFewTokens = 16;
  constexpr std::size_t kMostKeys = 24;
  ShownKeys shown;
  std::vector<std::size_t> visible;
  for (std::size_t key = 0; key < head.n_tokens(); ++key) {
    if (head.is_visible(key)) {
      visible.push_back(key);
    } else if (all || head.n_tokens() <= kFewTokens) {
      shown.keys.push_back(key);
    } else {
      ++(key < head.query ? shown.masked_before : shown.masked_after);
    }
  }
  if (!all && visible.size() > kMostKeys) {
    const auto distance = [&](std::size_t key) {
      return key < head.query ? head.query - key : key - head.query;
    };
    const auto goes_before = [&](std::size_t a, std::size_t b) {
      if (a == head.query || b == head.query) {
        return a == head.query && b != head.query;
      }
      return head.weights[a] != head.weights[b]
                 ? head.weights[a] > head.weights[b]
                 : std::pair(distance(a), a) < std::pair(distance(b), b);
    };
    std::sort(visible.begin(), visible.end(), goes_before);
    double weight = 0.0;
    for (std::size_t i = kMostKeys; i < visible.size(); ++i) {
      weight += static_cast<double>(head.weights[visible[i]]);
    }
    shown.left_out = visible.size() - kMostKeys;
    shown.left_out_weight = static_cast<float>(weight);
    visible.resize(kMostKeys);
  }
  shown.keys.insert(shown.keys.end(), visible.begin(), visible.end());
  std::sort(shown.keys.begin(), shown.keys.end());
  return shown;
}

}  // namespace attnviz
