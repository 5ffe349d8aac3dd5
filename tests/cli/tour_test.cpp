// attnviz tour, run as a user would: its screens, its numbers, and how one goes through it.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

constexpr const char* kTourText = "The cat sat on the mat because it was tired";
constexpr const char* kPrompt = "[Enter: ";
const std::string kModel = "demo";
// Of random weights, whose heads specialise in nothing.
constexpr const char* kShort = " of 5: ";

// The numbers of the screens' titles, in the order in which they were printed.
std::string titles(const std::string& printed) {
  const std::string out = terminal_text(printed);
  static const std::regex title("(^|\n)([1-6]) of 6: ");
  std::string numbers;
  for (std::sregex_iterator found(out.begin(), out.end(), title), end; found != end; ++found) {
    numbers += (*found)[2];
  }
  return numbers;
}

// What is printed from the title of one screen to that of the next.
std::string screen_of(const std::string& out, char number, const char* of = " of 6: ") {
  const std::size_t begin = out.find(number + std::string(of));
  REQUIRE(begin != std::string::npos);
  const std::size_t end = out.find(static_cast<char>(number + 1) + std::string(of));
  return out.substr(begin, end == std::string::npos ? end : end - begin);
}

// Typed on a terminal.
ProgramResult walked(const std::string& keys, std::vector<std::string> options = {}) {
  ProgramRun run;
  run.arguments = {"tour"};
  run.arguments.insert(run.arguments.end(), options.begin(), options.end());
  run.environment["TERM"] = "xterm-256color";
  run.tty_columns = 80;
  run.stdin_is_tty = true;
  run.input = keys;
  return attnviz(run);
}

// "Head L2H3" as --head takes it.
std::string head_in(const std::string& text, const std::string& before) {
  const std::regex pattern(before + "L([0-9]+)H([0-9]+)");
  std::smatch found;
  REQUIRE(std::regex_search(text, found, pattern));
  return found[1].str() + "." + found[2].str();
}

// All numbers of a line, signs and decimals included.
std::vector<double> numbers_in(const std::string& line) {
  static const std::regex number("-?[0-9]+(\\.[0-9]+)?");
  std::vector<double> numbers;
  for (std::sregex_iterator found(line.begin(), line.end(), number), end; found != end; ++found) {
    numbers.push_back(std::stod(found->str()));
  }
  return numbers;
}

std::vector<std::string> words_in(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t begin = line.find_first_not_of(' '); begin != std::string::npos;) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(' ', end);
  }
  return words;
}

void check_rounded(double shown, const json& exact, double factor, double half) {
  CAPTURE(shown);
  CHECK(std::abs(shown - factor * exact.get<double>()) <= half * 1.001);
}

// The index of the token that the tour follows in kTourText.
std::size_t followed() {
  const json tokens = attnviz_json({"tokenize", "-m", kModel, kTourText})["tokens"];
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const json& token = tokens[i];
    const std::string piece = token.is_object() ? token["token"] : token;
    if (piece == "it" || piece == " it") {
      return i;
    }
  }
  FAIL("kTourText has no \"it\"");
  return 0;
}

json inspected(const std::string& head) {
  const json document = attnviz_json(
      {"inspect", "-m", kModel, kTourText, "--head", head, "--query", std::to_string(followed())});
  return document["heads"][0];
}

// A cell of `decimals` decimals without its percent sign: a number, or "<.1", ">99.9", "<1", ">99".
void check_percent(const std::string& cell, const json& exact, int decimals) {
  CAPTURE(cell);
  const double half = decimals == 0 ? 0.5 : 0.05;
  const double percent = 100.0 * exact.get<double>();
  if (cell[0] == '<') {
    CHECK(percent < half * 1.001);
  } else if (cell[0] == '>') {
    CHECK(percent > 100.0 - half * 1.001);
  } else {
    CHECK(std::abs(std::stod(cell) - percent) <= half * 1.001);
  }
}

// Checks rows such as " 2  cat  33.58  5.94  1.0000  56.5%  ###", an index, a token and four
// numbers, against what inspect prints for the query. Returns how many there are.
std::size_t check_rows(const std::string& screen, const json& query, const char* scores) {
  std::size_t n_rows = 0;
  for (const std::string& line : lines_of(screen)) {
    static const std::regex row(
        " +([0-9]+) +[^ ]+ +(-?[0-9.]+) +(-?[0-9.]+) +([0-9.]+) +([<>]?[0-9.]+)%.*");
    std::smatch found;
    if (!std::regex_match(line, found, row)) {
      continue;
    }
    const std::size_t key = std::stoul(found[1]);
    CHECK(key == n_rows++);
    REQUIRE(key < query["scores"].size());
    check_rounded(std::stod(found[2]), query["scores"][key], 1.0, 0.005);
    check_rounded(std::stod(found[3]), query[scores][key], 1.0, 0.005);
    check_rounded(std::stod(found[4]), query["exponentials"][key], 1.0, 0.00005);
    check_percent(found[5], query["weights"][key], 1);
  }
  return n_rows;
}

}  // namespace

TEST_CASE("tour: all six screens in a pipe, in 80 columns of 7 bits, without a question") {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"tour"}, {"tour", "--all"}, {"tour", "--color", "never"}}) {
    const ProgramResult run = attnviz(options);
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    CHECK(titles(run.out) == "123456");
    CHECK(!contains(run.out, kPrompt));
    for (const char c : run.out) {
      REQUIRE((c == '\n' || (c >= ' ' && c <= '~')));
    }
    for (const std::string& line : lines_of(run.out)) {
      REQUIRE(line.size() <= 80);
    }
  }
}

TEST_CASE("tour: styles and colours follow the options") {
  const std::string blocks = attnviz({"tour", "--style", "blocks"}).out;
  CHECK(contains(blocks, "√"));
  CHECK(!contains(blocks, "\x1b"));
  CHECK(contains(attnviz({"tour", "--color", "always"}).out, "\x1b["));
  CHECK(contains(walked("q\n").out, "\x1b["));
  CHECK(!contains(walked("q\n", {"--color", "never"}).out, "\x1b"));
  CHECK(!contains(walked("q\n", {"--style", "ascii", "--color", "never"}).out, "…"));
}

TEST_CASE("tour: the scores and weights are those that inspect prints for the same head") {
  const std::string screen = screen_of(attnviz({"tour"}).out, '3');
  const json head = inspected(head_in(screen, "Head "));
  CHECK(check_rows(screen, head["for_query"], "scaled") == followed() + 1);
}

TEST_CASE("tour: what comes between scaling and softmax is in its scores, and explained") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"weights", "--positions", "alibi", "-o", "w.json"}).exit_code == 0);
  const std::string text = "the cat sat on a mat";
  const std::string screen =
      screen_of(in_folder(folder, {"tour", "-m", "w.json", text, "--all"}).out, '3', kShort);
  CHECK(contains(screen, "from s (ALiBi)"));
  const json document =
      parse_json(in_folder(folder, {"inspect", "-m", "w.json", text, "--head",
                                    head_in(screen, "Head "), "--query", "-1", "--json"})
                     .out);
  CHECK(check_rows(screen, document["heads"][0]["for_query"], "masked") == 6);
}

TEST_CASE(
    "tour: tokens' numbers to which those of positions are added are not called the embedding") {
  const TemporaryFolder folder;
  REQUIRE(in_folder(folder, {"weights", "--positions", "sinusoidal", "-o", "w.json"}).exit_code ==
          0);
  const std::string screen = screen_of(
      in_folder(folder, {"tour", "-m", "w.json", "the cat saw the dog", "--all"}).out, '1', kShort);
  CHECK(contains(screen, "embedding + position"));
}

TEST_CASE("tour: the vectors are those that inspect prints for the same token") {
  const std::string screen = screen_of(attnviz({"tour"}).out, '2');
  const json head = inspected(head_in(screen, "Head "));
  std::size_t n_rows = 0;
  for (const std::string& line : lines_of(screen)) {
    for (const char* name : {"x", "q", "k", "v"}) {
      if (line.starts_with("   " + std::string(name) + "  ")) {
        const std::vector<double> shown = numbers_in(line);
        const json& exact = name[0] == 'x'   ? head["x"][followed()]
                            : name[0] == 'q' ? head["q_projected"][followed()]
                            : name[0] == 'k' ? head["k_projected"][followed()]
                                             : head["v"][followed()];
        check_rounded(shown.front(), exact.front(), 1.0, 0.00005);
        check_rounded(shown.back(), exact.back(), 1.0, 0.00005);
        ++n_rows;
      }
    }
  }
  CHECK(n_rows == 4);
}

TEST_CASE("tour: the triangle has the weights of the whole head") {
  const std::string screen = screen_of(attnviz({"tour"}).out, '4');
  const json head = inspected(head_in(screen, "head\\s+"));
  const std::size_t n_tokens = head["weights"].size();
  std::size_t query = 0;
  for (const std::string& line : lines_of(screen)) {
    std::vector<std::string> words = words_in(line);
    if (words.size() != n_tokens + 2 || words[0] != std::to_string(query)) {
      continue;  // an index, a token and the cells
    }
    for (std::size_t key = 0; key < n_tokens; ++key) {
      const std::string& cell = words[key + 2];
      if (key > query) {
        CHECK(cell == ".");
      } else {
        check_rounded(std::stod(cell), head["weights"][query][key], 100.0, 0.5);
      }
    }
    ++query;
  }
  CHECK(query == n_tokens);
}

TEST_CASE("tour: the heads' examples are what show draws of the same sentence") {
  const std::vector<std::string> lines = lines_of(screen_of(attnviz({"tour"}).out, '5'));
  std::size_t n_examples = 0;
  for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
    if (!contains(lines[i + 1], "<|bos|>")) {
      continue;
    }
    const std::vector<std::string> tokens = words_in(lines[i + 1]);
    const std::vector<std::string> cells = words_in(lines[i + 2]);
    REQUIRE(tokens.size() == cells.size());
    std::string sentence;
    for (std::size_t t = 1; t < tokens.size(); ++t) {
      sentence += (t == 1 || tokens[t] == "." ? "" : " ") + tokens[t];
    }
    const json document =
        attnviz_json({"-m", kModel, sentence, "--head", head_in(lines[i], "^"), "-q"});
    // Keys that the query cannot see are dots, and come after it.
    const auto n_seen =
        static_cast<std::size_t>(std::find(cells.begin(), cells.end(), ".") - cells.begin());
    const json& row = document["attention"][0][0][n_seen - 1];
    REQUIRE(row.size() == cells.size());
    for (std::size_t t = 0; t < cells.size(); ++t) {
      if (t >= n_seen) {
        CHECK(cells[t] == ".");
        CHECK(row[t] == 0.0);
      } else {
        check_percent(cells[t].substr(0, cells[t].size() - 1), row[t], 0);
      }
    }
    ++n_examples;
  }
  CHECK(n_examples == 3);
}

TEST_CASE("tour: temperatures divide the scores that inspect prints") {
  const std::string screen = screen_of(attnviz({"tour"}).out, '6');
  const json head = inspected(head_in(screen, "head\\s+"));
  const json& scores = head["for_query"]["scaled"];
  const std::size_t followed_token = followed();
  std::vector<double> temperatures;
  for (const std::string& line : lines_of(screen)) {
    static const std::regex column(" T = ([0-9.]+)");
    for (std::sregex_iterator t(line.begin(), line.end(), column), end;
         t != end && line.starts_with("      key "); ++t) {
      temperatures.push_back(std::stod((*t)[1]));
    }
  }
  REQUIRE(temperatures.size() == 3);
  CHECK(temperatures[0] == 0.5);
  CHECK(temperatures[1] == 1.0);
  // The first of 2, 4, … at which the largest weight is at most three quarters.
  const auto largest_at = [&](double temperature) {
    double sum = 0.0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t key = 0; key <= followed_token; ++key) {
      most = std::max(most, scores[key].get<double>() / temperature);
    }
    for (std::size_t key = 0; key <= followed_token; ++key) {
      sum += std::exp(scores[key].get<double>() / temperature - most);
    }
    return 1.0 / sum;
  };
  double expected = 2.0;
  while (largest_at(expected) > 0.75) {
    expected *= 2.0;
  }
  CHECK(temperatures[2] == expected);
  std::size_t n_rows = 0;
  std::size_t n_others = 0;
  for (const std::string& line : lines_of(screen)) {
    if (contains(line, " others ")) {
      n_others = std::stoul(line);
    }
    static const std::regex row(
        " +([0-9]+) +[^ ]+ +([<>]?[0-9.]+)%[ #|]+([<>]?[0-9.]+)%[ #|]+([<>]?[0-9.]+)%.*");
    std::smatch found;
    if (!std::regex_match(line, found, row) || contains(line, "others")) {
      continue;
    }
    const std::size_t key = std::stoul(found[1]);
    for (std::size_t t = 0; t < 3; ++t) {
      double sum = 0.0;
      for (std::size_t other = 0; other <= followed_token; ++other) {
        sum +=
            std::exp((scores[other].get<double>() - scores[key].get<double>()) / temperatures[t]);
      }
      check_percent(found[t + 2], 1.0 / sum, 1);
    }
    ++n_rows;
  }
  CHECK(n_rows >= 3);
  CHECK(n_rows + n_others == followed_token + 1);
}

TEST_CASE(
    "tour: standard input that is a pipe or a file is the text; if it is empty, the tour's own") {
  const std::string own = attnviz({"tour", "Anna met Tom and she smiled"}).out;
  CHECK(attnviz({"tour"}, "Anna met Tom and she smiled\n").out == own);
  CHECK(attnviz({"tour", "--all"}, "Anna met Tom and she smiled").out == own);
  CHECK(contains(attnviz({"tour"}, "").out, kTourText));
  CHECK(attnviz({"tour"}, " \n").exit_code == 2);
  CHECK(contains(walked("", {"--all"}).out, kTourText));  // no question on a terminal
}

TEST_CASE("tour: a text of one's own, from the command line or from a pipe") {
  const std::string own = attnviz({"tour", "Anna met Tom and she smiled"}).out;
  CHECK(mentions(own, {"\"she\"", "TEXT=\"Anna met Tom and she smiled\""}));
  CHECK(attnviz({"tour", "-"}, "Anna met Tom and she smiled\n").out == own);
  CHECK(contains(attnviz({"tour"}).out, kTourText));
}

TEST_CASE("tour: with a text longer than the context it says how much it takes") {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "The cat sat. ";
  }
  const ProgramResult run = attnviz({"tour", text});
  CHECK(run.exit_code == 0);
  CHECK(titles(run.out) == "123456");
  std::string words = run.out;
  std::replace(words.begin(), words.end(), '\n', ' ');
  CHECK(mentions(words, {"256 tokens", "1,2", "256"}));
}

TEST_CASE("tour: another model, before or after the command") {
  const ProgramResult run = attnviz({"tour", "-m", kStories});
  if (!std::filesystem::exists(kStories)) {
    MESSAGE("SKIPPED: no ", kStories);
    return;
  }
  CHECK(run.exit_code == 0);
  CHECK(titles(run.out) == "123456");
  CHECK(attnviz({"-m", kStories, "tour"}).out == run.out);
  const std::string screen = screen_of(run.out, '5');
  // The heads that attnviz heads names so.
  const json document = attnviz_json({"heads", "-m", kStories});
  const std::string head = head_in(screen, "\n");
  bool is_named = false;
  for (const json& one : document["heads"]) {
    const std::string name =
        std::to_string(one["layer"].get<int>()) + "." + std::to_string(one["head"].get<int>());
    for (const json& its : one["names"]) {
      is_named = is_named || (name == head && its == "previous-token");
    }
  }
  CHECK(is_named);
  std::string words = screen;
  std::replace(words.begin(), words.end(), '\n', ' ');
  CHECK(mentions(words, {"induction", "pronoun", "attnviz heads -m "}));
}

TEST_CASE("tour: random weights have no heads that specialise, and a note says so") {
  const ProgramResult run = attnviz({"tour", "--random", "The cat sat on the mat"});
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.out, {"Temperature"}));
  CHECK(!contains(run.out, "induction"));
  CHECK(mentions(run.err, {"seed 42", "attnviz heads --random"}));
  CHECK(contains(run.out, "attnviz --random \"$TEXT\""));
  for (int screen = 1; screen <= 5; ++screen) {
    CHECK(contains(run.out, fmt::format("{} of 5: ", screen)));
  }
  std::size_t n_notes = 0;
  const std::string note = "RANDOM WEIGHTS";
  for (std::size_t at = run.out.find(note); at != std::string::npos;
       at = run.out.find(note, at + 1)) {
    ++n_notes;
  }
  CHECK(n_notes == 5);
}

TEST_CASE("tour: a model that does not take the tour's own text says to give one") {
  const TemporaryFolder folder;
  write_file(folder.file("three.json"),
             R"({"inputs": [[1], [2], [3]],
                 "layers": [{"heads": [{"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}]}]})");
  const ProgramResult run = in_folder(folder, {"tour", "-m", "three.json"});
  CHECK(run.exit_code == 2);
  CHECK(mentions(run.err, {"TEXT"}));
  const ProgramResult given = in_folder(folder, {"tour", "-m", "three.json", "the cat saw"});
  CHECK(given.exit_code == 0);
  // There are no words to make probes of.
  CHECK(contains(given.err, "attnviz heads -m three.json \"the cat saw\"\n"));
  CHECK(in_folder(folder, {"heads", "-m", "three.json", "the cat saw"}).exit_code == 0);
}

TEST_CASE("tour: what it refuses") {
  CHECK(attnviz({"tour", ""}).exit_code == 2);
  CHECK(attnviz({"tour", "two", "texts"}).exit_code == 2);
  CHECK(mentions(attnviz({"tour", "-v"}).err, {"-v"}));
  CHECK(attnviz({"tour", "--head", "0.0"}).exit_code == 2);
}

}  // namespace attnviz::test
