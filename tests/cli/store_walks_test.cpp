// Stores whose links lead back, and stores of thousands of files: each is listed once, and in time.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "cli/model_home.h"
#include "support/json.h"
#include "support/stopwatch.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kLmStudio = ".lmstudio/models/";

void link_to_itself(const fs::path& folder, int n_links) {
  for (int i = 0; i < n_links; ++i) {
    fs::create_directory_symlink(".", folder / ("link" + std::to_string(i)));
  }
}

// Those that come neither with the program nor with its samples.
std::vector<std::string> names_of(const Home& home) {
  std::vector<std::string> names = lines_of(home.run({"models", "--names"}).out);
  std::erase_if(
      names, [](const std::string& name) { return name == "demo" || name.starts_with("sample:"); });
  return names;
}

void write_model(const Home& home, const std::string& manifest) {
  home.manifest(manifest, home.blob_layer('1', "GGUF"));
}

}  // namespace

TEST_CASE("Ollama's store: eighty links to the folder that they lie in") {
  const Home home;
  const std::string host = "registry.ollama.ai/";
  write_model(home, host + "library/tiny/latest");
  const fs::path manifests = home.path() / ".ollama/models/manifests";
  link_to_itself(manifests, 80);
  link_to_itself(manifests / host, 80);
  link_to_itself(manifests / host / "library", 80);
  check_in_time([&] { CHECK(names_of(home) == std::vector<std::string>{"tiny:latest"}); });
}

TEST_CASE(
    "Ollama's store: folders that lie elsewhere are listed, and a link is not a second model") {
  const Home home;
  const std::string library = "registry.ollama.ai/library/";
  write_model(home, library + "tiny/latest");
  const fs::path folder = home.path() / ".ollama/models/manifests" / library;
  fs::create_directory(home.path() / "elsewhere");
  fs::copy_file(folder / "tiny/latest", home.path() / "elsewhere/1b");
  fs::create_directory_symlink(home.path() / "elsewhere", folder / "large");
  fs::create_directory_symlink(home.path() / "elsewhere", folder / "other");
  fs::create_directory_symlink("tiny", folder / "alias");
  CHECK(names_of(home) == std::vector<std::string>{"large:1b", "tiny:latest"});
}

TEST_CASE("LM Studio's store: forty links and as many files") {
  const Home home;
  const std::string repository = kLmStudio + "pub/repo/";
  for (int i = 0; i < 40; ++i) {
    home.write(repository + "file" + std::to_string(i) + ".gguf", "GGUF");
  }
  const fs::path root = home.path() / kLmStudio;
  for (const char* folder : {"", "pub", "pub/repo"}) {
    link_to_itself(root / folder, 40);
  }
  check_in_time([&] {
    const std::vector<std::string> names = names_of(home);
    CHECK(names.size() == 40);
    CHECK(std::ranges::all_of(
        names, [](const std::string& name) { return name.starts_with("pub/repo:file"); }));
  });
}

TEST_CASE("LM Studio's store: repositories that lie elsewhere, or link to one folder of files") {
  const Home home;
  home.write("elsewhere/a.gguf", "GGUF");
  home.write("shared/b.gguf", "GGUF");
  home.write(kLmStudio + "pub/z/own/c.gguf", "GGUF");
  const fs::path publisher = home.path() / kLmStudio / "pub";
  fs::create_directory_symlink(home.path() / "elsewhere", publisher / "linked");
  for (int i = 0; i < 3; ++i) {
    const fs::path repository = publisher / ("several" + std::to_string(i));
    fs::create_directory(repository);
    fs::create_directory_symlink(home.path() / "shared", repository / "files");
    fs::create_directory_symlink("../z", repository / "repository");
    fs::create_directory_symlink("../z/own", repository / "own");
  }
  CHECK(names_of(home) == std::vector<std::string>{"pub/linked:a", "pub/several0:b", "pub/z:c"});
}

TEST_CASE("Hugging Face's cache: links to one repository, and to one snapshot") {
  const Home home;
  const fs::path cache = home.path() / ".cache/huggingface/hub";
  home.write(".cache/huggingface/hub/models--own--real/snapshots/abc/m.gguf", "GGUF");
  fs::create_directory_symlink("models--own--real", cache / "models--own--alias");
  fs::create_directories(cache / "models--own--second/snapshots");
  fs::create_directory_symlink(cache / "models--own--real/snapshots/abc",
                               cache / "models--own--second/snapshots/abc");
  CHECK(names_of(home) == std::vector<std::string>{"own/real:m"});
}

TEST_CASE("a folder as a model: four hundred files of one quantisation, as many links to it") {
  const Home home;
  for (int i = 0; i < 400; ++i) {
    home.write("folder/a-Q4_" + std::to_string(10000 + i) + ".gguf", "GGUF");
  }
  link_to_itself(home.path() / "folder", 400);
  check_in_time([&] {
    home.check_fails("folder", 2, {"folder/a-Q4_10000.gguf", "folder/a-Q4_10001.gguf"});
  });
}

TEST_CASE("llama.cpp's cache: eight hundred manifests of one repository, and as many files") {
  const Home home;
  const std::string cache = ".cache/llama.cpp/";
  for (int i = 0; i < 800; ++i) {
    home.write(fmt::format("{}manifest=own=repo={}.json", cache, i), "{}");
    home.write(fmt::format("{}own_repo_{}.gguf", cache, i), "GGUF");
  }
  home.write(cache + "manifest=own=repo_x=latest.json", "{}");
  home.write(cache + "own_repo_x_model-Q4_0.gguf", "GGUF");
  home.write(cache + "own_repo_xy-Q4_0.gguf", "GGUF");
  home.write(cache + "own_.gguf", "GGUF");
  check_in_time([&] {
    const std::vector<std::string> names = names_of(home);
    CHECK(names.size() == 803);
    for (const char* name :
         {"own/repo:0", "own/repo:799", "own/repo_x:Q4_0", "own/repo:Q4_0", "own_"}) {
      CAPTURE(name);
      CHECK(std::ranges::count(names, name) == 1);
    }
  });
}

TEST_CASE("models: thousands of models in two parts each") {
  const Home home;
  for (int i = 0; i < 6000; ++i) {
    home.write(kLmStudio + "pub/repo/m" + std::to_string(i) + "-00001-of-00002.gguf", "GGUF");
  }
  home.write(kLmStudio + "pub/repo/m7-00002-of-00002.gguf", "GGUF");
  home.write(kLmStudio + "pub/repo/m7-00002-of-00003.gguf", "GGUF");
  check_in_time([&] {
    const json listed = parse_json(home.run({"models", "--json"}).out);
    for (const json& model : listed["models"]) {
      if (model["store"] == "LM Studio") {
        REQUIRE(model["bytes"] == (model["name"] == "pub/repo:m7" ? 8 : 4));
      }
    }
  });
}

TEST_CASE("models --names: what cannot be typed is not a name, and none has two lines") {
  const Home home;
  home.write(kLmStudio + "pub/repo/good.gguf", "GGUF");
  home.write(kLmStudio + "pub/repo/bad\nrm -r x.gguf", "GGUF");
  home.write(kLmStudio + "pub/repo/bell\a.gguf", "GGUF");
  CHECK(names_of(home) == std::vector<std::string>{"pub/repo:good"});
}

TEST_CASE("models: of thousands of folders that cannot be read only the first are reported") {
  const Home home;
  home.write(kLmStudio + "pub/repo/good.gguf", "GGUF");
  for (int i = 0; i < 20000; ++i) {
    const std::string name = "x" + std::to_string(i);
    fs::create_symlink(name, home.path() / kLmStudio / "pub" / name);
  }
  const ProgramResult result = home.run({"models"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "pub/repo:good"));
  const std::vector<std::string> messages = lines_of(result.err);
  REQUIRE(messages.size() == 6);
  CHECK(mentions(messages.front(), {"pub/x0", "Too many levels of symbolic links"}));
  CHECK(mentions(messages.back(), {"19995"}));
}

}  // namespace attnviz::test
