// The numbers of the tour, against the engine's patterns and plain loops.
#include "attnviz/analysis/tour.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "attnviz/text/tokenizer.h"
#include "support/repeated.h"

namespace attnviz {
namespace {

constexpr const char* kText = "The cat sat on the mat because it was tired";

const Model& model() {
  static const Model demo = demo_model();
  return demo;
}

const ModelTokenizer& tokenizer() {
  static const std::unique_ptr<ModelTokenizer> demo = demo_tokenizer();
  return *demo;
}

// The patterns of all heads for a text.
PatternStore patterns(const TokenizedText& text) {
  PatternStore store(select_heads(model(), "", ""), text.size());
  const std::vector<TokenId> ids = text.ids();
  ModelInput input;
  input.ids = ids;
  run(model(), input, {}, store);
  return store;
}

std::string word_at(const TokenizedText& text, std::size_t token) {
  const std::string& piece = text.tokens[token].text;
  return piece.starts_with(' ') ? piece.substr(1) : piece;
}

std::string query_of(const std::string& text) {
  const TokenizedText tokens = tokenizer().tokenize(text);
  return word_at(tokens, tour_query(tokens).token);
}

double entropy(const std::vector<float>& weights) {
  double bits = 0.0;
  for (const float weight : weights) {
    const auto w = static_cast<double>(weight);
    bits -= w > 0.0 ? w * std::log2(w) : 0.0;
  }
  return bits;
}

}  // namespace

TEST_CASE(
    "tour query: without weights the first pronoun after two words, or the last word, or the last "
    "token") {
  CHECK(query_of(kText) == "it");
  CHECK(query_of("Anna met Tom and She smiled at him") == "She");
  CHECK(query_of("It was late and it was dark") == "it");
  CHECK(query_of("The cat sat") == "sat");
  CHECK(query_of("The cat sat. . .") == "sat");
  const TokenizedText marks = tokenizer().tokenize(". . ,");
  CHECK(tour_query(marks).token == marks.size() - 1);
  CHECK(query_of("It") == "It");
  const TokenizedText twice = tokenizer().tokenize("the dog and it and it");
  CHECK(tour_query(twice).token == 4);  // after BOS and three words
  CHECK(tour_query(twice).is_pronoun);
  CHECK(!tour_query(tokenizer().tokenize("The cat sat")).is_pronoun);
}

TEST_CASE("tour query: among several pronouns the first that refers to a word") {
  const TokenizedText text = tokenizer().tokenize("the dog and it and it and it");
  const std::size_t n = text.size();
  REQUIRE(n == 9);
  MatrixBuffer buffer(n, n);
  const Matrix weights = buffer.view();
  for (std::size_t query = 0; query < n; ++query) {
    std::fill(weights.row_data(query), weights.row_data(query) + n, 0.0f);
  }
  const auto followed = [&] { return tour_query(text, buffer.view()).token; };
  CHECK(followed() == 4);
  weights(6, 2) = 0.4f;  // too little
  CHECK(followed() == 4);
  weights(8, 2) = 0.6f;  // dog
  CHECK(followed() == 8);
  weights(6, 3) = 0.9f;  // and
  CHECK(followed() == 8);
  weights(6, 6) = 0.95f;  // itself
  CHECK(followed() == 8);
  weights(4, 0) = 0.9f;  // added by the tokenizer
  CHECK(followed() == 8);
  weights(6, 2) = 0.97f;
  CHECK(followed() == 6);
}

TEST_CASE("tour query: a pronoun is a whole word, and words are counted, not their pieces") {
  const auto is_pronoun = [](const std::string& text) {
    return tour_query(tokenizer().tokenize(text)).is_pronoun;
  };
  // Pieces of words that are spelled like pronouns.
  CHECK(!is_pronoun("well well hello"));
  CHECK(!is_pronoun("we saw Kitty"));
  CHECK(!is_pronoun("one more Zither"));
  CHECK(is_pronoun("a dog and it ran"));
  // Xylophone is one word of many pieces.
  CHECK(!is_pronoun("Xylophone it"));
  CHECK(is_pronoun("Xylophone and it"));
  CHECK(!is_pronoun("... , it"));
  CHECK(is_pronoun("Anna smiled, she's tired"));
  CHECK(is_pronoun("Anna smiled, she’s tired"));
}

TEST_CASE("tour query: punctuation of any script is not a word, a number is one") {
  const auto end_of_followed = [](const std::string& text) {
    const TokenizedText tokens = tokenizer().tokenize(text);
    return tokens.tokens[tour_query(tokens).token].end;
  };
  for (const char* marks : {".", "。", "”", " —", "…", "?!", "。”…"}) {
    CAPTURE(marks);
    for (const std::string word : {"The cat sat", "猫座", "in 1999"}) {
      CHECK(end_of_followed(word + marks) == word.size());
    }
  }
}

TEST_CASE("tour: it follows and embeds the text as the model reads it") {
  const Tour tour = make_tour(model(), tokenizer(), kText);
  CHECK(tour.text.tokens == tokenizer().tokenize(kText).tokens);
  CHECK(tour.n_whole == tour.text.size());
  CHECK(tour.n_heads == 16);
  const std::vector<TokenId> ids = tour.text.ids();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ModelInput alone;
    alone.ids = std::span(&ids[i], 1);
    const MatrixBuffer expected = embed(model(), alone);
    REQUIRE(tour.embeddings.cols() == expected.cols());
    for (std::size_t j = 0; j < expected.cols(); ++j) {
      REQUIRE(tour.embeddings.view()(i, j) == expected.view()(0, j));
    }
  }
}

TEST_CASE("tour: its row is from the pattern of the head found for pronouns") {
  const Tour tour = make_tour(model(), tokenizer(), kText);
  CHECK(tour.inspection.head == tour.pronoun.score.head);
  CHECK(word_at(tour.text, tour.query()) == "it");
  CHECK(tour.follows_pronoun);
  const PatternStore store = patterns(tour.text);
  const ConstMatrix pattern = store.pattern(tour.inspection.head);
  for (std::size_t key = 0; key < tour.text.size(); ++key) {
    CHECK(tour.inspection.weights[key] ==
          doctest::Approx(pattern(tour.query(), key)).epsilon(1e-5));
    for (std::size_t query = 0; query < tour.text.size(); ++query) {
      CHECK(tour.inspection.all->weights.view()(query, key) ==
            doctest::Approx(pattern(query, key)).epsilon(1e-5));
    }
  }
}

TEST_CASE("tour: shares of the first and of the previous token agree with plain loops") {
  const Tour tour = make_tour(model(), tokenizer(), kText);
  const PatternStore store = patterns(tour.text);
  const std::size_t n = tour.text.size();
  double first = 0.0;
  for (const HeadId head : store.heads()) {
    for (std::size_t query = 1; query < n; ++query) {
      first += static_cast<double>(store.pattern(head)(query, 0));
    }
  }
  CHECK(tour.first_share == doctest::Approx(first / (16.0 * static_cast<double>(n - 1))));
  double previous = 0.0;
  for (std::size_t query = 1; query < n; ++query) {
    previous += static_cast<double>(store.pattern(tour.previous.score.head)(query, query - 1));
  }
  CHECK(tour.previous_share == doctest::Approx(previous / static_cast<double>(n - 1)));
}

TEST_CASE("tour: temperatures raise the weights to the power of 1 / T") {
  const Tour tour = make_tour(model(), tokenizer(), kText);
  REQUIRE(tour.temperatures.size() == 3);
  for (const TourTemperature& row : tour.temperatures) {
    double sum = 0.0;
    for (const float weight : tour.inspection.weights) {
      sum += std::pow(static_cast<double>(weight), 1.0 / static_cast<double>(row.temperature));
    }
    REQUIRE(row.weights.size() == tour.inspection.weights.size());
    for (std::size_t key = 0; key < row.weights.size(); ++key) {
      const double power = std::pow(static_cast<double>(tour.inspection.weights[key]),
                                    1.0 / static_cast<double>(row.temperature));
      CHECK(static_cast<double>(row.weights[key]) == doctest::Approx(power / sum).epsilon(1e-4));
    }
    CHECK(row.entropy == doctest::Approx(entropy(row.weights)));
  }
  CHECK(tour.temperatures[0].temperature == 0.5f);
  CHECK(tour.temperatures[1].temperature == 1.0f);
}

TEST_CASE("tour: a learned sink takes its share of the rows and of their entropy") {
  const std::vector<float> sinks = {2.0f, -1.0f, 0.5f, 3.0f};
  Model sunk = demo_model();
  for (LayerWeights& layer : sunk.layers) {
    layer.sinks = sinks;
  }
  const Tour tour = make_tour(sunk, tokenizer(), kText);
  REQUIRE(tour.inspection.sink.has_value());
  for (const TourTemperature& row : tour.temperatures) {
    CHECK(row.weights.size() == tour.text.size());
    std::vector<float> whole = row.weights;
    whole.push_back(row.sink);
    CHECK(std::accumulate(whole.begin(), whole.end(), 0.0f) == doctest::Approx(1.0));
    CHECK(row.entropy == doctest::Approx(entropy(whole)));
  }
  CHECK(tour.temperatures[1].sink == doctest::Approx(tour.inspection.sink->weight));
  for (const TourHead* head : {&tour.previous, &tour.induction}) {
    REQUIRE(head->found);
    CHECK(std::accumulate(head->weights.begin(), head->weights.end(), head->sink) ==
          doctest::Approx(1.0));
    CHECK(head->sink > 0.0f);
  }
}

TEST_CASE("tour: in the hottest row, weights other than the largest can be seen") {
  std::size_t n_hotter = 0;
  std::size_t n_texts = 0;
  for (const char* text :
       {kText, "The dog", "cat", "Anna and Tom ran", "one two three four five"}) {
    CAPTURE(text);
    const Tour tour = make_tour(model(), tokenizer(), text);
    const auto largest_at = [&tour](double temperature) {
      double sum = 0.0;
      double most = 0.0;
      for (const float weight : tour.inspection.weights) {
        const double power = std::pow(static_cast<double>(weight), 1.0 / temperature);
        sum += power;
        most = std::max(most, power);
      }
      return most / sum;
    };
    const auto hottest = static_cast<double>(tour.temperatures.back().temperature);
    CHECK(largest_at(hottest) <= 0.75);
    CHECK((hottest == 2.0 || largest_at(hottest / 2.0) > 0.75));
    n_hotter += hottest > 2.0 ? 1 : 0;
    ++n_texts;
  }
  CHECK(n_hotter > 0);
  CHECK(n_hotter < n_texts);
  // One token has all the weight at any temperature.
  CHECK(make_tour(model(), tokenizer(), "").temperatures.back().temperature == 2.0f);
}

TEST_CASE("tour: on other words the same heads look at the previous token and copy continuations") {
  const Tour tour = make_tour(model(), tokenizer(), kText);
  // A list that the tour does not contain, twice.
  const std::string words = "boat Peter three white door Lisa school six brown cow king rain";
  const TokenizedText text = tokenizer().tokenize(words + " " + words);
  const std::size_t n = (text.size() - 1) / 2;
  REQUIRE(text.size() == 2 * n + 1);
  const PatternStore store = patterns(text);
  const ConstMatrix before = store.pattern(tour.previous.score.head);
  const ConstMatrix again = store.pattern(tour.induction.score.head);
  double previous = 0.0;
  double induction = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    previous += static_cast<double>(before(n + 1 + i, n + i)) / static_cast<double>(n);
    induction += static_cast<double>(again(n + 1 + i, i + 2)) / static_cast<double>(n);
  }
  CHECK(previous >= 0.95);
  CHECK(induction >= 0.8);
}

TEST_CASE("tour: the examples' rows are those of their sentences, and show what they should") {
  const Tour tour = make_tour(model(), tokenizer(), kText);
  for (const TourHead* head : {&tour.previous, &tour.induction, &tour.pronoun}) {
    CAPTURE(head->text.source);
    const PatternStore store = patterns(head->text);
    const ConstMatrix pattern = store.pattern(head->score.head);
    REQUIRE(head->weights.size() == head->text.size());
    for (std::size_t key = 0; key < head->text.size(); ++key) {
      CHECK(head->weights[key] == pattern(head->look.query, key));
    }
    CHECK(std::max_element(head->weights.begin(), head->weights.end()) ==
          head->weights.begin() + static_cast<std::ptrdiff_t>(head->look.key));
  }
  CHECK(tour.previous.look.key + 1 == tour.previous.look.query);
  CHECK(word_at(tour.induction.text, tour.induction.look.query) == "Harry");
  CHECK(word_at(tour.induction.text, tour.induction.look.key) == "Potter");
  CHECK(word_at(tour.pronoun.text, tour.pronoun.look.query) == "it");
  CHECK(word_at(tour.pronoun.text, tour.pronoun.look.key) == "mouse");
  REQUIRE(tour.pronoun.look.rival.has_value());
  CHECK(word_at(tour.pronoun.text, *tour.pronoun.look.rival) == "table");
  CHECK(tour.pronoun.score.n_looks == 10);  // half of two sentences for each of ten scenes
  CHECK(tour.pronoun.text.source == "The mouse hid under the table because it was afraid");
  CHECK(tour.pronoun.look.query + 3 == tour.pronoun.text.size());
  CHECK(tour.n_list_words == 20);
}

TEST_CASE("tour: a text that is too long is cut to what the model reads") {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "cat ";
  }
  const Tour tour = make_tour(model(), tokenizer(), text);
  CHECK(tour.text.size() == 256);
  CHECK(tour.n_whole > 300);
  CHECK(tour.query() == 255);
}

TEST_CASE("tour: texts of one token, of bytes, without a space") {
  for (const char* text : {"a", "\xff\xfe", "猫", "\x1b[31m", "🎉"}) {
    const Tour tour = make_tour(model(), tokenizer(), text);
    CHECK(tour.query() == tour.text.size() - 1);
    double sum = 0.0;
    for (const float weight : tour.inspection.weights) {
      sum += static_cast<double>(weight);
    }
    CHECK(sum == doctest::Approx(1.0));
  }
}

TEST_CASE("tour: a model whose heads have no job follows its most informative head") {
  Model unnamed = demo_model();
  unnamed.config.named_heads.emplace();  // measured, and none is identified
  const Tour tour = make_tour(unnamed, tokenizer(), kText);
  CHECK(!tour.previous.found);
  CHECK(!tour.induction.found);
  CHECK(tour.previous_share == 0.0);
  CHECK(tour.pronoun.found);  // which is not the name of a head
  CHECK(tour.inspection.head == tour.pronoun.score.head);

  const Model random = random_model(RandomShape{}, /*seed=*/42, Positions::kNone);
  const auto words = make_tokenizer("words");
  const Tour nothing = make_tour(random, *words, kText);
  CHECK(!nothing.pronoun.found);
  CHECK(nothing.inspection.head == HeadId{0, 0});
  CHECK(word_at(nothing.text, nothing.query()) == "it");
  CHECK(nothing.is_causal);
}

TEST_CASE("tour: only heads identified as such are used for a job") {
  Model named = demo_model();
  named.config.named_heads = {{{3, 3, "previous-token"}, {0, 0, "induction"}}};
  const Tour tour = make_tour(named, tokenizer(), kText);
  CHECK(tour.previous.score.head == HeadId{3, 3});
  CHECK(tour.induction.score.head == HeadId{0, 0});
}

TEST_CASE(
    "tour: a model that cannot read the tour's sentences shows the given text's numbers alone") {
  Model brief = demo_model();
  brief.config.n_ctx = 6;
  const Tour tour = make_tour(brief, tokenizer(), "The cat sat");
  CHECK(!tour.previous.found);
  CHECK(!tour.induction.found);
  CHECK(!tour.pronoun.found);
  CHECK(tour.inspection.weights.size() == tour.text.size());
}

TEST_CASE("tour: a tokenizer that drops the words of its sentences finds no pronoun head") {
  const std::string json = R"({"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}},
    "pre_tokenizer": {"type": "Whitespace"}, "normalizer": {"type": "Replace",
    "pattern": {"String": "The"}, "content": ")" +
                           test::repeated("a ", 1024) + R"("}})";
  const auto few_words = load_tokenizer({json, "tokenizer.json"}, {"{}", "config"});
  const Model random = random_model(RandomShape{}, /*seed=*/42, Positions::kNone);
  const Tour tour = make_tour(random, *few_words, "b a b");
  CHECK(!tour.pronoun.found);
  CHECK(tour.inspection.weights.size() == 3);
}

TEST_CASE("tour: a model whose tokens see later ones is not causal") {
  Model open = demo_model();
  open.config.mask = {MaskKind::kNone};
  const Tour tour = make_tour(open, tokenizer(), kText);
  CHECK(!tour.is_causal);
  CHECK(tour.inspection.weights.back() > 0.0f);
}

}  // namespace attnviz
