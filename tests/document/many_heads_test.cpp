// Documents of very many heads, and of very much that is said of them.
#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "attnviz/document/run_facts.h"

namespace attnviz {
namespace {

using Clock = std::chrono::steady_clock;

void check_fast(Clock::time_point begin) {
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  CHECK(seconds.count() < 20.0);  // beside other tests, with sanitizers
}

}  // namespace

TEST_CASE("names: of many heads, and of many others") {
  constexpr std::size_t kMany = 300'000;
  ModelFacts facts;
  facts.named_heads.emplace();
  std::vector<HeadId> heads;
  for (std::size_t i = 0; i < kMany; ++i) {
    facts.named_heads->push_back({1, i, "sink"});
    heads.push_back({0, i});
  }
  const auto begin = Clock::now();
  CHECK(names_note(facts, heads) == "on probes no head here earns a name");
  check_fast(begin);
}

}  // namespace attnviz
