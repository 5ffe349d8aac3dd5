// -o FILE.html: a page that holds what was computed, and asks for nothing from elsewhere.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) {
    ++n;
  }
  return n;
}

// The text between the first `begin` and the next `end`.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  const std::size_t to = text.find(end, at + begin.size());
  REQUIRE(at != std::string::npos);
  REQUIRE(to != std::string::npos);
  return text.substr(at + begin.size(), to - at - begin.size());
}

std::string page_script(const std::string& page) {
  const std::size_t data = page.find("id=\"attnviz-data\"");
  REQUIRE(data != std::string::npos);
  return between(page.substr(data), "<script>", "</script>");
}

json page_data(const std::string& page) {
  return parse_json(between(page, "id=\"attnviz-data\">", "</script>"));
}

// The page that these arguments write.
std::string page_of(Words arguments, const std::string& input = {}) {
  const TemporaryFolder folder;
  arguments.insert(arguments.end(), {"-q", "-o", folder.file("a.html")});
  const ProgramResult result = attnviz(arguments, input);
  CAPTURE(arguments);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  REQUIRE(folder.names() == Words{"a.html"});
  return read_file(folder.file("a.html"));
}

// SHA-256 in base64 by another program, or nothing where that is missing.
std::string sha256(const std::string& bytes) {
  ProgramRun run;
  run.arguments = {"-c",
                   "import base64, hashlib, sys; print(base64.b64encode("
                   "hashlib.sha256(sys.stdin.buffer.read()).digest()).decode())"};
  run.input = bytes;
  const ProgramResult result = run_program("/usr/bin/python3", run);
  return result.exit_code == 0 ? result.out.substr(0, result.out.find('\n')) : "";
}

}  // namespace

TEST_CASE("-o x.html: the page has the text, all heads and their weights' places") {
  const json data = page_data(page_of({"The cat sat"}));
  const json shown = attnviz_json({"The cat sat"});
  CHECK(data["schema"] == "attnviz.page/1");
  CHECK(data["text"] == "The cat sat");
  CHECK(data["queries"]["text"] == shown["tokens"]);
  CHECK(data["queries"]["id"] == shown["token_ids"]);
  CHECK(data["queries"]["special"] == shown["marks"]["special"]);
  CHECK(data["shape"] == json({shown["tokens"].size(), shown["tokens"].size()}));
  CHECK(data["triangle"] == true);
  CHECK(data["model"]["name"] == "demo");
  REQUIRE(data["documents"].size() == 1);
  CHECK(data["documents"][0]["heads"].size() == 16);
  CHECK(data["live"].is_null());
}

TEST_CASE("-o x.html: 144 heads of 128 tokens take less than 3 MB") {
  std::string text;
  for (int i = 0; i < 128; ++i) {
    text += fmt::format("w{} ", i);
  }
  const std::string page = page_of({"--random", "--layers", "12", "--heads", "12", text});
  CHECK(page_data(page)["documents"][0]["heads"].size() == 144);
  CHECK(page.size() < 2'800'000);
}

TEST_CASE("-o x.html draws in the terminal, too, and says where the page is") {
  const TemporaryFolder folder;
  const ProgramResult result = attnviz({"The cat sat", "-o", folder.file("a.html")});
  CHECK(result.exit_code == 0);
  CHECK(mentions(result.err, {folder.file("a.html")}));
  CHECK(result.out == attnviz({"The cat sat"}).out);
  CHECK(attnviz({"The cat sat", "-q", "-o", folder.file("b.HTML")}).exit_code == 0);
  CHECK(read_file(folder.file("b.HTML")) == read_file(folder.file("a.html")));
}

TEST_CASE("--format html -o - writes the page to standard output") {
  const Words arguments = {"The cat sat", "--format", "html", "-o", "-"};
  const std::string page = attnviz(arguments).out;
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page == page_of({"The cat sat"}));
}

TEST_CASE("a page has the heads that are asked for, drawn as asked for") {
  const json data = page_data(page_of({"The cat sat", "--layer", "2", "--colormap", "magma",
                                       "--scale", "sqrt", "--temperature", "0.5"}));
  REQUIRE(data["documents"][0]["heads"].size() == 4);
  CHECK(data["documents"][0]["heads"][1]["layer"] == 2);
  CHECK(data["documents"][0]["heads"][1]["head"] == 1);
  CHECK(data["documents"][0]["heads"][1]["names"] == json({"induction"}));
  CHECK(data["drawing"]["colormap"] == "magma");
  CHECK(data["drawing"]["scale"] == "sqrt");
  CHECK(contains(data["notes"].dump(), "temperature 0.5"));
}

TEST_CASE("a page's command computes the same again") {
  const json data = page_data(page_of({"It's a cat", "--layer", "2", "--temperature", "0.5"}));
  CHECK(data["command"].get<std::string>().starts_with("attnviz"));
  CHECK(contains(data["command"].get<std::string>(), "--temperature 0.5"));
  CHECK(data["command_text"] == "It's a cat");
}

TEST_CASE("pages of means, rollouts, and runs side by side") {
  const json mean = page_data(page_of({"The cat sat", "--average", "heads"}));
  CHECK(mean["documents"][0]["heads"].size() == 4);
  CHECK(contains(mean["documents"][0]["heads"][2]["title"].get<std::string>(), "L2, average"));
  const json rollout = page_data(page_of({"rollout", "The cat sat"}));
  CHECK(rollout["documents"][0]["heads"].size() == 1);
  CHECK(rollout["documents"][0]["heads"][0]["title"] != "");
  const json apart = page_data(page_of({"The cat sat", "--side-by-side", "causal,none"}));
  REQUIRE(apart["documents"].size() == 2);
  CHECK(apart["documents"][1]["name"] == "none");
  CHECK(apart["documents"][1]["heads"].size() == apart["documents"][0]["heads"].size());
  CHECK(apart["triangle"] == false);
}

TEST_CASE("the page of inspect has queries, keys and values of its heads") {
  const json data = page_data(page_of({"inspect", "The cat sat", "--head", "2.1,3.0"}));
  REQUIRE(data["steps"]["heads"].size() == 2);
  const json& head = data["steps"]["heads"][0];
  CHECK(head["layer"] == 2);
  CHECK(head["head"] == 1);
  CHECK(head["d_head"] == 32);
  CHECK(head["soft_cap"] == 0.0);
  CHECK(head["bias"].is_null());
  const double scale = head["scale"].get<double>();
  CHECK(scale == doctest::Approx(0.17677669529).epsilon(1e-6));  // 1 / √32
  CHECK(data["documents"][0]["heads"].size() == 2);
}

TEST_CASE("render makes a page of what was saved") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), attnviz({"The cat sat", "--json"}).out);
  const json data = page_data(page_of({"render", folder.file("a.json")}));
  const json straight = page_data(page_of({"The cat sat"}));
  CHECK(data["queries"]["text"] == straight["queries"]["text"]);
  CHECK(data["documents"][0]["heads"].size() == 16);
  CHECK(data["shape"] == straight["shape"]);
  CHECK(data["triangle"] == true);
  CHECK(data["live"].is_null());
  CHECK(data["steps"].is_null());
}

TEST_CASE("the page's policy allows its own script and style, and nothing from elsewhere") {
  for (const Words& arguments :
       {Words{"The cat sat"}, Words{"The cat sat", "--live"}, Words{"inspect", "The cat sat"}}) {
    CAPTURE(arguments);
    const std::string page = page_of(arguments);
    const std::string policy =
        between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\">");
    CHECK(contains(policy, "default-src 'none';"));
    CHECK_FALSE(contains(policy, "unsafe"));
    CHECK_FALSE(contains(policy, "http"));
    CHECK_FALSE(contains(policy, "*"));
    const std::string script = sha256(page_script(page));
    if (script.empty()) {
      MESSAGE("SKIPPED: no /usr/bin/python3 to compute SHA-256");
    } else {
      CHECK(mentions(policy,
                     {"script-src 'sha256-" + script + "';",
                      "style-src 'sha256-" + sha256(between(page, "<style>", "</style>")) + "';"}));
    }
    // The name of SVG is not an address that is fetched, and url(#…) is in the same file.
    const std::string& code = page;
    CHECK(count(code, "http://") == count(code, "http://www.w3.org/2000/svg"));
    CHECK(count(code, "https://") == 0);
    CHECK(count(code, "url(") == count(code, "url(#"));
    for (const char* const loads :
         {"<link", "<iframe", "<img", " src=", "@import",

          "fetch(", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "importScripts",
          "eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
          "localStorage", "document.cookie"}) {
      CAPTURE(std::string(loads));
      CHECK(count(code, loads) == 0);
    }
    CHECK(count(page, "<script") == 2);
    CHECK(count(page, " style=\"") == 0);
  }
}

TEST_CASE("hostile texts add nothing to a page but data") {
  const std::string hostile = "</script><img src=x onerror=alert(1)> <!-- \u2028 \x01 \u202E";
  const std::string page = page_of({hostile});
  CHECK(count(page, "<script") == 2);
  CHECK(count(page, "<img") == 0);
  CHECK(count(page, "<!--") == 0);
  CHECK(count(page, "onerror=alert(1)>") > 0);
  CHECK(page_data(page)["text"] == hostile);
  const std::string titled = page_of({"a", "--title", "</title><script>alert(1)</script>"});
  CHECK(count(titled, "<script") == 2);
  CHECK(page_data(titled)["title"] == "</title><script>alert(1)</script>");
}

TEST_CASE("--live carries the model, and its page is otherwise the same") {
  json with = page_data(page_of({"The cat sat", "--live"}));
  json without = page_data(page_of({"The cat sat"}));
  for (const char* const part : {"model", "config", "tokenizer"}) {
    CHECK(with["live"][part].is_number_unsigned());
  }
  CHECK(with["queries"] == without["queries"]);
  CHECK(with["documents"] == without["documents"]);
  CHECK(page_data(page_of({"-m", "demo", "The cat sat", "--live"}))["live"].is_object());
}

TEST_CASE("--live goes with the demo model as it is, and with a page") {
  const TemporaryFolder folder;
  const std::string name = folder.file("a.html");
  for (const Words& other :
       {Words{"--temperature", "0.5"}, Words{"--mask", "none"}, Words{"--no-bos"},
        Words{"--ablate", "2.1"}, Words{"--hide", "cat>The"}, Words{"--average", "heads"},
        Words{"--merge", "words"}, Words{"--side-by-side", "causal,none"}, Words{"--random"},
        Words{"--dropout", "0.1"}, Words{"--pair", "b"}}) {
    CAPTURE(other.front());
    Words arguments = {"The cat sat", "--live", "-o", name};
    arguments.insert(arguments.end(), other.begin(), other.end());
    const ProgramResult result = attnviz(arguments);
    CHECK(result.exit_code == 2);
    CHECK(mentions(result.err, {"--live", other.front()}));
    CHECK(result.out.empty());
  }
  write_file(folder.file("w.json"), attnviz({"weights"}).out);
  const ProgramResult model = attnviz({"-m", folder.file("w.json"), "cat", "--live", "-o", name});
  CHECK(model.exit_code == 2);
  CHECK(mentions(model.err, {"--live", "demo model"}));
  for (const Words& arguments : {Words{"cat", "--live"}, Words{"cat", "--live", "-o", "a.png"}}) {
    CAPTURE(arguments);
    ProgramRun run;
    run.folder = folder.path();
    run.arguments = arguments;
    const ProgramResult result = attnviz(run);
    CHECK(result.exit_code == 2);
    CHECK(mentions(result.err, {"--live", ".html"}));
  }
  CHECK(folder.names() == Words{"w.json"});
}

TEST_CASE("more weights than a page holds are refused before any work") {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    text += "word ";
  }
  const TemporaryFolder folder;
  // 32 heads of 2000 · 2001 / 2 weights each: 64 million.
  const ProgramResult result = attnviz(
      {"--random", "--layers", "4", "--heads", "8", "-q", "-o", folder.file("a.html")}, text);
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {"48 million weights", "--head 0.0"}));
  CHECK(folder.names().empty());
}

TEST_CASE("a page's notes are those of its picture, side by side, too") {
  const json data = page_data(page_of({"The cat sat", "--side-by-side", "causal,none"}));
  CHECK(mentions(data["notes"].dump(), {"causal", "none"}));
  CHECK_FALSE(contains(data["notes"].dump(), "\"mask causal\""));
}

TEST_CASE("a page's command makes its patterns") {
  const auto command = [](const Words& arguments, const std::string& input = {}) {
    const json data = page_data(page_of(arguments, input));
    return data["command"].get<std::string>();
  };
  CHECK(contains(command({"The cat sat", "--average", "heads"}), "--average heads"));
  CHECK(contains(command({"The cat sat", "--merge", "words"}), "--merge words"));
  CHECK(contains(command({"rollout", "The cat sat", "--merge", "words"}), "--merge words"));
  CHECK(page_data(page_of({}, "The cat sat"))["command_text"] == "The cat sat");
}

TEST_CASE("a page with a live model has the text of a file in its command, for others to replace") {
  const TemporaryFolder folder;
  const std::string file = folder.file("t.txt");
  write_file(file, "The cat sat");
  const json data = page_data(page_of({"-f", file, "-m", "demo", "--live"}));
  CHECK(data["command"] == "attnviz -m demo");
  CHECK(data["command_text"] == "The cat sat");
}

TEST_CASE("a page's command has nothing that a terminal could obey") {
  const TemporaryFolder folder;
  const std::string file = folder.file("a\x1b]0;x\x07 \xC2\x9B don't \\n.txt");
  write_file(file, "The cat sat");
  const json data = page_data(page_of({"-f", file}));
  CHECK(contains(data["command"].get<std::string>(),
                 "/a\\033]0;x\\007 \\302\\233 don\\047t \\134n.txt')\""));
  CHECK(data["command"].get<std::string>().starts_with("attnviz --file \"$(printf '/"));
}

TEST_CASE("a page opens with the token that --focus names, in its direction") {
  const json query = page_data(page_of({"The cat sat", "--focus", "cat"}));
  CHECK(query["focus"] == 2);
  CHECK(query["focus_as_key"] == false);
  CHECK(page_data(page_of({"The cat sat", "--focus", "cat", "--as-key"}))["focus_as_key"] == true);
}

TEST_CASE("with dropout a page has no steps, which would lead to other weights") {
  CHECK(page_data(page_of({"inspect", "The cat sat", "--dropout", "0.3"}))["steps"].is_null());
}

TEST_CASE("the page of a difference copies the diff") {
  const json data = page_data(page_of({"diff", "The cat sat", "The dog sat", "--head", "2.1"}));
  CHECK(data["command"] == "attnviz diff 'The cat sat' 'The dog sat'");
  CHECK(data["command_text"].is_null());
}

TEST_CASE("heads, why, diff and cite: their screen, their map and all numbers as a page") {
  const struct {
    Words arguments;
    const char* heading;
    const char* said;
    bool has_map;
  } cases[] = {
      {{"heads"}, "heads: demo, 16 heads", "induction", true},
      {{"why", "Harry Potter is a wizard. Harry"}, "why: demo, &quot;Potter&quot;", "ln p", true},
      {{"why", "The cat sat", "--lens"}, "why: demo", "logit lens", false},
      {{"diff", "The cat sat", "The dog sat"}, "diff: 2 texts", "Jensen-Shannon", true},
      {{"cite", "The cat sat. The dog ran. The", "--answer", " cat"}, "cite", "sentence", false}};
  for (const auto& one : cases) {
    const std::string page = page_of(one.arguments);
    CAPTURE(one.arguments);
    CHECK(contains(between(page, "<h1>", "</h1>"), one.heading));
    CHECK(contains(between(page, "<article", "</article>"), one.said));
    CHECK(contains(page, "<img src=\"data:image/svg+xml;base64,") == one.has_map);
    const json data = page_data(page);
    CHECK(data["schema"] == "attnviz.report/1");
    Words csv = one.arguments;
    csv.insert(csv.end(), {"-q", "--format", "csv", "-o", "-"});
    CHECK(data["csv"] == attnviz(csv).out);
  }
}

TEST_CASE("commands that have no page say so") {
  const TemporaryFolder folder;
  for (const Words& arguments : {Words{"tokenize", "cat"}, Words{"info"}, Words{"weights"}}) {
    CAPTURE(arguments);
    Words all = arguments;
    all.insert(all.end(), {"-o", folder.file("a.html")});
    CHECK(attnviz(all).exit_code == 2);
  }
  CHECK(attnviz({"--lines", "-o", folder.file("a.html")}, "a\nb\n").exit_code == 2);
  CHECK(folder.names().empty());
}

}  // namespace attnviz::test
