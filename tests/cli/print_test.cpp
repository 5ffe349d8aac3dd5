// Pictures for print: of a given width, with or without what a caption says.
#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/message.h"
#include "cli/attnviz_program.h"
#include "support/json.h"
#include "support/printed_png.h"

namespace attnviz::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

const std::string kCat = "The cat sat on the mat";

Words joined_words(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string long_text(std::size_t n_words) {
  std::string text;
  for (std::size_t i = 0; i < n_words; ++i) {
    text += "word" + std::to_string(i % 97) + ' ';
  }
  return text;
}

// What the program draws, without a word.
PrintedPng png_of(const Words& arguments) {
  const ProgramResult run = attnviz(joined_words(arguments, {"-q", "-o", "-", "--format", "png"}));
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  return PrintedPng(run.out);
}

std::string svg_of(const Words& arguments) {
  const ProgramResult run = attnviz(joined_words(arguments, {"-q", "-o", "-", "--format", "svg"}));
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  return run.out;
}

// An SVG's texts; what it was made from is not among them.
bool svg_says(const std::string& svg, const std::string& text) {
  return svg.find(text, svg.find("</metadata>")) != std::string::npos;
}

// One picture of each kind, and of one token.
const std::vector<Words> kKindsOfPictures = {
    {kCat},
    {kCat, "--head", "2.1"},
    {kCat, "--random", "--layers", "3", "--heads", "6"},
    {kCat, "--focus", "cat"},
    {kCat, "--focus", "cat", "--head", "2.1"},
    {kCat, "--style", "arcs", "--head", "2.1,2.2"},
    {kCat, "--no-special", "--transpose", "--plain-labels"},
    {kCat, "--side-by-side", "causal,none", "--head", "2.1"},
    {"diff", "The cat sat", "The dog sat"},
    {"diff", "The cat sat", "The dog sat", "--head", "2.1"},
    {"inspect", kCat},
    {"heads"},
    {"lesson", "scaling"},
    {"--random", "x"},
    {"--random", "x", "--focus", "x"},
    {"--random", "x", "--layers", "3", "--heads", "6"},
    {"--random", "x", "--layers", "3", "--heads", "6", "--focus", "x"},
    {"inspect", "--random", "x"}};

// The numbers below the names of the columns: a row's name, then its cells.
std::vector<Words> printed_rows(const Words& arguments) {
  std::vector<Words> rows;
  const ProgramResult run = attnviz(joined_words(arguments, {"--style", "numbers", "-q"}));
  REQUIRE(run.exit_code == 0);
  for (const std::string& line : lines_of(run.out)) {
    const std::vector<std::string_view> found = words_of(line);
    const Words words(found.begin(), found.end());
    const bool has_numbers = words.size() > 1 && (words[1].find('.') == 1 || words[1] == "·");
    if (has_numbers) {
      rows.push_back(words);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE(
    "--width: of every kind of drawing, a PNG has exactly that many pixels, an SVG that width") {
  struct Width {
    const char* word;
    const char* dpi;
    std::size_t pixels;
  };
  const TemporaryFolder folder;
  for (const Words& kind : kKindsOfPictures) {
    CAPTURE(joined(kind, "and"));
    for (const Width& width : {Width{"170mm", "300", 2008}, Width{"1201px", "96", 1201}}) {
      CAPTURE(width.word);
      REQUIRE(in_folder(folder, joined_words(kind, {"--width", width.word, "--dpi", width.dpi, "-q",
                                                    "-o", "a.png", "-o", "a.svg"}))
                  .exit_code == 0);
      const PrintedPng png(read_file(folder.file("a.png")));
      CHECK(png.width == width.pixels);
      const std::string svg = read_file(folder.file("a.svg"));
      CHECK(contains(svg.substr(0, svg.find('>')), std::string(" width=\"") + width.word + "\""));
      CHECK(contains(svg, " viewBox=\"0 0 " + std::to_string(png.width) + " " +
                              std::to_string(png.height) + "\""));
    }
  }
  CHECK(png_of({kCat, "--width", "7in", "--dpi", "150"}).width == 1050);
  // A column of a journal.
  const PrintedPng column = png_of({kCat, "--width", "85mm", "--dpi", "300"});
  CHECK(column.width == 1004);
  CHECK(column.dots_a_metre == 11811);  // 300 an inch
  CHECK(contains(svg_of({kCat, "--width", "85mm", "--dpi", "300"}), " width=\"85mm\" "));
  CHECK(parse_json(column.texts.at("attnviz-figure"))["width"] == "85mm");
}

TEST_CASE("--width: one that is too small is refused with the least one, which is enough") {
  const TemporaryFolder folder;
  for (const Words& kind : kKindsOfPictures) {
    CAPTURE(joined(kind, "and"));
    const bool is_first = &kind == &kKindsOfPictures.front();
    for (const char* unit : is_first ? std::vector{"mm", "in", "px"} : std::vector{"mm"}) {
      const auto run_with = [&](const std::string& width) {
        return in_folder(
            folder, joined_words(kind, {"-q", "-o", "a.png", "--dpi", "150", "--width", width}));
      };
      const ProgramResult refused = run_with(std::string("1") + unit);
      CHECK(refused.exit_code == 2);
      CHECK(folder.names().empty());
      CHECK(mentions(refused.err, {"--width", std::string("1") + unit}));
      // The last word is the least width that is enough.
      const std::size_t begin = refused.err.rfind(' ') + 1;
      const std::string least = refused.err.substr(begin, refused.err.find('\n', begin) - begin);
      REQUIRE(least.ends_with(unit));
      CHECK(run_with(least).exit_code == 0);
      CHECK(folder.names() == Words{"a.png"});
      std::filesystem::remove(folder.file("a.png"));
      const double number = std::stod(least);
      const bool is_whole = unit == std::string("px");
      const std::string less =
          is_whole ? std::to_string(std::stoi(least) - 1) : std::to_string(number * 0.99);
      CHECK(run_with(less + unit).exit_code == 2);
    }
  }
}

TEST_CASE(
    "--width: words that are not a width, and widths that a picture cannot have, are refused") {
  for (const char* word : {"85", "85cm", "mm", "", "0mm", "-3in", "85 mm", "nanpx"}) {
    CAPTURE(word);
    const ProgramResult run = attnviz({kCat, "-o", "a.png", "--width", word});
    CHECK(run.exit_code == 2);
    CHECK(mentions(run.err, {"--width", "85mm", "7in", "1200px"}));
  }
  CHECK(mentions(attnviz({kCat, "-o", "a.png", "--width", "1e9px"}).err,
                 {"--width", "65536px", "\"1e9px\""}));
  const ProgramResult large =
      attnviz({kCat, "--head", "2.1", "-o", "a.png", "--width", "300in", "--dpi", "1200"});
  CHECK(large.exit_code == 2);
  CHECK(mentions(large.err, {"--width", "65536", "300in", "1200"}));
  const ProgramResult many = attnviz({kCat, "--head", "2.1", "-o", "a.png", "--width", "60000px"});
  CHECK(many.exit_code == 2);
  CHECK(mentions(many.err, {"--cell", "--no-footer", "--dpi", "--width"}));
}

TEST_CASE("--width: text keeps its size, so that a narrow picture is not a small one") {
  const auto sizes = [](const std::string& svg) {
    const std::string title = svg.substr(svg.find("attention: demo</text>") - 400, 400);
    const std::size_t size = title.rfind("font-size=\"");
    REQUIRE(size != std::string::npos);
    return title.substr(size, title.find('"', size + 11) - size);
  };
  const std::string usual = sizes(svg_of({kCat}));
  for (const char* width : {"300px", "700px", "2000px"}) {
    CHECK(sizes(svg_of({kCat, "--width", width})) == usual);
  }
}

TEST_CASE("what cannot be combined is refused, and what changes nothing gets a note") {
  const auto refused = [](const Words& options, const Words& named) {
    CAPTURE(options);
    const ProgramResult run = attnviz(joined_words({kCat}, options));
    CHECK(run.exit_code == 2);
    CHECK(run.out.empty());
    CHECK(mentions(run.err, named));
  };
  refused({"--cell", "9", "--width", "85mm"}, {"--cell", "--width"});
  refused({"--focus", "cat", "--transpose"}, {"--focus", "--transpose"});
  refused({"--style", "numbers", "--no-values"}, {"--no-values", "--style numbers"});
  refused({"--no-special", "--drop-sink"}, {"--no-special", "--drop-sink"});
  refused({"--no-special", "--focus", "0"}, {"--focus", "token 0", "--no-special"});
  refused({"--no-special", "--focus", "0", "--json"}, {"--focus", "token 0", "--no-special"});

  const auto said = [](const Words& options) {
    const ProgramResult run = attnviz(joined_words({kCat, "--random"}, options));
    CHECK(run.exit_code == 0);
    return run.err;
  };
  CHECK(mentions(said({"--width", "85mm", "--no-footer", "--no-values"}),
                 {"--no-footer", "--width"}));
  CHECK(mentions(said({"--no-special"}), {"--no-special", "tokenizer"}));
  CHECK(mentions(
      said({"--transpose", "--no-values", "--style", "arcs", "-o", "/dev/null", "--format", "png"}),
      {"--transpose", "--no-values"}));
  CHECK(mentions(
      said({"--transpose", "--plain-labels", "--no-special", "-o", "-", "--format", "npy"}),
      {"--no-special", "--plain-labels", "--transpose"}));
  CHECK(mentions(said({"--plain-labels", "-o", "-", "--format", "html"}), {"--plain-labels"}));
  CHECK_FALSE(contains(said({"--transpose", "--plain-labels", "--json"}), "--transpose"));
  CHECK(mentions(said({"--focus", "cat", "--head", "0.0", "--scale", "row-max", "--range", "auto",
                       "--pool", "mean"}),
                 {"--scale", "--range", "--pool"}));
  CHECK_FALSE(contains(said({"--focus", "cat", "--head", "0.0"}), "--focus"));
  CHECK_FALSE(contains(said({"--transpose", "--plain-labels"}), "--transpose"));
}

TEST_CASE(
    "pictures' options change neither the numbers nor the document, except its record of them") {
  const TemporaryFolder folder;
  const Words files = {"-q", "-o", "a.json", "-o", "a.npy"};
  REQUIRE(in_folder(folder, joined_words({kCat}, files)).exit_code == 0);
  const std::string document = read_file(folder.file("a.json"));
  const std::string array = read_file(folder.file("a.npy"));
  for (const Words& options :
       {Words{"--transpose"}, Words{"--plain-labels"}, Words{"--no-values"}, Words{"--no-footer"},
        Words{"--width", "85mm", "--dpi", "300"}, Words{"--no-special"}}) {
    CAPTURE(joined(options, "and"));
    REQUIRE(in_folder(folder, joined_words(joined_words({kCat, "-o", "a.png"}, options), files))
                .exit_code == 0);
    CHECK(read_file(folder.file("a.npy")) == array);
    json changed = read_json(folder.file("a.json"));
    const std::map<std::string, std::string> said = {{"--no-special", "no_special"},
                                                     {"--transpose", "transposed"},
                                                     {"--plain-labels", "plain_labels"}};
    if (const auto member = said.find(options.front()); member != said.end()) {
      CHECK(changed["drawing"][member->second] == true);
      changed["drawing"].erase(member->second);
      CHECK(changed == parse_json(document));
      // Rendering the document draws the same.
      const Words again = {"render", folder.file("a.json")};
      CHECK(png_of(again).pixels == png_of(joined_words({kCat}, options)).pixels);
    } else {
      CHECK(read_file(folder.file("a.json")) == document);
    }
  }
}

TEST_CASE("--transpose: the file's numbers with keys as rows; without it they are as in the file") {
  // samples/le-chat-dort.json: three queries over four keys.
  const Words sample = {"render", ATTNVIZ_SOURCE_DIR "/samples/le-chat-dort.json"};
  CHECK(printed_rows(sample) == std::vector<Words>{{"le", "0.820", "0.120", "0.030", "0.030"},
                                                   {"chat", "0.080", "0.860", "0.020", "0.040"},
                                                   {"dort", "0.020", "0.070", "0.270", "0.640"}});
  const Words turned = joined_words(sample, {"--transpose"});
  CHECK(printed_rows(turned) == std::vector<Words>{{"the", "0.820", "0.080", "0.020"},
                                                   {"cat", "0.120", "0.860", "0.070"},
                                                   {"is", "0.030", "0.020", "0.270"},
                                                   {"sleeping", "0.030", "0.040", "0.640"}});
  CHECK(mentions(attnviz(turned).out, {"row = key", "= query"}));
  const std::string svg = svg_of(turned);
  for (const char* text : {">query (attending)<", ">key (attended to)<", ">0.86<"}) {
    CHECK(svg_says(svg, text));
  }
  CHECK(png_of(turned).pixels != png_of(sample).pixels);
}

TEST_CASE("--no-values, --no-footer and --plain-labels leave out only what they name") {
  const Words sample = {"render", ATTNVIZ_SOURCE_DIR "/samples/le-chat-dort.json"};
  CHECK(svg_says(svg_of(sample), ">0.86<"));
  const std::string no_values = svg_of(joined_words(sample, {"--no-values"}));
  CHECK_FALSE(svg_says(no_values, ">0.86<"));
  CHECK(svg_says(no_values, ">mask none<"));
  CHECK(svg_says(svg_of({kCat, "--mask", "none"}), ">mask none<"));
  const std::string no_footer = svg_of({kCat, "--mask", "none", "--no-footer"});
  CHECK_FALSE(svg_says(no_footer, ">mask none<"));
  CHECK_FALSE(svg_says(no_footer, "special token"));
  CHECK(svg_says(no_footer, ">attention: demo<"));
  const PrintedPng with_footer = png_of({kCat, "--head", "2.1"});
  CHECK(png_of({kCat, "--head", "2.1", "--no-footer"}).height + 40 < with_footer.height);
  CHECK(png_of({kCat, "--head", "2.1", "--no-footer"}).width == with_footer.width);

  const Words blocks = {kCat, "--style", "blocks", "-q"};
  CHECK(contains(attnviz(blocks).out, "␠cat"));
  CHECK(svg_says(svg_of({kCat}), ">␣cat<"));
  const std::string plain = svg_of({kCat, "--plain-labels"});
  CHECK(svg_says(plain, ">cat<"));
  CHECK_FALSE(svg_says(plain, "␣"));
  CHECK_FALSE(contains(attnviz(joined_words(blocks, {"--plain-labels"})).out, "␠"));
  CHECK(attnviz({kCat, "--random", "-q", "--plain-labels"}).out ==
        attnviz({kCat, "--random", "-q"}).out);  // random tokens have no ␠

  const Words terminal = {"The cat", "--random", "--heads", "1",     "-q",
                          "--color", "always",   "--style", "blocks"};
  CHECK(contains(attnviz(terminal).out, "1.0"));
  CHECK_FALSE(contains(attnviz(joined_words(terminal, {"--no-values"})).out, "1.0"));
}

TEST_CASE("--no-special: what the tokenizer added is gone, and the rest keeps its weights") {
  const std::vector<Words> all = printed_rows({kCat, "--head", "2.1"});
  const std::vector<Words> left = printed_rows({kCat, "--head", "2.1", "--no-special"});
  REQUIRE(all.size() == 7);
  REQUIRE(left.size() == 6);
  CHECK(all[0][0] == "*<|bos|>");
  for (std::size_t row = 0; row < left.size(); ++row) {
    Words expected = all[row + 1];
    expected.erase(expected.begin() + 1);
    CHECK(left[row] == expected);
  }
  const std::string note = "1 token (\"<|bos|>\")";
  const ProgramResult drawn = attnviz({kCat, "--head", "2.1", "--no-special"});
  CHECK(contains(drawn.out, note));
  CHECK_FALSE(contains(drawn.out, "* special token"));
  const std::string svg = svg_of({kCat, "--head", "2.1", "--no-special"});
  CHECK(svg_says(svg, "1 token ("));
  CHECK_FALSE(svg_says(svg, ">*&lt;|bos|&gt;<"));
  CHECK(svg_says(svg_of({kCat, "--head", "2.1"}), ">*&lt;|bos|&gt;<"));
  CHECK(parse_json(png_of({kCat, "--no-special"}).texts.at("attnviz"))["drawing"]["no_special"] ==
        true);
  // Of a long text in a narrow picture, too; one token is in focus by its number in the text.
  const Words many = {long_text(60), "--truncate", "right", "--no-special"};
  const std::size_t n_tokens =
      attnviz_json({long_text(60), "--truncate", "right"})["tokens"].size();
  const std::string n_left = std::to_string(n_tokens - 1);
  CHECK(svg_says(svg_of(joined_words(many, {"--width", "60mm"})),
                 "pooled: " + n_left + " x " + n_left));
  CHECK(svg_says(svg_of({kCat, "--no-special", "--focus", "1", "--head", "2.1"}),
                 "attention of \"The\" (1): demo"));
}

TEST_CASE("--focus in pictures is bars, and in many heads maps of layers and heads") {
  const std::string bars = svg_of({kCat, "--focus", "cat", "--head", "2.1,2.2"});
  CHECK(svg_says(bars, "full bar = "));
  CHECK(svg_says(bars, ">L2H1<"));
  CHECK(svg_says(bars, ">masked<"));
  CHECK_FALSE(svg_says(bars, ">key (attended to)<"));
  CHECK(png_of({kCat, "--focus", "cat", "--head", "2.1"}).pixels !=
        png_of({kCat, "--head", "2.1"}).pixels);
  const std::string maps = svg_of({kCat, "--focus", "cat"});
  CHECK_FALSE(svg_says(maps, "full bar = "));
  for (const char* text : {">layer<", ">head<", ">\"cat\" (2)<", ">L3<", ">H3<"}) {
    CHECK(svg_says(maps, text));
  }
  const ProgramResult screen = attnviz({kCat, "--focus", "cat"});
  CHECK(mentions(screen.out, {"\"cat\" (2)", "row = layer", "= head"}));
  CHECK(contains(attnviz({kCat, "--focus", "cat", "--layer", "2"}).out, "full bar = "));
}

TEST_CASE("a saved document draws the picture that it was saved with, print's options repeated") {
  const TemporaryFolder folder;
  const std::vector<Words> of_documents = {{"--no-special"},
                                           {"--no-special", "--focus", "cat"},
                                           {"--no-special", "--focus", "cat", "--head", "2.1"},
                                           {"--no-special", "--side-by-side", "1,2"},
                                           {"--focus", "cat", "--as-key", "--scale", "row-max"}};
  for (const Words& options : of_documents) {
    CAPTURE(joined(options, "and"));
    REQUIRE(in_folder(folder, joined_words({kCat, "-q", "-o", "a.json", "-o", "a.png", "-o",
                                            "a.svg", "-o", "a.txt"},
                                           options))
                .exit_code == 0);
    const ProgramResult again = in_folder(folder, {"render", "a.json", "-q", "-o", "b.json", "-o",
                                                   "b.png", "-o", "b.svg", "-o", "b.txt"});
    REQUIRE(again.exit_code == 0);
    CHECK(again.err.empty());
    for (const std::string ending : {"json", "png", "svg", "txt"}) {
      CAPTURE(ending);
      CHECK(read_file(folder.file("a." + ending)) == read_file(folder.file("b." + ending)));
    }
  }
  for (const Words& options :
       {Words{"--transpose", "--scale", "row-max"},
        Words{"--width", "85mm", "--dpi", "300", "--plain-labels"},
        Words{"--no-values", "--no-footer", "--theme", "dark", "--no-special"}}) {
    CAPTURE(joined(options, "and"));
    REQUIRE(in_folder(folder, joined_words({kCat, "-q", "-o", "a.png"}, options)).exit_code == 0);
    REQUIRE(in_folder(folder, {kCat, "-q", "-o", "a.json"}).exit_code == 0);
    REQUIRE(in_folder(folder, joined_words({"render", "a.json", "-q", "-o", "b.png"}, options))
                .exit_code == 0);
    CHECK(read_file(folder.file("a.png")) == read_file(folder.file("b.png")));
  }
}

TEST_CASE("a text too long to be kept is drawn as one that is kept") {
  // --no-special keeps patterns, and leaves out nothing of random weights.
  const TemporaryFolder folder;
  write_file(folder.file("long.txt"), long_text(1300));
  const Words twelve = {"--random", "-f", folder.file("long.txt"), "--heads", "12",
                        "--d-head", "4"};
  const Words overview = {"--random", kCat, "--layers", "3", "--heads", "6"};
  for (const Words& text : {twelve, overview}) {
    const PrintedPng usual = png_of(text);
    for (const Words& options :
         {Words{"--transpose"}, Words{"--transpose", "--scale", "row-max", "--width", "120mm"},
          Words{"--plain-labels", "--no-values", "--no-footer"}}) {
      CAPTURE(joined(options, "and"));
      const Words words = joined_words(text, options);
      const PrintedPng streamed = png_of(words);
      CHECK(streamed.pixels == png_of(joined_words(words, {"--no-special"})).pixels);
      CHECK(streamed.pixels != usual.pixels);
    }
  }
  // Six queries over five keys; what a file holds is kept.
  const Words oblong = joined_words(overview, {"--mask", "none", "--drop-sink"});
  REQUIRE(in_folder(folder, joined_words(oblong, {"-q", "-o", "a.json"})).exit_code == 0);
  CHECK(png_of(joined_words(oblong, {"--transpose"})).pixels ==
        png_of({"render", folder.file("a.json"), "--transpose"}).pixels);
}

TEST_CASE("inspect -o: theme, resolution, width and title are those asked for") {
  const Words inspect = {"inspect", "The cat sat"};
  const PrintedPng usual = png_of(inspect);
  const PrintedPng fine = png_of(joined_words(inspect, {"--dpi", "192"}));
  CHECK(fine.width == 2 * usual.width);
  CHECK(fine.height > 2 * usual.height - usual.height / 50);
  CHECK(fine.height < 2 * usual.height + usual.height / 50);
  CHECK(fine.dots_a_metre == 7559);  // 192 an inch
  CHECK(usual.texts.at("Title") == "inspect: demo");
  CHECK(png_of(joined_words(inspect, {"--title", "Figure 3"})).texts.at("Title") == "Figure 3");
  const PrintedPng untitled = png_of(joined_words(inspect, {"--title", ""}));
  CHECK(untitled.height < usual.height);
  CHECK(contains(svg_of(joined_words(inspect, {"--theme", "dark"})), "#17191e"));
  CHECK_FALSE(contains(svg_of(inspect), "#17191e"));
  CHECK(png_of(joined_words(inspect, {"--width", "200mm", "--dpi", "300"})).width == 2362);
  CHECK(attnviz(joined_words(inspect, {"--title", "Figure 3"})).out.starts_with("Figure 3\n"));
  CHECK(mentions(attnviz(joined_words(inspect, {"--theme", "dark", "--dpi", "300"})).err,
                 {"--theme", "--dpi"}));
  // The numbers are the same.
  CHECK(attnviz_json(joined_words(inspect, {"-o", "/dev/null", "--format", "png", "--title", "x",
                                            "--theme", "dark"})) == attnviz_json(inspect));
}

}  // namespace attnviz::test
