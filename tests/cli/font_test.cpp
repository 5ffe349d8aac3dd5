// Fonts of pictures: --font and what is installed.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "attnviz/picture/fonts/font_face.h"
#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

const std::string kLohit = "/usr/share/fonts/truetype/lohit-devanagari/Lohit-Devanagari.ttf";

// A system without fonts.
constexpr const char* kNoFonts = "<?xml version=\"1.0\"?><fontconfig></fontconfig>\n";

std::string picture(const TemporaryFolder& folder, const std::string& font = {}) {
  write_file(folder.file("none.conf"), kNoFonts);
  ProgramRun run;
  run.environment = {{"FONTCONFIG_FILE", folder.file("none.conf")}};
  run.arguments = {"--random", "-q", "-o", folder.file("a.png"), "हिन्दी cat 猫"};
  if (!font.empty()) {
    run.arguments.insert(run.arguments.end(), {"--font", font});
  }
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  return read_file(folder.file("a.png"));
}

}  // namespace

TEST_CASE("--font: the font draws what the built-in one lacks") {
  const TemporaryFolder folder;
  const std::string boxes = picture(folder);
  CHECK(boxes == picture(folder));
  if (!can_draw_other_fonts() || !std::filesystem::exists(kLohit)) {
    MESSAGE("SKIPPED: needs libharfbuzz.so.0 and the font " << kLohit);
    return;
  }
  CHECK(picture(folder, kLohit) != boxes);
  CHECK(picture(folder, kLohit) == picture(folder, kLohit));
}

TEST_CASE("an installed font that cannot be used is reported, once") {
  const std::string installed = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
  if (!can_draw_other_fonts() || !std::filesystem::exists(installed)) {
    MESSAGE("SKIPPED: needs libharfbuzz.so.0 and the font " << installed);
    return;
  }
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("fonts"));
  std::filesystem::copy_file(installed, folder.file("fonts/a.ttf"));
  write_file(folder.file("one.conf"), "<?xml version=\"1.0\"?><fontconfig><dir>" +
                                          folder.file("fonts") + "</dir><cachedir>" +
                                          folder.file("cache") + "</cachedir></fontconfig>\n");
  ProgramRun run;
  run.environment = {{"FONTCONFIG_FILE", folder.file("one.conf")}};
  run.arguments = {"שלום cat שלום", "--random", "-o", folder.file("a.png")};
  CHECK_FALSE(contains(attnviz(run).err, "a.ttf"));
  const std::string drawn = read_file(folder.file("a.png"));
  // A version number that FreeType accepts, and with it fontconfig, but no other reader.
  std::string bytes = read_file(installed);
  bytes.replace(0, 4, std::string("\0\2\0\0", 4));
  write_file(folder.file("fonts/a.ttf"), bytes);
  const ProgramResult broken = attnviz(run);
  CHECK(broken.exit_code == 0);
  CHECK(read_file(folder.file("a.png")) != drawn);
  const std::size_t note = broken.err.find("a.ttf");
  REQUIRE(note != std::string::npos);
  CHECK(broken.err.find("a.ttf", note + 1) == std::string::npos);
  run.arguments.emplace_back("-q");
  CHECK_FALSE(contains(attnviz(run).err, "a.ttf"));
}

TEST_CASE("--font: a file that is missing or not a font is reported, even when nothing needs it") {
  const TemporaryFolder folder;
  const ProgramResult missing = attnviz({"--font", "/no/such.ttf", "cat"});
  CHECK(missing.exit_code == 1);
  CHECK(contains(missing.err, "/no/such.ttf"));
  write_file(folder.file("text.ttf"), "this is no font");
  const ProgramResult text = attnviz({"--font", folder.file("text.ttf"), "cat"});
  CHECK(text.exit_code == 3);
  CHECK(mentions(text.err, {"text.ttf", "TrueType", "OpenType font"}));
}

}  // namespace attnviz::test
