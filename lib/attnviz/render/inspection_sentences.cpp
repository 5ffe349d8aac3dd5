// One plain sentence about the numbers of each step of an inspection.

#include <fmt/core.h>

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
#include "attnviz/render/percent.h"

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

  // `refers_back`: in a sentence whose subject is the query.
  std::string named(const Keys& keys, bool refers_back = false) const {
    constexpr std::size_t kMostNamed = 4;
    std::vector<std::string> items;
    for (std::size_t i = 0; i < std::min(keys.size(), kMostNamed); ++i) {
      items.push_back(refers_back ? itself_or(keys[i]) : names_.quoted(keys[i]));
    }
    if (keys.size() > kMostNamed) {
      items.back() = fmt::format("{} others", keys.size() - kMostNamed + 1);
    }
    return joined(items, "and");
  }

  std::string itself_or(std::size_t key) const {
    return key == head_.query ? "itself" : names_.quoted(key);
  }

  std::string x() const {
    const std::string from =
        head_.head.layer > 1    ? fmt::format("what the layers before made of {}", query_)
        : head_.head.layer == 1 ? fmt::format("what layer 0 made of {}", query_)
        : head_.positions == Positions::kSinusoidal
            ? fmt::format("what stands for {}, with its position {} mixed in", query_, head_.query)
            : fmt::format("what stands for {} before it looks at anything", query_);
    return fmt::format("x is {}: {}.", from, counted(head_.d_model(), "number"));
  }

  std::string query() const {
    const std::size_t n = head_.d_head();
    return fmt::format(
        "q is what {} looks for: {} is {}a sum over x, weighted by a column of W_Q{}.", query_,
        n == 1 ? "its 1 number" : fmt::format("each of its {} numbers", n),
        head_.weights_in.query.bias.empty() ? "" : "a number of b_Q plus ",
        head_.positions == Positions::kRope ? ", before the position turns q" : "");
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
    std::string text;
    if (head_.request.scale && head_.d_head() == 1) {
      text = "Dividing by √1 changes nothing: q and k are one number each.";
    } else if (head_.request.scale) {
      text =
          fmt::format("Dividing by √{} keeps the scores from growing with d_head.", head_.d_head());
    } else if (head_.request.temperature == 1.0f) {
      text = "The scores are left as they are: large ones make the softmax sharp.";
    } else {
      text = fmt::format("The scores are not divided by √{}: large ones make the softmax sharp.",
                         head_.d_head());
    }
    return head_.request.temperature == 1.0f ? text : text + ' ' + temperature();
  }

  // It acts on differences of scores: where there are none, it does nothing.
  std::string temperature() const {
    const std::string subject = fmt::format("The temperature {}", head_.request.temperature);
    if (visible_.size() < 2) {
      return fmt::format("{} changes no weight: {} sees {}.", subject, query_,
                         visible_.empty() ? "no key" : "one key only");
    }
    const Keys sorted = sorted_by(visible_, head_.scores);
    if (ties(sorted, head_.scores).size() == visible_.size()) {
      return fmt::format("{} changes no weight: the scores are equal.", subject);
    }
    const bool warm = head_.request.temperature > 1.0f;
    return head_.bias.empty()
               ? fmt::format("{} makes the weights {}.", subject,
                             warm ? "more alike" : "more different")
               : fmt::format("{} makes the scores differ {}; the bias of ALiBi stays as it is.",
                             subject, warm ? "less" : "more");
  }

  std::string mask() const {
    std::string text;
    if (hidden_.empty()) {
      text = head_.n_tokens() == 1 ? fmt::format("Nothing is masked: {} is the only token.", query_)
                                   : fmt::format("Nothing is masked: {} sees all {} tokens.",
                                                 query_, head_.n_tokens());
    } else {
      text =
          fmt::format("{} does not see {}: {} −∞, and the weight 0.", query_, named(hidden_, true),
                      hidden_.size() == 1 ? "its score becomes" : "their scores become");
    }
    if (!head_.bias.empty()) {
      text += " ALiBi lowers scores with each token of distance.";
    }
    return text;
  }

  std::string softmax() const {
    const std::string text = looks();
    return head_.request.dropout <= 0.0f || visible_.empty() ? text : text + ' ' + dropout();
  }

  std::string dropout() const {
    std::size_t n_weights = 0;  // that are there to be dropped
    std::size_t n_dropped = 0;
    for (const std::size_t key : visible_) {
      const bool is_weight = head_.probabilities[key] > 0.0f;
      n_weights += is_weight ? 1u : 0u;
      n_dropped += is_weight && head_.weights[key] == 0.0f ? 1u : 0u;
    }
    const std::size_t n_kept = n_weights - n_dropped;
    const std::string factor = fmt::format("{:.4g}", 1.0f / (1.0f - head_.request.dropout));
    if (n_kept == 0) {
      return n_weights == 1 ? "Dropout then sets the only weight to 0."
                            : fmt::format("Dropout then sets all {} weights to 0.", n_weights);
    }
    if (n_dropped == 0) {
      return fmt::format("Dropout then sets no weight to 0 and multiplies {} by {}.",
                         n_weights == 1 ? "the only one" : fmt::format("all {}", n_weights),
                         factor);
    }
    return fmt::format("Dropout then sets {} of {} weights to 0 and multiplies the other{} by {}.",
                       n_dropped, n_weights, n_kept == 1 ? "" : "s", factor);
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
      return fmt::format("{} looks most at {}: {} each.", query_, named(best, true),
                         percentage(most));
    }
    constexpr float kMuch = 0.4f;
    constexpr float kClearLead = 1.5f;
    const Keys rest(sorted.begin() + 1, sorted.end());
    const float next = weights[rest.front()];
    const bool mostly = most >= kMuch && most >= kClearLead * next;
    std::string then;
    if (next > 0.0f) {
      const Keys second = ties(rest, weights);
      then = fmt::format(", then at {}: {}{}", named(second, true), percentage(next),
                         second.size() > 1 ? " each" : "");
    }
    return fmt::format("{} looks {} at {}: {}{}.", query_, mostly ? "mostly" : "most",
                       itself_or(best.front()), percentage(most), then);
  }

  std::string values() const {
    std::vector<float> lengths;
    lengths.reserve(head_.n_tokens());
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
    parts.reserve(named);
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
    return fmt::format("The context is a mixture of values: {}.", joined(parts, "and"));
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
      const std::string place = head_.d_value() == 1
                                    ? fmt::format("{}", first)
                                    : fmt::format("{} to {}", first, first + head_.d_value() - 1);
      return head_.n_heads == 1
                 ? "The head's context is what the layer hands on; x is not added."
                 : fmt::format(
                       "The contexts of {} heads stand side by side, this one's at {}; x is not "
                       "added.",
                       head_.n_heads, place);
    }
    if (!head_.residual) {
      return head_.n_heads == 1
                 ? fmt::format("This model does not add x: the output takes the place of {}.",
                               query_)
                 : fmt::format(
                       "This model does not add x: the outputs of {} heads together take "
                       "the place of {}.",
                       head_.n_heads, query_);
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

std::string step_sentence(const Inspection& head, const TokenNames& names, InspectionStep step,
                          bool ascii) {
  const std::string sentence = Sentences(head, names).of(step);
  return ascii ? in_ascii(sentence) : sentence;
}

}  // namespace attnviz
