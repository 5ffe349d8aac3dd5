// Models with experts through the program.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

const std::string kMixtral = kReference + "experts/mixtral";
const std::string kMixed = kReference + "experts/qwen3moe-mixed-layers";
const std::string kIds = "1,46,23,66";

}  // namespace

TEST_CASE("documents say which experts each token gets, in every layer that has experts") {
  const json document = attnviz_json({"show", "-m", kMixtral, "--ids", kIds, "--layer", "1"});
  const json& router = document["router"];
  CHECK(router["layers"] == json{0, 1, 2});
  CHECK(router["n_experts"] == json{6, 6, 6});
  REQUIRE(router["experts"].size() == 3);
  for (std::size_t layer = 0; layer < 3; ++layer) {
    REQUIRE(router["experts"][layer].size() == 4);
    for (std::size_t token = 0; token < 4; ++token) {
      const json& weights = router["weights"][layer][token];
      REQUIRE(router["experts"][layer][token].size() == 2);
      CHECK(weights[0].get<double>() >= weights[1].get<double>());
      CHECK(weights[0].get<double>() + weights[1].get<double>() == doctest::Approx(1.0));
    }
  }
  CHECK(!attnviz_json({"show", "The cat sat"}).contains("router"));
  CHECK(attnviz_json({"show", "-m", kMixed, "--ids", kIds})["router"]["layers"] == json{1});
}

TEST_CASE("a learned sink is a column of its own, and never the first token's") {
  const TemporaryFolder folder;
  const std::string model = kReference + "experts/gptoss-bf16";
  const json document = attnviz_json({"show", "-m", model, "--ids", kIds});
  for (std::size_t layer = 0; layer < 4; ++layer) {
    for (std::size_t head = 0; head < 4; ++head) {
      for (std::size_t query = 0; query < 4; ++query) {
        double sum = document["sink"][layer][head][query].get<double>();
        CHECK(sum > 0.0);
        for (const json& weight : document["attention"][layer][head][query]) {
          sum += weight.get<double>();
        }
        CHECK(sum == doctest::Approx(1.0));
      }
    }
  }
  CHECK(!attnviz_json({"show", "The cat sat"}).contains("sink"));
  write_file(folder.file("a.json"), document.dump());
  CHECK(attnviz_json({"render", folder.file("a.json")})["sink"] == document["sink"]);
  CHECK(attnviz({"render", folder.file("a.json")}).err.empty());
  json wrong = document;
  wrong["sink"][1].erase(0);
  write_file(folder.file("b.json"), wrong.dump());
  CHECK(attnviz({"render", folder.file("b.json")}).exit_code == 3);

  const std::vector<std::string> one = {"show",    "-m", model,    "--ids", kIds,
                                        "--layer", "1",  "--head", "0"};
  const auto with = [&one](std::vector<std::string> more) {
    more.insert(more.begin(), one.begin(), one.end());
    return attnviz(more).out;
  };
  CHECK(contains(with({}), "sink"));
  CHECK(contains(with({"--focus", "2"}), "s sink"));
  CHECK(mentions(with({"--drop-sink"}), {"sink"}));
  CHECK(!contains(with({"--drop-sink"}), "s sink"));
  CHECK(!contains(with({"--show", "scores"}), "sink"));
}

TEST_CASE("inspect, heads and -v report what goes to a learned sink") {
  const std::string model = kReference + "experts/gptoss-bf16";
  const json document = attnviz_json({"show", "-m", model, "--ids", kIds});
  const double expected = document["sink"][1][3][2].get<double>();
  const json head = attnviz_json({"inspect", "-m", model, "--ids", kIds, "--layer", "1", "--head",
                                  "3", "--query", "2"})["heads"][0];
  const json& sink = head["for_query"]["sink"];
  CHECK(sink["weight"].get<double>() == doctest::Approx(expected).epsilon(1e-5));
  double sum = sink["exponential"].get<double>();
  for (const json& one : head["for_query"]["exponentials"]) {
    sum += one.get<double>();
  }
  CHECK(sum == doctest::Approx(head["for_query"]["sum"].get<double>()));
  double mean = 0.0;
  for (const json& weight : document["sink"][1][3]) {
    mean += weight.get<double>() / 4.0;
  }
  const json scores = attnviz_json({"heads", "-m", model, "--ids", kIds});
  CHECK(scores["heads"][7]["learned_sink"].get<double>() == doctest::Approx(mean));
  CHECK(attnviz_json({"heads", "The cat sat"})["heads"][0]["learned_sink"].is_null());
  CHECK(contains(attnviz({"show", "-v", "-m", model, "--ids", kIds}).err, "%"));
}

TEST_CASE("render keeps what a document says about experts, and refuses what is impossible") {
  const TemporaryFolder folder;
  const json document = attnviz_json({"show", "-m", kMixtral, "--ids", kIds});
  write_file(folder.file("a.json"), document.dump());
  CHECK(attnviz_json({"render", folder.file("a.json")})["router"] == document["router"]);
  json wrong = document;
  wrong["router"]["experts"][0][0][0] = 6;
  write_file(folder.file("b.json"), wrong.dump());
  const ProgramResult refused = attnviz({"render", folder.file("b.json")});
  CHECK(refused.exit_code == 3);
  CHECK(mentions(refused.err, {"b.json", "router", "experts"}));
}

TEST_CASE("--show router draws tokens by experts, one picture per layer") {
  const json document = attnviz_json({"show", "-m", kMixtral, "--ids", kIds, "--show", "router"});
  CHECK(document["kind"] == "router");
  CHECK(document["key_tokens"] == json{"0", "1", "2", "3", "4", "5"});
  CHECK(!document.contains("mask"));
  const json router = attnviz_json({"show", "-m", kMixtral, "--ids", kIds})["router"];
  for (std::size_t layer = 0; layer < 3; ++layer) {
    for (std::size_t token = 0; token < 4; ++token) {
      const json& row = document["attention"][layer][0][token];
      double sum = 0.0;
      for (const json& factor : row) {
        sum += factor.get<double>();
      }
      CHECK(sum == doctest::Approx(1.0));
      CHECK(row[router["experts"][layer][token][0].get<std::size_t>()] ==
            router["weights"][layer][token][0]);
    }
  }
  const ProgramResult drawn =
      attnviz({"show", "-m", kMixtral, "--ids", kIds, "--show", "router", "--layer", "1"});
  CHECK(contains(drawn.out, "L1 experts"));
  CHECK(!contains(drawn.out, "L0 experts"));
  CHECK(mentions(drawn.out, {"= expert", "6 experts"}));
}

TEST_CASE("--show router is refused for models without experts") {
  const ProgramResult dense = attnviz({"show", "The cat sat", "--show", "router"});
  CHECK(dense.exit_code == 2);
  CHECK(mentions(dense.err, {"demo"}));
  const ProgramResult other =
      attnviz({"show", "-m", kMixed, "--ids", kIds, "--show", "router", "--layer", "0"});
  CHECK(other.exit_code == 2);
  CHECK(contains(other.err, "experts"));
}

TEST_CASE("info counts all experts, and those that a token uses") {
  const json info = attnviz_json({"info", "-m", kReference + "experts/qwen2moe"});
  std::size_t stored = 0;
  for (const json& numbers : info["weights"]["stored"]) {
    stored += numbers["numbers"].get<std::size_t>();
  }
  const json& counts = info["parameters"];
  CHECK(counts["total"] == stored);
  // 3 layers, 5 of 8 experts left out, three matrices of 32 by 16 each.
  CHECK(counts["active"] == stored - 3 * 5 * 3 * 32 * 16);
  CHECK(info["shape"]["n_experts"] == 8);
  CHECK(info["shape"]["n_used_experts"] == 3);
}

TEST_CASE("info counts every number in the file, and recognises sinks") {
  for (const char* const name :
       {"gptoss-bf16", "gptoss-mxfp4", "qwen3next", "qwen3.5-moe", "granite4-hybrid",
        "nemotronh-moe", "deepseek3", "gemma4-moe", "t5-v1.1", "marian", "bart", "mbart",
        "falcon-h1", "falcon-h1-norm"}) {
    CAPTURE(name);
    const json info = attnviz_json({"info", "-m", kReference + "experts/" + name});
    std::size_t stored = 0;
    for (const json& type : info["weights"]["stored"]) {
      stored += type["numbers"].get<std::size_t>();
    }
    CHECK(info["parameters"]["total"] == stored);
  }
  const ProgramResult text = attnviz({"info", "-m", kReference + "experts/gptoss-bf16"});
  CHECK(contains(text.out, "sink"));
}

TEST_CASE("a page of a model with sinks has the tokens' columns alone, and says so") {
  const TemporaryFolder folder;
  const std::string page = folder.file("a.html");
  CHECK(attnviz({"show", "-m", kReference + "experts/gptoss-bf16", "--ids", kIds, "-o", page})
            .exit_code == 0);
  const std::string written = read_file(page);
  CHECK(contains(written, "sink"));
}

TEST_CASE("--show router: each layer has a mask of its own; options for attention are refused") {
  const TemporaryFolder folder;
  const std::string page = folder.file("a.html");
  const std::vector<std::string> router = {"show", "-m",     kMixtral, "--ids",
                                           kIds,   "--show", "router"};
  const auto with = [&router](std::vector<std::string> more) {
    more.insert(more.begin(), router.begin(), router.end());
    return attnviz(more);
  };
  CHECK(with({"-o", page}).exit_code == 0);
  for (const char* const mask : {"of L0 experts", "of L1 experts", "of L2 experts"}) {
    CHECK(contains(read_file(page), mask));
  }
  CHECK(with({"--focus", "1"}).exit_code == 2);
  CHECK(with({"--style", "mask"}).exit_code == 2);
}

TEST_CASE("inspect, why and arcs name the learned sink's share") {
  const std::string model = kReference + "experts/gptoss-bf16";
  const ProgramResult inspected =
      attnviz({"inspect", "--explain", "-m", model, "--ids", kIds, "--layer", "1", "--head", "3"});
  CHECK(contains(inspected.out, "sink"));
  std::string why = attnviz({"why", "-m", model, "--ids", kIds, "--tokens"}).out;
  std::ranges::replace(why, '\n', ' ');  // lines may break anywhere
  CHECK(mentions(why, {"sinks"}));
  CHECK(!contains(attnviz({"why", "The cat sat", "--tokens"}).out, "sinks"));
  const ProgramResult arcs = attnviz(
      {"show", "-m", model, "--ids", kIds, "--layer", "1", "--head", "0", "--style", "arcs"});
  CHECK(contains(arcs.out, " s sink\n"));
  CHECK(!contains(arcs.out, "∅"));
  const std::string svg = attnviz({"show", "-m", model, "--ids", kIds, "--layer", "1", "--head",
                                   "0", "--style", "arcs", "-o", "-", "--format", "svg"})
                              .out;
  CHECK(contains(svg, ">sink<"));
  CHECK(!contains(svg, "∅"));
}

TEST_CASE("--show router: heads are refused, and pages and arcs call routers what they are") {
  const ProgramResult refused =
      attnviz({"show", "-m", kMixtral, "--ids", kIds, "--show", "router", "--head", "0.1"});
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, {"--layer"}));
  const ProgramResult named =
      attnviz({"show", "-m", kMixtral, "--ids", kIds, "--show", "router", "--names"});
  CHECK(mentions(named.err, {"--names"}));
  const ProgramResult arcs =
      attnviz({"show", "-m", kMixtral, "--ids", kIds, "--show", "router", "--style", "arcs"});
  CHECK(contains(arcs.out, "L0 experts"));
  CHECK(!contains(arcs.out, "L0H0"));
  CHECK(!contains(arcs.out, "query"));
  const TemporaryFolder folder;
  const std::string page = folder.file("a.html");
  CHECK(
      attnviz({"show", "-m", kMixtral, "--ids", kIds, "--show", "router", "-o", page}).exit_code ==
      0);
  CHECK(contains(read_file(page), "\"title\": \"L0 experts\""));
}

TEST_CASE("diff of two models notices different sinks") {
  const TemporaryFolder folder;
  const std::string model = kReference + "experts/gptoss-bf16";
  std::string weights = read_file(model + "/model.safetensors");
  const auto n_header = static_cast<std::size_t>(static_cast<unsigned char>(weights[0])) +
                        256 * static_cast<std::size_t>(static_cast<unsigned char>(weights[1])) +
                        65536 * static_cast<std::size_t>(static_cast<unsigned char>(weights[2]));
  const json header = json::parse(weights.substr(8, n_header));
  const std::size_t begin = header["model.layers.1.self_attn.sinks"]["data_offsets"][0];
  weights[8 + n_header + begin + 1] = '\x40';  // about 2
  write_file(folder.file("model.safetensors"), weights);
  write_file(folder.file("config.json"), read_file(model + "/config.json"));
  const ProgramResult run =
      attnviz({"diff", "-m", model, "-m", folder.file("config.json"), "--ids", kIds});
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "sinks"));
  CHECK(!contains(run.out, "all the same"));
}

}  // namespace attnviz::test
