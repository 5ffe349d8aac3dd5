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

// One by one, overlapping, nested, reaching beyond the text and outside of it.
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

TEST_CASE("Visibility: sees what the mask lets through and no edge hides, for every mask") {
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

TEST_CASE("Visibility: the same edges are equal, however they were said") {
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

TEST_CASE("visibility_of: a head has the edges that are hidden in it, several what all have") {
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
