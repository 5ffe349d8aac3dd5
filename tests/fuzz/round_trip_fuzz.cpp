// Any bytes as attention JSON: a document that was read is written as JSON that reads back to the
// same document, and is written as the same bytes again.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/report/json/attention_reader.h"
#include "attnviz/report/json/document_json.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

using test::require;

// JSON has no other numbers.
bool is_writable(const AttentionDocument& document) {
  return std::ranges::all_of(document.patterns, [&](const DocumentPattern& pattern) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      for (const float weight : pattern.weights.row(query)) {
        if (!std::isfinite(weight) && !(weight < 0.0f && is_before_softmax(document.kind))) {
          return false;
        }
      }
    }
    return true;
  });
}

std::string written(const AttentionDocument& document) {
  std::string out;
  write_attention_json(document, [&out](std::string_view bytes) { out += bytes; });
  return out;
}

bool same_bits(ConstMatrix a, ConstMatrix b) {
  if (a.rows != b.rows || a.cols != b.cols) {
    return false;
  }
  for (std::size_t row = 0; row < a.rows; ++row) {
    if (!std::ranges::equal(a.row(row), b.row(row), [](float x, float y) {
          return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
        })) {
      return false;
    }
  }
  return true;
}

void require_same(const AttentionDocument& a, const AttentionDocument& b) {
  require(a.text == b.text && a.query_tokens == b.query_tokens && a.key_tokens == b.key_tokens);
  require(a.token_ids == b.token_ids && a.turns == b.turns && a.notes == b.notes);
  require(a.kind == b.kind && a.part == b.part && a.patterns.size() == b.patterns.size());
  for (std::size_t i = 0; i < a.patterns.size(); ++i) {
    const DocumentPattern& one = a.patterns[i];
    const DocumentPattern& other = b.patterns[i];
    require(one.head == other.head && one.title == other.title && one.sink == other.sink);
    require(same_bits(one.weights, other.weights));
  }
}

void read(std::string_view bytes) {
  test::refused_or_done([&] {
    for (const ReadDocument& one : read_attention(bytes, "fuzz", {})) {
      if (!is_writable(one.document)) {
        continue;
      }
      const std::string once = written(one.document);
      const std::vector<ReadDocument> again = read_attention(once, "fuzz", {});
      require(again.size() == 1);
      require_same(one.document, again.front().document);
      require(written(again.front().document) == once);
    }
  });
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  return files_below("/tests/fuzz/seeds/attention", ".json");
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
