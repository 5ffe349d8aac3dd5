// Lessons whose figures are patterns: heads, linear, positions and masks.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/lessons/lesson_numbers.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/report/lessons/lesson.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "attnviz/text/tokenizer.h"

namespace attnviz {

namespace {

constexpr const char* kLessonText = "The cat sat on the mat because it was tired";
constexpr const char* kShortText = "The cat sat on it";  // short enough for many panels on a screen

std::vector<std::string> labels_of(const TokenizedText& text) {
  std::vector<std::string> labels;
  for (const Token& token : text.tokens) {
    labels.push_back(token.text);
  }
  return labels;
}

std::string whole_percent(double share) {
  return fmt::format("{:.0f} %", 100.0 * share);
}

LessonCell one_decimal(double number) {
  return number_cell(number, fmt::format("{:.1f}", number));
}

// The number of keys with a quarter or more of a query's weight in some pattern, averaged over the
// queries that see four keys or more.
double looked_at(std::span<const LessonPattern> patterns) {
  constexpr float kQuarter = 0.25f;
  constexpr std::size_t kFirst = 3;
  const std::size_t n = patterns.front().weights.rows();
  std::size_t count = 0;
  for (std::size_t q = kFirst; q < n; ++q) {
    for (std::size_t k = 0; k < n; ++k) {
      count += std::ranges::any_of(patterns, [&](const LessonPattern& pattern) {
        return pattern.weights.view()(q, k) >= kQuarter;
      });
    }
  }
  return static_cast<double>(count) / static_cast<double>(n - kFirst);
}

LessonColumn texts(const char* key, const char* heading, std::vector<std::string> cells) {
  LessonColumn column{key, heading, {}};
  for (std::string& cell : cells) {
    column.cells.push_back({std::move(cell)});
  }
  return column;
}

LessonColumn counts(const char* key, const char* heading, const std::vector<double>& numbers) {
  LessonColumn column{key, heading, {}};
  for (const double number : numbers) {
    const auto count = static_cast<std::size_t>(number);
    column.cells.push_back(
        count_cell(number, number < 1e6 ? grouped(count) : rounded_count(count)));
  }
  return column;
}

// The weights of equal scores: uniform over the keys that a query sees.
MatrixBuffer even_weights(const Mask& mask, std::size_t n) {
  MatrixBuffer weights(n, n);
  for (std::size_t q = 0; q < n; ++q) {
    const auto seen = static_cast<float>(mask.n_visible(q, 0, n));
    for (std::size_t k = 0; k < n; ++k) {
      weights.view()(q, k) = mask.visible(q, k) ? 1.0f / seen : 0.0f;
    }
  }
  return weights;
}

// The largest difference between the weights of two tokens that are the same word.
double most_apart(ConstMatrix weights, const TokenizedText& text) {
  double most = 0.0;
  for (std::size_t a = 0; a < text.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      for (std::size_t k = 0; k < text.size() && text.tokens[a].text == text.tokens[b].text; ++k) {
        most = std::max(most, std::abs(static_cast<double>(weights(a, k) - weights(b, k))));
      }
    }
  }
  return most;
}

double visible_pairs(const Mask& mask, std::size_t n) {
  double pairs = 0.0;
  for (std::size_t q = 0; q < n; ++q) {
    pairs += static_cast<double>(mask.n_visible(q, 0, n));
  }
  return pairs;
}

}  // namespace

Lesson heads_lesson(const LessonRequest& /*request*/) {
  constexpr std::size_t kLayer = 1;
  const Model model = demo_model();
  const TokenizedText text = demo_tokenizer()->tokenize(kShortText);
  const InputColumns input(text);
  const Mask mask = model.config.mask;
  const std::vector<HeadRows> heads = head_rows(model, input.view(), kLayer);
  const std::size_t d_head = heads.front().query.cols();
  const std::size_t width = heads.size() * d_head;
  std::vector<LessonPattern> patterns;
  patterns.push_back({fmt::format("1 head, {} wide", width), wide_head_weights(heads, mask), mask});
  for (std::size_t i = 0; i < heads.size(); ++i) {
    patterns.push_back({fmt::format("head {}, {} wide", i, d_head),
                        softmax_weights(heads[i].query.view(), heads[i].key.view(), mask), mask});
  }
  const double wide = looked_at(std::span(patterns).first(1));
  const double narrow = looked_at(std::span(patterns).subspan(1));
  Lesson lesson;
  lesson.title = "heads: one wide head, or many narrow ones";
  const std::size_t numbers = model.config.d_model * width;
  lesson.says = {fmt::format(
      "In layer {} of the demo model, W_Q and W_K are {} x {}: {} numbers each. Used whole, they "
      "make one head; cut into {} heads of {} columns, the same numbers make {} patterns.",
      kLayer, model.config.d_model, width, grouped(numbers), heads.size(), d_head, heads.size())};
  lesson.figure = lesson_heatmap(std::move(patterns), labels_of(text), lesson.title);
  const auto n_heads = static_cast<double>(heads.size());
  const auto n = static_cast<double>(numbers);
  lesson.table = {
      texts("name", "", {"one wide head", "many narrow heads"}),
      counts("n_heads", "heads", {1.0, n_heads}),
      counts("d_head", "width", {static_cast<double>(width), static_cast<double>(d_head)}),
      counts("parameters", "W_Q and W_K", {2.0 * n, 2.0 * n}),
      {"keys_looked_at", "keys a token looks at", {one_decimal(wide), one_decimal(narrow)}}};
  lesson.ends = {
      "The wide head's score is the sum of the narrow heads' scores (divided by a larger √d): one "
      "softmax has to serve all of them at once. Each narrow head has its own softmax, so a token "
      "can look at more keys, for different reasons (the table counts keys that get at least a "
      "quarter of some head's attention, for tokens that see four or more). The price is a smaller "
      "d_head: each query has fewer numbers to say what it looks for."};
  return lesson;
}

Lesson linear_lesson(const LessonRequest& /*request*/) {
  constexpr std::size_t kLayer = 0;
  const Model model = demo_model();
  const TokenizedText text = demo_tokenizer()->tokenize(kLessonText);
  const InputColumns input(text);
  const Mask mask = model.config.mask;
  // The sharpest head loses most.
  std::vector<HeadRows> heads = head_rows(model, input.view(), kLayer);
  std::size_t sharpest = 0;
  std::vector<MatrixBuffer> by_softmax;
  for (const HeadRows& head : heads) {
    by_softmax.push_back(softmax_weights(head.query.view(), head.key.view(), mask));
    if (mean_largest(by_softmax.back().view()) > mean_largest(by_softmax[sharpest].view())) {
      sharpest = by_softmax.size() - 1;
    }
  }
  const HeadRows& head = heads[sharpest];
  const auto d = static_cast<double>(head.query.cols());
  MatrixBuffer linear = linear_weights(head.query.view(), head.key.view(), mask);
  const double departure = largest_departure(
      linear.view(), head.value.view(),
      linear_contexts(head.query.view(), head.key.view(), head.value.view()).view());
  const double sharp = mean_largest(by_softmax[sharpest].view());
  const double even = mean_largest(linear.view());
  std::vector<LessonPattern> patterns;
  patterns.push_back({"softmax(q · k ÷ √d)", std::move(by_softmax[sharpest]), mask});
  patterns.push_back({"φ(q) · φ(k) ÷ sum", std::move(linear), mask});
  Lesson lesson;
  lesson.title = "linear: attention without the n × n matrix";
  lesson.says = {fmt::format(
      "Both patterns use the q and k of head {}.{} of the demo model. Softmax needs every q · k. "
      "With φ(q) · φ(k) instead of exp(q · k), and φ(x) = elu(x) + 1, the keys can be summed "
      "first: two sums are enough, of φ(k) vᵀ (d × d numbers) and of φ(k) (d numbers), to which "
      "each step adds one token, as in an RNN. This gives the same contexts as these weights, "
      "without computing them; here they differ by at most {:.0e} (Katharopoulos et al. 2020).",
      kLayer, sharpest, departure)};
  lesson.figure = lesson_heatmap(std::move(patterns), labels_of(text), lesson.title);
  std::vector<double> lengths = {d / 2.0, d, 16.0 * d, 128.0 * d, 4096.0 * d};
  std::vector<double> squares, lines;
  LessonColumn ratio{"ratio", "ratio", {}};
  for (const double n : lengths) {
    squares.push_back(n * n * d);
    lines.push_back(n * d * d);
    ratio.cells.push_back(number_cell(
        n / d, n < d ? fmt::format("{:g}", n / d) : grouped(static_cast<std::size_t>(n / d))));
  }
  lesson.table = {counts("n_tokens", "tokens n", lengths),
                  counts("softmax", "softmax: n² d", squares),
                  counts("linear", "linear: n d²", lines), std::move(ratio)};
  lesson.ends = {
      fmt::format("For n above d = {:.0f}, linear attention needs fewer multiplications, and its "
                  "memory does not grow. But φ(q) · φ(k) cannot fall off as fast as exp: on "
                  "average the largest weight in a row is {}, compared with {} for softmax. (These "
                  "q and k were trained for softmax; a linear model learns its own.)",
                  d, whole_percent(even), whole_percent(sharp))};
  return lesson;
}

Lesson positions_lesson(const LessonRequest& request) {
  const RandomShape shape{.n_layers = 1, .n_heads = 4, .d_head = 16};
  const auto tokenizer = make_tokenizer("words");
  const TokenizedText text = tokenizer->tokenize("the cat saw the other cat");
  const InputColumns input(text);
  constexpr std::size_t kHead = 0;
  std::vector<LessonPattern> patterns;
  std::vector<double> differences;
  for (const auto& [word, positions] : kPositionChoices) {
    const Model model = random_model(shape, request.seed, positions);
    PatternStore store({{0, kHead}}, text.size());
    AttentionRequest all_visible;
    all_visible.mask = Mask{MaskKind::kNone};
    run(model, input.view(), all_visible, store);
    patterns.push_back({std::string(word), copy_of(store.pattern({0, kHead}))});
    differences.push_back(most_apart(patterns.back().weights.view(), text));
  }
  Lesson lesson;
  lesson.title = "positions: how attention takes positions into account";
  lesson.seed = request.seed;
  lesson.says = {fmt::format(
      "Without positions, q · k does not depend on the order of the tokens. Here is one head of a "
      "random model (seed {}), with the same weights and words and four kinds of positions:",
      request.seed)};
  std::vector<std::string> names = choice_words(kPositionChoices);
  Heatmap heatmap = lesson_heatmap(std::move(patterns), labels_of(text), lesson.title);
  heatmap.notes.push_back(
      fmt::format("RANDOM WEIGHTS (seed {}): the patterns mean nothing", request.seed));
  lesson.figure = std::move(heatmap);
  LessonColumn apart{"repeated_word_difference", "rows of a word differ by at most", {}};
  for (const double difference : differences) {
    apart.cells.push_back(number_cell(difference, fmt::format("{:.2f}", difference)));
  }
  lesson.table = {
      texts("positions", "positions", std::move(names)),
      texts("added_to", "how they enter",
            {"not at all", "added to the embeddings", "by rotating q and k, pair by pair",
             "as m · distance, subtracted from scores"}),
      std::move(apart)};
  lesson.ends = {
      "Without positions, both rows of \"the\" are the same, and so are its two columns: the model "
      "cannot know which cat saw which. Sinusoidal positions say where a token is; RoPE and ALiBi "
      "say how far apart two tokens are."};
  return lesson;
}

Lesson masks_lesson(const LessonRequest& /*request*/) {
  constexpr std::size_t kTokens = 7;
  constexpr std::size_t kLong = 4096;
  const std::vector<Mask> masks = {{MaskKind::kNone},
                                   {MaskKind::kCausal},
                                   {MaskKind::kWindow, 3},
                                   {MaskKind::kStrided, 3},
                                   {MaskKind::kBlock, 4}};
  Lesson lesson;
  lesson.title = "masks: which tokens can see which";
  lesson.says = {"All scores are equal, so each row divides 1 evenly among the keys it can see."};
  std::vector<LessonPattern> patterns;
  std::vector<std::string> labels, names, visible_keys;
  std::vector<double> pairs;
  for (std::size_t i = 0; i < kTokens; ++i) {
    labels.push_back(std::to_string(i));
  }
  for (const Mask& mask : masks) {
    names.push_back(mask.name());
    pairs.push_back(visible_pairs(mask, kLong));
    patterns.push_back({mask.name(), even_weights(mask, kTokens), mask});
  }
  visible_keys = {"all tokens: BERT, encoders", "itself and earlier tokens: GPT, Llama",
                  "the last 3, itself included: Mistral, Gemma",
                  "the last 3, then every third: Sparse Transformer",
                  "itself and earlier tokens in its block of 4"};
  Heatmap heatmap = lesson_heatmap(std::move(patterns), labels, lesson.title);
  heatmap.has_numbered_labels = true;
  heatmap.scale.kind = ScaleKind::kSqrt;  // keeps rows with many small weights visible
  heatmap.value_name += " (square root scale)";
  lesson.figure = std::move(heatmap);
  lesson.table = {texts("mask", "mask", names), texts("sees", "a token sees", visible_keys),
                  counts("pairs_at_4096", "pairs, n = 4,096", pairs)};
  lesson.ends = {
      "The score of a masked key becomes −∞ before softmax, and exp(−∞) is exactly 0. With a "
      "narrow mask, the work grows with n, not with n²."};
  return lesson;
}

}  // namespace attnviz
