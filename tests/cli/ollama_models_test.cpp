// Models in a store as Ollama lays it out, run by their names.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"
#include "cli/model_home.h"
#include "support/gguf_writer.h"
#include "support/json.h"

namespace attnviz::test {

using nlohmann::json;

TEST_CASE("Ollama's models run by their names: a text, ids, and a chat of the store's template") {
  const Home home;
  const std::string library = "registry.ollama.ai/library/";
  const std::string models = kReference + "gguf/models/";
  home.manifest(library + "gemma3/latest",
                home.blob_layer('1', read_file(models + "gemma3-sixth-global.gguf")));
  home.manifest(
      library + "nomic-embed-text/latest",
      home.blob_layer('2', read_file(kReference + "families/nomic-bert/nomic-bert.gguf")));
  const std::string llama = home.blob_layer('3', read_file(models + "llama-mha-untied.gguf"));
  const std::string chat = home.blob_layer(
      '4', "{{ range .Messages }}[{{ .Role }}] {{ .Content }} {{ end }}[assistant]", "template");
  const std::string system = home.blob_layer('5', "Be kind.", "system");
  const std::string examples = home.blob_layer(
      '6', R"([{"role": "user", "content": "2+2"}, {"role": "assistant", "content": "4"}])",
      "messages");
  home.manifest(library + "llama3.2/latest", llama + "," + chat);
  home.manifest(library + "llama3.2/kind", llama + "," + chat + "," + system + "," + examples);
  home.write(".ollama/models/blobs/sha256-" + std::string(64, '7'), R"({"renderer": "own"})");
  home.write(".ollama/models/manifests/" + library + "llama3.2/rendered",
             R"({"config": {"digest": "sha256:)" + std::string(64, '7') + R"("}, "layers": [)" +
                 llama + "," + chat + "]}");

  const json gemma = parse_json(home.run({"-m", "gemma3", "aaa", "--json"}).out);
  CHECK(gemma["model"]["family"] == "gemma3");
  CHECK(gemma["model"]["name"] == "gemma3");
  const json embedding =
      parse_json(home.run({"-m", "nomic-embed-text", "--ids", "1,2,3", "--json"}).out);
  CHECK(embedding["model"]["family"] == "nomic_bert");
  CHECK(embedding["mask"] == "none");
  CHECK(parse_json(home.run({"-m", "llama3.2", "aaa", "--json"}).out)["model"]["family"] ==
        "llama");

  const auto prompt = [&home](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"tokenize", "--print-prompt"});
    const ProgramResult result = home.run(std::move(arguments));
    return result.exit_code == 0 ? result.out : result.err;
  };
  CHECK(prompt({"-m", "llama3.2", "--chat", "Hi"}) == "[user] Hi [assistant]");
  CHECK(prompt({"-m", "llama3.2:kind", "--chat", "Hi"}) ==
        "[system] Be kind. [user] 2+2 [assistant] 4 [user] Hi [assistant]");
  CHECK(prompt({"-m", "llama3.2:kind", "--chat", "Hi", "--system", "No."}) ==
        "[system] No. [user] 2+2 [assistant] 4 [user] Hi [assistant]");
  CHECK(mentions(prompt({"-m", "llama3.2", "--chat", "Hi", "--no-generation-prompt"}), {"always"}));
  // Its own code makes the prompt there, and the file has no template.
  CHECK(contains(prompt({"-m", "llama3.2:rendered", "--chat", "Hi"}), "--chat"));
  // The tokenizer begins texts with BOS, once.
  const json ids =
      parse_json(home.run({"tokenize", "-m", "llama3.2", "--chat", "Hi", "--json"}).out);
  CHECK(ids["tokens"][0] == "<s>");
  CHECK(ids["tokens"][1] != "<s>");

  const json listed = parse_json(home.run({"models", "--json"}).out);
  std::map<std::string, json> by_name;
  for (const json& model : listed["models"]) {
    by_name[model["name"]] = model;
  }
  CHECK(by_name["llama3.2:kind"]["chat_template"] == true);
  CHECK(by_name["llama3.2:rendered"]["chat_template"] == false);
  CHECK(by_name["gemma3:latest"]["family"] == "gemma3");
  CHECK(by_name["gemma3:latest"]["problem"].is_null());
  CHECK(by_name["nomic-embed-text:latest"]["family"] == "nomic-bert");
}

TEST_CASE("texts that end an answer, as Ollama's store has them, end what a model writes") {
  const Home home;
  const std::string library = "registry.ollama.ai/library/";
  const std::string weights =
      home.blob_layer('1', read_file(kReference + "gguf/models/gpt2-tied.gguf")) + "," +
      home.blob_layer('2', "{{ .Prompt }}", "template");
  home.manifest(library + "goes-on/latest", weights);
  home.manifest(library + "stops/latest",
                weights + "," + home.blob_layer('3', R"({"stop": ["no", "s"]})", "params"));
  const auto n_tokens = [&home](const std::string& name) {
    return parse_json(home.run({"-m", name, "abc", "--generate", "6", "--json"}).out)["tokens"]
        .size();
  };
  CHECK(n_tokens("goes-on") == 9);
  CHECK(n_tokens("stops") < 9);
}

TEST_CASE("models says why a model cannot be run, with its family and size") {
  const Home home;
  home.manifest("registry.ollama.ai/library/rwkv/latest",
                home.blob_layer('1', GgufWriter()
                                         .text("general.architecture", "rwkv7")
                                         .text("tokenizer.chat_template", "{{ messages }}")
                                         .zeros("token_embd.weight", {8, 5})
                                         .file()));
  const json listed = parse_json(home.run({"models", "--json"}).out);
  const json& model = listed["models"][1];
  CHECK(model["name"] == "rwkv:latest");
  CHECK(model["family"] == "rwkv7");
  CHECK(model["parameters"] == 40);
  CHECK(model["chat_template"] == true);
  CHECK(contains(model["problem"], "rwkv"));
  const std::string text = home.run({"models"}).out;
  CHECK(mentions(text, {"rwkv7", "rwkv"}));
}

TEST_CASE("Ollama's models: an endless template affects only its own model") {
  const Home home;
  const std::string library = "registry.ollama.ai/library/";
  const std::string model =
      home.blob_layer('1', read_file(kReference + "gguf/models/gpt2-tied.gguf"));
  home.manifest(library + "good/latest", model);
  home.manifest(library + "huge/latest",
                model + "," + home.blob_layer('2', "{{ .Prompt }}", "template"));
  const std::string blob = ".ollama/models/blobs/sha256-" + std::string(64, '2');
  std::filesystem::resize_file(home.path() / blob, std::uintmax_t{100} << 30);
  const ProgramResult listed = home.run({"models"});
  CHECK(listed.exit_code == 0);
  CHECK(mentions(listed.out, {"good", "huge"}));
  CHECK(contains(home.run({"models", "--names"}).out, "good"));
  const ProgramResult used = home.run({"tokenize", "-m", "huge", "--chat", "a"});
  CHECK(used.exit_code == 4);
  CHECK(mentions(used.err, {"16 MiB"}));
}

TEST_CASE("a local folder is read, not what Ollama's store has under its name") {
  const Home home;
  home.write("foo/model.gguf", read_file(kReference + "gguf/models/gpt2-tied.gguf"));
  home.manifest("registry.ollama.ai/library/foo/latest",
                Home::layer("sha256:" + std::string(64, '9')));
  CHECK(home.run({"tokenize", "-m", "foo", "a"}).exit_code == 0);
}

}  // namespace attnviz::test
