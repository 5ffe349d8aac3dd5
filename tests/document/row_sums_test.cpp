#include "attnviz/document/row_sums.h"

#include <doctest/doctest.h>

#include <limits>
#include <string_view>
#include <vector>

#include "attnviz/document/json/attention_reader.h"
#include "support/naive.h"

namespace attnviz {
namespace {

AttentionDocument read_one(std::string_view bytes) {
  return read_attention(bytes, "a.json", {}).front().document;
}

}  // namespace

TEST_CASE("row_sum_note: tells the first row that does not sum to 1, and of how many") {
  CHECK(row_sum_note(read_one("[[1, 0], [0.5, 0.5], [0, 0], [0.3334, 0.6665]]")).empty());
  CHECK(row_sum_note(read_one("[[[1, 0], [0.5, 0.25]], [[2, 0], [0, 1]]]")) ==
        "2 of 4 rows do not sum to 1: head 0.0, query 1 sums to 0.75");
  CHECK(row_sum_note(read_one(R"({"dropout": 0.5, "attention": [[[[2]]]]})")).empty());
}

TEST_CASE("row_sum_note: what is masked does not count, what is no number does") {
  AttentionDocument document = read_one("[[1, 9], [0.5, 0.5]]");
  document.run.mask = Mask{};
  CHECK(row_sum_note(document).empty());
  const std::vector<float> weights = {std::numeric_limits<float>::quiet_NaN(), 0.0f, 0.5f, 0.5f};
  document.patterns.front().weights = test::matrix_over(weights, 2, 2);
  CHECK(row_sum_note(document) ==
        "1 of 2 rows do not sum to 1: head 0.0, query 0 has what is no finite number");
}

}  // namespace attnviz
