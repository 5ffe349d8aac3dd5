// Which sentences an answer rests on, against whole runs with the same knock-outs and double loops.
#include "attnviz/analysis/why/prediction_change.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/run_program.h"
#include "support/toy_retrieval.h"
#include "support/why_cases.h"

namespace attnviz {
namespace {

const std::string kFamilies = ATTNVIZ_SOURCE_DIR "/tests/reference/models/";

using Ids = std::vector<std::uint32_t>;

// ln p of the answer: a run over all but its last token, logits of all rows, sums of exponentials.
double whole_run(const Model& model, const Ids& ids, std::size_t n_prompt, AttentionRequest request,
                 const std::vector<KnockOut>& knock_outs, PatternStore* patterns = nullptr) {
  auto changes = std::make_shared<Interventions>();
  if (request.interventions != nullptr) {
    *changes = *request.interventions;
  }
  changes->knock_outs.insert(changes->knock_outs.end(), knock_outs.begin(), knock_outs.end());
  request.interventions = changes;
  const Ids all_but_last(ids.begin(), ids.end() - 1);
  ModelInput input;
  input.ids = all_but_last;
  OutputRows output(model, 0, all_but_last.size());
  RunObserver store;
  if (patterns != nullptr) {
    RunObserver kept(*patterns);
    ObserverGroup both({&output, &kept});
    run(model, input, request, both);
  } else {
    run(model, input, request, output);
  }
  const MatrixBuffer logits = run_output_head(model, output.rows(), 1);
  double sum = 0.0;
  for (std::size_t i = n_prompt; i < ids.size(); ++i) {
    double denominator = 0.0;
    for (const float logit : logits.view().row(i - 1)) {
      denominator += std::exp(static_cast<double>(logit));
    }
    sum += static_cast<double>(logits.view().row(i - 1)[ids[i]]) - std::log(denominator);
  }
  return sum;
}

// The same span, hidden as citations hide it: from the prompt's last token on, but not from itself.
std::vector<KnockOut> hidden(const IndexRange& span, std::size_t n_prompt) {
  KnockOut all;
  all.queries.first = n_prompt - 1;
  all.keys = span;
  if (span.end < n_prompt) {
    return {all};
  }
  KnockOut last = all;
  last.queries.end = n_prompt;
  last.keys.end = n_prompt - 1;
  all.queries.first = n_prompt;
  return {last, all};
}

void check_citation(const Model& model, const Ids& ids, std::size_t n_prompt,
                    const std::vector<IndexRange>& spans, const AttentionRequest& request) {
  const Citation citation = cite(model, ids, n_prompt, spans, request);
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      heads.push_back({layer, head});
    }
  }
  PatternStore patterns(heads, ids.size() - 1);
  const double before = whole_run(model, ids, n_prompt, request, {}, &patterns);
  test::check_why(citation.log_probability(), before);
  REQUIRE(citation.token_log_probabilities.size() == ids.size() - n_prompt);
  REQUIRE(citation.spans.size() == spans.size());
  std::vector<KnockOut> all;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    CAPTURE(i);
    const std::vector<KnockOut> one = hidden(spans[i], n_prompt);
    all.insert(all.end(), one.begin(), one.end());
    REQUIRE(citation.spans[i].log_probability_change.has_value());
    test::check_why(*citation.spans[i].log_probability_change,
                    whole_run(model, ids, n_prompt, request, one) - before);
    double attention = 0.0;
    for (const HeadId head : heads) {
      for (std::size_t query = n_prompt - 1; query + 1 < ids.size(); ++query) {
        for (std::size_t key = spans[i].first; key < spans[i].end; ++key) {
          attention += static_cast<double>(patterns.pattern(head).row(query)[key]);
        }
      }
    }
    const auto n_rows = static_cast<double>(heads.size() * (ids.size() - n_prompt));
    test::check_why(citation.spans[i].attention, attention / n_rows);
    CHECK_FALSE(citation.spans[i].chosen_attention.has_value());
  }
  REQUIRE(citation.change_without_all.has_value());
  test::check_why(*citation.change_without_all,
                  whole_run(model, ids, n_prompt, request, all) - before);
}

Ids mixed_ids(const Model& model, std::size_t n) {
  Ids ids;
  for (std::size_t i = 0; i < n; ++i) {
    ids.push_back(static_cast<std::uint32_t>((i * i * 5 + 3 * i + 1) % model.embeddings.rows));
  }
  return ids;
}

}  // namespace

TEST_CASE("citation: changes and attention agree with whole runs with the same knock-outs") {
  for (const char* name :
       {"gpt2-tied", "llama-gqa-bias", "gemma2-softcap-window", "gpt-neox-parallel",
        "qwen3-qk-norm", "llama-rope-dynamic", "phi3-longrope-short", "mistral-window"}) {
    CAPTURE(name);
    const Model model = load_hugging_face(kFamilies + name);
    const std::size_t n = std::min<std::size_t>(model.config.n_ctx, 36);
    const Ids ids = mixed_ids(model, n);
    for (const std::size_t n_answer : {std::size_t{1}, std::size_t{4}}) {
      const std::size_t n_prompt = n - n_answer;
      const std::vector<IndexRange> spans = {{0, 1}, {1, 5}, {5, n_prompt - 1}, {3, n_prompt}};
      check_citation(model, ids, n_prompt, spans, {});
      AttentionRequest request;
      request.temperature = 2.0f;
      request.n_threads = 2;
      check_citation(model, ids, n_prompt, spans, request);
    }
    check_citation(model, ids, 1, {{0, 1}}, {});
  }
}

TEST_CASE("citation: interventions stay in force, including means over prompt and answer") {
  const Model model = load_hugging_face(kFamilies + "llama-gqa-bias");
  const Ids ids = mixed_ids(model, 20);
  auto changes = std::make_shared<Interventions>();
  changes->ablations = {{0, 1, false, true}, {1, std::nullopt, true, false}};
  KnockOut some, one_key;
  some.queries = {4, 9};
  some.keys = {0, 3};
  one_key.keys = {1, 2};
  changes->knock_outs = {some, one_key};
  AttentionRequest request;
  request.interventions = changes;
  check_citation(model, ids, 17, {{0, 4}, {2, 3}, {10, 17}}, request);
}

TEST_CASE("citation: the token that predicts the answer is not hidden from itself") {
  const Model model = load_hugging_face(kFamilies + "gpt2-tied");
  const Ids ids = mixed_ids(model, 10);
  std::vector<double> progress;
  AttentionRequest request;
  request.report = [&](double done) { progress.push_back(done); };
  // From the only query nothing can be hidden; with one more token something can.
  const std::vector<IndexRange> spans = {{8, 9}, {7, 9}};
  const Citation one = cite(model, ids, 9, spans, request);
  CHECK_FALSE(one.spans[0].log_probability_change.has_value());
  CHECK(one.spans[0].attention > 0.0);
  CHECK(one.spans[1].log_probability_change.has_value());
  CHECK(one.change_without_all.has_value());
  CHECK_FALSE(
      cite(model, ids, 9, std::span(spans).first(1), request).change_without_all.has_value());
  CHECK(progress.back() == doctest::Approx(1.0));
  // A second token of the answer looks at the first query from outside.
  const std::vector<IndexRange> last = {{7, 8}};
  CHECK(cite(model, ids, 8, last, {}).spans[0].log_probability_change.has_value());
}

TEST_CASE("citation: bit-identical for any number of threads") {
  const Model model = load_hugging_face(kFamilies + "gemma2-softcap-window");
  const Ids ids = mixed_ids(model, 16);
  const std::vector<IndexRange> spans = {{0, 4}, {4, 9}, {9, 13}};
  const Citation one = cite(model, ids, 13, spans, {});
  AttentionRequest request;
  request.n_threads = 3;
  const Citation three = cite(model, ids, 13, spans, request);
  CHECK(one.token_log_probabilities == three.token_log_probabilities);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    CHECK(one.spans[i].log_probability_change == three.spans[i].log_probability_change);
    CHECK(one.spans[i].attention == three.spans[i].attention);
  }
}

TEST_CASE("citation: the attention of chosen heads is reported separately") {
  const Model model = load_hugging_face(kFamilies + "gpt2-tied");
  const Ids ids = mixed_ids(model, 15);
  const std::vector<IndexRange> spans = {{0, 4}, {4, 9}};
  const std::vector<HeadId> chosen = {{0, 2}, {1, 0}};
  const Citation citation = cite(model, ids, 12, spans, {}, chosen);
  PatternStore patterns(chosen, ids.size() - 1);
  whole_run(model, ids, 12, {}, {}, &patterns);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    double sum = 0.0;
    for (const HeadId head : chosen) {
      for (std::size_t query = 11; query < 14; ++query) {
        for (std::size_t key = spans[i].first; key < spans[i].end; ++key) {
          sum += static_cast<double>(patterns.pattern(head).row(query)[key]);
        }
      }
    }
    REQUIRE(citation.spans[i].chosen_attention.has_value());
    test::check_why(*citation.spans[i].chosen_attention, sum / 6.0);
  }
}

TEST_CASE("citation: the one of 20 sentences with the answer comes first, in 100 of 100 texts") {
  const test::TemporaryFolder folder;
  test::write_retrieval_model(folder.path());
  const Model model = load_hugging_face(folder.path());
  std::size_t n_first = 0;
  std::size_t n_most_attended = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const test::NeedleText text = test::needle_text(seed);
    Ids ids = text.ids;
    ids.push_back(text.answer);
    std::vector<IndexRange> spans;
    for (std::size_t i = 0; i + 1 < text.sentences.size(); ++i) {
      spans.push_back({text.sentences[i], text.sentences[i + 1]});
    }
    const Citation citation = cite(model, ids, text.ids.size(), spans, {});
    REQUIRE(citation.log_probability() > -0.1);
    const auto change = [](const SpanEffect& span) {
      return span.log_probability_change.value_or(0.0);
    };
    const auto least = std::ranges::min_element(citation.spans, {}, change);
    const auto most = std::ranges::max_element(citation.spans, {}, &SpanEffect::attention);
    const auto needle = static_cast<std::ptrdiff_t>(text.needle);
    n_first += least - citation.spans.begin() == needle ? 1u : 0u;
    n_most_attended += most - citation.spans.begin() == needle ? 1u : 0u;
    CHECK(change(*least) < -2.0);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (i != text.needle) {  // no other sentence matters
        CHECK(std::abs(change(citation.spans[i])) < 0.1);
      }
    }
  }
  CHECK(n_first >= 95);
  CHECK(n_most_attended >= 95);
}

TEST_CASE("citation: progress is reported, and impossible requests are refused") {
  const Model model = load_hugging_face(kFamilies + "gpt2-tied");
  const Ids ids = mixed_ids(model, 10);
  std::vector<double> progress;
  AttentionRequest request;
  request.report = [&](double done) { progress.push_back(done); };
  const std::vector<IndexRange> spans = {{0, 4}, {4, 8}};
  cite(model, ids, 8, spans, request);
  REQUIRE(progress.size() == 4);
  CHECK(std::ranges::is_sorted(progress));
  CHECK(progress.back() == doctest::Approx(1.0));
  CHECK_FALSE(cite(model, ids, 8, {}, {}).change_without_all.has_value());

  CHECK_THROWS_WITH_AS(cite(model, ids, 10, spans, {}), doctest::Contains("10 tokens and 0"),
                       Error);
  CHECK_THROWS_AS(cite(model, ids, 0, {}, {}), Error);
  const std::vector<IndexRange> outside = {{4, 9}};
  CHECK_THROWS_WITH_AS(cite(model, ids, 8, outside, {}), doctest::Contains("span [4, 9)"), Error);
  const std::vector<IndexRange> empty = {{4, 4}};
  CHECK_THROWS_AS(cite(model, ids, 8, empty, {}), Error);
  Ids unknown = ids;
  unknown.back() = 1000000;
  CHECK_THROWS_AS(cite(model, unknown, 8, spans, {}), Error);
  const std::vector<HeadId> no_head = {{0, 99}};
  CHECK_THROWS_AS(cite(model, ids, 8, spans, {}, no_head), Error);
  const Model bert = load_hugging_face(kFamilies + "roberta-mlm");
  CHECK_THROWS_WITH_AS(cite(bert, ids, 8, spans, {}), doctest::Contains("fills gaps"), Error);
}

}  // namespace attnviz
