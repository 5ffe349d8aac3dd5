#include "fuzz/odd_command.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "options/command_line.h"

namespace attnviz::test {

namespace {

using Words = std::vector<std::string>;

// A placeholder from an option's description, and the values that may replace it.
const std::map<std::string, Words, std::less<>>& known_values() {
  static const std::map<std::string, Words, std::less<>> values = {
      {"D", {"8", "0.1", "2", "1e30", "nan"}},
      {"EDGES", {"1>0", "mat>cat", "2>0-1@0.0", "all>all", "0>*", "last>sink@1", "9>9", ">"}},
      {"FACTOR", {"2", "0", "1e30", "inf"}},
      {"FILE", {kInput, kInput, kInput, kInput, kInput, "-", "-", "missing"}},
      {"IDS", {"1,2,3", "0", "5,5,5,5,5,5", "4294967295", "[1,2]", ""}},
      {"INDEX", {"0", "1", "2", "-1", "18446744073709551615"}},
      {"INDICES", {"0", "0,2", "1", "18446744073709551615"}},
      {"K", {"1", "3", "100", "18446744073709551615"}},
      {"LIST", {"0.0", "head 0.1,head 3.2", "mlp 1", "layer 2", "0.*", "all", "heads", "steps"}},
      {"LO:HI", {"0:1", "-1:1", "0.1:0.5", "1:0", "1e-45:3e38", "0:1e-45", "nan:1"}},
      {"NAME", {"viridis", "blue-red", "gray_r", "nothing"}},
      {"P", {"0.5", "0.99999994", "1"}},
      {"PARTS", {"heads", "layers", "mlps", "edges", "heads,mlps"}},
      {"PATH", {kInput, "missing"}},
      {"PX", {"4", "1", "30", "400"}},
      {"SCORE", {"previous", "induction", "entropy_bits", "self", "nothing"}},
      {"SCORE=V", {"previous=0.5", "self=-1", "induction=nan", "="}},
      {"SCORES", {"previous,induction", "self", "all", "1", "1,2,3", "-inf,0", "nan,1"}},
      {"SEL", {"0", "*", "0.0", "*.0", "0-1", "0.0,1.1", "0.*", "1,0", "9.9"}},
      {"SHARE", {"0.5", "0", "1", "1e-30"}},
      {"SIZE", {"1", "2", "3", "4", "8"}},
      {"STEP", {"weights", "scores", "masked", "values", "query", "1"}},
      {"T", {"1", "0.5", "8", "1e-30", "1e30"}},
      {"TEXT",
       {"The cat sat on the mat", "a", "猫が mat の上に\u0301 🐱", "a\nb\n\nc. d?", "-",
        "{\"text\":\"x\"}", "\x1b[31m<s> [CLS] </s>", "one two one two one two one two", "\xff\xfe",
        "When Mary and John went to the store, John gave a drink to"}},
      {"TOKEN", {"cat", "0", " cat", "1", "last", "mat#2", "-1", "9", "18446744073709551615"}},
      {"TOKENS", {"a b c", R"(["a","b","c"])", "a"}},
      {"W", {"4", "0", "18446744073709551615"}},
      {"WHAT", {"0.0 previous > 0.1", "count 1 induction", "count 0 self", "x"}},
      {"WORD", {"cat", "a", "mat"}},
  };
  return values;
}

// For counts: large ones that merely take long are not findings.
const Words kNumbers = {
    "1", "0", "2", "3", "8", "-1", "18446744073709551615", "9223372036854775808"};
const Words kModels = {"demo",      "gemma2-window", "roberta-mlm",
                       "bert-pair", "qwen3-qk-norm", "gpt2-quantised"};
const Words kOutputs = {"-",        "out.png",        "out.svg",        "out.html",
                        "out.json", "out.csv",        "out.txt",        "out.npy",
                        "out",      "out-{line}.png", "out-{line}.json"};

std::string model(Choices& choices) {
  const std::string& name = choices.of(kModels);
  return name == "demo"
             ? name
             : ATTNVIZ_SOURCE_DIR "/tests/reference/gguf/models/" + std::string(name) + ".gguf";
}

std::string known_value(Choices& choices, std::string_view word) {
  const auto values = known_values().find(word);
  return choices.of(values == known_values().end() ? kNumbers : values->second);
}

// One of the alternatives between the bars: literally, with a number for the letter in "window:W",
// or a value for a placeholder.
std::string described_value(Choices& choices, std::string_view description) {
  Words words;
  for (std::size_t begin = 0; begin <= description.size();) {
    const std::size_t end = std::min(description.find('|', begin), description.size());
    words.emplace_back(description.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string word = choices.of(words);
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (is_upper(word.front())) {
    return known_value(choices, word);
  }
  if (word.size() > 2 && word[word.size() - 2] == ':' && is_upper(word.back())) {
    word.pop_back();
    return word + choices.of(kNumbers);
  }
  return word;
}

bool is_model(const app::OptionSpec& option) {
  return option.names.front() == "-m";
}

std::string value_of(Choices& choices, const app::OptionSpec& option) {
  const std::string& name = option.names.back();
  if (is_model(option)) {
    return model(choices);
  }
  if (name == "--output") {
    return choices.of(kOutputs);
  }
  if (name == "--partial") {
    return "sums";
  }
  if (!option.choices.empty() && choices.once_in(2)) {
    return choices.of(option.choices);
  }
  return described_value(choices, option.value);
}

void add_option(Choices& choices, const app::OptionSpec& option, Words& words) {
  constexpr std::array kNothingToRun = {"-h", "--help", "--version", "--max-memory"};
  if (std::ranges::find(kNothingToRun, option.names.back()) != kNothingToRun.end()) {
    return;
  }
  words.push_back(option.names.back());
  if (!option.is_flag()) {
    words.push_back(value_of(choices, option));
  }
}

void add_argument(Choices& choices, const app::CommandDescription& command,
                  const app::OptionSpec& argument, Words& words) {
  if (command.name == "lesson") {
    // The lesson on the cache generates hundreds of tokens: minutes with sanitizers.
    const std::string& name = choices.of(argument.choices);
    words.push_back(name == "cache" ? "softmax" : name);
    return;
  }
  const bool takes_more = command.name != "render" && argument.times == app::Times::kMany;
  do {
    words.push_back(command.name == "heads" && choices.once_in(2)
                        ? kInput
                        : known_value(choices, argument.names.front()));
  } while (takes_more && choices.once_in(2));
}

}  // namespace

std::vector<std::string> odd_command(Choices& choices) {
  static const std::vector<app::CommandDescription> commands = app::describe_commands();
  // Half of all command lines draw attention.
  const auto drawn = std::find_if(commands.begin(), commands.end(),
                                  [](const auto& one) { return one.name == "render"; });
  const app::CommandDescription& command = choices.once_in(2) ? *drawn : choices.of(commands);
  Words words = {std::string(command.name)};
  for (const app::OptionSpec& argument : command.arguments) {
    // Other combinations only test refusals.
    if (&argument == &command.arguments.front() || command.name == "meaning") {
      add_argument(choices, command, argument, words);
    }
  }
  for (std::size_t n = choices.of<std::size_t>({0, 1, 1, 2, 2, 3, 4, 6}); n > 0; --n) {
    add_option(choices, choices.of(command.options), words);
  }
  if (command.name == "tour") {
    words.emplace_back("--all");
  }
  // The embedded model, larger than the others here, would take too long in most cases.
  const bool takes_model = std::ranges::any_of(command.options, is_model);
  if (takes_model && !choices.once_in(16)) {
    words.insert(words.end(), {"-m", model(choices)});
  }
  return words;
}

}  // namespace attnviz::test
