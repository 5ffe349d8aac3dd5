#include "commands/read_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz::app {

namespace {

// The place and the problem of nlohmann's message, which repeats what was read, be it megabytes.
std::string syntax_problem(std::string_view message) {
  constexpr std::size_t kColumns = 200;
  const std::size_t column = message.find("column ");
  return fit_width(message.substr(column == std::string_view::npos ? 0 : column), kColumns);
}

// How deep lists and objects lie in one another.
std::size_t nesting_of(std::string_view text) noexcept {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      is_in_string = !is_in_string;
    } else if (is_in_string) {
      i += c == '\\' ? 1U : 0U;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

nlohmann::json parsed_json(std::string_view text, const std::string& where) {
  constexpr std::size_t kDeepest = 64;  // nlohmann_json copies and prints values by recursion
  if (nesting_of(text) > kDeepest) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: expected at most {} lists and objects in one another, found more",
                            where, kDeepest));
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kMalformed, where + ": not JSON: " + syntax_problem(error.what()));
  }
}

std::vector<TokenId> ids_in(const nlohmann::json& list, const std::string& where) {
  if (!list.is_array() || list.empty()) {
    throw Error(ErrorKind::kMalformed, where + ": expected an array of token ids");
  }
  std::vector<TokenId> ids;
  for (const nlohmann::json& id : list) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > std::numeric_limits<TokenId>::max()) {
      throw Error(ErrorKind::kMalformed, fmt::format("{}[{}]: expected a token id, found {}", where,
                                                     ids.size(), shown_name(id.dump())));
    }
    ids.push_back(id.get<TokenId>());
  }
  return ids;
}

}  // namespace attnviz::app
