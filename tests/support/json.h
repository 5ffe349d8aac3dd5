// JSON in tests. Its classes are instantiated in one source, not in each source that reads a
// document.
#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;

namespace attnviz::test {

/// Throws nlohmann::json::parse_error.
nlohmann::json parse_json(std::string_view text);
nlohmann::json read_json(const std::filesystem::path& file);

}  // namespace attnviz::test
