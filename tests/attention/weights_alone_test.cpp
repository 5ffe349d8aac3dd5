#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/error.h"
#include "support/model_builder.h"
#include "support/naive.h"
#include "support/naive_model.h"

namespace attnviz {

namespace {

using test::ModelBuilder;

bool same_bits(ConstMatrix a, ConstMatrix b) {
  for (std::size_t row = 0; row < a.rows; ++row) {
    if (!std::equal(a.row(row).begin(), a.row(row).end(), b.row(row).begin())) {
      return false;
    }
  }
  return a.rows == b.rows && a.cols == b.cols;
}

// Records the order of calls.
class TurnNotes : public PatternSink {
 public:
  explicit TurnNotes(std::vector<HeadId> heads, std::size_t fail_at = kNever)
      : heads_(std::move(heads)), fail_at_(fail_at) {}

  bool wants(HeadId head) const override {
    return std::find(heads_.begin(), heads_.end(), head) != heads_.end();
  }
  void rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
            ConstMatrix /*weights*/) override {
    throw std::logic_error("ordered sinks are asked for steps");
  }
  bool ordered() const override { return true; }
  OrderedStep ordered_rows(HeadId head, std::size_t first_query, std::size_t /*first_key*/,
                           ConstMatrix weights) override {
    return [this, head, first_query, n_rows = weights.rows] {
      if (turns.size() == fail_at_) {
        throw std::runtime_error("disk full");
      }
      turns.push_back({head, first_query, n_rows});
    };
  }

  struct Turn {
    HeadId head;
    std::size_t first_query;
    std::size_t n_rows;
  };
  std::vector<Turn> turns;

 private:
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  std::vector<HeadId> heads_;
  std::size_t fail_at_;
};

// Receives copied rows, though it could hand out its own memory.
class HandedStore : public PatternStore {
 public:
  using PatternStore::PatternStore;
  Matrix place(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*n_queries*/) override {
    return {};
  }
};

// Two layers of four heads each over 700 tokens: several blocks, and enough work for a second
// thread.
Model two_layers() {
  ModelBuilder builder(700, 16);
  for (int layer = 0; layer < 2; ++layer) {
    builder.add_layer({{8, 8}, {8, 8}, {8, 8}, {8, 8}}, test::OutputForm::kPerLayer);
  }
  return builder.model;
}

}  // namespace

TEST_CASE("weights alone: bit-identical to a run with outputs, only for the requested heads") {
  const Model model = two_layers();
  const std::vector<HeadId> heads = {{0, 3}, {1, 0}, {1, 2}};
  PatternStore with_outputs(heads, 700);
  test::output_of(model, test::Pieces(700), {}, &with_outputs);
  const test::NaiveResult expected = test::naive_run(model);
  for (const std::size_t n_threads : {1u, 3u}) {
    AttentionRequest request;
    request.n_threads = n_threads;
    PatternStore patterns(heads, 700);
    run(model, test::Pieces(700), request, patterns);
    for (const HeadId head : heads) {
      CHECK(same_bits(patterns.pattern(head), with_outputs.pattern(head)));
      CHECK(test::largest_difference(patterns.pattern(head),
                                     expected.patterns[head.layer][head.head]) < 2e-6);
    }
  }
}

TEST_CASE("engine: weights written in place are bit-identical to those that are handed over") {
  // Rows that fill their last cache line, and rows that do not; more than a block.
  for (const std::size_t n_tokens : {176u, 177u}) {
    CAPTURE(n_tokens);
    ModelBuilder builder(n_tokens, 16);
    builder.add_layer({{8, 8}, {8, 8}}, test::OutputForm::kPerLayer);
    for (const char* mask : {"causal", "none", "window:1000", "window:30", "strided:4"}) {
      for (const float dropout : {0.0f, 0.3f}) {
        CAPTURE(mask);
        CAPTURE(dropout);
        AttentionRequest request;
        request.mask = parse_mask(mask);
        request.dropout = dropout;
        PatternStore written({{0, 0}, {0, 1}}, n_tokens);
        HandedStore handed({{0, 0}, {0, 1}}, n_tokens);
        PatternStore one_of_two({{0, 1}}, n_tokens);
        HandedStore other_of_two({{0, 1}}, n_tokens);
        SinkGroup both({&one_of_two, &other_of_two});
        for (PatternSink* sink :
             {static_cast<PatternSink*>(&written), static_cast<PatternSink*>(&handed),
              static_cast<PatternSink*>(&both)}) {
          run(builder.model, test::Pieces(n_tokens), request, *sink);
        }
        CHECK(!written.place({0, 1}, 0, 1).empty());
        CHECK(same_bits(written.pattern({0, 0}), handed.pattern({0, 0})));
        CHECK(same_bits(written.pattern({0, 1}), handed.pattern({0, 1})));
        CHECK(same_bits(one_of_two.pattern({0, 1}), handed.pattern({0, 1})));
        CHECK(same_bits(other_of_two.pattern({0, 1}), handed.pattern({0, 1})));
      }
    }
  }
}

TEST_CASE("weights alone: values of the last layer are not computed, so they cannot overflow") {
  ModelBuilder builder(5, 4);
  builder.add_layer({{2, 2}, {2, 2}});
  builder.model.layers[0].heads[1].value.weight = builder.random(4, 2, 3e38f);
  builder.model.layers[0].heads[1].value.bias = builder.keep({3e38f, 3e38f});
  PatternStore patterns({{0, 1}}, 5);
  run(builder.model, test::Pieces(5), {}, patterns);
  CHECK(patterns.pattern({0, 1})(0, 0) == 1.0f);
}

TEST_CASE("weights alone: without a request nothing is computed") {
  ModelBuilder builder(3, 2);
  builder.add_layer({{2, 2}});
  RunObserver idle_observer;
  std::size_t n_reports = 0;
  AttentionRequest request;
  request.report = [&n_reports](double) { ++n_reports; };
  run(builder.model, test::Pieces(3), request, idle_observer);
  CHECK(n_reports == 0);
  CHECK_THROWS_AS(run(builder.model, {}, {}, idle_observer), Error);
}

TEST_CASE("engine: heads that share keys and values attend as if each had its own copy") {
  ModelBuilder builder(50, 8);
  builder.add_layer({{4, 6}, {4, 6}, {4, 6}, {4, 6}}, test::OutputForm::kPerLayer);
  builder.model.config.positions = Positions::kRope;
  std::vector<HeadWeights>& heads = builder.model.layers[0].heads;
  heads[1].key = heads[0].key;
  heads[1].value = heads[0].value;
  heads[3].key = heads[2].key;      // its own values
  heads[2].value = heads[0].value;  // its own keys
  heads[3].query = heads[0].query;
  heads[3].query.bias = {};  // the same weight with another bias is another projection
  const test::Result shared = test::run(builder.model);
  const test::NaiveResult expected = test::naive_run(builder.model);
  for (std::size_t head = 0; head < heads.size(); ++head) {
    CHECK(test::largest_difference(shared.pattern(0, head), expected.patterns[0][head]) < 2e-6);
  }
  CHECK(test::largest_difference(shared.out(), expected.output) < 5e-6);
}

TEST_CASE("engine: an ordered sink gets its turns by layer, head and query") {
  const Model model = two_layers();
  const std::vector<HeadId> heads = {{0, 1}, {0, 2}, {1, 0}, {1, 3}};
  for (const std::size_t n_threads : {1u, 2u, 5u}) {
    AttentionRequest request;
    request.n_threads = n_threads;
    TurnNotes notes(heads);
    run(model, test::Pieces(700), request, notes);
    std::size_t next = 0;
    std::size_t head = 0;
    for (const TurnNotes::Turn& turn : notes.turns) {
      if (next == 700) {
        next = 0;
        ++head;
      }
      REQUIRE(turn.head == heads[head]);
      REQUIRE(turn.first_query == next);
      next += turn.n_rows;
    }
    CHECK(head == heads.size() - 1);
    CHECK(next == 700);
  }
}

TEST_CASE("engine: a step that fails ends the run with its error and without further steps") {
  const Model model = two_layers();
  for (const std::size_t n_threads : {1u, 4u}) {
    AttentionRequest request;
    request.n_threads = n_threads;
    TurnNotes notes({{1, 0}, {1, 1}}, 3);
    CHECK_THROWS_WITH(run(model, test::Pieces(700), request, notes), "disk full");
    CHECK(notes.turns.size() == 3);
  }
}

TEST_CASE("engine: after a head fails, an ordered sink gets nothing instead of it") {
  ModelBuilder builder(700, 4);
  builder.add_layer({{2, 2}, {2, 2}, {2, 2}, {2, 2}});
  for (const std::size_t head : {1u, 3u}) {
    builder.model.layers[0].heads[head].query.weight = builder.random(4, 2, 1e30f);
    builder.model.layers[0].heads[head].key.weight = builder.random(4, 2, 1e30f);
  }
  for (const std::size_t n_threads : {1u, 2u, 5u}) {
    AttentionRequest request;
    request.n_threads = n_threads;
    TurnNotes notes({{0, 0}, {0, 1}, {0, 2}, {0, 3}});
    CHECK_THROWS_WITH_AS(run(builder.model, test::Pieces(700), request, notes),
                         doctest::Contains("layer 0, head 1: a score is not a finite number"),
                         Error);
    REQUIRE(!notes.turns.empty());
    CHECK(notes.turns.back().head == HeadId{0, 0});
    CHECK(notes.turns.back().first_query + notes.turns.back().n_rows == 700);
  }
}

TEST_CASE("engine: progress grows from above 0 to 1") {
  const Model model = two_layers();
  for (const std::size_t n_threads : {1u, 4u}) {
    std::vector<double> progress;
    AttentionRequest request;
    request.n_threads = n_threads;
    request.report = [&progress](double done) { progress.push_back(done); };
    PatternStore patterns({{1, 0}}, 700);
    run(model, test::Pieces(700), request, patterns);
    REQUIRE(!progress.empty());
    CHECK(progress.front() > 0.0);
    CHECK(std::is_sorted(progress.begin(), progress.end()));
    CHECK(progress.back() <= 1.0);
    if (n_threads == 1) {  // with several, another thread may report after the last one
      CHECK(progress.back() == doctest::Approx(1.0));
    }
  }
}

}  // namespace attnviz
