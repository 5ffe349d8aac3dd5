#include "options/written_files.h"

#include <string>
#include <system_error>

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

// Links whose names begin so: files of lines may take the places that they lead to.
void add_links(const fs::path& prefix, std::vector<fs::path>& files) {
  const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  const std::string name = prefix.filename().string();
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(name) && entry->is_symlink(error)) {
      files.push_back(entry->path());
    }
  }
}

}  // namespace

std::vector<std::filesystem::path> written_files(const Command& command) {
  std::vector<std::filesystem::path> files;
  const auto add = [&files](const std::string& name) {
    if (name != "-") {
      files.emplace_back(name);
    }
  };
  std::visit(
      [&](const auto& options) {
        if constexpr (requires { options.output.files; }) {
          for (const std::string& name : options.output.files) {
            const std::string prefix = name.substr(0, name.find("{line}"));
            add(prefix);
            if (prefix.size() < name.size()) {
              add_links(prefix, files);
            }
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
