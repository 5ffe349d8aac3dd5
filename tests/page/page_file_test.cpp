#include "attnviz/page/page_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "page/page_data.h"

namespace attnviz {
namespace {

std::string page(std::string_view title, std::string_view body = {},
                 const std::vector<std::string>& data = {"{}"}) {
  std::string text;
  write_page(
      title, body,
      [&data](const ByteSink& sink) {
        for (const std::string& part : data) {
          sink(part);
        }
      },
      [&text](std::string_view bytes) { text += bytes; });
  return text;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) {
    ++n;
  }
  return n;
}

}  // namespace

TEST_CASE("html_text: markup characters become entities, all others stay") {
  CHECK(html_text("<b a=\"1\">Tom & Anna's</b>") ==
        "&lt;b a=&quot;1&quot;&gt;Tom &amp; Anna's&lt;/b&gt;");
  CHECK(html_text("&lt;") == "&amp;lt;");
  CHECK(html_text("日本 \n") == "日本 \n");
  CHECK(html_text("") == "");
  // Terminal control characters, and characters that change the reading direction.
  CHECK(html_text("x\x1B]0;a\x07") == "x\\x1B]0;a\\x07");
  CHECK(html_text("x\u2028y") == "x\\u{2028}y");
  CHECK(html_text("x\u202Ey") == "x\\u{202E}y");
  CHECK(html_text("x\u009By").find("\u009B") == std::string::npos);
}

TEST_CASE("write_page: each mark of the frame is replaced once") {
  const std::string text = page("TITLE", "<p>BODY</p>", {"{\"DATA\":1}"});
  CHECK(text.starts_with("<!doctype html>"));
  CHECK(text.ends_with("</html>\n"));
  CHECK(count(text, "<title>TITLE</title>") == 1);
  CHECK(count(text, "<main id=\"attnviz\"><p>BODY</p></main>") == 1);
  CHECK(test::data_text(text) == "{\"DATA\":1}");
  for (const char* const mark :
       {"@title@", "@body@", "@data@", "@script@", "@style@", "@script hash@", "@style hash@"}) {
    CAPTURE(mark);
    CHECK(count(text, mark) == 0);
  }
}

TEST_CASE("write_page: marks inside a title or data are not replaced") {
  const std::string text = page("@body@ @data@", "@data@", {"\"@title@ @script@\""});
  CHECK(count(text, "<title>@body@ @data@</title>") == 1);
  CHECK(count(text, "<main id=\"attnviz\">@data@</main>") == 1);
  CHECK(test::data_text(text) == "\"@title@ @script@\"");
}

TEST_CASE("write_page: a hostile title remains text") {
  const std::string plain = page("x");
  const std::string text = page("</title><script>alert(1)</script>");
  CHECK(count(text, "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>") == 1);
  CHECK(count(text, "<script") == count(plain, "<script"));
  CHECK(count(text, "</title>") == count(plain, "</title>"));
}

TEST_CASE("write_page: no < is left in data, however they are written") {
  const std::string plain = page("x");
  const std::vector<std::string> parts = {"[\"<", "/script><!--", "\",\"<<\"", ",\"a>b&c<\"]"};
  const std::string text = page("x", "", parts);
  CHECK(test::data_text(text) ==
        "[\"\\u003c/script>\\u003c!--\",\"\\u003c\\u003c\",\"a>b&c\\u003c\"]");
  CHECK(test::parse_json(test::data_text(text)) ==
        nlohmann::json({"</script><!--", "<<", "a>b&c<"}));
  CHECK(count(text, "<script") == count(plain, "<script"));
  CHECK(count(text, "<!--") == 0);
  CHECK(test::data_text(page("x", "", {""})).empty());
}

}  // namespace attnviz
