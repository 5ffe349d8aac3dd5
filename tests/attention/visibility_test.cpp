#include "attnviz/attention/visibility.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "attnviz/model/random_model.h"

namespace attnviz {
namespace {

constexpr std::size_t kSeen = 23;

// Single, overlapping, nested, reaching beyond the text, and outside of it.
std::vector<KnockOut> some_edges() {
  std::vector<KnockOut> edges = {{{3, 9}, {1, 4}, {}, {}},   {{5, 7}, {3, 6}, {}, {}},
                                 {{8, 30}, {8, 9}, {}, {}},  {{20, 21}, {}, {}, {}},
                                 {{12, 15}, {4, 4}, {}, {}}, {{}, {17, 18}, {}, {}},
                                 {{40, 50}, {0, 3}, {}, {}}, {{3, 9}, {1, 4}, {}, {}}};
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t query = i * 7 % kSeen;
    edges.push_back({{query, query + 1}, {i * 5 % 11, i * 5 % 11 + 1}, {}, {}});
  }
  return edges;
}

bool is_seen(const Mask& mask, const std::vector<KnockOut>& edges, std::size_t query,
             std::size_t key) {
  return mask.visible(query, key) && std::ranges::none_of(edges, [&](const KnockOut& one) {
           return one.queries.has(query) && one.keys.has(key);
         });
}

}  // namespace

TEST_CASE(
    "Visibility: an edge is visible if the mask allows it and it is not hidden, for every mask") {
  for (const char* name : {"causal", "none", "window:5", "strided:4", "block:6"}) {
    CAPTURE(name);
    const Mask mask = parse_mask(name);
    for (const std::vector<KnockOut>& edges : {std::vector<KnockOut>(), some_edges()}) {
      const Visibility seen(mask, edges, kSeen, kSeen);
      CHECK(seen.hides_edges() == !edges.empty());
      for (std::size_t query = 0; query < kSeen; ++query) {
        std::vector<bool> in_range(kSeen);
        seen.each_range(query, kSeen, [&](std::size_t begin, std::size_t end) {
          REQUIRE(begin < end);
          std::fill(in_range.begin() + static_cast<std::ptrdiff_t>(begin),
                    in_range.begin() + static_cast<std::ptrdiff_t>(end), true);
        });
        for (std::size_t key = 0; key < kSeen; ++key) {
          const bool expected = is_seen(mask, edges, query, key);
          REQUIRE(seen.visible(query, key) == expected);
          REQUIRE((in_range[key] && mask.visible(query, key)) == expected);
          std::size_t count = 0;
          for (std::size_t end = key; end <= kSeen; ++end) {
            REQUIRE(seen.n_visible(query, key, end) == count);
            count += end < kSeen && is_seen(mask, edges, query, end) ? 1u : 0u;
          }
        }
      }
    }
  }
}

TEST_CASE("Visibility: the same edges are equal, however they were given") {
  const auto causal = [](const std::vector<KnockOut>& edges) {
    return Visibility({}, edges, kSeen, kSeen);
  };
  const Visibility whole = causal({{{2, 6}, {1, 4}, {}, {}}});
  CHECK(whole == causal({{{2, 4}, {1, 4}, {}, {}},
                         {{4, 6}, {1, 3}, {}, {}},
                         {{4, 6}, {3, 4}, {}, {}},
                         {{50, 60}, {}, {}, {}}}));
  CHECK(!(whole == causal({{{2, 6}, {1, 3}, {}, {}}})));
  CHECK(!(whole == Visibility()));
  CHECK(!(whole == Visibility({MaskKind::kNone}, {{{2, 6}, {1, 4}, {}, {}}}, kSeen, kSeen)));
  CHECK(causal({{{30, 40}, {}, {}, {}}}) == Visibility());
}

TEST_CASE("Visibility: few bytes per edge, also where long edges cross many queries") {
  constexpr std::size_t kMany = 5000;
  std::vector<KnockOut> edges;
  for (std::size_t i = 0; i < kMany; ++i) {
    edges.push_back({{i, 2 * kMany}, {2 * i, 2 * i + 1}, {}, {}});
  }
  const HiddenEdges hidden(edges, 2 * kMany, 2 * kMany);
  std::size_t n_ranges = 0;
  for (std::size_t node = 1; node < hidden.nodes().size(); ++node) {
    n_ranges += hidden.nodes()[node].size();
  }
  CHECK(n_ranges < 15 * kMany);  // lists for each query: 12 million
  const Visibility seen({MaskKind::kNone}, edges, 2 * kMany, 2 * kMany);
  for (const std::size_t query : {0u, 1u, 77u, 4999u, 5000u, 9999u}) {
    const std::size_t n_hidden = std::min<std::size_t>(query + 1, kMany);
    CHECK(seen.n_visible(query, 0, 2 * kMany) == 2 * kMany - n_hidden);
    CHECK(!seen.visible(query, 2 * n_hidden - 2));
    CHECK(seen.visible(query, 2 * n_hidden - 1));
  }
}

TEST_CASE("visibilities: heads share their hidden edges, also across layers given separately") {
  const Model model = random_model({.n_layers = 2, .n_heads = 2}, /*seed=*/1);
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(
      Interventions{{}, {{{3, 4}, {0, 1}, {0, 1}, {}}, {{3, 4}, {0, 1}, {1, 2}, {1, 2}}}});
  const auto seen = visibilities(model, request, 5);
  CHECK(!seen({0, 0}).visible(3, 0));
  CHECK(seen({1, 0}).visible(3, 0));
  CHECK(seen({1, 1}).hidden_edges() == seen({0, 0}).hidden_edges());
  CHECK(seen({1, 0}).hidden_edges() == nullptr);
}

TEST_CASE("edges_hidden_in: for several heads, the edges hidden in each, however they were given") {
  Interventions all;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t i = 0; i < 40; ++i) {
      const std::size_t query = (i * 7 + layer) % kSeen;
      const std::size_t key = i * 5 % 11 + layer;
      all.knock_outs.push_back(
          {{query, query + 1 + i % 4}, {key, key + 1 + i % 3}, {layer, layer + 1}, {}});
    }
  }
  all.knock_outs.push_back({{9, IndexRange::kNoEnd}, {4, 6}, {}, {}});
  const std::vector<HeadId> heads = {{0, 0}, {0, 1}, {1, 0}};
  const Visibility seen({}, edges_hidden_in(all, heads), kSeen, kSeen);
  for (std::size_t query = 0; query < kSeen; ++query) {
    for (std::size_t key = 0; key <= query; ++key) {
      const bool is_hidden = std::ranges::all_of(heads, [&](HeadId head) {
        return std::ranges::any_of(all.knock_outs, [&](const KnockOut& one) {
          return one.is_in(head) && one.queries.has(query) && one.keys.has(key);
        });
      });
      REQUIRE(seen.visible(query, key) == !is_hidden);
    }
  }
  all.knock_outs = {{{2, 3}, {1, 2}, {0, 1}, {}}, {{2, 3}, {1, 2}, {1, 2}, {}}};
  CHECK(edges_hidden_in(all, heads) == std::vector<KnockOut>{{{2, 3}, {1, 2}, {}, {}}});
}

TEST_CASE("visibility_of: a head's hidden edges; for several heads, those hidden in all") {
  const Model model = random_model({.n_layers = 2, .n_heads = 2}, /*seed=*/1);
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(
      Interventions{{}, {{{3, 4}, {0, 1}, {1, 2}, {}}, {{3, 4}, {1, 2}, {}, {0, 1}}}});
  const auto sees = [&](HeadId head, std::size_t key) {
    return visibility_of(model, head, request, 5).visible(3, key);
  };
  CHECK(sees({0, 0}, 0));
  CHECK(!sees({0, 0}, 1));
  CHECK(sees({0, 1}, 1));
  CHECK(!sees({1, 1}, 0));
  const std::vector<HeadId> both = {{1, 0}, {1, 1}};
  const Visibility shared = shared_visibility(model, both, request, 5);
  CHECK(!shared.visible(3, 0));
  CHECK(shared.visible(3, 1));
  CHECK(!shared.visible(3, 4));
}

}  // namespace attnviz
