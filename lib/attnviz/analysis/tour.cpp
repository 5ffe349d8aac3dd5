#include "attnviz/analysis/tour.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/analysis/informative_heads.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/text/token_choice.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/unicode_classes.h"
#include "attnviz/text/units.h"

namespace attnviz {

namespace {

// Written twice in a row, so that only the repetition predicts the next word.
constexpr const char* kWords[] = {"river", "Anna",  "seven", "green", "house",  "Tom",  "window",
                                  "four",  "black", "dog",   "chair", "Mary",   "two",  "yellow",
                                  "tree",  "bread", "John",  "nine",  "garden", "horse"};

constexpr const char* kPreviousExample = "The old man saw a small dog near the house";
constexpr const char* kInductionExample = "One day Harry Potter met a cat. Harry";

// "it" is the animal, since a place has no feelings. The word that settles this comes after "it",
// where a causal model cannot see it yet.
struct Scene {
  const char* animal;
  const char* verb;
  const char* place;
  const char* state;
};
constexpr Scene kPronounExample = {"mouse", "hid under", "table", "afraid"};
constexpr Scene kScenes[] = {
    {"dog", "slept on", "bed", "tired"},        {"horse", "ran to", "barn", "hungry"},
    {"bird", "stayed in", "cage", "afraid"},    {"fox", "slept near", "house", "tired"},
    {"rabbit", "sat by", "door", "hungry"},     {"cow", "stood in", "field", "hungry"},
    {"lion", "walked to", "river", "thirsty"},  {"duck", "sat on", "lake", "tired"},
    {"monkey", "hid behind", "wall", "afraid"}, {"sheep", "waited in", "garden", "hungry"}};
constexpr const char* kBeforePronoun[] = {" because ", ". "};
constexpr std::size_t kLots = 2;  // scenes to score a head on, and scenes to choose it on

// Positions of the words, in bytes.
struct Sentence {
  std::string text;
  std::size_t animal_end = 0;
  std::size_t place_end = 0;
  std::size_t pronoun_end = 0;
};

Sentence sentence(const Scene& scene, const char* between) {
  Sentence made;
  made.text = fmt::format("The {}", scene.animal);
  made.animal_end = made.text.size();
  made.text += fmt::format(" {} the {}", scene.verb, scene.place);
  made.place_end = made.text.size();
  made.text += fmt::format("{}{}", between, between[0] == '.' ? "It" : "it");
  made.pronoun_end = made.text.size();
  made.text += fmt::format(" was {}", scene.state);
  return made;
}

class Measure {
 public:
  Measure(const Model& model, const Tokenizer& tokenizer)
      : model_(model),
        tokenizer_(tokenizer),
        heads_(select_heads(model, "", "")),
        list_(test_text(fmt::format("{0} {0}", joined_by(kWords, " ")))) {}

  const std::vector<HeadId>& heads() const noexcept { return heads_; }

  TourHead previous() const {
    const std::optional<LookScore> best = best_in_list(
        "previous-token", [](const TokenizedText& list) { return previous_looks(list.size()); });
    return shown(best, kPreviousExample,
                 [](const TokenizedText& example) { return previous_looks(example.size()); });
  }

  TourHead induction() const {
    const std::optional<LookScore> best = best_in_list(
        "induction", [](const TokenizedText& list) { return induction_looks(list.ids()); });
    return shown(best, kInductionExample,
                 [](const TokenizedText& example) { return induction_looks(example.ids()); });
  }

  TourHead pronoun() const {
    std::array<LookScores, kLots> scores = {LookScores(heads_), LookScores(heads_)};
    for (std::size_t i = 0; i < std::size(kScenes); ++i) {
      for (const char* between : kBeforePronoun) {
        const Sentence made = sentence(kScenes[i], between);
        if (const auto text = test_text(made.text)) {
          scores[i % kLots].add(text->patterns, pronoun_looks(text->text, made));
        }
      }
    }
    const Sentence example = sentence(kPronounExample, kBeforePronoun[0]);
    const LookScore score = scores[0].score(scores[1].best().head);
    constexpr double kLeast = 1.0 / 3.0;
    const bool has_job =
        score.n_looks > 0 && 4 * score.n_won >= 3 * score.n_looks && score.weight >= kLeast;
    return shown(has_job ? std::optional(score) : std::nullopt, example.text,
                 [&example](const TokenizedText& text) { return pronoun_looks(text, example); });
  }

 private:
  struct TestText {
    TokenizedText text;
    PatternStore patterns;
    SinkStore sinks;
  };

  // Runs a sentence of the tour's own; absent if the model does not accept it.
  std::optional<TestText> test_text(const std::string& source) const {
    try {
      TokenizedText text = tokenizer_.tokenize(source);
      if (text.size() == 0 || model_.config.is_too_long(text.size())) {
        return std::nullopt;
      }
      PatternStore patterns(heads_, text.size());
      SinkStore sinks(model_, heads_, text.size());
      SinkGroup both({&patterns, &sinks});
      run(model_, InputColumns(text).view(), {}, both);
      return TestText{std::move(text), std::move(patterns), std::move(sinks)};
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // Whether the head may count as one with this name.
  bool may_be(HeadId head, std::string_view name) const {
    const auto& named = model_.config.named_heads;
    return !named || std::any_of(named->begin(), named->end(), [&](const NamedHead& one) {
      return one.layer == head.layer && one.head == head.head && one.name == name;
    });
  }

  template <class Looks>
  std::optional<LookScore> best_in_list(std::string_view name, const Looks& looks) const {
    std::vector<HeadId> candidates = heads_;
    std::erase_if(candidates, [&](HeadId head) { return !may_be(head, name); });
    if (candidates.empty() || !list_) {
      return std::nullopt;
    }
    LookScores scores(candidates);
    scores.add(list_->patterns, looks(list_->text));
    return scores.best();
  }

  // The token that ends where a word of the source does, the last of several pieces. Absent if the
  // tokenizer leaves words out.
  static std::optional<std::size_t> token_at(const TokenizedText& text, std::size_t end) {
    const auto found = std::find_if(text.tokens.begin(), text.tokens.end(),
                                    [end](const Token& t) { return !t.added && t.end >= end; });
    return found == text.tokens.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - text.tokens.begin()));
  }

  static std::vector<ExpectedLook> pronoun_looks(const TokenizedText& text, const Sentence& made) {
    const auto pronoun = token_at(text, made.pronoun_end);
    const auto animal = token_at(text, made.animal_end);
    const auto place = token_at(text, made.place_end);
    if (!pronoun || !animal || !place) {
      return {};
    }
    return {{*pronoun, *animal, *place}};
  }

  template <class Looks>
  TourHead shown(const std::optional<LookScore>& score, const std::string& source,
                 const Looks& looks) const {
    TourHead head;
    const std::optional<TestText> example = score ? test_text(source) : std::nullopt;
    if (!example) {
      head.found = false;
      return head;
    }
    head.score = *score;
    head.text = example->text;
    const std::vector<ExpectedLook> expected = looks(head.text);
    head.look = expected.empty() ? ExpectedLook{head.text.size() - 1, 0} : expected.back();
    const std::span<const float> row = example->patterns.pattern(score->head).row(head.look.query);
    head.weights.assign(row.begin(), row.end());
    const std::vector<float> sinks = example->sinks.mean(std::span(&score->head, 1));
    head.sink = sinks.empty() ? 0.0f : sinks[head.look.query];
    return head;
  }

  const Model& model_;
  const Tokenizer& tokenizer_;
  std::vector<HeadId> heads_;
  std::optional<TestText> list_;
};

// The head that is most informative about `text`, and the query that supports it. With random
// weights no head is informative.
InformativeHead most_informative_head(const Model& model, const TokenizedText& text,
                                      const std::vector<HeadId>& heads) {
  if (model.config.random_weights || heads.size() == 1) {
    return {.head = heads.front()};
  }
  std::vector<MaskedHeads> groups;
  for (const HeadId head : heads) {
    if (groups.empty() || groups.back().heads.front().layer != head.layer) {
      groups.push_back({mask_of(model, head.layer, {}), {}});
    }
    groups.back().heads.push_back(head);
  }
  const std::vector<std::string_view> pieces = text.pieces();
  const std::vector<std::string> names(pieces.begin(), pieces.end());
  InformativeSearch search(TokenRoles(names, names, token_marks(text)), groups, text.size(),
                           text.size());
  run(model, InputColumns(text).view(), {}, search);
  return search.best();
}

double entropy_of(const std::vector<float>& weights) {
  const ScoredTokens keys(weights.size(), {});
  HeadScores scores({HeadId{}}, keys, [](HeadId) { return Mask{MaskKind::kNone}; });
  scores.rows({}, 0, 0, {weights.data(), 1, weights.size(), weights.size()});
  return scores.scores({})[Score::kEntropyBits].value_or(0.0);  // a single key leaves no choice
}

// `has_sink`: the last score is a learned sink's.
TourTemperature at_temperature(const std::vector<float>& scores, bool has_sink, float temperature) {
  TourTemperature row{temperature, scores};
  kernels::softmax(row.weights.data(), row.weights.size(), 1.0f / temperature);
  row.entropy = entropy_of(row.weights);
  if (has_sink) {
    row.sink = row.weights.back();
    row.weights.pop_back();
  }
  return row;
}

// A temperature of 2 hardly changes a sharp row: the last one then rises until the change is
// visible.
std::vector<TourTemperature> temperatures_of(const Inspection& head) {
  constexpr float kSharp = 0.75f;
  constexpr float kHottest = 16.0f;
  std::vector<float> scores = head.masked;
  if (head.sink) {
    scores.push_back(head.sink->score);
  }
  const auto at = [&](float temperature) {
    return at_temperature(scores, head.sink.has_value(), temperature);
  };
  const auto is_sharp = [](const TourTemperature& row) {
    return std::max(row.sink, *std::max_element(row.weights.begin(), row.weights.end())) > kSharp;
  };
  const bool has_choice = std::count_if(scores.begin(), scores.end(),
                                        [](float score) { return std::isfinite(score); }) > 1;
  TourTemperature hot = at(2.0f);
  while (has_choice && is_sharp(hot) && hot.temperature < kHottest) {
    hot = at(2.0f * hot.temperature);
  }
  return {at(0.5f), at(1.0f), std::move(hot)};
}

std::string_view without_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// The tokens of one word, from `first` on.
struct WordTokens {
  std::size_t first = 0;
  std::size_t last = 0;
  std::string_view word;  // without the space before it; empty if added by the tokenizer
};

std::vector<WordTokens> words_of(const TokenizedText& text) {
  const std::string_view source = text.source;
  const std::vector<std::size_t> numbers = word_numbers(text);
  std::vector<WordTokens> words;
  words.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Token& token = text.tokens[i];
    if (i == 0 || numbers[i] != numbers[i - 1]) {
      words.push_back({i, i, {}});
    }
    WordTokens& word = words.back();
    word.last = i;
    if (!token.added) {
      const std::size_t begin = std::min(text.tokens[word.first].begin, source.size());
      word.word = without_spaces(source.substr(begin, std::max(token.end, begin) - begin));
    }
  }
  return words;
}

// Whether at least half of the weight is on one token that the query can refer to.
bool finds_word(const TokenizedText& text, std::size_t query, std::span<const float> weights) {
  constexpr float kHalf = 0.5f;
  const auto largest = std::max_element(weights.begin(), weights.end());
  const auto key = static_cast<std::size_t>(largest - weights.begin());
  return *largest >= kHalf && key != query && can_be_meant(text.tokens[key]);
}

}  // namespace

bool can_be_meant(const Token& token) {
  return !token.added && !token.special &&
         (is_content_word(token.text) || !pronoun_of(token.text).empty());
}

TourQuery tour_query(const TokenizedText& text, ConstMatrix weights) {
  constexpr std::size_t kWordsBefore = 2;
  const std::vector<WordTokens> words = words_of(text);
  std::optional<std::size_t> first;
  std::optional<std::size_t> last;
  std::size_t n_before = 0;
  for (const WordTokens& word : words) {
    if (!has_letter_or_number(word.word)) {
      continue;
    }
    const std::string pronoun = n_before < kWordsBefore ? "" : pronoun_of(word.word);
    for (std::size_t i = word.first; i <= word.last && !pronoun.empty(); ++i) {
      if (pronoun_of(text.tokens[i].text) != pronoun) {
        continue;
      }
      if (i < weights.rows && finds_word(text, i, weights.row(i))) {
        return {i, true};
      }
      first = first.value_or(i);
    }
    last = word.last;
    ++n_before;
  }
  return first ? TourQuery{*first, true} : TourQuery{last.value_or(text.size() - 1), false};
}

Tour make_tour(const Model& model, const Tokenizer& tokenizer, std::string_view text) {
  Tour tour;
  tour.is_random = model.config.random_weights;
  tour.is_trained = model.config.is_transformer() && !tour.is_random;
  tour.is_by_position = !model.inputs.empty();
  tour.adds_positions = model.config.positions == Positions::kLearned ||
                        model.config.positions == Positions::kSinusoidal;
  tour.norms_embeddings = model.embedding_norm.present();
  tour.embedding_scale = model.embedding_scale;
  tour.text = tokenizer.tokenize(text);
  tour.n_whole = tour.text.size();
  if (tour.n_whole == 0) {
    throw Error(ErrorKind::kUsage, "the text has no tokens");
  }
  if (model.config.n_ctx > 0 && tour.n_whole > model.config.n_ctx) {
    tour.text = truncated(std::move(tour.text), model.config.n_ctx, TruncateSide::kRight);
  }
  const Measure measure(model, tokenizer);
  tour.n_heads = measure.heads().size();
  tour.n_list_words = std::size(kWords);
  tour.previous = measure.previous();
  tour.induction = measure.induction();
  tour.pronoun = measure.pronoun();

  const InputColumns input(tour.text);
  tour.embeddings = embed(model, input.view());
  const InformativeHead telling = tour.pronoun.found
                                      ? InformativeHead{.head = tour.pronoun.score.head}
                                      : most_informative_head(model, tour.text, measure.heads());
  const std::vector heads = {telling.head};
  const ScoredTokens tokens(tour.text.size(), {});
  HeadScores scores(measure.heads(), tokens,
                    [&model](HeadId head) { return mask_of(model, head.layer, {}); });
  PatternStore pattern(heads, tour.text.size());
  SinkGroup sinks({&scores, &pattern});
  run(model, input.view(), {}, sinks);
  for (const HeadId head : measure.heads()) {
    tour.first_share +=
        scores.scores(head)[Score::kFirst].value_or(0.0) / static_cast<double>(tour.n_heads);
  }
  if (tour.previous.found) {
    tour.previous_share = scores.scores(tour.previous.score.head)[Score::kPrevious].value_or(0.0);
  }
  const TourQuery followed = tour.pronoun.found || !telling.qualifies()
                                 ? tour_query(tour.text, pattern.pattern(heads.front()))
                                 : TourQuery{telling.query, false};
  tour.follows_pronoun = followed.is_pronoun;
  tour.inspection = std::move(
      inspect_heads(model, input.view(), {}, heads, followed.token, /*all_queries=*/true).front());
  tour.has_output = model.layers[telling.head.layer].has_output();
  tour.is_causal = !tour.inspection.mask.visible(0, 1);
  tour.temperatures = temperatures_of(tour.inspection);
  return tour;
}

}  // namespace attnviz
