#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/formats/json_reader.h"
#include "attnviz/model/random_model.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/report/model_info.h"
#include "attnviz/terminal/views.h"
#include "attnviz/text/tokenizer.h"
#include "support/model_builder.h"
#include "support/naive.h"

namespace attnviz {

namespace {

constexpr std::size_t kManyTokens = 203;
const std::vector<HeadId> kHeads = {{0, 0}, {0, 2}, {1, 0}, {1, 1}};

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "w" + std::to_string(i % 37) + " ";
  }
  return text;
}

// The same attention, kept and pooled while it is computed.
struct Both {
  explicit Both(const Drawing& drawing, const char* mask = "causal", std::size_t n_threads = 2,
                std::size_t n_tokens = kManyTokens, const std::vector<KnockOut>& hidden = {}) {
    RandomShape shape;
    shape.n_layers = 2;
    shape.n_heads = 3;
    shape.d_model = 12;
    model = random_model(shape, 3);
    text = make_tokenizer("words")->tokenize(words(n_tokens));
    request.mask = parse_mask(mask);
    request.n_threads = n_threads;
    request.interventions = std::make_shared<const Interventions>(Interventions{{}, hidden});
    const auto patterns = std::make_shared<PatternStore>(kHeads, n_tokens);
    run(model, text.pieces(), request, *patterns);
    kept = attention_document(model, text, request, *patterns);
    kept.storage = patterns;
    kept.drawing = drawing;
    streamed = attention_document(model, text, request, kHeads);
    streamed.drawing = drawing;
  }

  // A picture of each; the second has only the cells of these grids.
  std::pair<Heatmap, Heatmap> pictures(const std::vector<PoolGrid>& grids) const {
    std::vector<std::shared_ptr<const PooledPatterns>> cells;
    std::vector<PatternSink*> sinks;
    for (const PoolGrid& grid : grids) {
      for (const MaskedHeads& group : heads_by_mask(streamed, kHeads)) {
        const auto sink = std::make_shared<PooledPatterns>(group.heads, group.visibility,
                                                           pooling_of(streamed.drawing), grid);
        sinks.push_back(sink.get());
        cells.push_back(sink);
      }
    }
    SinkGroup group(sinks);
    run(model, text.pieces(), request, group);
    Heatmap without = attention_heatmap(streamed);
    set_cells(without, streamed, cells);
    return {attention_heatmap(kept), std::move(without)};
  }

  Model model;
  TokenizedText text;
  AttentionRequest request;
  AttentionDocument kept;
  AttentionDocument streamed;
};

Drawing drawing_of(ScaleKind scale, PoolKind pool, bool drop_sink) {
  Drawing drawing;
  drawing.scale.kind = scale;
  drawing.scale.low = scale == ScaleKind::kLog ? 1e-3f : 0.0f;
  drawing.pool = pool;
  drawing.drop_sink = drop_sink;
  return drawing;
}

void check_close(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  CHECK(most <= tolerance);
}

}  // namespace

TEST_CASE("pooled patterns: the cells that pool() makes from kept patterns, for every mask") {
  for (const char* mask : {"causal", "none", "window:1", "window:30", "strided:7", "block:50"}) {
    CAPTURE(mask);
    for (const PoolKind kind : {PoolKind::kMax, PoolKind::kMean}) {
      const Both both(drawing_of(ScaleKind::kLinear, kind, false), mask);
      for (const std::size_t block : {1u, 2u, 7u, 24u, 100u, 300u}) {
        CAPTURE(block);
        const PoolGrid grid{{kManyTokens, block, 0}, {kManyTokens, 2 * block, 0}};
        const auto [kept, streamed] = both.pictures({grid});
        for (std::size_t i = 0; i < kHeads.size(); ++i) {
          const PooledMatrix expected = pool(kept, kept.panels[i], grid.queries, grid.keys);
          const PooledMatrix found = pool(streamed, streamed.panels[i], grid.queries, grid.keys);
          check_close(found.values, expected.values, kind == PoolKind::kMax ? 0.0 : 6e-8);
          CHECK(found.visible == expected.visible);
          CHECK(found.shares.empty());
        }
      }
    }
  }
}

TEST_CASE("pooled patterns: any number of hidden edges are masked, and excluded from means") {
  // In one layer more edges than anyone would list, in the other a corner.
  std::vector<KnockOut> hidden = {{{0, 90}, {0, 40}, {1, 2}, {}}};
  for (std::size_t query = 0; query < kManyTokens; query += 2) {
    for (const std::size_t key : {3u, 50u, 51u, 120u}) {
      hidden.push_back({{query, query + 1}, {key, key + 1}, {0, 1}, {}});
    }
  }
  for (const char* mask : {"causal", "none", "strided:7"}) {
    CAPTURE(mask);
    const Both both(drawing_of(ScaleKind::kLinear, PoolKind::kMean, false), mask, 2, kManyTokens,
                    hidden);
    const auto is_seen = [&](HeadId head, std::size_t query, std::size_t key) {
      return both.request.mask->visible(query, key) &&
             std::ranges::none_of(hidden, [&](const KnockOut& one) {
               return one.is_in(head) && one.queries.has(query) && one.keys.has(key);
             });
    };
    for (const std::size_t block : {1u, 7u, 24u}) {
      CAPTURE(block);
      const PoolGrid grid{{kManyTokens, block, 0}, {kManyTokens, block, 0}};
      const auto [kept, streamed] = both.pictures({grid});
      for (std::size_t i = 0; i < kHeads.size(); ++i) {
        const PooledMatrix of_kept = pool(kept, kept.panels[i], grid.queries, grid.keys);
        const PooledMatrix found = pool(streamed, streamed.panels[i], grid.queries, grid.keys);
        std::vector<double> sums(found.values.size());
        std::vector<std::size_t> counts(found.values.size());
        for (std::size_t query = 0; query < kManyTokens; ++query) {
          for (std::size_t key = 0; key < kManyTokens; ++key) {
            if (is_seen(kHeads[i], query, key)) {
              const std::size_t cell = query / block * found.cols + key / block;
              sums[cell] += static_cast<double>(both.kept.patterns[i].weights(query, key));
              ++counts[cell];
            }
          }
        }
        std::vector<float> means(sums.size());
        std::vector<std::uint8_t> visible(sums.size());
        for (std::size_t cell = 0; cell < sums.size(); ++cell) {
          visible[cell] = counts[cell] > 0 ? 1 : 0;
          means[cell] = counts[cell] == 0
                            ? 0.0f
                            : static_cast<float>(sums[cell] / static_cast<double>(counts[cell]));
        }
        CHECK(found.visible == visible);
        CHECK(of_kept.visible == visible);
        check_close(found.values, means, 6e-8);
        check_close(of_kept.values, means, 6e-8);
      }
    }
  }
}

TEST_CASE("pooled patterns: shares of each row's largest weight, and rows without the first key") {
  for (const bool drop_sink : {false, true}) {
    for (const ScaleKind scale : {ScaleKind::kLinear, ScaleKind::kRowMax}) {
      for (const char* mask : {"causal", "none", "window:9"}) {
        CAPTURE(mask);
        const Both both(drawing_of(scale, PoolKind::kMax, drop_sink), mask);
        const PoolGrid grid = terminal_grid(attention_heatmap(both.kept), {});
        REQUIRE(grid.keys.pooled());
        const auto [kept, streamed] = both.pictures({grid});
        CHECK(streamed.n_keys() == (drop_sink ? kManyTokens - 1 : kManyTokens));
        for (std::size_t i = 0; i < kHeads.size(); ++i) {
          const PooledMatrix expected = pool(kept, kept.panels[i], grid.queries, grid.keys);
          const PooledMatrix found = pool(streamed, streamed.panels[i], grid.queries, grid.keys);
          check_close(found.values, expected.values, 0.0);
          check_close(found.shares, expected.shares, 0.0);
          CHECK(found.visible == expected.visible);
        }
      }
    }
  }
}

TEST_CASE("pooled patterns: means do not depend on threads") {
  const PoolGrid grid{{kManyTokens, 9, 0}, {kManyTokens, 9, 0}};
  std::vector<std::vector<float>> values;
  for (const std::size_t n_threads : {1u, 2u, 5u}) {
    const Both both(drawing_of(ScaleKind::kLinear, PoolKind::kMean, false), "causal", n_threads);
    const auto [kept, streamed] = both.pictures({grid});
    values.push_back(pool(streamed, streamed.panels[1], grid.queries, grid.keys).values);
  }
  CHECK(values[0] == values[1]);
  CHECK(values[0] == values[2]);
}

TEST_CASE("pooled patterns: pictures, screens and notes equal those of kept patterns") {
  for (const ScaleKind scale : {ScaleKind::kLinear, ScaleKind::kLog, ScaleKind::kRowMax}) {
    const Both both(drawing_of(scale, PoolKind::kMax, scale == ScaleKind::kLog), "causal", 2, 700);
    const Heatmap plan = attention_heatmap(both.streamed);
    FigureStyle figure;
    figure.dpi = 30;  // leaves room for fewer cells than tokens
    const TerminalOptions blocks{TerminalStyle::kBlocks, ColorDepth::kTrueColor, 90};
    const TerminalOptions mask{TerminalStyle::kMask, ColorDepth::kNone, 70};
    const PoolGrid png = figure_grid(plan, figure);
    REQUIRE(png.keys.pooled());
    const auto [kept, streamed] =
        both.pictures({png, terminal_grid(plan, blocks), terminal_grid(plan, mask)});
    CHECK(render_figure(streamed, figure) == render_figure(kept, figure));
    CHECK(to_ansi(heatmap_page(streamed, blocks), blocks.color) ==
          to_ansi(heatmap_page(kept, blocks), blocks.color));
    CHECK(to_plain(heatmap_page(streamed, mask)) == to_plain(heatmap_page(kept, mask)));
    CHECK(flat_note(streamed, &png) == flat_note(kept));
    CHECK_THROWS_AS(heatmap_page(streamed, {TerminalStyle::kNumbers}), std::logic_error);
  }
}

TEST_CASE("attention JSON: writing it during the computation gives the same bytes") {
  for (const std::vector<HeadId>& heads :
       {kHeads, std::vector<HeadId>{{0, 0}, {0, 2}, {1, 0}, {1, 2}}, std::vector<HeadId>{{1, 1}}}) {
    Both both({});
    keep_patterns(both.kept, heads);
    const AttentionDocument document =
        attention_document(both.model, both.text, both.request, heads);
    const auto patterns = std::make_shared<PatternStore>(heads, kManyTokens);
    run(both.model, both.text.pieces(), both.request, *patterns);
    const AttentionDocument kept =
        attention_document(both.model, both.text, both.request, *patterns);
    std::string expected;
    write_attention_json(kept, [&expected](std::string_view bytes) { expected += bytes; });

    std::string found;
    AttentionJsonStream stream(document, [&found](std::string_view bytes) { found += bytes; });
    RowStream rows(
        heads, kManyTokens, append_json_row,
        [&stream](std::size_t n_rows, std::string_view items) { stream.rows(n_rows, items); });
    run(both.model, both.text.pieces(), both.request, rows);
    stream.finish();
    CHECK(found == expected);
  }
}

TEST_CASE("largest weight: that of the requested heads, for any mask and number of threads") {
  constexpr std::size_t kTokens = 300;
  test::ModelBuilder builder(kTokens, 8);
  builder.add_layer({{8, 8}, {8, 8}, {8, 8}, {8, 8}});
  for (const char* mask : {"causal", "none", "window:20"}) {
    for (const std::size_t n_threads : {1u, 3u}) {
      AttentionRequest request;
      request.mask = parse_mask(mask);
      request.n_threads = n_threads;
      request.temperature = 3.0f;
      const std::vector<HeadId> heads = {{0, 1}, {0, 2}};
      PatternStore patterns(heads, kTokens);
      LargestWeight largest(heads);
      CHECK(largest.value() == 0.0f);
      run(builder.model, test::Pieces(kTokens), request, patterns);
      run(builder.model, test::Pieces(kTokens), request, largest);
      float expected = 0.0f;
      for (const HeadId head : heads) {
        const ConstMatrix pattern = patterns.pattern(head);
        for (std::size_t query = 0; query < kTokens; ++query) {
          for (const float weight : pattern.row(query)) {
            expected = std::max(expected, weight);
          }
        }
      }
      CHECK(largest.value() == expected);
    }
  }
  CHECK_FALSE(LargestWeight({{0, 1}}).wants({0, 0}));
}

TEST_CASE("largest weight: without the first key, of the rest of each row") {
  const std::vector<float> weights = {0.375f, 0.25f, 0.375f, 0.625f, 0.125f, 0.25f};
  const std::vector<float> whole = {1.0f, 0.0f, 0.0f};
  LargestWeight largest({{0, 0}}, /*drop_first_key=*/true);
  largest.rows({0, 0}, 0, 0, test::matrix_over(weights, 2, 3));
  CHECK(largest.value() == static_cast<float>(0.25 / 0.375));
  largest.rows({0, 0}, 3, 5, test::matrix_over(weights, 1, 3));  // keys from 5 on: all count
  CHECK(largest.value() == static_cast<float>(0.25 / 0.375));
  largest.rows({0, 0}, 4, 5, test::matrix_over(whole, 1, 3));
  CHECK(largest.value() == 1.0f);
}

}  // namespace attnviz
