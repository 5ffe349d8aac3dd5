// Standard error: lines that the program writes, and none that only look like them.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/gguf_builder.h"
#include "support/json.h"
#include "support/repeated.h"

namespace attnviz::test {

TEST_CASE("a line feed in a name makes no line of its own") {
  const TemporaryFolder folder;
  // Lines to copy begin with two spaces.
  for (const std::string feed : {"\n", "\n  "}) {
    const std::string seen = "⏎" + feed.substr(1);
    const ProgramResult file =
        attnviz({"-m", "a" + feed + "attnviz: all is well\x1b[2J.json", "x"});
    CHECK(file.exit_code == 1);
    CHECK(file.err.starts_with("attnviz: a" + seen + "attnviz: all is well\\x1B[2J.json: "));
    CHECK(lines_of(file.err).size() == 1);
    write_file(
        folder.file("m.gguf"),
        GgufBuilder().add_string("general.architecture", "x" + feed + "attnviz: well").bytes());
    const ProgramResult metadata = in_folder(folder, {"-m", "m.gguf", "x"});
    CHECK(metadata.exit_code == 4);
    CHECK(contains(metadata.err, "general.architecture \"x" + seen + "attnviz: well\""));
    CHECK(lines_of(metadata.err).size() == 1);
  }
}

TEST_CASE("a line feed in a folder of models is seen where models are listed") {
  ProgramRun run;
  run.arguments = {"models", "--style", "blocks"};
  for (const char* const name : {"OLLAMA_MODELS", "HF_HOME", "LLAMA_CACHE"}) {
    run.environment[name] = "/no\nfolder";
  }
  const std::string listed = run_program(ATTNVIZ_PROGRAM, run).out;
  CHECK(mentions(listed, {"Ollama", "/no⏎folder", "llama.cpp", "Hugging Face", "/no⏎folder/hub"}));
  run.arguments = {"models", "--style", "ascii"};
  CHECK(contains(run_program(ATTNVIZ_PROGRAM, run).out, "/no\\nfolder"));
}

TEST_CASE("a picture that notes make too large is advised to leave them out") {
  const TemporaryFolder folder;
  auto document = parse_json(attnviz({"The cat", "--json", "--head", "2.1"}).out);
  document["notes"] = std::vector<std::string>(50'000, "a note");
  write_file(folder.file("a.json"), document.dump());
  std::vector<std::string> line = {"render", "a.json", "-q", "-o", "a.png"};
  CHECK(mentions(in_folder(folder, line).err, {"--cell", "--no-footer"}));
  line.emplace_back("--no-footer");
  CHECK(in_folder(folder, line).exit_code == 0);
}

TEST_CASE("a file's own words make no lines of their own") {
  const TemporaryFolder folder;
  write_file(folder.file("tokenizer.json"),
             R"({"model": {"type": "WordLevel", "vocab": {"x": 0}, "unk_token": "x"}})");
  write_file(folder.file("chat_template.jinja"),
             "{{ raise_exception('bad\\n  attnviz: wrote a.png\\n  Run: ls') }}");
  const ProgramResult chat = in_folder(folder, {"tokenize", "--tokenizer", ".", "--chat", "x"});
  CHECK(chat.exit_code != 0);
  CHECK(mentions(chat.err, {"bad⏎  attnviz", "a.png⏎", "ls"}));
  CHECK(lines_of(chat.err).size() == 1);
  write_file(folder.file("config.json"), R"({"model_type": "gpt2"})");
  write_file(folder.file("model.safetensors.index.json"),
             R"({"weight_map": {"w": "x\n  attnviz: wrote a.png\n  y.safetensors"}})");
  const ProgramResult index = in_folder(folder, {"info", "-m", "."});
  CHECK(index.exit_code == 1);
  CHECK(mentions(index.err, {"x⏎␠␠attnviz:␠", "␠a.png⏎␠␠y.safetensors"}));
  CHECK(lines_of(index.err).size() == 1);
}

TEST_CASE("lines to copy stay lines of their own") {
  CHECK(mentions(attnviz({"The", "cat", "sat"}).err, {"\n  attnviz \"The cat sat\"\n"}));
  const ProgramResult both = attnviz({"The cat", "the dog"});
  CHECK(contains(attnviz({"lesson", "softmax"}).err, ":\n  attnviz softmax 2.1 8.7 3.2\n"));
  CHECK(mentions(both.err, {"\n  attnviz diff \"The cat\" \"the dog\"\n"}));
}

TEST_CASE("an error of the system about a file names the file") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("loop", folder.file("loop"));
  const ProgramResult run = in_folder(folder, {"cat", "-o", "a.json", "-o", "./loop/x/a.json"});
  CHECK(run.exit_code == 1);
  CHECK(mentions(run.err, {"loop", ": Too many levels of symbolic links\n"}));
  CHECK(folder.names() == std::vector<std::string>{"loop"});
}

TEST_CASE("a message that a file makes long is cut after its beginning") {
  const TemporaryFolder folder;
  std::string shape = "1";
  for (int i = 0; i < 100'000; ++i) {
    shape += ",1";
  }
  const std::string header =
      R"({"a": {"dtype": "F32", "shape": [)" + shape + R"(], "data_offsets": [0, 0]}})";
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 4; ++i) {
    length[i] = static_cast<char>(header.size() >> (8 * i));
  }
  write_file(folder.file("model.safetensors"), length + header);
  write_file(folder.file("config.json"),
             R"({"model_type": "gpt2", "n_embd": 4, "n_head": 1, "n_layer": 1, "vocab_size": 3,
                 "n_positions": 8})");
  const ProgramResult run = in_folder(folder, {"-m", ".", "x"});
  CHECK(run.exit_code == 3);
  CHECK(run.err.size() < 5000);
  CHECK(contains(run.err, "1, 1, 1"));
  CHECK(run.err.ends_with(" bytes)\n"));
  // The place of the cut may differ by a byte, and is never within a character.
  for (const std::string first : {"", "a", "ab"}) {
    const ProgramResult cut =
        attnviz({"-m", first + repeated("漢", 1000) + "/" + repeated("漢", 1000), "x"});
    CHECK(cut.exit_code == 1);
    CHECK(contains(cut.err, "漢… (6"));
    CHECK_FALSE(contains(cut.err, "\\x"));
  }
}

TEST_CASE("--json-lines: an error does not repeat a long number") {
  const std::string number(100'000, '9');
  for (const std::string& line : {number, "{\"ids\": [" + number + "]}", "[-" + number + "]",
                                  "{\"ids\": [1." + number.substr(0, 300) + "]}"}) {
    const ProgramResult run = attnviz({"--json-lines"}, line + "\n");
    CHECK(run.exit_code == 3);
    CHECK(run.err.size() < 400);
  }
}

}  // namespace attnviz::test
