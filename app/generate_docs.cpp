// Writes the manual page and the shell completions into a folder, at build time.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "options/command_line.h"

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file << text;
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: attnviz_generate_docs FOLDER VERSION DATE\n", stderr);
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    const auto commands = attnviz::app::describe_commands();
    write(folder / "attnviz.1", attnviz::app::man_page(commands, argv[2], argv[3]));
    write(folder / "attnviz.bash", attnviz::app::kBashCompletion);
    write(folder / "_attnviz", attnviz::app::kZshCompletion);
    write(folder / "attnviz.fish", attnviz::app::kFishCompletion);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attnviz_generate_docs: %s\n", error.what());
    return 1;
  }
  return 0;
}
