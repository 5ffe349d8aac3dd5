// Attention as lines between two columns of tokens.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

const std::string kFourLooks = ATTNVIZ_SOURCE_DIR "/samples/four-heads.json";
const std::string kCatText = "the cat saw the dog and the cat ran";

std::vector<std::string> arcs_of_four(std::vector<std::string> options) {
  std::vector<std::string> arguments = {kCatText, "-m", kFourLooks, "--style", "arcs"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++n;
  }
  return n;
}

}  // namespace

TEST_CASE("--style arcs: lines of dots between queries and keys, a panel for each head") {
  const auto run = attnviz(arcs_of_four({"--head", "0.0,0.2"}));
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.out, {"\nL0H0", "L0H2\n", "⠶", "0.5", "0.1"}));
  const auto colored = attnviz(arcs_of_four({"--head", "0.0,0.2", "--color", "always"}));
  CHECK(contains(colored.out, "\x1b["));
  CHECK(count_of(without_escapes(colored.out), "query") == 1);
}

TEST_CASE("--style arcs-ascii: the strongest lines as a list in 7 bits") {
  const auto run = attnviz({kCatText, "-m", kFourLooks, "--style", "arcs-ascii", "--head", "0.0"});
  CHECK(run.exit_code == 0);
  // The head looks for the token before: e^6 / (e^6 + 7) of 8 tokens, e^6 / (e^6 + 1) of 2.
  CHECK(mentions(run.out, {"\n1 cat ==0.998==> 0 the\n", "\n7 cat ==0.983==> 6 the\n"}));
  for (const char c : run.out) {
    REQUIRE(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("--style arcs: pictures with a colour for each head") {
  const TemporaryFolder folder;
  const auto run =
      in_folder(folder, arcs_of_four({"--head", "0.0,0.2", "-q", "-o", "a.svg", "-o", "a.png", "-o",
                                      "a.html", "-o", "a.json", "-o", "a.txt"}));
  CHECK(run.exit_code == 0);
  const std::string svg = read_file(folder.file("a.svg"));
  CHECK(mentions(svg, {"stroke=\"#0500ff\"", "stroke=\"#1eaf00\""}));
  CHECK_FALSE(contains(svg, "stroke=\"#fa0fc8\""));
  CHECK(contains(svg, ">L0H2</text>"));
  CHECK(read_file(folder.file("a.png")).starts_with("\x89PNG"));
  CHECK(contains(read_file(folder.file("a.html")), "<!"));
  CHECK(contains(read_file(folder.file("a.txt")), "⠶"));
  // The document does not record how it was drawn; rendering it gives the same picture.
  const auto again =
      in_folder(folder, {"render", "a.json", "--style", "arcs", "-q", "-o", "b.svg"});
  CHECK(again.exit_code == 0);
  CHECK(read_file(folder.file("b.svg")) == svg);
}

TEST_CASE("--style arcs: one token, without the first, means, words, and side by side") {
  const auto focus = attnviz(arcs_of_four({"--head", "0.0", "--focus", "dog"}));
  CHECK(mentions(focus.out, {"\"dog\"", "four-heads.json", "⠶"}));
  const auto to = attnviz(arcs_of_four({"--head", "0.0", "--focus", "dog", "--as-key"}));
  CHECK(mentions(to.out, {"\"dog\""}));
  const auto dropped = attnviz(arcs_of_four({"--head", "0.0", "--drop-sink"}));
  CHECK(contains(dropped.out, "\n1 cat ⠶"));
  CHECK_FALSE(contains(dropped.out, "\n0 the"));
  CHECK(mentions(attnviz(arcs_of_four({"--average", "heads"})).out, {"L0, average", "4 heads"}));
  const auto both = attnviz(arcs_of_four({"--head", "0.0", "--side-by-side", "causal,none"}));
  CHECK(mentions(both.out, {"causal, L0H0", "none, L0H0"}));
  CHECK(
      attnviz({"Harry Potter", "--style", "arcs", "--merge", "words", "--head", "0.0"}).exit_code ==
      0);
}

TEST_CASE("--style arcs: rollout and diff have lines, too") {
  const auto rollout = attnviz({"rollout", "the cat sat", "--style", "arcs"});
  CHECK(rollout.exit_code == 0);
  CHECK(contains(rollout.out, "⠶"));
  const TemporaryFolder folder;
  const auto diff = in_folder(folder, {"diff", "the cat sat", "the dog sat", "--head", "2.0",
                                       "--style", "arcs", "-o", "d.svg"});
  CHECK(diff.exit_code == 0);
  CHECK(mentions(diff.out, {"L2H0"}));
  const std::string svg = read_file(folder.file("d.svg"));
  CHECK(mentions(svg, {"stroke=\"#0a55c8\"", "stroke=\"#c81e28\""}));
  const auto table = attnviz({"diff", "the cat sat", "the dog sat", "--style", "arcs"});
  CHECK(table.exit_code == 2);
  CHECK(mentions(table.err, {"--style arcs", "--head"}));
}

TEST_CASE(
    "--style arcs: beyond 12 heads the most informative one is drawn, unless heads are chosen") {
  const auto alone = attnviz({"the cat sat on the mat", "--style", "arcs"});
  CHECK(alone.exit_code == 0);
  CHECK(mentions(alone.out, {"L1H0: ", " of 16"}));
  const auto chosen = attnviz({"the cat sat on the mat", "--style", "arcs", "--head", "*.*"});
  CHECK(chosen.exit_code == 2);
  CHECK(mentions(chosen.err, {"--style arcs", "16 heads", "12", "--head"}));
  // A page and a document have room for all heads.
  CHECK(attnviz({"the cat sat", "--style", "arcs", "--head", "*.*", "--json"}).exit_code == 0);
}

}  // namespace attnviz::test
