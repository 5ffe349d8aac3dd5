// The steps from scores to softmax: how one query compares its keys.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/report/steps/step_table.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

using Keys = KeyWords::Keys;
using Step = InspectionStep;

StepFormula scores_formula(const Inspection& head) {
  return {"scores = q · k for each key",
          fmt::format("[{0}] · [{0}, {1}] → [{1}]", head.d_head(), head.n_tokens())};
}

// "0.43 · 0.4433 + 1.4343 · 1.1419 = 1.8284" for short vectors.
std::string product(const Inspection& head, const KeyWords& words, std::size_t key) {
  constexpr std::size_t kMostTerms = 3;
  if (head.d_head() > kMostTerms) {
    return {};
  }
  const auto q = head.q.view().row(head.query);
  const auto k = head.k.view().row(key);
  const NumberGroup numbers(q);
  const NumberGroup key_numbers(head.k.view());
  const NumberGroup score(head.scores);
  std::string sum;
  for (std::size_t i = 0; i < q.size(); ++i) {
    sum +=
        fmt::format("{}{} · {}", i == 0 ? "" : " + ", numbers.text(q[i]), key_numbers.text(k[i]));
  }
  return fmt::format(" For {}: {} = {}.", words.quoted(key), sum, score.text(head.scores[key]));
}

std::string scores_sentence(const Inspection& head, const KeyWords& words) {
  if (head.n_tokens() == 1) {
    return fmt::format("There is one key to compare q with.{}", product(head, words, 0));
  }
  Keys all(head.n_tokens());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Keys sorted = KeyWords::sorted_by(all, head.scores);
  const Keys best = KeyWords::ties(sorted, head.scores);
  if (best.size() == all.size()) {
    return fmt::format("q matches all {} keys equally well.{}", all.size(),
                       product(head, words, best.front()));
  }
  return fmt::format(
      "Among all {} keys, q matches {} best.{}", all.size(),
      best.size() > 1 ? "those of " + words.named(best) : "that of " + words.quoted(best.front()),
      product(head, words, best.front()));
}

StepFormula scale_formula(const Inspection& head) {
  std::string formula = "scaled = q · k";
  std::string numbers;
  if (head.request.scale) {
    const std::size_t root = scale_root(head);
    if (root == 0) {
      formula += fmt::format(" · {:.6g}", head.own_scale);
      numbers = " (the model's own scale)";
    } else {
      formula += " ÷ √" + (root == head.d_head() ? "d_head" : std::to_string(root));
      numbers = fmt::format(", √{} = {:.4f}", root, std::sqrt(static_cast<double>(root)));
      numbers += root == head.d_head() ? "" : " (the model's own)";
    }
  }
  if (head.request.temperature != 1.0f && head.soft_cap == 0.0f) {
    formula += fmt::format(" ÷ {}", head.request.temperature);
    numbers += fmt::format(", temperature {}", head.request.temperature);
  }
  if (!head.request.scale) {
    numbers += ", not divided by √d_head";
  }
  return {formula + numbers, fmt::format("[{}]", head.n_tokens())};
}

// One more sentence if a temperature is set. It acts on differences of scores, so it has no effect
// where all scores are equal.
std::string temperature(const Inspection& head, const KeyWords& words) {
  if (head.request.temperature == 1.0f) {
    return {};
  }
  const std::string subject = fmt::format(" The temperature {}", head.request.temperature);
  if (words.visible().size() < 2) {
    return fmt::format("{} changes no weight: {} sees {}.", subject, words.query(),
                       words.visible().empty() ? "no key" : "one key only");
  }
  const Keys sorted = KeyWords::sorted_by(words.visible(), head.scores);
  if (KeyWords::ties(sorted, head.scores).size() == words.visible().size()) {
    return fmt::format("{} changes no weight: the scores are equal.", subject);
  }
  const bool warm = head.request.temperature > 1.0f;
  return head.bias.empty()
             ? fmt::format("{} makes the weights {}.", subject,
                           warm ? "more alike" : "more different")
             : fmt::format("{} makes the scores differ {}; the bias of ALiBi does not change.",
                           subject, warm ? "less" : "more");
}

std::string scale_sentence(const Inspection& head, const KeyWords& words) {
  std::string text;
  const std::size_t root = scale_root(head);
  if (!head.request.scale) {
    text =
        head.request.temperature != 1.0f && head.soft_cap == 0.0f
            ? fmt::format("The scores are not divided by √{}: large ones make the softmax sharp.",
                          root == 0 ? head.d_head() : root)
            : "The scores are not scaled: large ones make the softmax sharp.";
  } else if (root == 0) {
    text =
        fmt::format("The model multiplies its scores by its own factor, {:.4g}.", head.own_scale);
  } else if (root == 1) {
    text = head.d_head() == 1 ? "Dividing by √1 changes nothing: q and k are one number each."
                              : "Dividing by √1 changes nothing.";
  } else if (root != head.d_head()) {
    text = fmt::format(
        "Dividing by √{} keeps the scores small; the model uses this number instead of d_head.",
        root);
  } else {
    text = fmt::format("Dividing by √{} keeps the scores from growing with d_head.", root);
  }
  return head.soft_cap == 0.0f ? text + temperature(head, words) : text;
}

StepFormula cap_formula(const Inspection& head) {
  const std::string formula = fmt::format("capped = {0} · tanh(scaled ÷ {0})", head.soft_cap);
  return {head.request.temperature == 1.0f
              ? formula
              : fmt::format("{}, then ÷ {}, the temperature", formula, head.request.temperature),
          fmt::format("[{}]", head.n_tokens())};
}

std::string cap_sentence(const Inspection& head, const KeyWords& words) {
  std::string text = fmt::format(
      "No score can rise above {0} or fall below -{0}: the larger it is, the more the cap reduces "
      "it.",
      head.soft_cap);
  if (!words.visible().empty()) {
    const std::size_t key = KeyWords::sorted_by(words.visible(), head.scaled).front();
    text += fmt::format(" {} score that is seen, {:.4g}, becomes {:.4g}.",
                        words.visible().size() == 1 ? "The only" : "The largest", head.scaled[key],
                        head.capped[key]);
  }
  return text + temperature(head, words);
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
    case MaskKind::kAround:
      return fmt::format("mask around:{0}: −∞ for keys more than {0} before or after it",
                         mask.size);
    case MaskKind::kStrided:
    case MaskKind::kBlock:
      break;
  }
  return fmt::format("mask {}: −∞ for keys it hides", mask.name());
}

// The keys hidden by request although the mask shows them.
Keys hidden_on_request(const Inspection& head) {
  Keys keys;
  for (std::size_t key = 0; key < head.n_tokens(); ++key) {
    if (head.mask.visible(head.query, key) && head.is_knocked_out(key)) {
      keys.push_back(key);
    }
  }
  return keys;
}

StepFormula mask_formula(const Inspection& head) {
  const std::string from = head.soft_cap > 0.0f ? "capped" : "scaled";
  const std::string bias = head.bias.empty() ? "" : from + " + alibi, ";
  const char* const more = hidden_on_request(head).empty() ? "" : "; −∞ for keys hidden on request";
  return {bias + mask_rule(head.mask) + more, fmt::format("[{}]", head.n_tokens())};
}

std::string window_note(const Inspection& head) {
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
  return parts.empty() ? "" : fmt::format("Hidden: {}.", joined(parts, "and"));
}

std::string mask_note(const Inspection& head) {
  constexpr std::size_t kMostNamed = 8;
  std::string note = window_note(head);
  const Keys keys = hidden_on_request(head);
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(keys.size(), kMostNamed); ++i) {
    named.push_back(std::to_string(keys[i]));
  }
  if (keys.size() > kMostNamed) {
    named.back() = fmt::format("{} more", keys.size() - kMostNamed + 1);
  }
  if (!keys.empty()) {
    note += fmt::format("{}Hidden on request: {} {}.", note.empty() ? "" : " ",
                        keys.size() == 1 ? "key" : "keys", joined(named, "and"));
  }
  return note;
}

// A window hides keys for two reasons, in addition to requests.
std::string hidden(const Inspection& head, const KeyWords& words) {
  if (head.mask.kind != MaskKind::kWindow) {
    return words.named(words.hidden(), true);
  }
  Keys outside, later;
  const Keys requested = hidden_on_request(head);
  for (const std::size_t key : words.hidden()) {
    if (!std::ranges::binary_search(requested, key)) {
      (key < head.query ? outside : later).push_back(key);
    }
  }
  std::vector<std::string> parts;
  if (!outside.empty()) {
    parts.push_back(fmt::format("{}, before its window of {}", words.named(outside),
                                counted(head.mask.size, "token")));
  }
  if (!later.empty()) {
    parts.push_back(fmt::format("{}, after it", words.named(later)));
  }
  if (!requested.empty()) {
    parts.push_back(fmt::format("{}, hidden on request", words.named(requested, true)));
  }
  return joined_by(parts, ", nor ");
}

std::string mask_sentence(const Inspection& head, const KeyWords& words) {
  std::string text;
  if (words.hidden().empty()) {
    text = head.n_tokens() == 1
               ? fmt::format("Nothing is masked: {} is the only token.", words.query())
               : fmt::format("Nothing is masked: {} sees all {} tokens.", words.query(),
                             head.n_tokens());
  } else {
    text =
        fmt::format("{} does not see {}: {} 0.", words.query(), hidden(head, words),
                    words.hidden().size() == 1 ? "the score of this key becomes −∞, and its weight"
                                               : "their scores become −∞, and their weights");
  }
  if (!head.bias.empty()) {
    text += " ALiBi lowers scores with each token of distance.";
  }
  return text;
}

StepFormula softmax_formula(const Inspection& head) {
  const std::string formula =
      fmt::format("weight = exp(s − max) ÷ sum{}", head.sink ? ", with the learned sink" : "");
  return {head.request.dropout > 0.0f
              ? fmt::format("{}, then dropout {}", formula, head.request.dropout)
              : formula,
          fmt::format("[{}]", head.n_tokens())};
}

std::string looks(const Inspection& head, const KeyWords& words) {
  const std::vector<float>& weights = head.probabilities;
  if (words.visible().empty()) {
    return fmt::format("{} sees no key: all weights are 0.", words.query());
  }
  const Keys sorted = KeyWords::sorted_by(words.visible(), weights);
  const float most = weights[sorted.front()];
  if (words.visible().size() == 1) {
    return words.visible().front() == head.query
               ? fmt::format("{} can only attend to itself: {}.", words.query(), percentage(most))
               : fmt::format("{} can only attend to {}: {}.", words.query(),
                             words.quoted(words.visible().front()), percentage(most));
  }
  const Keys best = KeyWords::ties(sorted, weights);
  if (best.size() == words.visible().size()) {
    return fmt::format("{} attends to all {} keys equally: {} each.", words.query(), best.size(),
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

std::string dropout(const Inspection& head, const KeyWords& words) {
  std::size_t n_weights = 0;  // nonzero before dropout
  std::size_t n_dropped = 0;
  for (const std::size_t key : words.visible()) {
    const bool is_weight = head.probabilities[key] > 0.0f;
    n_weights += is_weight ? 1u : 0u;
    n_dropped += is_weight && head.weights[key] == 0.0f ? 1u : 0u;
  }
  const std::size_t n_kept = n_weights - n_dropped;
  const std::string factor = fmt::format("{:.4g}", 1.0f / (1.0f - head.request.dropout));
  if (n_kept == 0) {
    return n_weights == 1 ? " Dropout then sets the only weight to 0."
                          : fmt::format(" Dropout then sets all {} weights to 0.", n_weights);
  }
  if (n_dropped == 0) {
    return fmt::format(" Dropout then sets no weight to 0 and multiplies {} by {}.",
                       n_weights == 1 ? "the only one" : fmt::format("all {}", n_weights), factor);
  }
  return fmt::format(" Dropout then sets {} of {} weights to 0 and multiplies the other{} by {}.",
                     n_dropped, n_weights, n_kept == 1 ? "" : "s", factor);
}

std::string softmax_sentence(const Inspection& head, const KeyWords& words) {
  const bool is_dropped = head.request.dropout > 0.0f && !words.visible().empty();
  const std::string sink =
      head.sink ? fmt::format(" The learned sink takes {}.", percentage(head.sink->weight)) : "";
  return looks(head, words) + sink + (is_dropped ? dropout(head, words) : "");
}

using All = InspectedMatrices;

constexpr StepDefinition kScoreSteps[] = {
    {Step::kScores, "scores", "", nullptr, scores_formula, nullptr, scores_sentence, nullptr,
     "scores", &All::scores},
    {Step::kScale, "scale", "", nullptr, scale_formula, nullptr, scale_sentence, nullptr, "scaled",
     &All::scaled},
    {Step::kCap, "cap", "", [](const Inspection& head) { return head.soft_cap > 0.0f; },
     cap_formula, nullptr, cap_sentence, nullptr, "capped", &All::capped},
    {Step::kMask, "mask", "", nullptr, mask_formula, mask_note, mask_sentence, nullptr, "masked",
     &All::masked},
    {Step::kSoftmax, "softmax", "weights", nullptr, softmax_formula, nullptr, softmax_sentence,
     nullptr, "weights", &All::weights}};

}  // namespace

std::size_t scale_root(const Inspection& head) noexcept {
  constexpr double kRounding = 1e-9;
  constexpr double kLargest = 1e8;  // beyond this, any number is that close to a whole one
  if (head.own_scale == 0.0) {
    return head.d_head();
  }
  const double root = 1.0 / (head.own_scale * head.own_scale);
  const double nearest = std::round(root);
  return std::abs(root - nearest) <= kRounding * root && nearest >= 1.0 && nearest <= kLargest
             ? static_cast<std::size_t>(nearest)
             : 0;
}

std::span<const StepDefinition> score_steps() noexcept {
  return kScoreSteps;
}

}  // namespace attnviz
