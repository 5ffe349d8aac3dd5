// Models most of whose layers have states instead of attention, through the program.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kQwenHybrid = kReference + "experts/qwen3next-interval2";
const std::string kGraniteHybrid = kReference + "experts/granite4-hybrid";
const std::string kNemotronHybrid = kReference + "experts/nemotronh-moe";
const std::string kFalcon = kReference + "experts/falcon-h1";
const std::string kFalconFile = kFalcon + "/falcon-h1.gguf";
const std::string kNormedFalcon = kReference + "experts/falcon-h1-norm";
const std::string kHybridIds = "1,46,23,66,46,23";

ProgramResult show_hybrid(const std::string& model, std::vector<std::string> more) {
  more.insert(more.begin(), {"show", "-m", model, "--ids", kHybridIds});
  return attnviz(std::move(more));
}

// The model with one key of its config changed, or taken out by null.
ProgramResult info_of_changed(const std::string& model, const std::string& key, const json& value) {
  const TemporaryFolder folder;
  std::ifstream file(model + "/config.json");
  json config = json::parse(file);
  config[key] = value;
  write_file(folder.file("config.json"), config.dump());
  fs::copy_file(model + "/model.safetensors", folder.file("model.safetensors"));
  return attnviz({"info", "-m", folder.file("config.json")});
}

// Writes the model with its layers three times over.
void write_tripled(const std::string& model, const TemporaryFolder& to) {
  constexpr std::size_t kTimes = 3;
  json config = read_json(model + "/config.json");
  const std::size_t n_layers = config["num_hidden_layers"];
  const json types = config["layer_types"];
  config["num_hidden_layers"] = kTimes * n_layers;
  for (std::size_t more = n_layers; more < kTimes * n_layers; ++more) {
    config["layer_types"].push_back(types[more % n_layers]);
  }
  write_file(to.file("config.json"), config.dump());

  constexpr std::size_t kSizeBytes = 8;
  const std::string file = read_file(model + "/model.safetensors");
  const std::size_t size =
      static_cast<unsigned char>(file[0]) + std::size_t{256} * static_cast<unsigned char>(file[1]);
  const json tensors = json::parse(file.substr(kSizeBytes, size));
  json header;
  std::string bytes;
  for (const auto& [name, tensor] : tensors.items()) {
    const std::string layers = "model.layers.";
    if (name == "__metadata__") {
      continue;
    }
    const bool is_of_layer = name.starts_with(layers);
    for (std::size_t time = 0; time < (is_of_layer ? kTimes : 1); ++time) {
      const std::size_t digits = is_of_layer ? name.find('.', layers.size()) : 0;
      const std::string named =
          is_of_layer
              ? layers + std::to_string(std::stoul(name.substr(layers.size())) + time * n_layers) +
                    name.substr(digits)
              : name;
      const std::size_t begin = tensor["data_offsets"][0];
      const std::size_t end = tensor["data_offsets"][1];
      header[named] = tensor;
      header[named]["data_offsets"] = {bytes.size(), bytes.size() + end - begin};
      bytes += file.substr(kSizeBytes + size + begin, end - begin);
    }
  }
  const std::string text = header.dump();
  std::string counted(kSizeBytes, '\0');
  for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i) {
    counted[i] = static_cast<char>(text.size() >> (8 * i));
  }
  write_file(to.file("model.safetensors"), counted + text + bytes);
}

void check_malformed(const std::string& model, const std::string& key, const json& value,
                     const std::string& part) {
  const ProgramResult result = info_of_changed(model, key, value);
  CAPTURE(key);
  CAPTURE(result.err);
  CHECK((result.exit_code == 3 || result.exit_code == 4));
  CHECK(contains(result.err, part));
}

}  // namespace

TEST_CASE(
    "configs of hybrids that contradict themselves or the tensors are refused with a reason") {
  const std::string pattern = "hybrid_override_pattern";
  check_malformed(kNemotronHybrid, pattern, "ME*EM", pattern);
  check_malformed(kNemotronHybrid, pattern, "ME*XM*", "\"X\"");
  check_malformed(kNemotronHybrid, pattern, nullptr, pattern);
  check_malformed(kNemotronHybrid, "layers_block_type",
                  json::array({"mamba", "moe", "attention", "mlp", "mamba", "attention"}),
                  "layers_block_type");
  check_malformed(kNemotronHybrid, "n_groups", 4, "6 heads");
  check_malformed(kNemotronHybrid, "time_step_limit", json::array({1.0, 0.5}), "time_step_limit");
  check_malformed(kNemotronHybrid, "moe_latent_size", 8, "experts.0.up_proj.weight");
  check_malformed(kGraniteHybrid, "position_embedding_type", "alibi", "\"alibi\"");
  check_malformed(kGraniteHybrid, "mamba_d_state", 1 << 30, "1073741824");
  check_malformed(kQwenHybrid, "linear_num_value_heads", 3, "2 keys");
  check_malformed(kQwenHybrid, "layer_types", json::array({"linear_attention"}), "layer_types");
  CHECK(info_of_changed(kNemotronHybrid, "time_step_limit", json::array({0.0, 1e38})).exit_code ==
        0);
}

TEST_CASE("layers without attention are named: in documents, legends, messages and info") {
  const json facts =
      attnviz_json({"show", "-m", kNemotronHybrid, "--ids", kHybridIds})["layer_facts"];
  CHECK(facts[0] == json({{"layer", 0}, {"mixer", "mamba2"}}));
  CHECK(facts[1] == json({{"layer", 1}, {"mixer", "none"}}));
  CHECK(attnviz_json({"show", "-m", kNemotronHybrid, "--ids", kHybridIds})["layers"] == json{2, 5});
  CHECK(mentions(show_hybrid(kGraniteHybrid, {}).out, {"Mamba-2"}));
  CHECK(mentions(show_hybrid(kQwenHybrid, {}).out, {"gated delta net"}));
  CHECK(mentions(show_hybrid(kQwenHybrid, {"--layer", "0"}).err, {"layer 0", "gated delta net"}));
  CHECK(mentions(show_hybrid(kNemotronHybrid, {"--layer", "1"}).err, {"layer 1", "MLP"}));
  CHECK(mentions(show_hybrid(kNemotronHybrid, {"--ablate", "L0.mlp"}).err, {"layer 0", "Mamba-2"}));
  CHECK(show_hybrid(kNemotronHybrid, {"--ablate", "L0-5.mlp"}).exit_code == 0);
  CHECK(mentions(attnviz({"info", "-m", kGraniteHybrid}).out,
                 {"layers 0", "Mamba-2", "8 states", "16 x 8"}));
  const json layers = attnviz_json({"info", "-m", kQwenHybrid})["layers"];
  CHECK(layers[0]["mixer"] == "gated_delta_net");
  CHECK(layers[1]["n_heads"] == 4);
}

TEST_CASE("experts of a layer that has nothing else can be asked for") {
  const ProgramResult drawn = show_hybrid(kNemotronHybrid, {"--show", "router", "--layer", "1"});
  CHECK(drawn.exit_code == 0);
  CHECK(contains(drawn.out, "L1 experts"));
  CHECK(!contains(drawn.out, "L3 experts"));
}

TEST_CASE("why: what parts write, gates and states among them, adds up to the logit") {
  for (const std::string& model :
       {kQwenHybrid, kGraniteHybrid, kNemotronHybrid, kFalcon, kFalconFile, kNormedFalcon}) {
    CAPTURE(model);
    const json found = attnviz_json({"why", "-m", model, "--ids", kHybridIds})["attribution"];
    double sum = 0.0;
    bool has_states = false;
    for (const json& part : found["parts"]) {
      sum += part["logit"].get<double>();
      has_states = has_states || part["part"] == "gated_delta_net" || part["part"] == "mamba2";
      if (part.contains("by_key")) {
        double of_keys = 0.0;
        for (const json& share : part["by_key"]) {
          of_keys += share.get<double>();
        }
        CHECK(of_keys == doctest::Approx(part["logit"].get<double>()).epsilon(1e-3));
      }
    }
    CHECK(has_states);
    CHECK(sum == doctest::Approx(found["logit"].get<double>()).epsilon(1e-3));
  }
}

TEST_CASE("inspect shows the gate that a head's context goes through") {
  const json head = attnviz_json(
      {"inspect", "-m", kQwenHybrid, "--ids", kHybridIds, "--head", "1.2"})["heads"][0];
  const json& query = head["for_query"];
  REQUIRE(query["gate"].size() == query["context"].size());
  for (std::size_t i = 0; i < query["gate"].size(); ++i) {
    const double gate = query["gate"][i].get<double>();
    CHECK(gate > 0.0);
    CHECK(gate < 1.0);
    CHECK(query["mixture"][i].get<double>() * gate ==
          doctest::Approx(query["context"][i].get<double>()));
  }
  CHECK(contains(attnviz({"inspect", "-m", kQwenHybrid, "--ids", kHybridIds, "--head", "1.2"}).out,
                 "gate"));
}

TEST_CASE("--show decay draws what states keep, and does not call it attention") {
  const json document =
      attnviz_json({"show", "-m", kQwenHybrid, "--ids", kHybridIds, "--show", "decay"});
  CHECK(document["kind"] == "decay");
  CHECK(document["layers"] == json{0, 2});
  CHECK(document["attention"][0][1][3][3] == 1.0);
  const TemporaryFolder folder;
  const ProgramResult drawn = show_hybrid(
      kQwenHybrid, {"--show", "decay", "--layer", "2", "-o", folder.file("x.png"), "-o",
                    folder.file("x.svg"), "-o", folder.file("x.html"), "-o", folder.file("x.npy")});
  CAPTURE(drawn.err);
  CHECK(drawn.exit_code == 0);
  CHECK(mentions(drawn.out, {"state decay", "L2 state 1"}));
  CHECK(!contains(drawn.out, "L0 state"));
  write_file(folder.file("a.json"), document.dump());
  CHECK(contains(attnviz({"render", folder.file("a.json")}).out, "L0 state 0"));
  CHECK(show_hybrid(kGraniteHybrid, {"--show", "decay"}).exit_code == 0);
}

TEST_CASE(
    "--show decay: with hundreds of states only the first layer's are drawn, unless asked for") {
  const TemporaryFolder folder;
  write_tripled(kGraniteHybrid, folder);
  const auto drawn = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--show", "decay"});
    return show_hybrid(folder.path(), std::move(more));
  };
  const ProgramResult few = drawn({});
  CHECK(few.exit_code == 0);
  CHECK(contains(few.out, "L0 state 7"));
  CHECK(!contains(few.out, "L1 state 0"));
  CHECK(mentions(few.err, {"72 states", "layer 0", "--layer", "--head"}));

  const ProgramResult chosen = drawn({"--layer", "9"});
  CHECK(contains(chosen.out, "L9 state 0"));
  CHECK(!contains(chosen.out, "L0 state 0"));
  CHECK(!contains(chosen.err, "--layer"));

  // Output for programs has all of them.
  const json document =
      attnviz_json({"show", "-m", folder.path(), "--ids", kHybridIds, "--show", "decay"});
  CHECK(document["layers"] == json{0, 1, 3, 4, 5, 7, 8, 9, 11});
}

TEST_CASE(
    "cite: hybrids answer as models that keep keys do, regardless of what was hidden before") {
  const TemporaryFolder folder;
  write_file(folder.file("a.md"), "abc def ghi. jkl abd. dac bab.");
  const auto cited = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"cite",     "ab?",
                                          "--answer", "dec",
                                          "-m",       kQwenHybrid + "/qwen3next-interval2.gguf",
                                          "--doc",    folder.file("a.md")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return attnviz_json(std::move(arguments));
  };
  const json once = cited({});
  CHECK(once == cited({"--threads", "1"}));
  for (const json& sentence : once["documents"][0]["sentences"]) {
    CHECK(sentence["attention"].get<double>() >= 0.0);
    CHECK(sentence["attention"].get<double>() <= 1.0);
  }
}

TEST_CASE("asking for heads of a layer with states names the option that draws these") {
  const ProgramResult refused = show_hybrid(kQwenHybrid, {"--layer", "0"});
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, {"--show decay", "states"}));
  CHECK(!contains(show_hybrid(kNemotronHybrid, {"--layer", "1"}).err, "--show decay"));
}

TEST_CASE("--show decay is refused where nothing decays") {
  const ProgramResult demo = attnviz({"show", "The cat sat", "--show", "decay"});
  CHECK(demo.exit_code == 2);
  CHECK(mentions(demo.err, {"demo", "states"}));
  const ProgramResult other = show_hybrid(kQwenHybrid, {"--show", "decay", "--layer", "1"});
  CHECK(other.exit_code == 2);
  CHECK(show_hybrid(kQwenHybrid, {"--show", "decay", "--drop-sink"}).exit_code == 2);
}

TEST_CASE("why: where states keep the text, a word is worth what hiding it changes") {
  for (const std::string& model : {kQwenHybrid, kGraniteHybrid}) {
    CAPTURE(model);
    const ProgramResult result =
        attnviz({"why", "-m", model, "--ids", kHybridIds, "--tokens", "--json"});
    const json why = parse_json(result.out);
    const auto logprob = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"--predict", "76", "--json"});
      const json shown = parse_json(show_hybrid(model, std::move(more)).out);
      for (const json& next : shown["predictions"]["top"]) {
        if (next["id"] == why["target"]["id"]) {
          return std::log(next["probability"].get<double>());
        }
      }
      FAIL("the target is not among the predictions");
      return 0.0;
    };
    const double as_it_is = logprob({});
    for (const json& word : why["tokens_lost"]) {
      if (word["end"] < 6) {
        const std::string begin = std::to_string(word["begin"].get<int>());
        const std::string end = std::to_string(word["end"].get<int>());
        const double hidden = logprob({"--hide", fmt::format("{}-5>{}", end, begin)});
        CHECK(word["logprob_change"].get<double>() ==
              doctest::Approx(hidden - as_it_is).epsilon(1e-3).scale(0.01));
      }
    }
    CHECK(contains(why["notes"].dump(), "states"));
  }
}

TEST_CASE("states beside attention are named: in documents, legends and info") {
  for (const std::string& model : {kFalcon, kFalconFile}) {
    CAPTURE(model);
    const json document = attnviz_json({"show", "-m", model, "--ids", kHybridIds});
    CHECK(document["layers"] == json{0, 1});
    CHECK(document["layer_facts"][1] == json({{"layer", 1}, {"beside", "mamba2"}}));
    CHECK(mentions(show_hybrid(model, {}).out, {"layers 0", "Mamba-2"}));
    CHECK(
        mentions(attnviz({"info", "-m", model}).out, {"layers 0", "Mamba-2", "4 states", "8 x 6"}));
    const json info = attnviz_json({"info", "-m", model});
    CHECK(info["layers"][0]["n_heads"] == 4);
    std::size_t stored = 0;
    for (const json& numbers : info["weights"]["stored"]) {
      stored += numbers["numbers"].get<std::size_t>();
    }
    CHECK(info["parameters"]["total"] == stored);
    const TemporaryFolder folder;
    write_file(folder.file("a.json"), document.dump());
    CHECK(attnviz_json({"render", folder.file("a.json")}) == document);
  }
}

TEST_CASE(
    "a folder and its GGUF file say the same where multipliers are folded into the matrices") {
  const auto logits = [](const std::string& model) {
    return attnviz_json(
        {"show", "-m", model, "--ids", kHybridIds, "--predict", "3"})["predictions"]["top"];
  };
  const json of_folder = logits(kFalcon);
  const json of_file = logits(kFalconFile);
  REQUIRE(of_folder.size() == 3);
  for (std::size_t i = 0; i < of_folder.size(); ++i) {
    CHECK(of_folder[i]["id"] == of_file[i]["id"]);
    CHECK(of_folder[i]["probability"].get<double>() ==
          doctest::Approx(of_file[i]["probability"].get<double>()).epsilon(1e-4));
  }
}

TEST_CASE("inspect: what states add beside the heads is a part of its own") {
  for (const std::string& model : {kFalcon, kFalconFile, kNormedFalcon}) {
    CAPTURE(model);
    const std::vector<std::string> asked = {"inspect",  "-m",     model, "--ids",
                                            kHybridIds, "--head", "1.2"};
    std::vector<std::string> as_json = asked;
    as_json.emplace_back("--json");
    const json head = parse_json(attnviz(as_json).out)["heads"][0];
    const json& query = head["for_query"];
    REQUIRE(query["states"].size() == 16);
    // All heads together are what is left when each is taken out.
    const ProgramResult without = attnviz(
        {"inspect", "-m", model, "--ids", kHybridIds, "--head", "1.2", "--ablate", "L1", "--json"});
    const json alone = parse_json(without.out)["heads"][0]["for_query"];
    for (const json& number : alone["other_heads"]) {
      CHECK(number.get<double>() == doctest::Approx(0.0).scale(1.0).epsilon(1e-5));
    }
    CHECK(contains(attnviz(asked).out, "states"));
  }
}

TEST_CASE("why: a score is the sum of earlier layers' outputs, states beside heads among them") {
  for (const std::string& model : {kFalcon, kNormedFalcon}) {
    CAPTURE(model);
    const json score = attnviz_json({"why", "-m", model, "--ids", kHybridIds, "--head", "1.2",
                                     "--query", "5", "--key", "2"})["score"];
    double sum = 0.0;
    for (const json& row : score["products"]) {
      for (const json& product : row) {
        sum += product.get<double>();
      }
    }
    CHECK(contains(score["key_parts"].dump(), "mamba2"));
    CHECK(sum == doctest::Approx(score["score"].get<double>()).epsilon(1e-3));
  }
}

TEST_CASE("what Falcon-H1's layers do not do is refused with a reason") {
  check_malformed(kFalcon, "attn_layer_indices", json::array({0}), "attn_layer_indices");
  check_malformed(kFalcon, "mamba_use_mlp", false, "mamba_use_mlp");
  check_malformed(kFalcon, "hidden_act", "gelu", "hidden_act");
  check_malformed(kFalcon, "layers_block_type", json::array({"hybrid", "mamba"}), "mamba");
  check_malformed(kFalcon, "mlp_multipliers", json::array({1.0}), "mlp_multipliers");
  check_malformed(kFalcon, "ssm_multipliers", json::array({1, 1, 1}), "ssm_multipliers");
  check_malformed(kFalcon, "key_multiplier", 0.0, "key_multiplier");
  check_malformed(kFalcon, "mamba_d_head", 5, "mamba_n_heads = 6");
  check_malformed(kFalcon, "mamba_d_ssm", 25, "mamba_d_ssm");
  check_malformed(kFalcon, "mamba_d_ssm", nullptr, "mamba");
  check_malformed(kFalcon, "mamba_rms_norm", true, "mamba.norm.weight");
  check_malformed(kFalcon, "rope_theta", nullptr, "rope_parameters");
  CHECK(info_of_changed(kFalcon, "mamba_d_head", "auto").exit_code == 0);
}

TEST_CASE("what leaves out output gates says so") {
  const char* const note = "gates";
  CHECK(contains(show_hybrid(kQwenHybrid, {"--show", "values-shares"}).out, note));
  CHECK(!contains(show_hybrid(kQwenHybrid, {}).out, note));
  CHECK(!contains(show_hybrid(kGraniteHybrid, {"--show", "values-shares"}).out, note));
  const json heads = attnviz_json({"heads", "-m", kQwenHybrid, "--ids", kHybridIds});
  CHECK(contains(heads["notes"].dump(), note));
  const ProgramResult rolled =
      attnviz({"rollout", "-m", kQwenHybrid, "--ids", kHybridIds, "--weighted"});
  CHECK(mentions(rolled.out, {note, "states"}));
}

}  // namespace attnviz::test
