// One plain sentence about the numbers of each step of an inspection.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/document/words/percent.h"
#include "attnviz/document/words/step_words.h"

namespace attnviz {

namespace {

using Keys = KeyWords::Keys;

double length(std::span<const float> values) noexcept {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(sum);
}

std::string embedding(const KeyWords& words) {
  std::vector<std::string> mixed;
  if (words.head().positions == Positions::kSinusoidal ||
      words.head().positions == Positions::kLearned) {
    mixed.push_back(fmt::format("its position {}", words.head().query));
  }
  if (words.head().has_segments) {
    mixed.push_back(fmt::format("its segment {}", words.head().segment));
  }
  return mixed.empty()
             ? fmt::format("what stands for {} before it looks at anything", words.query())
             : fmt::format("what stands for {}, with {} mixed in", words.query(),
                           joined(mixed, "and"));
}

// ", and each number multiplied by its own weight".
std::string gains(const Norm& norm) {
  std::string text =
      norm.weight_offset == 0.0f
          ? "each number multiplied by its own w"
          : fmt::format("each number multiplied by {} + its own w", norm.weight_offset);
  text += norm.bias.empty() ? "" : " with its own b added";
  return text;
}

}  // namespace

namespace step_sentences {

std::string x(const KeyWords& words) {
  const std::string from =
      words.head().head.layer > 1 ? fmt::format("what the layers before made of {}", words.query())
      : words.head().head.layer == 1 ? fmt::format("what layer 0 made of {}", words.query())
                                     : embedding(words);
  return fmt::format("x is {}: {}.", from, counted(words.head().d_model(), "number"));
}

std::string norm(const KeyWords& words) {
  const double divisor = norm_numbers(words.head().norm, words.head().x()).divisor;
  return words.head().norm.kind == NormKind::kLayer
             ? fmt::format(
                   "Attention looks at y, not at x itself: x less its mean and divided by "
                   "{:.4g}, so that neither its mean nor its length matters, then {}.",
                   divisor, gains(words.head().norm))
             : fmt::format(
                   "Attention looks at y, not at x itself: x divided by {:.4g}, so that its "
                   "length does not matter, then {}.",
                   divisor, gains(words.head().norm));
}

std::string query(const KeyWords& words) {
  const std::size_t n = words.head().d_head();
  return fmt::format("q is what {} looks for: {} is {}a sum over {}, weighted by a column of W_Q.",
                     words.query(),
                     n == 1 ? "its 1 number" : fmt::format("each of its {} numbers", n),
                     words.head().weights_in.query.bias.empty() ? "" : "a number of b_Q plus ",
                     words.head().norm.present() ? "y" : "x");
}

std::string keys(const KeyWords& words) {
  return words.head().n_tokens() == 1
             ? fmt::format("k is what {}, the only token, can be found by.", words.query())
             : fmt::format("Each of the {} tokens has a key, by which it can be found.",
                           words.head().n_tokens());
}

std::string query_key_norm(const KeyWords& words) {
  const std::string who = !words.head().key_norm.present()     ? "q is"
                          : !words.head().query_norm.present() ? "Each k is"
                                                               : "q and each k are";
  return fmt::format(
      "{} divided by {}, so that the length that came out of the projection does not "
      "matter; then each number is multiplied by a weight.",
      who, who == "Each k is" || who == "q is" ? "its own root" : "their own roots");
}

std::string rope(const KeyWords& words) {
  const InspectedRope& rope = *words.head().rope;
  const auto angle = [&](std::size_t pair) {
    return fmt::format("{:.4g}", static_cast<double>(words.head().query) * rope.frequencies[pair]);
  };
  const std::string first = angle(0);
  const char* const radians = first == "1" ? "radian" : "radians";
  std::string text;
  if (words.head().query == 0) {
    text = fmt::format("At position 0 q is not turned{}.",
                       rope.magnitude == 1.0f ? "" : ", only multiplied");
  } else if (rope.n_pairs() == 1) {
    text = fmt::format("Position {} turns the one pair of q by {} {}.", words.head().query, first,
                       radians);
  } else {
    text = fmt::format("Position {} turns the first pair of q by {} {}, the last by {}.",
                       words.head().query, first, radians, angle(rope.n_pairs() - 1));
  }
  return text +
         " As each key is turned by its own position, q · k depends on how far apart the "
         "two tokens are.";
}

std::string values(const KeyWords& words) {
  std::vector<float> lengths;
  lengths.reserve(words.head().n_tokens());
  for (std::size_t key = 0; key < words.head().n_tokens(); ++key) {
    lengths.push_back(static_cast<float>(length(words.head().shares.view().row(key))));
  }
  const Keys sorted = KeyWords::sorted_by(words.visible(), lengths);
  if (sorted.empty() || lengths[sorted.front()] == 0.0f) {
    return "Every share is 0: the query takes nothing along.";
  }
  const Keys best = KeyWords::ties(sorted, lengths);
  if (words.visible().size() == 1) {
    return fmt::format("The value of {} is all there is to take along.",
                       words.quoted(words.visible().front()));
  }
  if (best.size() > 1) {
    return fmt::format(
        "Each value counts as much as its weight; the longest shares are those of "
        "{}.",
        words.named(best));
  }
  return fmt::format(
      "Each value counts as much as its weight; the longest share is that of {}: {:.4g}.",
      words.quoted(best.front()), lengths[best.front()]);
}

std::string context(const KeyWords& words) {
  constexpr std::size_t kMostParts = 3;
  Keys taken;
  for (const std::size_t key : words.visible()) {
    if (words.head().weights[key] > 0.0f) {
      taken.push_back(key);
    }
  }
  if (taken.empty()) {
    return "All weights are 0, and so is the context.";
  }
  const Keys sorted = KeyWords::sorted_by(taken, words.head().weights);
  // One alone is named, not counted.
  const std::size_t named = sorted.size() <= kMostParts + 1 ? sorted.size() : kMostParts;
  std::vector<std::string> parts;
  parts.reserve(named);
  for (std::size_t i = 0; i < named; ++i) {
    parts.push_back(fmt::format("{} of {}", percentage(words.head().weights[sorted[i]]),
                                words.quoted(sorted[i])));
  }
  if (named < sorted.size()) {
    double rest = 0.0;
    for (std::size_t i = named; i < sorted.size(); ++i) {
      rest += static_cast<double>(words.head().weights[sorted[i]]);
    }
    parts.push_back(fmt::format("{} of the {} others", percentage(static_cast<float>(rest)),
                                sorted.size() - named));
  }
  return fmt::format("The context is a mixture of values: {}.", joined(parts, "and"));
}

std::string output(const KeyWords& words) {
  if (!words.head().has_output()) {
    return "Without W_O the head hands its context on as it is.";
  }
  return fmt::format("W_O writes the {} of the context as {}, the form that x has.",
                     counted(words.head().d_value(), "number"),
                     counted(words.head().d_model(), "number"));
}

std::string residual(const KeyWords& words) {
  if (!words.head().has_output()) {
    const std::size_t first = words.head().context_in_result;
    const std::string place =
        words.head().d_value() == 1
            ? fmt::format("{}", first)
            : fmt::format("{} to {}", first, first + words.head().d_value() - 1);
    return words.head().n_heads == 1
               ? "The head's context is what the layer hands on; x is not added."
               : fmt::format(
                     "The contexts of {} heads stand side by side, this one's at {}; x is not "
                     "added.",
                     words.head().n_heads, place);
  }
  if (!words.head().residual) {
    return words.head().n_heads == 1
               ? fmt::format("This model does not add x: the output takes the place of {}.",
                             words.query())
               : fmt::format(
                     "This model does not add x: the outputs of {} heads together take "
                     "the place of {}.",
                     words.head().n_heads, words.query());
  }
  const double before = length(words.head().x());
  const double added = length(words.head().output);
  const std::string others = counted(words.head().n_heads - 1, "other head");
  if (words.head().after_norm.present()) {
    return fmt::format(
        "The head's part has length {:.3g}{}; what they make goes through a norm, and so a "
        "vector "
        "of length {:.3g} is added to x, whose length is {:.3g}.",
        added,
        words.head().n_heads > 1
            ? fmt::format(", and {} {}", others,
                          words.head().n_heads == 2 ? "adds its own" : "add theirs")
            : "",
        length(words.head().added), before);
  }
  const std::string all =
      words.head().n_heads > 1
          ? fmt::format("; {} {} too", others, words.head().n_heads == 2 ? "adds" : "add")
          : "";
  return fmt::format(
      "The head adds a vector of length {:.3g} to x, whose length is {:.3g}{}.{}", added, before,
      all, words.head().result_norm.present() ? " The sum then goes through a norm." : "");
}

}  // namespace step_sentences

}  // namespace attnviz
