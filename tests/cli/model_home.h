// A home folder with the stores of other programs.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {

// A home folder with stores, which are written file by file.
class Home {
 public:
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    write_file(folder_.path() / name, bytes);
  }
  // A manifest of Ollama's with these layers.
  void manifest(const std::string& name, const std::string& layers) const {
    write(".ollama/models/manifests/" + name,
          R"({"schemaVersion": 2, "layers": [)" + layers + "]}");
  }
  // A blob of these bytes, with a digest of this `digit`; returns its layer.
  std::string blob_layer(char digit, const std::string& bytes,
                         const std::string& type = "model") const {
    write(".ollama/models/blobs/sha256-" + std::string(64, digit), bytes);
    return layer("sha256:" + std::string(64, digit), type);
  }
  static std::string layer(const std::string& digest, const std::string& type = "model") {
    return R"({"mediaType": "application/vnd.ollama.image.)" + type + R"(", "digest": ")" + digest +
           R"("})";
  }

  ProgramResult run(std::vector<std::string> arguments) const {
    ProgramRun program;
    program.folder = folder_.path();
    program.environment = environment_;
    program.environment["HOME"] = folder_.path();
    program.arguments = std::move(arguments);
    return attnviz(program);
  }
  // Which file a name stands for; -1 with an error.
  int number_of(const std::string& name) const {
    const ProgramResult result = run({"tokenize", "-m", name, "a", "--json"});
    CAPTURE(result.err);
    return result.exit_code == 0 ? parse_json(result.out)["token_ids"][0].get<int>() : -1;
  }
  void check_fails(const std::string& name, int exit_code,
                   const std::vector<std::string>& named) const {
    const ProgramResult result = run({"tokenize", "-m", name, "a"});
    CAPTURE(name);
    CAPTURE(result.err);
    CHECK(result.exit_code == exit_code);
    CHECK(mentions(result.err, named));
  }
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  std::filesystem::path path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
};

}  // namespace attnviz::test
