// One plain sentence about the numbers of each step of an inspection.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/document/inspection_key_words.h"
#include "attnviz/document/words/percent.h"

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

class Sentences {
 public:
  explicit Sentences(const KeyWords& words)
      : words_(words), head_(words.head()), query_(words.query()) {}

  std::string of(InspectionStep step) const {
    switch (step) {
      case InspectionStep::kX:
        return x();
      case InspectionStep::kNorm:
        return norm();
      case InspectionStep::kQuery:
        return query();
      case InspectionStep::kKeys:
        return keys();
      case InspectionStep::kQueryKeyNorm:
        return query_key_norm();
      case InspectionStep::kRope:
        return rope();
      case InspectionStep::kScores:
      case InspectionStep::kScale:
      case InspectionStep::kCap:
      case InspectionStep::kMask:
      case InspectionStep::kSoftmax:
        return score_sentence(words_, step);
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
  std::string x() const {
    const std::string from =
        head_.head.layer > 1    ? fmt::format("what the layers before made of {}", query_)
        : head_.head.layer == 1 ? fmt::format("what layer 0 made of {}", query_)
                                : embedding();
    return fmt::format("x is {}: {}.", from, counted(head_.d_model(), "number"));
  }

  std::string embedding() const {
    std::vector<std::string> mixed;
    if (head_.positions == Positions::kSinusoidal || head_.positions == Positions::kLearned) {
      mixed.push_back(fmt::format("its position {}", head_.query));
    }
    if (head_.has_segments) {
      mixed.push_back(fmt::format("its segment {}", head_.segment));
    }
    return mixed.empty()
               ? fmt::format("what stands for {} before it looks at anything", query_)
               : fmt::format("what stands for {}, with {} mixed in", query_, joined(mixed, "and"));
  }

  // ", and each number multiplied by its own weight".
  static std::string gains(const Norm& norm) {
    std::string text =
        norm.weight_offset == 0.0f
            ? "each number multiplied by its own w"
            : fmt::format("each number multiplied by {} + its own w", norm.weight_offset);
    text += norm.bias.empty() ? "" : " with its own b added";
    return text;
  }

  std::string norm() const {
    const double divisor = norm_numbers(head_.norm, head_.x()).divisor;
    return head_.norm.kind == NormKind::kLayer
               ? fmt::format(
                     "Attention looks at y, not at x itself: x less its mean and divided by "
                     "{:.4g}, so that neither its mean nor its length matters, then {}.",
                     divisor, gains(head_.norm))
               : fmt::format(
                     "Attention looks at y, not at x itself: x divided by {:.4g}, so that its "
                     "length does not matter, then {}.",
                     divisor, gains(head_.norm));
  }

  const char* look() const noexcept { return head_.norm.present() ? "y" : "x"; }

  std::string query() const {
    const std::size_t n = head_.d_head();
    return fmt::format(
        "q is what {} looks for: {} is {}a sum over {}, weighted by a column of W_Q.", query_,
        n == 1 ? "its 1 number" : fmt::format("each of its {} numbers", n),
        head_.weights_in.query.bias.empty() ? "" : "a number of b_Q plus ", look());
  }

  std::string keys() const {
    return head_.n_tokens() == 1
               ? fmt::format("k is what {}, the only token, can be found by.", query_)
               : fmt::format("Each of the {} tokens has a key, by which it can be found.",
                             head_.n_tokens());
  }

  std::string query_key_norm() const {
    const std::string who = !head_.key_norm.present()     ? "q is"
                            : !head_.query_norm.present() ? "Each k is"
                                                          : "q and each k are";
    return fmt::format(
        "{} divided by {}, so that the length that came out of the projection does not "
        "matter; then each number is multiplied by a weight.",
        who, who == "Each k is" || who == "q is" ? "its own root" : "their own roots");
  }

  std::string rope() const {
    const InspectedRope& rope = *head_.rope;
    const auto angle = [&](std::size_t pair) {
      return fmt::format("{:.4g}", static_cast<double>(head_.query) * rope.frequencies[pair]);
    };
    const std::string first = angle(0);
    const char* const radians = first == "1" ? "radian" : "radians";
    std::string text;
    if (head_.query == 0) {
      text = fmt::format("At position 0 q is not turned{}.",
                         rope.magnitude == 1.0f ? "" : ", only multiplied");
    } else if (rope.n_pairs() == 1) {
      text =
          fmt::format("Position {} turns the one pair of q by {} {}.", head_.query, first, radians);
    } else {
      text = fmt::format("Position {} turns the first pair of q by {} {}, the last by {}.",
                         head_.query, first, radians, angle(rope.n_pairs() - 1));
    }
    return text +
           " As each key is turned by its own position, q · k depends on how far apart the "
           "two tokens are.";
  }

  std::string values() const {
    std::vector<float> lengths;
    lengths.reserve(head_.n_tokens());
    for (std::size_t key = 0; key < head_.n_tokens(); ++key) {
      lengths.push_back(static_cast<float>(length(head_.shares.view().row(key))));
    }
    const Keys sorted = KeyWords::sorted_by(words_.visible(), lengths);
    if (sorted.empty() || lengths[sorted.front()] == 0.0f) {
      return "Every share is 0: the query takes nothing along.";
    }
    const Keys best = KeyWords::ties(sorted, lengths);
    if (words_.visible().size() == 1) {
      return fmt::format("The value of {} is all there is to take along.",
                         words_.quoted(words_.visible().front()));
    }
    if (best.size() > 1) {
      return fmt::format(
          "Each value counts as much as its weight; the longest shares are those of "
          "{}.",
          words_.named(best));
    }
    return fmt::format(
        "Each value counts as much as its weight; the longest share is that of {}: {:.4g}.",
        words_.quoted(best.front()), lengths[best.front()]);
  }

  std::string context() const {
    constexpr std::size_t kMostParts = 3;
    Keys taken;
    for (const std::size_t key : words_.visible()) {
      if (head_.weights[key] > 0.0f) {
        taken.push_back(key);
      }
    }
    if (taken.empty()) {
      return "All weights are 0, and so is the context.";
    }
    const Keys sorted = KeyWords::sorted_by(taken, head_.weights);
    // One alone is named, not counted.
    const std::size_t named = sorted.size() <= kMostParts + 1 ? sorted.size() : kMostParts;
    std::vector<std::string> parts;
    parts.reserve(named);
    for (std::size_t i = 0; i < named; ++i) {
      parts.push_back(
          fmt::format("{} of {}", percentage(head_.weights[sorted[i]]), words_.quoted(sorted[i])));
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
    const std::string others = counted(head_.n_heads - 1, "other head");
    if (head_.after_norm.present()) {
      return fmt::format(
          "The head's part has length {:.3g}{}; what they make goes through a norm, and so a "
          "vector "
          "of length {:.3g} is added to x, whose length is {:.3g}.",
          added,
          head_.n_heads > 1 ? fmt::format(", and {} {}", others,
                                          head_.n_heads == 2 ? "adds its own" : "add theirs")
                            : "",
          length(head_.added), before);
    }
    const std::string all =
        head_.n_heads > 1 ? fmt::format("; {} {} too", others, head_.n_heads == 2 ? "adds" : "add")
                          : "";
    return fmt::format("The head adds a vector of length {:.3g} to x, whose length is {:.3g}{}.{}",
                       added, before, all,
                       head_.result_norm.present() ? " The sum then goes through a norm." : "");
  }

  const KeyWords& words_;
  const Inspection& head_;
  const std::string& query_;
};

}  // namespace

std::string step_sentence(const Inspection& head, const TokenNames& names, InspectionStep step,
                          bool ascii) {
  if (!has_step(head, step)) {
    return {};
  }
  const std::string sentence = Sentences(KeyWords(head, names)).of(step);
  return ascii ? in_ascii(sentence) : sentence;
}

}  // namespace attnviz
