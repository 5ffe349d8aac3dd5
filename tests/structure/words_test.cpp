// What people read is plain English: these habits are gone from strings, and stay away.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {
namespace {

namespace fs = std::filesystem;

// Returns where the literal that begins at `at` with a quote ends, after its other quote.
std::size_t end_of_literal(const std::string& source, std::size_t at) {
  const char quote = source[at];
  for (++at; at < source.size() && source[at] != quote && source[at] != '\n'; ++at) {
    at += source[at] == '\\' ? std::size_t{1} : 0;
  }
  return std::min(at + 1, source.size());
}

// The texts of string literals with a space in them. Literals next to each other are one text. (No
// regular expression: those of the standard library go one call deeper for every character.)
std::vector<std::string> texts_in(const std::string& source) {
  std::vector<std::string> texts;
  std::string text;
  const auto end_text = [&] {
    if (text.find(' ') != std::string::npos) {
      texts.push_back(text);
    }
    text.clear();
  };
  for (std::size_t at = 0; at < source.size();) {
    if (source.compare(at, 2, "//") == 0) {
      end_text();
      at = std::min(source.find('\n', at), source.size());
    } else if (source[at] == '"' || source[at] == '\'') {
      const std::size_t end = end_of_literal(source, at);
      if (source[at] == '"') {
        text += source.substr(at + 1, end - at - 2);
      } else {
        end_text();
      }
      at = end;
    } else {
      if (std::isspace(static_cast<unsigned char>(source[at])) == 0) {
        end_text();
      }
      ++at;
    }
  }
  end_text();
  return texts;
}

// The first habit in a text; empty if there is none.
std::string habit_in(const std::string& text) {
  static const std::regex habits(
      R"re(\b(told|tells?|behind|in place of|whatever|nobody|in the mean|earns?|of such|of what (they|it|is|a))\b)re"
      R"re(|\b(is|are) no [a-z]|(^|[.:;] )Of (what|such|all|the|a|an|each)\b)re");
  // The name of a regular expression's part, and a sentence of the tour about a mouse.
  static const std::regex right(R"re(look-behind|hid behind|there (is|are) no)re");
  std::smatch found;
  const std::string rest = std::regex_replace(text, right, "");
  return std::regex_search(rest, found, habits) ? found.str() : "";
}

}  // namespace

TEST_CASE("words: texts in sources are found, seams and comments left out") {
  CHECK(texts_in("f(\"a b\"\n  \"c\"); // \"no text\"\ng('\"', \"one\", \"d e\");") ==
        std::vector<std::string>{"a bc", "d e"});
}

TEST_CASE("words: habits are found, and what is right is not") {
  for (const char* const text :
       {"it is told", "a token behind the text", "a score is no weight", "Of all keys the first",
        "in the mean over heads", "nobody sees it", "the name that it earns", "in place of 0",
        "a sum of what they wrote"}) {
    CAPTURE(text);
    CHECK(habit_in(text) != "");
  }
  for (const char* const text :
       {"what is in a look-behind", "there is no score", "as there are no embeddings",
        "parse special tokens such as <s>", "no token sees later ones"}) {
    CAPTURE(text);
    CHECK(habit_in(text) == "");
  }
}

TEST_CASE("words: what people read has none of the dropped habits") {
  std::size_t n_texts = 0;
  for (const char* const folder : {"lib", "app"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(ATTNVIZ_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") {
        continue;
      }
      std::ifstream file(entry.path(), std::ios::binary);
      for (const std::string& text : texts_in({std::istreambuf_iterator<char>(file), {}})) {
        ++n_texts;
        if (const std::string habit = habit_in(text); !habit.empty()) {
          FAIL_CHECK(entry.path().generic_string() << ": \"" << habit << "\" in \"" << text << '"');
        }
      }
    }
  }
  CHECK(n_texts > 2000);
}

}  // namespace attnviz
