// Whole screens of each command: what no check of a number or a name can see.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/screens.h"

namespace attnviz::test {
namespace {

const char* const kTired = "The cat sat on the mat because it was tired";
const char* const kHarry = "Harry Potter is a wizard. Harry";

// Its name ends in the columns of the terminal.
struct Screen {
  std::string name;
  std::vector<std::string> arguments;
};

// Only what is the same everywhere: no time, no memory, no folder of this machine.
const std::vector<Screen> kScreens = {
    {"show_demo_80", {kTired}},
    {"show_demo_40", {kTired}},
    {"show_demo_120", {kTired}},
    {"show_short_80", {"The cat"}},
    {"show_head_80", {kTired, "--head", "2.1"}},
    {"show_ascii_80", {kTired, "--head", "2.1", "--style", "ascii"}},
    {"show_numbers_120", {"The cat sat on the mat", "--head", "2.1", "--style", "numbers"}},
    {"show_focus_80", {kTired, "--head", "2.1", "--focus", "cat"}},
    {"show_focus_as_key_80", {kTired, "--layer", "2", "--focus", "cat", "--as-key"}},
    {"show_arcs_80", {kTired, "--head", "2.1", "--style", "arcs"}},
    {"show_masks_80", {"The cat sat on it", "--style", "mask", "--side-by-side", "causal,none"}},
    {"show_predict_80", {kHarry, "--predict", "5"}},
    {"show_generate_80", {kHarry, "--generate", "5", "--head", "2.1"}},
    {"show_random_80", {"The cat sat", "--random", "--seed", "7"}},
    {"show_ablated_80", {kHarry, "--head", "3.0", "--ablate", "2.1", "--side-by-side", "ablated"}},
    {"show_hidden_80", {"The cat sat", "--head", "2.1", "--hide", "sat>cat"}},
    {"show_average_80", {kTired, "--average", "heads"}},
    {"show_values_80", {"The cat sat", "--head", "2.1", "--temperature", "2", "--mask", "none"}},
    {"inspect_80", {"inspect", kTired, "--head", "2.1"}},
    {"inspect_40", {"inspect", "The cat sat", "--head", "2.1"}},
    {"inspect_explain_80", {"inspect", kHarry, "--explain"}},
    {"inspect_random_80", {"inspect", "The cat sat", "--random"}},
    {"heads_demo_80", {"heads"}},
    {"heads_demo_40", {"heads"}},
    {"heads_text_80", {"heads", kTired}},
    {"heads_map_80", {"heads", "--score", "induction"}},
    {"heads_window_80", {"heads", "--mask", "window:2"}},
    {"why_80", {"why", kHarry}},
    {"why_tokens_80", {"why", kHarry, "--tokens"}},
    {"why_lens_80", {"why", kHarry, "--lens"}},
    {"cite_80", {"cite", "What did Anna find?", "--doc", "story.txt", "--answer", "an old map"}},
    {"diff_texts_80", {"diff", "The cat sat on it", "The dog sat on it"}},
    {"diff_lengths_80", {"diff", "The big cat sat", "The cat sat"}},
    {"diff_map_80", {"diff", "The cat sat on it", "The dog sat on it", "--map"}},
    {"diff_head_80", {"diff", "The cat sat on it", "The dog sat on it", "--head", "2.1"}},
    {"rollout_80", {"rollout", kTired}},
    {"rollout_focus_80", {"rollout", kTired, "--focus", "it"}},
    {"lesson_list_80", {"lesson"}},
    {"lesson_scaling_80", {"lesson", "scaling"}},
    {"lesson_heads_80", {"lesson", "heads"}},
    {"lesson_linear_80", {"lesson", "linear"}},
    {"lesson_positions_80", {"lesson", "positions"}},
    {"lesson_masks_80", {"lesson", "masks"}},
    {"softmax_80", {"softmax", "2.1", "8.7", "3.2"}},
    {"softmax_temperature_80", {"softmax", "2", "1", "0.1", "--temperature", "0.5"}},
    {"meaning_80", {"meaning", "cat", "--in", "The cat sat", "--in", "A cat ran to her"}},
    {"info_demo_80", {"info"}},
    {"models_names_80", {"models", "--names"}},
    {"tokenize_80", {"tokenize", "The cat sat, unbelievably"}},
    {"render_80", {"render", "pattern.json"}},
    {"tour_80", {"tour"}},
    {"tour_40", {"tour"}},
    {"help_80", {"-h"}},
    {"help_40", {"-h"}},
    {"help_heads_80", {"heads", "-h"}},
};

}  // namespace

TEST_CASE("screens: lines may differ in the last digit of decimals, and nowhere else") {
  CHECK(test::is_same_line("k  4 on  27.0847  0.0020", "k  4 on  27.0848  0.0020"));
  CHECK(test::is_same_line("2.9999 of", "3.0000 of"));
  CHECK(test::is_same_line("error: 1e-06)", "error: 3e-07)"));
  CHECK_FALSE(test::is_same_line("epsilon 1e-05", "epsilon 2e-05"));
  CHECK_FALSE(test::is_same_line("k  4 on  27.0847", "k  4 on  27.0849"));
  CHECK_FALSE(test::is_same_line("k  4 on  27.0847", "k  5 on  27.0847"));
  CHECK_FALSE(test::is_same_line("0.5 a", "0.5 b"));
  CHECK_FALSE(test::is_same_line("0.5", "0.50"));
}

TEST_CASE("screens: every command prints what its file in tests/cli/screens holds") {
  const TemporaryFolder folder;
  write_file(
      folder.file("story.txt"),
      "Lily gave the ball to the dog. Anna found an old map in the attic. The king slept.\n");
  write_file(folder.file("pattern.json"), R"({"tokens": ["a", "b", "c"],
      "attention": [[[[1, 0, 0], [0.25, 0.75, 0], [0.125, 0.125, 0.75]]]]})");
  for (const Screen& screen : kScreens) {
    CAPTURE(screen.name);
    ProgramRun run;
    run.folder = folder.path();
    run.arguments = screen.arguments;
    run.environment = {{"COLUMNS", screen.name.substr(screen.name.rfind('_') + 1)},
                       {"LC_ALL", "C.UTF-8"},
                       {"HOME", folder.path()}};
    const ProgramResult result = attnviz(run);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    check_screen(screen.name, result.out);
  }
}

TEST_CASE("screens: each file is compared with what a command prints") {
  std::vector<std::string> names = {"inspect_by_hand_80"};
  for (const Screen& screen : kScreens) {
    names.push_back(screen.name);
  }
  for (const auto& file :
       std::filesystem::directory_iterator(ATTNVIZ_SOURCE_DIR "/tests/cli/screens")) {
    CAPTURE(file.path());
    CHECK(std::ranges::count(names, file.path().stem().string()) == 1);
  }
}

}  // namespace attnviz::test
