#include "attnviz/document/json/marks_json.h"

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/document/json/attention_facts_reader.h"

namespace attnviz {

namespace {

using Indices = std::vector<std::size_t>;

// Every list with its name in documents.
constexpr std::pair<std::string_view, Indices TokenMarks::*> kLists[] = {
    {"special", &TokenMarks::special},
    {"added", &TokenMarks::added},
    {"generated", &TokenMarks::generated},
    {"second_text", &TokenMarks::second}};

}  // namespace

void write_marks_member(JsonWriter& json, const TokenMarks& marks) {
  if (marks == TokenMarks{}) {
    return;
  }
  json.begin_object("marks");
  for (const auto& [name, list] : kLists) {
    if ((marks.*list).empty()) {
      continue;
    }
    json.begin_array(name);
    for (const std::size_t index : marks.*list) {
      json.value(std::uint64_t{index});
    }
    json.end_array();
  }
  json.end_object();
}

TokenMarks read_marks(const JsonNode& node, std::size_t n_tokens) {
  TokenMarks marks;
  for (const auto& [name, list] : kLists) {
    const auto found = node.find(name);
    if (!found) {
      continue;
    }
    marks.*list = read_indices(*found);
    for (std::size_t i = 0; i < (marks.*list).size(); ++i) {
      const std::size_t index = (marks.*list)[i];
      if (index >= n_tokens || (i > 0 && index <= (marks.*list)[i - 1])) {
        found->fail(fmt::format("expected indices of the {} tokens in rising order, found {}",
                                n_tokens, index));
      }
    }
  }
  return marks;
}

}  // namespace attnviz
