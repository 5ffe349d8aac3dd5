#include "options/written_files.h"

#include <string>

namespace attnviz::app {

std::vector<std::filesystem::path> written_files(const Command& command) {
  std::vector<std::filesystem::path> files;
  const auto add = [&files](const std::string& name) {
    if (name != "-") {
      files.emplace_back(name);
    }
  };
  std::visit(
      [&add](const auto& options) {
        if constexpr (requires { options.output.files; }) {
          for (const std::string& name : options.output.files) {
            add(name.substr(0, name.find("{line}")));
          }
        } else if constexpr (requires { options.output; }) {
          add(options.output);
        }
        if constexpr (requires { options.partial; }) {
          if (options.partial) {
            add(options.partial->string());
          }
        }
      },
      command);
  return files;
}

bool is_verbose(const Command& command) {
  return std::visit(
      [](const auto& options) {
        if constexpr (requires { options.talk.verbose; }) {
          return options.talk.verbose;
        } else {
          return false;
        }
      },
      command);
}

}  // namespace attnviz::app
