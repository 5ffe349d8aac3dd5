// Any bytes as the words of a command line, separated by NUL: they are a command, or refused with a
// usage Error that a terminal can show. Nothing is run.

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"
#include "options/advice.h"
#include "options/command_line.h"

namespace attnviz {

namespace {

std::vector<std::string> words_of(std::string_view input) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < input.size();) {
    const std::size_t end = std::min(input.find('\0', begin), input.size());
    words.emplace_back(input.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

void read(std::string_view input) {
  const auto names_model = [](const std::string& word, bool beside_sentence) {
    return word == "gpt2" || (beside_sentence && word == "falcon");
  };
  try {
    app::parse_command_line(words_of(input), names_model);
  } catch (const Error& error) {
    test::require(error.kind() == ErrorKind::kUsage);
    const std::string message = app::in_option_names(error.what(), error.parameter());
    test::require(!message.empty() && message.size() < 20 * input.size() + 4000);
  }
}

}  // namespace

namespace test {

namespace {

// The words of an example, as a shell splits them.
std::string words_with_nuls(std::string_view command) {
  std::string words;
  bool quoted = false;
  for (const char c : command) {
    quoted = quoted != (c == '"');
    if (c != '"') {
      words += c == ' ' && !quoted ? '\0' : c;
    }
  }
  return words;
}

}  // namespace

// Every example of the help, and every option with its first possible value, for the first command
// that has it.
std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  std::set<std::string> seen;
  for (const app::CommandDescription& command : app::describe_commands()) {
    for (const app::Example& example : command.examples) {
      const std::string words = words_with_nuls(example.command);
      seeds.push_back(words.substr(std::min(words.find('\0') + 1, words.size())));
    }
    for (const app::OptionSpec& option : command.options) {
      const std::string& name = option.names.back();
      if (seen.insert(name).second) {
        const std::string value = option.value.substr(0, option.value.find('|'));
        seeds.push_back(std::string(command.name) + '\0' + name + '\0' +
                        (option.is_flag() ? "" : value + '\0') + "The cat sat");
      }
    }
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
