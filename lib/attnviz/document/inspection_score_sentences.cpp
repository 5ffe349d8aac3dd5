// Sentences about scores and weights: how one query compares its keys.

#include <fmt/format.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/document/inspection_key_words.h"
#include "attnviz/document/words/number_group.h"
#include "attnviz/document/words/percent.h"

namespace attnviz {

namespace {

using Keys = KeyWords::Keys;

class ScoreSentences {
 public:
  explicit ScoreSentences(const KeyWords& words) : words_(words), head_(words.head()) {}

  std::string of(InspectionStep step) const {
    switch (step) {
      case InspectionStep::kScores:
        return scores();
      case InspectionStep::kScale:
        return scale();
      case InspectionStep::kCap:
        return cap();
      case InspectionStep::kMask:
        return mask();
      default:
        return softmax();
    }
  }

 private:
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
    return fmt::format(" For {}: {} = {}.", words_.quoted(key), sum, score.text(head_.scores[key]));
  }

  std::string scores() const {
    if (head_.n_tokens() == 1) {
      return fmt::format("There is one key to compare q with.{}", product(0));
    }
    Keys all(head_.n_tokens());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Keys sorted = KeyWords::sorted_by(all, head_.scores);
    const Keys best = KeyWords::ties(sorted, head_.scores);
    if (best.size() == all.size()) {
      return fmt::format("q fits all {} keys alike.{}", all.size(), product(best.front()));
    }
    return fmt::format("Of all {} keys q fits {} best.{}", all.size(),
                       best.size() > 1 ? "those of " + words_.named(best)
                                       : "that of " + words_.quoted(best.front()),
                       product(best.front()));
  }

  std::string scale() const {
    std::string text;
    const std::size_t root = scale_root(head_);
    if (!head_.request.scale) {
      text = has_temperature() && head_.soft_cap == 0.0f
                 ? fmt::format(
                       "The scores are not divided by √{}: large ones make the softmax "
                       "sharp.",
                       root == 0 ? head_.d_head() : root)
                 : "The scores are left as they are: large ones make the softmax sharp.";
    } else if (root == 0) {
      text = fmt::format("The model multiplies its scores by a number of its own, {:.4g}.",
                         head_.own_scale);
    } else if (root == 1) {
      text = head_.d_head() == 1 ? "Dividing by √1 changes nothing: q and k are one number each."
                                 : "Dividing by √1 changes nothing.";
    } else if (root != head_.d_head()) {
      text = fmt::format(
          "Dividing by √{} keeps the scores small; the model has that number of its "
          "own, in place of d_head.",
          root);
    } else {
      text = fmt::format("Dividing by √{} keeps the scores from growing with d_head.", root);
    }
    return has_temperature() && head_.soft_cap == 0.0f ? text + ' ' + temperature() : text;
  }

  bool has_temperature() const noexcept { return head_.request.temperature != 1.0f; }

  // The softmax sees what the cap leaves of the scores.
  std::string cap() const {
    std::string text = fmt::format(
        "No score can pass {0} or fall below -{0}: the larger one is, the "
        "more the cap takes of it.",
        head_.soft_cap);
    if (!words_.visible().empty()) {
      const std::size_t key = KeyWords::sorted_by(words_.visible(), head_.scaled).front();
      text += fmt::format(" {} score that is seen, {:.4g}, becomes {:.4g}.",
                          words_.visible().size() == 1 ? "The only" : "The largest",
                          head_.scaled[key], head_.capped[key]);
    }
    return has_temperature() ? text + ' ' + temperature() : text;
  }

  // It acts on differences of scores: where there are none, it does nothing.
  std::string temperature() const {
    const std::string subject = fmt::format("The temperature {}", head_.request.temperature);
    if (words_.visible().size() < 2) {
      return fmt::format("{} changes no weight: {} sees {}.", subject, words_.query(),
                         words_.visible().empty() ? "no key" : "one key only");
    }
    const Keys sorted = KeyWords::sorted_by(words_.visible(), head_.scores);
    if (KeyWords::ties(sorted, head_.scores).size() == words_.visible().size()) {
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
    if (words_.hidden().empty()) {
      text = head_.n_tokens() == 1
                 ? fmt::format("Nothing is masked: {} is the only token.", words_.query())
                 : fmt::format("Nothing is masked: {} sees all {} tokens.", words_.query(),
                               head_.n_tokens());
    } else {
      text = fmt::format("{} does not see {}: {} −∞, and the weight 0.", words_.query(), hidden(),
                         words_.hidden().size() == 1 ? "its score becomes" : "their scores become");
    }
    if (!head_.bias.empty()) {
      text += " ALiBi lowers scores with each token of distance.";
    }
    return text;
  }

  // With a window there are two reasons to be hidden.
  std::string hidden() const {
    if (head_.mask.kind != MaskKind::kWindow) {
      return words_.named(words_.hidden(), true);
    }
    Keys outside, later;
    for (const std::size_t key : words_.hidden()) {
      (key < head_.query ? outside : later).push_back(key);
    }
    std::vector<std::string> parts;
    if (!outside.empty()) {
      parts.push_back(fmt::format("{}, before its window of {}", words_.named(outside),
                                  counted(head_.mask.size, "token")));
    }
    if (!later.empty()) {
      parts.push_back(fmt::format("{}, after it", words_.named(later)));
    }
    return fmt::format("{}", fmt::join(parts, ", nor "));
  }

  std::string softmax() const {
    const std::string text = looks();
    return head_.request.dropout <= 0.0f || words_.visible().empty() ? text
                                                                     : text + ' ' + dropout();
  }

  std::string dropout() const {
    std::size_t n_weights = 0;  // that are there to be dropped
    std::size_t n_dropped = 0;
    for (const std::size_t key : words_.visible()) {
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
    if (words_.visible().empty()) {
      return fmt::format("{} sees no key: all weights are 0.", words_.query());
    }
    const Keys sorted = KeyWords::sorted_by(words_.visible(), weights);
    const float most = weights[sorted.front()];
    if (words_.visible().size() == 1) {
      return words_.visible().front() == head_.query
                 ? fmt::format("{} has only itself to look at: 100 %.", words_.query())
                 : fmt::format("{} has only {} to look at: 100 %.", words_.query(),
                               words_.quoted(words_.visible().front()));
    }
    const Keys best = KeyWords::ties(sorted, weights);
    if (best.size() == words_.visible().size()) {
      return fmt::format("{} looks at all {} keys alike: {} each.", words_.query(), best.size(),
                         percentage(most));
    }
    if (best.size() > 1) {
      return fmt::format("{} looks most at {}: {} each.", words_.query(), words_.named(best, true),
                         percentage(most));
    }
    constexpr float kMuch = 0.4f;
    constexpr float kClearLead = 1.5f;
    const Keys rest(sorted.begin() + 1, sorted.end());
    const float next = weights[rest.front()];
    const bool mostly = most >= kMuch && most >= kClearLead * next;
    std::string then;
    if (next > 0.0f) {
      const Keys second = KeyWords::ties(rest, weights);
      then = fmt::format(", then at {}: {}{}", words_.named(second, true), percentage(next),
                         second.size() > 1 ? " each" : "");
    }
    return fmt::format("{} looks {} at {}: {}{}.", words_.query(), mostly ? "mostly" : "most",
                       words_.itself_or(best.front()), percentage(most), then);
  }

  const KeyWords& words_;
  const Inspection& head_;
};

}  // namespace

std::string score_sentence(const KeyWords& words, InspectionStep step) {
  return ScoreSentences(words).of(step);
}

}  // namespace attnviz
