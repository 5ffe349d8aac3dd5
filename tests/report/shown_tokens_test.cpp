#include "attnviz/report/patterns/shown_tokens.h"

#include <doctest/doctest.h>
#include "support/sample_heatmap.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Names = std::vector<std::string>;
using Floats = std::vector<float>;

// Three queries, tokens 2 to 4, over four keys, tokens 1 to 4; query i sees keys 0 to i + 1.
//   0.5    0.5    -      -
//   0.25   0.5    0.25   -
//   0.125  0.125  0.25   0.5
struct ThreeByFour {
  Floats weights = {0.5f, 0.5f, 0.0f, 0.0f, 0.25f, 0.5f, 0.25f, 0.0f, 0.125f, 0.125f, 0.25f, 0.5f};
  Heatmap heatmap;

  ThreeByFour() {
    heatmap.panels = {{"L0H0", test::matrix_over(weights, 3, 4),
                       [](std::size_t query, std::size_t key) { return key <= query + 1; }}};
    heatmap.query_labels = {"q0", "q1", "q2"};
    heatmap.key_labels = {"k0", "k1", "k2", "k3"};
    heatmap.first_query = 2;
    heatmap.first_key = 1;
  }
  ThreeByFour(const ThreeByFour&) = delete;  // the heatmap views `weights`
  ThreeByFour& operator=(const ThreeByFour&) = delete;
};

// Each cell, row by row; and whether it is visible.
Floats values_in(const Heatmap& heatmap) {
  Floats all;
  const HeatmapPanel& panel = heatmap.panels.front();
  for (std::size_t row = 0; row < heatmap.n_queries(); ++row) {
    for (std::size_t column = 0; column < heatmap.n_keys(); ++column) {
      all.push_back(panel.values(row, column));
    }
  }
  return all;
}

std::vector<int> visible_in(const Heatmap& heatmap) {
  std::vector<int> all;
  for (std::size_t row = 0; row < heatmap.n_queries(); ++row) {
    for (std::size_t column = 0; column < heatmap.n_keys(); ++column) {
      all.push_back(heatmap.panels.front().is_visible(row, column) ? 1 : 0);
    }
  }
  return all;
}

PooledMatrix cells_of(const Heatmap& heatmap, std::size_t rows_a_cell, std::size_t columns_a_cell) {
  return pool(heatmap, heatmap.panels.front(), {heatmap.n_queries(), rows_a_cell, 0},
              {heatmap.n_keys(), columns_a_cell, 0});
}

std::vector<std::size_t> numbers_of(const EntryNumbers& numbers, std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t entry = 0; entry < count; ++entry) {
    all.push_back(numbers.of(entry));
  }
  return all;
}

}  // namespace

TEST_CASE("transposed: keys are rows, with their names, numbers and masks") {
  const ThreeByFour sample;
  const Heatmap turned = transposed(sample.heatmap);
  CHECK(turned.query_labels == Names{"k0", "k1", "k2", "k3"});
  CHECK(turned.key_labels == Names{"q0", "q1", "q2"});
  CHECK(numbers_of(turned.first_query, 4) == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(numbers_of(turned.first_key, 3) == std::vector<std::size_t>{2, 3, 4});
  CHECK(turned.query_axis == "key (attended to)");
  CHECK(turned.key_axis == "query (attending)");
  CHECK(turned.panels.front().title == "L0H0");
  CHECK(values_in(turned) ==
        Floats{0.5f, 0.25f, 0.125f, 0.5f, 0.5f, 0.125f, 0, 0.25f, 0.25f, 0, 0, 0.5f});
  CHECK(visible_in(turned) == std::vector<int>{1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1});
  check(turned);
}

TEST_CASE("transposed: transposing twice gives the original picture, with every scale") {
  for (const ScaleKind scale : {ScaleKind::kLinear, ScaleKind::kRowMax}) {
    ThreeByFour sample;
    sample.heatmap.scale.kind = scale;
    const Heatmap again = transposed(transposed(sample.heatmap));
    CHECK(again.query_labels == sample.heatmap.query_labels);
    CHECK(again.key_labels == sample.heatmap.key_labels);
    CHECK(again.query_axis == sample.heatmap.query_axis);
    CHECK(again.key_axis == sample.heatmap.key_axis);
    CHECK(again.first_query == 2);
    CHECK(again.first_key == 1);
    CHECK(values_in(again) == sample.weights);
    CHECK(visible_in(again) == visible_in(sample.heatmap));
    for (const std::size_t block : {1U, 2U, 3U}) {
      const PooledMatrix before = cells_of(sample.heatmap, block, 2);
      const PooledMatrix after = cells_of(again, block, 2);
      CHECK(after.values == before.values);
      CHECK(after.shares == before.shares);
      CHECK(after.visible == before.visible);
    }
  }
}

TEST_CASE("transposed: a picture of one token, and of one query over some keys") {
  const Floats weights = {0.75f, 0.25f};
  Heatmap row;
  row.panels = {{"", test::matrix_over(weights, 1, 2)}};
  row.query_labels = {"q"};
  row.key_labels = {"a", "b"};
  const Heatmap column = transposed(row);
  CHECK(column.n_queries() == 2);
  CHECK(column.n_keys() == 1);
  CHECK(values_in(column) == weights);
  row.panels = {{"", test::matrix_over(weights, 1, 1)}};
  row.key_labels = {"a"};
  CHECK(values_in(transposed(row)) == Floats{0.75f});
}

TEST_CASE("transposed: shares of a row remain shares of the query, down its column") {
  ThreeByFour sample;
  sample.heatmap.scale.kind = ScaleKind::kRowMax;
  sample.heatmap.value_name = "share of the row's largest weight";
  const Heatmap turned = transposed(sample.heatmap);
  CHECK(turned.value_name == "share of the query's largest weight");
  // Each column divided by its largest, 0.5; masked weights are not cells.
  const PooledMatrix cells = cells_of(turned, 1, 1);
  CHECK(cells.shares == Floats{1, 0.5f, 0.25f, 1, 1, 0.25f, 0, 0.5f, 0.5f, 0, 0, 1});
  CHECK(cells.values == values_in(turned));
  // Two keys by two queries.
  const PooledMatrix pooled = cells_of(turned, 2, 2);
  CHECK(pooled.shares == Floats{1, 0.25f, 0.5f, 1});
  CHECK(pooled.values == Floats{0.5f, 0.125f, 0.25f, 0.5f});
}

TEST_CASE(
    "transposed: pooled cells are those of the picture, transposed; masked weights do not count") {
  ThreeByFour sample;
  // Two queries by three keys: means of the visible ones of 0.5 0.5 | 0.25 0.5 0.25, of nothing,
  // of 0.125 0.125 0.25 and of 0.5.
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kMean}) {
    sample.heatmap.pool = kind;
    const PooledMatrix cells = cells_of(transposed(sample.heatmap), 3, 2);
    CHECK(cells.rows == 2);
    CHECK(cells.cols == 2);
    CHECK(cells.visible == std::vector<std::uint8_t>{1, 1, 0, 1});
    const Floats expected = kind == PoolKind::kMax ? Floats{0.5f, 0.25f, 0.0f, 0.5f}
                                                   : Floats{0.4f, 0.5f / 3.0f, 0.0f, 0.5f};
    REQUIRE(cells.values.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(cells.values[i] == doctest::Approx(expected[i]).epsilon(1e-6));
    }
  }
}

TEST_CASE("transposed: cells pooled during the run are requested in the grid they were made for") {
  Heatmap heatmap;
  heatmap.query_labels.assign(4, "q");
  heatmap.key_labels.assign(9, "k");
  heatmap.scale.kind = ScaleKind::kRowMax;
  HeatmapPanel panel;
  panel.pooled = [](const PoolGrid& grid) {
    CHECK(grid.same_cells({{4, 2, 0}, {9, 3, 0}}));
    return PooledMatrix{
        2, 3, {1, 2, 3, 4, 5, 6}, {.1f, .2f, .3f, .4f, .5f, .6f}, {1, 1, 0, 1, 1, 1}};
  };
  heatmap.panels = {panel};
  const Heatmap turned = transposed(heatmap);
  const PooledMatrix cells = cells_of(turned, 3, 2);
  CHECK(cells.rows == 3);
  CHECK(cells.cols == 2);
  CHECK(cells.values == Floats{1, 4, 2, 5, 3, 6});
  CHECK(cells.shares == Floats{.1f, .4f, .2f, .5f, .3f, .6f});
  CHECK(cells.visible == std::vector<std::uint8_t>{1, 1, 1, 1, 0, 1});
}

TEST_CASE("with_tokens: the remaining tokens keep name, number, weights and visibility") {
  const ThreeByFour sample;
  const Heatmap kept = with_tokens(sample.heatmap, {0, 2}, {1, 3});
  CHECK(kept.query_labels == Names{"q0", "q2"});
  CHECK(kept.key_labels == Names{"k1", "k3"});
  CHECK(numbers_of(kept.first_query, 2) == std::vector<std::size_t>{2, 4});
  CHECK(numbers_of(kept.first_key, 2) == std::vector<std::size_t>{2, 4});
  CHECK(values_in(kept) == Floats{0.5f, 0.0f, 0.125f, 0.5f});
  CHECK(visible_in(kept) == std::vector<int>{1, 0, 1, 1});
  check(kept);

  // A selection of the selection: numbers are still those of the text.
  const Heatmap fewer = with_tokens(kept, {1}, {0, 1});
  CHECK(fewer.query_labels == Names{"q2"});
  CHECK(numbers_of(fewer.first_query, 1) == std::vector<std::size_t>{4});
  CHECK(numbers_of(fewer.first_key, 2) == std::vector<std::size_t>{2, 4});
  CHECK(values_in(fewer) == Floats{0.125f, 0.5f});

  // As rows and columns, and in cells of several tokens.
  const Heatmap turned = transposed(with_tokens(sample.heatmap, {0, 2}, {0, 1, 3}));
  CHECK(numbers_of(turned.first_query, 3) == std::vector<std::size_t>{1, 2, 4});
  CHECK(values_in(turned) == Floats{0.5f, 0.125f, 0.5f, 0.125f, 0.0f, 0.5f});
}

TEST_CASE("with_tokens: all of them is the same picture, and it owns its weights") {
  Heatmap kept;
  {
    ThreeByFour sample;
    kept = with_tokens(sample.heatmap, {0, 1, 2}, {0, 1, 2, 3});
    sample.weights.assign(sample.weights.size(), -1.0f);
  }
  CHECK(values_in(kept) == ThreeByFour().weights);
  CHECK(visible_in(kept) == visible_in(ThreeByFour().heatmap));
}

TEST_CASE("PoolAxis: cells of tokens with gaps are labelled with their first and last token") {
  PoolAxis axis = {5, 2, EntryNumbers({1, 2, 4, 7, 9})};
  CHECK(axis.range(0) == "1–2");
  CHECK(axis.range(1) == "4–7");
  CHECK(axis.range(2) == "9");
  CHECK(axis.name(1) == "4");
  CHECK(axis.largest_number() == 9);
}

TEST_CASE("drop_first_key: a row left empty stays if another panel's first row sees more") {
  const Floats only_first = {1.0f, 0.0f, 0.5f, 0.5f};
  const Floats both = {0.25f, 0.75f, 0.75f, 0.25f};
  Heatmap heatmap;
  heatmap.panels = {{"a", test::matrix_over(only_first, 2, 2),
                     [](std::size_t query, std::size_t key) { return key <= query; }},
                    {"b", test::matrix_over(both, 2, 2)}};
  heatmap.query_labels = heatmap.key_labels = {"x", "y"};
  drop_first_key(heatmap);
  CHECK(heatmap.query_labels == Names{"x", "y"});
  CHECK(heatmap.key_labels == Names{"y"});
  CHECK(heatmap.first_query == 0);
  CHECK(heatmap.first_key == 1);
  CHECK_FALSE(heatmap.panels[0].is_visible(0, 0));
  CHECK(heatmap.panels[0].values(1, 0) == 1.0f);
  CHECK(heatmap.panels[1].values(0, 0) == 1.0f);
  CHECK_THROWS_AS(drop_first_key(heatmap), Error);
}

TEST_CASE(
    "drop_space_marks: spaces around a word are dropped, those in it and tokens of spaces stay") {
  Names labels = {" cat", "cat ", "  two words ", "cat", " ", "   ", "", "\n", " \n"};
  drop_space_marks(labels);
  CHECK(labels == Names{"cat", "cat", "two words", "cat", " ", "   ", "", "\n", "\n"});
}

TEST_CASE("label_roles: numbered by appearance; they follow selection and transposition") {
  LabelRoles roles = label_roles({{{}, 0, 1}, {"user", 1, 3}, {"assistant", 3, 4}, {"user", 4, 5}});
  CHECK(roles.names == std::vector<std::string>{"user", "assistant"});
  using Numbers = std::vector<std::size_t>;
  CHECK(roles.queries == Numbers{0, 1, 1, 2, 1});
  CHECK(roles.keys == roles.queries);
  test::SampleHeatmap sample(5, 1);
  sample.heatmap.roles = roles;
  sample.heatmap.roles.keys = {0, 0, 2, 2, 1};
  CHECK(transposed(sample.heatmap).roles.queries == Numbers{0, 0, 2, 2, 1});
  CHECK(with_tokens(sample.heatmap, {0, 3}, {2, 4}).roles.queries == Numbers{0, 2});
  CHECK(with_tokens(sample.heatmap, {0, 3}, {2, 4}).roles.keys == Numbers{2, 1});
  drop_first_key(sample.heatmap);
  CHECK(sample.heatmap.roles.keys == Numbers{0, 2, 2, 1});
  CHECK(sample.heatmap.roles.queries.size() == sample.heatmap.n_queries());
}

}  // namespace attnviz
