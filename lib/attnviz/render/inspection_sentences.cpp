// One plain sentence about the numbers of each step of an inspection.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/render/inspection_words.h"
#include "attnviz/render/number_group.h"

namespace attnviz {

namespace {

using Keys = std::vector<std::size_t>;

// Equal but for the rounding of floats.
bool about_equal(float a, float b) noexcept {
  return std::abs(a - b) <= 2e-6f * std::max(std::abs(a), std::abs(b));
}

double length(std::span<const float> values) noexcept {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(sum);
}

// "a", "a and b", "a, b and c".
std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  }
  return out;
}

class Sentences {
 public:
  Sentences(const Inspection& head, const TokenNames& names)
      : head_(head), names_(names), query_(names.quoted(head.query)) {
    for (std::size_t key = 0; key < head.n_tokens(); ++key) {
      (head.is_visible(key) ? visible_ : hidden_).push_back(key);
    }
  }

  std::string of(InspectionStep step) const {
    switch (step) {
      case InspectionStep::kX:
        return x();
      case InspectionStep::kQuery:
        return query();
      case InspectionStep::kKeys:
        return keys();
      case InspectionStep::kScores:
        return scores();
      case InspectionStep::kScale:
        return scale();
      case InspectionStep::kMask:
        return mask();
      case InspectionStep::kSoftmax:
        return softmax();
      case InspectionStep::kValues:
        return values();
      case InspectionStep::kContext:
        return context();
      case InspectionStep::kOutput:
        return output();
      case InspectionStep::kResidual:
        break;
    }
    return residual();
  }

 private:
  // All keys that share the place of the first in `keys`, which are sorted by `values`.
  static Keys ties(const Keys& sorted, std::span<const float> values) {
    Keys first;
    for (const std::size_t key : sorted) {
      if (!about_equal(values[key], values[sorted.front()])) {
        break;
      }
      first.push_back(key);
    }
    std::sort(first.begin(), first.end());
    return first;
  }

  static Keys sorted_by(Keys keys, std::span<const float> values) {
    std::stable_sort(keys.begin(), keys.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    return keys;
  }

  std::string named(const Keys& keys) const {
    constexpr std::size_t kMostNamed = 4;
    std::vector<std::string> items;
    for (std::size_t i = 0; i < std::min(keys.size(), kMostNamed); ++i) {
      items.push_back(names_.quoted(keys[i]));
    }
    if (keys.size() > kMostNamed) {
      items.back() = fmt::format("{} others", keys.size() - kMostNamed + 1);
    }
    return joined(items);
  }

  std::string itself_or(std::size_t key) const {
    return key == head_.query ? "itself" : names_.quoted(key);
  }

  std::string x() const {
    const std::string from =
        head_.head.layer > 0 ? fmt::format("what the layers before made of {}", query_)
        : head_.positions == Positions::kSinusoidal
            ? fmt::format("what stands for {}, with its position {} mixed in", query_, head_.query)
            : fmt::format("what stands for {} before it looks at anything", query_);
    return fmt::format("x is {}: {}.", from, counted(head_.d_model(), "number"));
  }

  std::string query() const {
    return fmt::format(
        "q is what {} looks for: each of its {} is a sum over x, weighted by a "
        "column of W_Q.",
        query_, counted(head_.d_head(), "number"));
  }

  std::string keys() const {
    return head_.n_tokens() == 1
               ? fmt::format("k is what {}, the only token, can be found by.", query_)
               : fmt::format("Each of the {} tokens has a key, by which it can be found.",
                             head_.n_tokens());
  }

  // "0.43 · 0.4433 + 1.4343 · 1.1419 = 1.8284" for short vectors.
  std::string product(std::size_t key) const {
    constexpr std::size_t kMostTerms = 3;
    if (head_.d_head() > kMostTerms) {
      return {};
    }
    const auto q = head_.q.view().row(head_.query);
    const auto k = head_.k.view().row(key);
    NumberGroup numbers(q);
    NumberGroup key_numbers;
    key_numbers.add(head_.k.view());
    const NumberGroup score(head_.scores);
    std::string sum;
    for (std::size_t i = 0; i < q.size(); ++i) {
      sum +=
          fmt::format("{}{} · {}", i == 0 ? "" : " + ", numbers.text(q[i]), key_numbers.text(k[i]));
    }
    return fmt::format(" For {}: {} = {}.", names_.quoted(key), sum, score.text(head_.scores[key]));
  }

  std::string scores() const {
    if (head_.n_tokens() == 1) {
      return fmt::format("There is one key to compare q with.{}", product(0));
    }
    Keys all(head_.n_tokens());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Keys sorted = sorted_by(all, head_.scores);
    const Keys best = ties(sorted, head_.scores);
    if (best.size() == all.size()) {
      return fmt::format("q fits all {} keys alike.{}", all.size(), product(best.front()));
    }
    return fmt::format(
        "Of all {} keys q fits {} best.{}", all.size(),
        best.size() > 1 ? "those of " + named(best) : "that of " + names_.quoted(best.front()),
        product(best.front()));
  }

  std::string scale() const {
    std::string text =
        head_.request.scale
            ? fmt::format(
                  "Dividing by √{} keeps the scores from growing with the length of q "
                  "and k.",
                  head_.d_head())
            : "The scores are left as they are: large ones make the softmax sharp.";
    if (head_.request.temperature != 1.0f) {
      text += fmt::format(" The temperature {} makes the weights {}.", head_.request.temperature,
                          head_.request.temperature > 1.0f ? "more alike" : "more different");
    }
    return text;
  }

  std::string mask() const {
    std::string text;
    if (hidden_.empty()) {
      text = head_.n_tokens() == 1 ? fmt::format("Nothing is masked: {} is the only token.", query_)
                                   : fmt::format("Nothing is masked: {} sees all {} tokens.",
                                                 query_, head_.n_tokens());
    } else {
      text = fmt::format("{} does not see {}: {} −∞, and the weight 0.", query_, named(hidden_),
                         hidden_.size() == 1 ? "its score becomes" : "their scores become");
    }
    if (!head_.bias.empty()) {
      text += " ALiBi lowers scores with each token of distance.";
    }
    return text;
  }

  std::string softmax() const {
    const std::string text = looks();
    if (head_.request.dropout <= 0.0f) {
      return text;
    }
    std::size_t dropped = 0;
    for (const std::size_t key : visible_) {
      dropped += head_.weights[key] == 0.0f && head_.probabilities[key] > 0.0f ? 1u : 0u;
    }
    return fmt::format("{} Dropout then sets {} of {} to 0 and multiplies the others by {:.3g}.",
                       text, dropped, counted(visible_.size(), "weight"),
                       1.0f / (1.0f - head_.request.dropout));
  }

  std::string looks() const {
    const std::vector<float>& weights = head_.probabilities;
    if (visible_.empty()) {
      return fmt::format("{} sees no key: all weights are 0.", query_);
    }
    const Keys sorted = sorted_by(visible_, weights);
    const float most = weights[sorted.front()];
    if (visible_.size() == 1) {
      return visible_.front() == head_.query
                 ? fmt::format("{} has only itself to look at: 100 %.", query_)
                 : fmt::format("{} has only {} to look at: 100 %.", query_,
                               names_.quoted(visible_.front()));
    }
    const Keys best = ties(sorted, weights);
    if (best.size() == visible_.size()) {
      return fmt::format("{} looks at all {} keys alike: {} each.", query_, best.size(),
                         percentage(most));
    }
    if (best.size() > 1) {
      return fmt::format("{} looks most at {}: {} each.", query_, named(best), percentage(most));
    }
    constexpr float kMuch = 0.4f;
    constexpr float kClearLead = 1.5f;
    const float next = weights[sorted[1]];
    const bool mostly = most >= kMuch && most >= kClearLead * next;
    const std::string then =
        next > 0.0f ? fmt::format(", then at {}: {}", itself_or(sorted[1]), percentage(next)) : "";
    return fmt::format("{} looks {} at {}: {}{}.", query_, mostly ? "mostly" : "most",
                       itself_or(best.front()), percentage(most), then);
  }

  std::string values() const {
    std::vector<float> lengths;
    for (std::size_t key = 0; key < head_.n_tokens(); ++key) {
      lengths.push_back(static_cast<float>(length(head_.shares.view().row(key))));
    }
    const Keys sorted = sorted_by(visible_, lengths);
    if (sorted.empty() || lengths[sorted.front()] == 0.0f) {
      return "Every share is 0: the query takes nothing along.";
    }
    const Keys best = ties(sorted, lengths);
    if (visible_.size() == 1) {
      return fmt::format("The value of {} is all there is to take along.",
                         names_.quoted(visible_.front()));
    }
    if (best.size() > 1) {
      return fmt::format(
          "Each value counts as much as its weight; the longest shares are those of "
          "{}.",
          named(best));
    }
    return fmt::format(
        "Each value counts as much as its weight; the longest share is that of {}: {:.4g}.",
        names_.quoted(best.front()), lengths[best.front()]);
  }

  std::string context() const {
    constexpr std::size_t kMostParts = 3;
    Keys taken;
    for (const std::size_t key : visible_) {
      if (head_.weights[key] > 0.0f) {
        taken.push_back(key);
      }
    }
    if (taken.empty()) {
      return "All weights are 0, and so is the context.";
    }
    const Keys sorted = sorted_by(taken, head_.weights);
    // One alone is named, not counted.
    const std::size_t named = sorted.size() <= kMostParts + 1 ? sorted.size() : kMostParts;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < named; ++i) {
      parts.push_back(
          fmt::format("{} of {}", percentage(head_.weights[sorted[i]]), names_.quoted(sorted[i])));
    }
    if (named < sorted.size()) {
      double rest = 0.0;
      for (std::size_t i = named; i < sorted.size(); ++i) {
        rest += static_cast<double>(head_.weights[sorted[i]]);
      }
      parts.push_back(fmt::format("{} of the {} others", percentage(static_cast<float>(rest)),
                                  sorted.size() - named));
    }
    return fmt::format("The context is a mixture of values: {}.", joined(parts));
  }

  std::string output() const {
    if (!head_.has_output()) {
      return "Without W_O the head hands its context on as it is.";
    }
    return fmt::format("W_O writes the {} of the context as {}, the form that x has.",
                       counted(head_.d_value(), "number"), counted(head_.d_model(), "number"));
  }

  std::string residual() const {
    if (!head_.has_output()) {
      const std::size_t first = head_.context_in_result;
      return head_.n_heads == 1
                 ? "The head's context is what the layer hands on; x is not added."
                 : fmt::format(
                       "The contexts of {} heads stand side by side, this one's at {} to "
                       "{}; x is not added.",
                       head_.n_heads, first, first + head_.d_value() - 1);
    }
    if (!head_.residual) {
      return fmt::format("This model does not add x: the output takes the place of {}.", query_);
    }
    const double before = length(head_.x());
    const double added = length(head_.output);
    const std::string all =
        head_.n_heads > 1 ? fmt::format("; {} {} too", counted(head_.n_heads - 1, "other head"),
                                        head_.n_heads == 2 ? "adds" : "add")
                          : "";
    return fmt::format("The head adds a vector of length {:.3g} to x, whose length is {:.3g}{}.",
                       added, before, all);
  }

  const Inspection& head_;
  const TokenNames& names_;
  std::string query_;
  Keys visible_;
  Keys hidden_;
};

}  // namespace

std::string percentage(float share) {
  const double percent = static_cast<double>(share) * 100.0;
  if (share == 0.0f) {
    return "0 %";
  }
  if (percent < 0.1) {
    return "less than 0.1 %";
  }
  if (percent < 9.95) {
    return fmt::format("{:.1f} %", percent);
  }
  if (percent > 99.0 && percent < 100.0) {
    constexpr double kNearlyAll = 99.95;
    return about_equal(share, 1.0f) ? "100 %"
           : percent < kNearlyAll   ? fmt::format("{:.1f} %", percent)
                                    : "more than 99.9 %";
  }
  return fmt::format("{:.0f} %", percent);
}

std::string step_sentence(const Inspection& head, const TokenNames& names, InspectionStep step,
                          bool ascii) {
  const std::string sentence = Sentences(head, names).of(step);
  return ascii ? in_ascii(sentence) : sentence;
}

}  // namespace attnviz
