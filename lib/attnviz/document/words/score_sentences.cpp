// Sentences about scores and weights: how one query compares its keys.

#include <fmt/format.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/document/words/number_group.h"
#include "attnviz/document/words/percent.h"
#include "attnviz/document/words/step_words.h"

namespace attnviz {

namespace {

using Keys = KeyWords::Keys;

// "0.43 · 0.4433 + 1.4343 · 1.1419 = 1.8284" for short vectors.
std::string product(const KeyWords& words, std::size_t key) {
  constexpr std::size_t kMostTerms = 3;
  if (words.head().d_head() > kMostTerms) {
    return {};
  }
  const auto q = words.head().q.view().row(words.head().query);
  const auto k = words.head().k.view().row(key);
  NumberGroup numbers(q);
  NumberGroup key_numbers;
  key_numbers.add(words.head().k.view());
  const NumberGroup score(words.head().scores);
  std::string sum;
  for (std::size_t i = 0; i < q.size(); ++i) {
    sum +=
        fmt::format("{}{} · {}", i == 0 ? "" : " + ", numbers.text(q[i]), key_numbers.text(k[i]));
  }
  return fmt::format(" For {}: {} = {}.", words.quoted(key), sum,
                     score.text(words.head().scores[key]));
}

bool has_temperature(const KeyWords& words) noexcept {
  return words.head().request.temperature != 1.0f;
}

// It acts on differences of scores: where there are none, it does nothing.
std::string temperature(const KeyWords& words) {
  const std::string subject = fmt::format("The temperature {}", words.head().request.temperature);
  if (words.visible().size() < 2) {
    return fmt::format("{} changes no weight: {} sees {}.", subject, words.query(),
                       words.visible().empty() ? "no key" : "one key only");
  }
  const Keys sorted = KeyWords::sorted_by(words.visible(), words.head().scores);
  if (KeyWords::ties(sorted, words.head().scores).size() == words.visible().size()) {
    return fmt::format("{} changes no weight: the scores are equal.", subject);
  }
  const bool warm = words.head().request.temperature > 1.0f;
  return words.head().bias.empty()
             ? fmt::format("{} makes the weights {}.", subject,
                           warm ? "more alike" : "more different")
             : fmt::format("{} makes the scores differ {}; the bias of ALiBi stays as it is.",
                           subject, warm ? "less" : "more");
}

// With a window there are two reasons to be hidden.
std::string hidden(const KeyWords& words) {
  if (words.head().mask.kind != MaskKind::kWindow) {
    return words.named(words.hidden(), true);
  }
  Keys outside, later;
  for (const std::size_t key : words.hidden()) {
    (key < words.head().query ? outside : later).push_back(key);
  }
  std::vector<std::string> parts;
  if (!outside.empty()) {
    parts.push_back(fmt::format("{}, before its window of {}", words.named(outside),
                                counted(words.head().mask.size, "token")));
  }
  if (!later.empty()) {
    parts.push_back(fmt::format("{}, after it", words.named(later)));
  }
  return fmt::format("{}", fmt::join(parts, ", nor "));
}

std::string dropout(const KeyWords& words) {
  std::size_t n_weights = 0;  // that are there to be dropped
  std::size_t n_dropped = 0;
  for (const std::size_t key : words.visible()) {
    const bool is_weight = words.head().probabilities[key] > 0.0f;
    n_weights += is_weight ? 1u : 0u;
    n_dropped += is_weight && words.head().weights[key] == 0.0f ? 1u : 0u;
  }
  const std::size_t n_kept = n_weights - n_dropped;
  const std::string factor = fmt::format("{:.4g}", 1.0f / (1.0f - words.head().request.dropout));
  if (n_kept == 0) {
    return n_weights == 1 ? "Dropout then sets the only weight to 0."
                          : fmt::format("Dropout then sets all {} weights to 0.", n_weights);
  }
  if (n_dropped == 0) {
    return fmt::format("Dropout then sets no weight to 0 and multiplies {} by {}.",
                       n_weights == 1 ? "the only one" : fmt::format("all {}", n_weights), factor);
  }
  return fmt::format("Dropout then sets {} of {} weights to 0 and multiplies the other{} by {}.",
                     n_dropped, n_weights, n_kept == 1 ? "" : "s", factor);
}

std::string looks(const KeyWords& words) {
  const std::vector<float>& weights = words.head().probabilities;
  if (words.visible().empty()) {
    return fmt::format("{} sees no key: all weights are 0.", words.query());
  }
  const Keys sorted = KeyWords::sorted_by(words.visible(), weights);
  const float most = weights[sorted.front()];
  if (words.visible().size() == 1) {
    return words.visible().front() == words.head().query
               ? fmt::format("{} has only itself to look at: 100 %.", words.query())
               : fmt::format("{} has only {} to look at: 100 %.", words.query(),
                             words.quoted(words.visible().front()));
  }
  const Keys best = KeyWords::ties(sorted, weights);
  if (best.size() == words.visible().size()) {
    return fmt::format("{} looks at all {} keys alike: {} each.", words.query(), best.size(),
                       percentage(most));
  }
  if (best.size() > 1) {
    return fmt::format("{} looks most at {}: {} each.", words.query(), words.named(best, true),
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
    then = fmt::format(", then at {}: {}{}", words.named(second, true), percentage(next),
                       second.size() > 1 ? " each" : "");
  }
  return fmt::format("{} looks {} at {}: {}{}.", words.query(), mostly ? "mostly" : "most",
                     words.itself_or(best.front()), percentage(most), then);
}

}  // namespace

namespace step_sentences {

std::string scores(const KeyWords& words) {
  if (words.head().n_tokens() == 1) {
    return fmt::format("There is one key to compare q with.{}", product(words, 0));
  }
  Keys all(words.head().n_tokens());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Keys sorted = KeyWords::sorted_by(all, words.head().scores);
  const Keys best = KeyWords::ties(sorted, words.head().scores);
  if (best.size() == all.size()) {
    return fmt::format("q fits all {} keys alike.{}", all.size(), product(words, best.front()));
  }
  return fmt::format(
      "Of all {} keys q fits {} best.{}", all.size(),
      best.size() > 1 ? "those of " + words.named(best) : "that of " + words.quoted(best.front()),
      product(words, best.front()));
}

std::string scale(const KeyWords& words) {
  std::string text;
  const std::size_t root = scale_root(words.head());
  if (!words.head().request.scale) {
    text = has_temperature(words) && words.head().soft_cap == 0.0f
               ? fmt::format(
                     "The scores are not divided by √{}: large ones make the softmax "
                     "sharp.",
                     root == 0 ? words.head().d_head() : root)
               : "The scores are left as they are: large ones make the softmax sharp.";
  } else if (root == 0) {
    text = fmt::format("The model multiplies its scores by a number of its own, {:.4g}.",
                       words.head().own_scale);
  } else if (root == 1) {
    text = words.head().d_head() == 1
               ? "Dividing by √1 changes nothing: q and k are one number each."
               : "Dividing by √1 changes nothing.";
  } else if (root != words.head().d_head()) {
    text = fmt::format(
        "Dividing by √{} keeps the scores small; the model has that number of its "
        "own, in place of d_head.",
        root);
  } else {
    text = fmt::format("Dividing by √{} keeps the scores from growing with d_head.", root);
  }
  return has_temperature(words) && words.head().soft_cap == 0.0f ? text + ' ' + temperature(words)
                                                                 : text;
}

// The softmax sees what the cap leaves of the scores.
std::string cap(const KeyWords& words) {
  std::string text = fmt::format(
      "No score can pass {0} or fall below -{0}: the larger one is, the "
      "more the cap takes of it.",
      words.head().soft_cap);
  if (!words.visible().empty()) {
    const std::size_t key = KeyWords::sorted_by(words.visible(), words.head().scaled).front();
    text += fmt::format(" {} score that is seen, {:.4g}, becomes {:.4g}.",
                        words.visible().size() == 1 ? "The only" : "The largest",
                        words.head().scaled[key], words.head().capped[key]);
  }
  return has_temperature(words) ? text + ' ' + temperature(words) : text;
}

std::string mask(const KeyWords& words) {
  std::string text;
  if (words.hidden().empty()) {
    text = words.head().n_tokens() == 1
               ? fmt::format("Nothing is masked: {} is the only token.", words.query())
               : fmt::format("Nothing is masked: {} sees all {} tokens.", words.query(),
                             words.head().n_tokens());
  } else {
    text = fmt::format("{} does not see {}: {} −∞, and the weight 0.", words.query(), hidden(words),
                       words.hidden().size() == 1 ? "its score becomes" : "their scores become");
  }
  if (!words.head().bias.empty()) {
    text += " ALiBi lowers scores with each token of distance.";
  }
  return text;
}

std::string softmax(const KeyWords& words) {
  const std::string text = looks(words);
  return words.head().request.dropout <= 0.0f || words.visible().empty()
             ? text
             : text + ' ' + dropout(words);
}

}  // namespace step_sentences

}  // namespace attnviz
