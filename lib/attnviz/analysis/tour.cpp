#include "attnviz/analysis/tour.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "attnviz/analysis/head_statistics.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/softmax.h"
#include "attnviz/text/truncation.h"

namespace attnviz {

namespace {

// Written twice, one behind the other: nothing but the repetition tells what comes next.
constexpr const char* kWords[] = {"river", "Anna",  "seven", "green", "house",  "Tom",  "window",
                                  "four",  "black", "dog",   "chair", "Mary",   "two",  "yellow",
                                  "tree",  "bread", "John",  "nine",  "garden", "horse"};

constexpr const char* kPreviousExample = "The old man saw a small dog near the house";
constexpr const char* kInductionExample = "One day Harry Potter met a cat. Harry";

// "it" is the animal: a place is not tired, and needs no reason.
struct Scene {
  const char* animal;
  const char* verb;
  const char* place;
};
constexpr Scene kPronounExample = {"mouse", "hid under", "table"};
constexpr Scene kScenes[] = {{"dog", "slept on", "bed"},       {"horse", "ran to", "barn"},
                             {"bird", "stayed in", "cage"},    {"fox", "slept near", "house"},
                             {"rabbit", "sat by", "door"},     {"cow", "stood in", "field"},
                             {"lion", "walked to", "river"},   {"duck", "sat on", "lake"},
                             {"monkey", "hid behind", "wall"}, {"sheep", "waited in", "garden"}};
constexpr const char* kBeforePronoun[] = {" because it", ". It"};

std::string sentence(const Scene& scene, const char* end) {
  return fmt::format("The {} {} the {}{}", scene.animal, scene.verb, scene.place, end);
}

std::vector<TokenId> ids_of(const TokenizedText& text) {
  std::vector<TokenId> ids;
  ids.reserve(text.size());
  for (const Token& token : text.tokens) {
    ids.push_back(token.id);
  }
  return ids;
}

// A text as the model takes it; whoever looks at the input keeps this.
class Input {
 public:
  explicit Input(const TokenizedText& text) : ids_(ids_of(text)), pieces_(text.pieces()) {
    input_ = ModelInput(pieces_);
    input_.ids = ids_;
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const ModelInput& view() const noexcept { return input_; }

 private:
  std::vector<TokenId> ids_;
  std::vector<std::string_view> pieces_;
  ModelInput input_;
};

class Measure {
 public:
  Measure(const Model& model, const Tokenizer& tokenizer)
      : model_(model),
        tokenizer_(tokenizer),
        heads_(select_heads(model, "", "")),
        list_(tokenizer.tokenize(fmt::format("{0} {0}", fmt::join(kWords, " ")))),
        list_patterns_(patterns(list_)) {}

  const std::vector<HeadId>& heads() const noexcept { return heads_; }

  PatternStore patterns(const TokenizedText& text) const {
    PatternStore store(heads_, text.size());
    run_patterns(model_, Input(text).view(), {}, store);
    return store;
  }

  TourHead previous() const {
    return shown(best_in_list(previous_looks(list_.size())), kPreviousExample,
                 [](const TokenizedText& example) { return previous_looks(example.size()); });
  }

  TourHead induction() const {
    return shown(best_in_list(induction_looks(ids_of(list_))), kInductionExample,
                 [](const TokenizedText& example) { return induction_looks(ids_of(example)); });
  }

  TourHead pronoun() const {
    LookScores scores(heads_);
    for (const Scene& scene : kScenes) {
      for (const char* end : kBeforePronoun) {
        const TokenizedText text = tokenizer_.tokenize(sentence(scene, end));
        scores.add(patterns(text), pronoun_looks(text, scene));
      }
    }
    return shown(scores.best(), sentence(kPronounExample, kBeforePronoun[0]),
                 [](const TokenizedText& text) { return pronoun_looks(text, kPronounExample); });
  }

 private:
  LookScore best_in_list(const std::vector<ExpectedLook>& looks) const {
    LookScores scores(heads_);
    scores.add(list_patterns_, looks);
    return scores.best();
  }

  // The token that ends where a word of the source does: of several pieces the last.
  static std::size_t token_at_end_of(const TokenizedText& text, std::size_t begin,
                                     std::string_view word) {
    const std::size_t end = begin + word.size();
    const auto found = std::find_if(text.tokens.begin(), text.tokens.end(),
                                    [end](const Token& t) { return !t.added && t.end >= end; });
    return static_cast<std::size_t>(found - text.tokens.begin());
  }

  static std::vector<ExpectedLook> pronoun_looks(const TokenizedText& text, const Scene& scene) {
    const std::string_view source = text.source;
    return {{text.size() - 1, token_at_end_of(text, source.find(scene.animal), scene.animal),
             token_at_end_of(text, source.rfind(scene.place), scene.place)}};
  }

  template <class Looks>
  TourHead shown(const LookScore& score, const std::string& example, const Looks& looks) const {
    TourHead head;
    head.score = score;
    head.text = tokenizer_.tokenize(example);
    const std::vector<ExpectedLook> expected = looks(head.text);
    head.look = expected.empty() ? ExpectedLook{head.text.size() - 1, 0} : expected.back();
    const PatternStore store = patterns(head.text);
    const std::span<const float> row = store.pattern(score.head).row(head.look.query);
    head.weights.assign(row.begin(), row.end());
    return head;
  }

  const Model& model_;
  const Tokenizer& tokenizer_;
  std::vector<HeadId> heads_;
  TokenizedText list_;
  PatternStore list_patterns_;
};

double entropy_of(const std::vector<float>& weights) {
  HeadStatistics statistics({HeadId{}}, 1);
  statistics.rows({}, 0, 0, {weights.data(), 1, weights.size(), weights.size()});
  return statistics.summary({}).entropy;
}

std::vector<TourTemperature> temperatures_of(const Inspection& head) {
  std::vector<TourTemperature> rows;
  for (const float temperature : {0.5f, 1.0f, 2.0f}) {
    TourTemperature row;
    row.temperature = temperature;
    row.weights = head.masked;
    kernels::softmax(row.weights.data(), row.weights.size(), 1.0f / temperature);
    row.entropy = entropy_of(row.weights);
    rows.push_back(std::move(row));
  }
  return rows;
}

// The mean over the queries but the first, of which the whole mean knows `first`.
double without_first(double mean, double first, std::size_t n_queries) {
  const auto n = static_cast<double>(n_queries);
  return n_queries < 2 ? 0.0 : (mean * n - first) / (n - 1.0);
}

std::string lower_word(std::string_view piece) {
  std::string word(piece.substr(std::min(piece.find_first_not_of(' '), piece.size())));
  for (char& c : word) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

// Whether there is more to a piece than spaces and 7-bit punctuation.
bool has_letter(std::string_view piece) {
  return std::any_of(piece.begin(), piece.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

}  // namespace

std::size_t tour_query(const TokenizedText& text) {
  constexpr std::array kPronouns = {"it", "he", "she", "they", "him", "her", "them"};
  std::size_t n_before = 0;  // tokens of the text itself
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Token& token = text.tokens[i];
    const std::string word = lower_word(token.text);
    if (n_before >= 2 && !token.added &&
        std::find(kPronouns.begin(), kPronouns.end(), word) != kPronouns.end()) {
      return i;
    }
    n_before += token.added ? 0 : 1;
  }
  for (std::size_t i = text.size(); i-- > 0;) {
    if (!text.tokens[i].added && has_letter(text.tokens[i].text)) {
      return i;
    }
  }
  return text.size() - 1;
}

Tour make_tour(const Model& model, const Tokenizer& tokenizer, std::string_view text) {
  Tour tour;
  tour.text = tokenizer.tokenize(text);
  tour.n_whole = tour.text.size();
  if (tour.n_whole == 0) {
    throw Error(ErrorKind::kUsage, "the text has no tokens: there is nothing to look at");
  }
  if (model.config.n_ctx > 0 && tour.n_whole > model.config.n_ctx) {
    tour.text = truncated(std::move(tour.text), model.config.n_ctx, TruncateSide::kRight);
  }
  const Measure measure(model, tokenizer);
  tour.n_heads = measure.heads().size();
  tour.n_list_words = 2 * std::size(kWords);
  tour.n_pronoun_sentences = std::size(kScenes) * std::size(kBeforePronoun);
  tour.previous = measure.previous();
  tour.induction = measure.induction();
  tour.pronoun = measure.pronoun();

  const Input input(tour.text);
  tour.embeddings = embed(model, input.view());
  HeadStatistics statistics(measure.heads(), tour.text.size());
  run_patterns(model, input.view(), {}, statistics);
  for (const HeadId head : measure.heads()) {
    tour.first_share += without_first(statistics.summary(head).first, 1.0, tour.text.size()) /
                        static_cast<double>(tour.n_heads);
  }
  tour.previous_share =
      without_first(statistics.summary(tour.previous.score.head).previous, 0.0, tour.text.size());
  const std::array heads = {tour.pronoun.score.head};
  tour.inspection = std::move(inspect_heads(model, input.view(), {}, heads, tour_query(tour.text),
                                            /*all_queries=*/true)
                                  .front());
  tour.temperatures = temperatures_of(tour.inspection);
  return tour;
}

}  // namespace attnviz
