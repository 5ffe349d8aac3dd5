#include "support/json.h"

#include "support/run_program.h"

template class nlohmann::basic_json<>;

namespace attnviz::test {

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text);
}

nlohmann::json read_json(const std::filesystem::path& file) {
  return parse_json(read_file(file));
}

}  // namespace attnviz::test
