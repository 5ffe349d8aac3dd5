// Encoder-decoders through the program.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kT5 = kReference + "experts/t5-relu-tied";
const std::string kT5File = kT5 + "/t5-relu-tied.gguf";
const std::string kMarian = kReference + "experts/marian";
const std::string kBart = kReference + "experts/bart";
const std::string kMbart = kReference + "experts/mbart";

// Pieces of words of two languages in one vocabulary.
const char* const kPieces = R"({
  "added_tokens": [{"id": 0, "content": "<pad>", "special": true},
                   {"id": 1, "content": "</s>", "special": true}],
  "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "</s>", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}}},
  "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
  "model": {"type": "Unigram", "unk_id": 2, "vocab": [
    ["<pad>", -9], ["</s>", -9], ["<unk>", -9], ["▁The", -1], ["▁c", -1], ["at", -1],
    ["▁sat", -1], ["▁Le", -1], ["▁ch", -1], ["▁dort", -1]]}})";

// The model with a tokenizer.
std::string with_words(const TemporaryFolder& folder, const std::string& model = kT5,
                       const json& tokenizer = json::parse(kPieces)) {
  for (const char* name : {"config.json", "model.safetensors"}) {
    fs::copy_file(model + "/" + name, folder.file(name));
  }
  write_file(folder.file("tokenizer.json"), tokenizer.dump());
  return folder.path();
}

void check_refused(std::vector<std::string> arguments, int code,
                   const std::vector<std::string>& named) {
  const ProgramResult result = attnviz(std::move(arguments));
  CAPTURE(result.err);
  CHECK(result.exit_code == code);
  CHECK(mentions(result.err, named));
  CHECK(result.out.empty());
}

double sum(const json& row) {
  double total = 0.0;
  for (const json& weight : row) {
    total += weight.get<double>();
  }
  return total;
}

}  // namespace

TEST_CASE("documents hold encoder, decoder and cross-attention side by side") {
  for (const std::string& model : {kT5, kT5File, kMarian, kBart, kMbart}) {
    CAPTURE(model);
    const bool is_t5 = model.starts_with(kT5);
    const std::string end = is_t5 ? "1" : model == kMarian ? "0" : "2";
    const std::string start = is_t5 ? "0" : model == kMarian ? "76" : "2";
    const json document =
        attnviz_json({"-m", model, "--ids", "5,6,7," + end, "--decoder-ids", start + ",9,10"});
    CHECK(document["shown"] == "cross");
    CHECK(!document.contains("tokens"));
    CHECK(!document.contains("mask"));
    CHECK(document["encoder"]["token_ids"].size() == 4);
    CHECK(document["encoder"]["mask"] == "none");
    CHECK(document["decoder"]["token_ids"].size() == 3);
    CHECK(document["decoder"]["mask"] == "causal");
    CHECK(document["decoder"]["attention"][0][0][0][1] == 0.0);
    const json& cross = document["cross"];
    CHECK(cross["tokens"].size() == 3);
    CHECK(cross["key_tokens"].size() == 4);
    CHECK(cross["layers"] == json{0, 1});
    CHECK(document["encoder"]["layers"] == json{0, 1, 2});
    for (const json& row : cross["attention"][1][3]) {
      REQUIRE(row.size() == 4);
      CHECK(sum(row) == doctest::Approx(1.0).epsilon(1e-5));
    }
  }
}

TEST_CASE("a folder and its GGUF file say the same of two texts") {
  const std::vector<std::string> texts = {"--ids", "5,6,7,1", "--decoder-ids", "0,9,10"};
  const auto cross = [&](const std::string& model) {
    std::vector<std::string> arguments = {"-m", model};
    arguments.insert(arguments.end(), texts.begin(), texts.end());
    return attnviz_json(arguments)["cross"]["attention"];
  };
  CHECK(cross(kT5) == cross(kT5File));
}

TEST_CASE("--show chooses what is drawn, and --layer and --head apply to that") {
  const std::vector<std::string> texts = {"-m", kT5, "--ids", "5,6,7,1", "--decoder-ids", "0,9"};
  const auto drawn = [&](std::vector<std::string> more) {
    more.insert(more.end(), texts.begin(), texts.end());
    return attnviz(std::move(more)).out;
  };
  const std::string cross = drawn({"--head", "1.0"});
  CHECK(mentions(cross, {"cross-attention: t5-relu-tied", "row = target", "= source"}));
  CHECK(!contains(cross, "mask"));
  CHECK(contains(drawn({"--show", "encoder", "--head", "2.1"}), "encoder"));
  CHECK(mentions(drawn({"--show", "encoder", "--layer", "1"}), {"mask none"}));
  CHECK_FALSE(contains(drawn({"--show", "decoder", "--layer", "1"}), "mask none"));
  std::vector<std::string> beyond = texts;
  beyond.insert(beyond.end(), {"--layer", "2"});
  check_refused(beyond, 2, {"layer 2"});
  const json chosen = parse_json(drawn({"--head", "1.0", "--json"}));
  CHECK(chosen["cross"]["attention"].size() == 1);
  CHECK(chosen["encoder"]["attention"].size() == 3);
}

TEST_CASE("--target begins with the decoder's first token, and leaves out the end") {
  const TemporaryFolder folder;
  const json document =
      attnviz_json({"-m", with_words(folder), "The cat sat", "--target", "Le chat dort"});
  CHECK(document["text"] == "The cat sat");
  CHECK(document["target"] == "Le chat dort");
  CHECK(document["encoder"]["token_ids"] == json{3, 4, 5, 6, 1});
  CHECK(document["decoder"]["token_ids"] == json{0, 7, 8, 5, 9});
  CHECK(document["cross"]["marks"]["added"] == json{0});
  CHECK(document["cross"]["key_marks"]["added"] == json{4});
}

TEST_CASE("--target begins as the model's texts do: with their first token, or a language's") {
  // As in mBART-50: the source's language comes first.
  json pieces = json::parse(kPieces);
  pieces["added_tokens"] = json::array();
  for (const char* name : {"<s>", "<pad>", "</s>", "<unk>", "en_XX", "de_DE"}) {
    pieces["added_tokens"].push_back(
        {{"id", pieces["added_tokens"].size()}, {"content", name}, {"special", true}});
  }
  pieces["model"]["unk_id"] = 3;
  pieces["model"]["vocab"] = json::array();
  for (const char* piece : {"<s>", "<pad>", "</s>", "<unk>", "en_XX", "de_DE", "▁The", "▁c", "at",
                            "▁sat", "▁Le", "▁ch", "▁dort"}) {
    pieces["model"]["vocab"].push_back({piece, -1});
  }
  const auto framed_by = [&pieces](const std::string& first, std::size_t id) {
    json& post = pieces["post_processor"];
    post["single"] = {{{"SpecialToken", {{"id", first}, {"type_id", 0}}}},
                      {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                      {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}}};
    post["special_tokens"] = {{"</s>", {{"id", "</s>"}, {"ids", {2}}, {"tokens", {"</s>"}}}},
                              {first, {{"id", first}, {"ids", {id}}, {"tokens", {first}}}}};
    return pieces;
  };
  const auto decoder_ids = [](const std::string& model, std::vector<std::string> more) {
    more.insert(more.begin(), {"-m", model, "The cat sat"});
    return attnviz_json(std::move(more))["decoder"]["token_ids"];
  };
  const TemporaryFolder bart;
  with_words(bart, kBart, framed_by("<s>", 0));
  CHECK(attnviz_json({"-m", bart.path(), "The cat sat", "--show",
                      "encoder"})["encoder"]["token_ids"] == json{0, 6, 7, 8, 9, 2});
  CHECK(decoder_ids(bart.path(), {"--target", "Le chat dort"}) == json{2, 0, 10, 11, 8, 12});
  const TemporaryFolder mbart;
  with_words(mbart, kMbart, framed_by("en_XX", 4));
  CHECK(decoder_ids(mbart.path(), {"--target", "Le chat"}) == json{2, 4, 10, 11, 8});
  CHECK(decoder_ids(mbart.path(), {"--target", "de_DE Le chat", "--special"}) ==
        json{2, 5, 10, 11, 8});
  write_file(mbart.file("generation_config.json"), R"({"forced_bos_token_id": 5})");
  CHECK(decoder_ids(mbart.path(), {"--target", "Le chat"}) == json{2, 5, 10, 11, 8});
}

TEST_CASE("--generate begins with the token that the model is forced to begin with") {
  const auto written = [](const std::string& model) {
    return attnviz_json(
        {"-m", model, "--ids", "0,5,6,7,2", "--generate", "3"})["generated"]["token_ids"];
  };
  CHECK(written(kBart)[0] == 0);
  CHECK(written(kMbart)[0] != 0);
}

TEST_CASE("--merge words and --no-special apply to both texts") {
  const TemporaryFolder folder;
  const std::vector<std::string> texts = {
      "-m", with_words(folder), "The cat sat", "--target", "Le chat dort", "--head", "0.1"};
  std::vector<std::string> merged = texts;
  merged.insert(merged.end(), {"--merge", "words", "--json"});
  const json words = parse_json(attnviz(merged).out);
  const json& cross = words["cross"];
  CHECK(cross["tokens"] == json{"<pad>", " Le", " chat", " dort"});
  CHECK(cross["key_tokens"] == json{" The", " cat", " sat", "</s>"});
  CHECK(cross["merged"] == "words");
  std::vector<std::string> whole = texts;
  whole.emplace_back("--json");
  const json tokens = parse_json(attnviz(whole).out)["cross"]["attention"][0][0];
  const auto of_word = [&](std::size_t query) {
    return tokens[query][1].get<double>() + tokens[query][2].get<double>();
  };
  CHECK(cross["attention"][0][0][2][1].get<double>() ==
        doctest::Approx((of_word(2) + of_word(3)) / 2.0).epsilon(1e-5));
  merged.back() = "--no-special";
  const std::string drawn = attnviz(merged).out;
  CHECK(mentions(drawn, {"2 tokens", "\"<pad>\"", "\"</s>\""}));
  CHECK(!contains(drawn, "*<pad>"));
}

TEST_CASE("--generate lets the decoder write, each token the most probable one") {
  const std::vector<std::string> source = {"-m", kMarian, "--ids", "5,6,7,8,0"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), source.begin(), source.end());
    return attnviz_json(std::move(more));
  };
  const json written = with({"--generate", "3"});
  const json ids = written["generated"]["token_ids"];
  REQUIRE(ids.size() == 3);
  CHECK(written["decoder"]["token_ids"].size() == 4);
  CHECK(written["decoder"]["token_ids"][0] == 76);
  CHECK(written["cross"]["marks"]["generated"] == json{1, 2, 3});
  std::string before = "76";
  for (const json& id : ids) {
    const json step = with({"--decoder-ids", before, "--predict", "2"});
    CHECK((step["predictions"]["top"][0]["id"] == id || step["predictions"]["top"][0]["id"] == 76));
    before += "," + id.dump();
  }
  CHECK(with({"--show", "encoder"})["decoder"]["token_ids"] == json{76});
}

TEST_CASE("render draws the part of a document's attention that is asked for") {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.json");
  CHECK(attnviz({"-m", kT5, "--ids", "5,6,7,1", "--decoder-ids", "0,9,10", "--show", "decoder",
                 "-o", file})
            .exit_code == 0);
  CHECK(attnviz({"render", file, "--json"}).out == read_file(file));
  CHECK(contains(attnviz({"render", file}).out, "decoder"));
  CHECK(contains(attnviz({"render", file, "--show", "cross"}).out, "cross-attention"));
  const json mean = attnviz_json({"render", file, "--show", "encoder", "--average", "all"});
  CHECK(mean["shown"] == "encoder");
  CHECK(mean["encoder"]["attention"].size() == 1);
  CHECK(mean["cross"]["attention"].size() == 2);
  const json whole = parse_json(read_file(file));
  json wrong = whole;
  wrong.erase("cross");
  write_file(folder.file("b.json"), wrong.dump());
  check_refused({"render", folder.file("b.json")}, 3, {"cross"});
  wrong = whole;
  wrong["shown"] = "both";
  write_file(folder.file("b.json"), wrong.dump());
  check_refused({"render", folder.file("b.json")}, 3, {"encoder"});
  wrong = whole;
  wrong["cross"]["key_tokens"].push_back("x");
  write_file(folder.file("b.json"), wrong.dump());
  check_refused({"render", folder.file("b.json")}, 3, {"cross: key_tokens"});
  // As many tokens in both: still two texts.
  write_file(folder.file("square.json"),
             attnviz({"-m", kT5, "--ids", "5,6,1", "--decoder-ids", "0,9,10", "--json"}).out);
  check_refused({"heads", folder.file("square.json")}, 4, {"square.json"});
  write_file(folder.file("one.json"), attnviz({"The cat", "--json"}).out);
  check_refused({"render", folder.file("one.json"), "--show", "cross"}, 2, {"\"cross\""});
}

TEST_CASE("every format takes the part that is drawn") {
  const TemporaryFolder folder;
  const ProgramResult run =
      attnviz({"-m", kT5, "--ids", "5,6,7,1", "--decoder-ids", "0,9,10", "-o", folder.file("a.png"),
               "-o", folder.file("a.svg"), "-o", folder.file("a.html"), "-o", folder.file("a.npy"),
               "-o", folder.file("a.txt"), "--quiet"});
  CHECK(run.exit_code == 0);
  CHECK(contains(read_file(folder.file("a.svg")), "cross-attention"));
  CHECK(contains(read_file(folder.file("a.npy")), "(2, 4, 3, 4)"));
  const json part = parse_json(attnviz({"render", folder.file("a.npy"), "--json"}).out);
  CHECK(part["attention"].size() == 2);
}

TEST_CASE(
    "options that encoder-decoders lack are refused with a reason, and so are those of them "
    "alone") {
  const std::vector<std::string> texts = {"-m", kT5, "--ids", "5,6,1", "--decoder-ids", "0,9"};
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--show", "scores"},
                                             {"--side-by-side", "0.5,1"},
                                             {"--ablate", "1.0"},
                                             {"--mask", "none"},
                                             {"--names"},
                                             {"--style", "mask"}}) {
    std::vector<std::string> arguments = texts;
    arguments.insert(arguments.end(), more.begin(), more.end());
    check_refused(arguments, 2, {"t5-relu-tied"});
  }
  check_refused({"-m", kT5, "--ids", "5,1"}, 2,
                {"--target TEXT, --decoder-ids IDS or --generate N"});
  check_refused({"-m", kT5, "--ids", "5,1", "--decoder-ids", "0,76"}, 2, {"76"});
  check_refused({"-m", kT5, "--ids", "5,1", "--target", "a"}, 1, {"tokenizer"});
  check_refused({"-m", kT5, "--ids", "5,1", "--target", "a", "--decoder-ids", "0"}, 2,
                {"--target", "--decoder-ids"});
  for (const char* command : {"inspect", "heads", "why", "rollout"}) {
    check_refused({command, "-m", kT5, "--ids", "5,6,1"}, 4, {"encoder-decoder"});
    check_refused({command, "-m", kT5, "--ids", "5,6,1", "--target", "a"}, 2,
                  {"--target", "attnviz show"});
  }
  check_refused({"heads", "-m", kBart, "--ids", "5,6,2"}, 4, {"encoder-decoder"});
  check_refused({"diff", "-m", kT5, "-m", kT5, "--ids", "5,6,1"}, 4, {"encoder-decoder"});
  check_refused({"tour", "-m", kT5, "--all", "a"}, 4, {"encoder-decoder"});
  check_refused({"The cat", "--target", "x"}, 2, {"demo"});
  check_refused({"The cat", "--show", "cross"}, 2, {"demo"});
}

TEST_CASE("the encoder's facts are its own, under the model's name") {
  for (const std::string& model : {kT5, kT5File, kMarian, kBart, kMbart}) {
    CAPTURE(model);
    const auto facts = [&](const char* part) {
      return attnviz_json(
          {"-m", model, "--ids", "5,6,1", "--decoder-ids", "0,9", "--show", part})["model"];
    };
    const json encoder = facts("encoder");
    const json decoder = facts("decoder");
    for (const char* same : {"name", "family", "tokenizer"}) {
      CAPTURE(same);
      CHECK(encoder[same] == decoder[same]);
    }
    CHECK(encoder["n_layers"] == 3);
    CHECK(decoder["n_layers"] == 2);
    CHECK(encoder["n_kv_heads"] == encoder["n_heads"]);
  }
}

TEST_CASE("each line of JSON may say what the decoder has read") {
  const std::vector<std::string> lines = {"-m", kT5, "--json-lines", "--json"};
  const auto with = [&](std::vector<std::string> more, const std::string& text) {
    more.insert(more.begin(), lines.begin(), lines.end());
    return attnviz(std::move(more), text);
  };
  const std::string own = R"({"ids": [5, 6, 1], "decoder_ids": [0, 9, 10]})";
  const std::string without = R"({"ids": [5, 6, 1]})";
  CHECK(parse_json(with({}, own).out)["decoder"]["token_ids"] == json{0, 9, 10});
  CHECK(parse_json(with({"--decoder-ids", "0,7"}, own).out)["decoder"]["token_ids"] ==
        json{0, 9, 10});
  CHECK(parse_json(with({"--decoder-ids", "0,7"}, without).out)["decoder"]["token_ids"] ==
        json{0, 7});
  const auto refused = [&](const std::string& text, const std::vector<std::string>& named) {
    const ProgramResult result = with({}, text);
    CAPTURE(result.err);
    CHECK(result.exit_code != 0);
    CHECK(mentions(result.err, named));
  };
  refused(own + "\n" + without, {"line 2", "t5-relu-tied"});
  refused(R"({"ids": [5, 1], "decoder_ids": []})", {"line 1", "decoder_ids"});
  refused(R"({"ids": [5, 1], "target": 3})", {"line 1", "target"});
  refused(R"({"ids": [5, 1], "target": "a", "decoder_ids": [0]})",
          {"\"target\"", "\"decoder_ids\""});
  refused(R"({"text": "a", "pair": "b", "decoder_ids": [0]})", {"\"pair\"", "t5-relu-tied"});
  for (const char* command : {"show", "tokenize", "heads"}) {
    const ProgramResult result =
        attnviz({command, "--json-lines"}, R"({"text": "a", "target": "b"})");
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(mentions(result.err, {"line 1", "\"target\"", "\"decoder_ids\"", "encoder-decoders"}));
  }
  const TemporaryFolder folder;
  const json words = parse_json(attnviz({"-m", with_words(folder), "--json-lines", "--json"},
                                        R"({"text": "The cat", "target": "Le chat"})")
                                    .out);
  CHECK(words["target"] == "Le chat");
}

TEST_CASE("--decoder-ids: the model's own first token is marked, and another one gets a note") {
  const std::vector<std::string> source = {"-m", kT5, "--ids", "5,6,1", "--json", "--decoder-ids"};
  const auto with = [&](const char* ids) {
    std::vector<std::string> arguments = source;
    arguments.emplace_back(ids);
    return attnviz(std::move(arguments));
  };
  const ProgramResult own = with("0,9,10");
  CHECK(own.err.empty());
  CHECK(parse_json(own.out)["cross"]["marks"]["added"] == json{0});
  const ProgramResult other = with("9,10");
  CHECK(mentions(other.err, {"token 9"}));
  CHECK(parse_json(other.out)["cross"]["marks"]["added"].empty());
}

TEST_CASE("--focus says where a word is that occurs only in the other text") {
  const TemporaryFolder folder;
  const std::string model = with_words(folder);
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"-m", model, "The cat sat", "--target", "Le chat dort"});
    return more;
  };
  check_refused(with({"--focus", "sat"}), 2, {"\"sat\"", "--as-key"});
  check_refused(with({"--focus", "dort", "--as-key"}), 2, {"dort", "--as-key"});
  check_refused(with({"--focus", "cow"}), 2, {"\"cow\""});
  CHECK(attnviz(with({"--focus", "sat", "--as-key"})).exit_code == 0);
}

TEST_CASE("pages label the axes of cross-attention as pictures do, and mark keys") {
  const TemporaryFolder folder;
  const std::string page = folder.file("a.html");
  CHECK(attnviz({"-m", with_words(folder), "The cat sat", "--target", "Le chat dort", "-o", page})
            .exit_code == 0);
  const std::string written = read_file(page);
  const std::string begin = "id=\"attnviz-data\">";
  const std::size_t at = written.find(begin) + begin.size();
  const json data = parse_json(written.substr(at, written.find("</script>", at) - at));
  CHECK(data["drawing"]["query_axis"] == "target (attending)");
  CHECK(data["drawing"]["key_axis"] == "source (attended to)");
  CHECK(data["queries"]["added"] == json{0});
  CHECK(data["keys"]["special"] == json{4});
}

TEST_CASE("info describes both stacks, and counts every number in the files") {
  for (const std::string& model :
       {kT5, kT5File, kMarian, kBart, kMbart, kReference + "experts/t5-v1.1"}) {
    CAPTURE(model);
    const json info = attnviz_json({"info", "-m", model});
    CHECK(info["shape"]["n_encoder_layers"] == 3);
    CHECK(info["shape"]["n_layers"] == 2);
    std::size_t stored = 0;
    for (const json& numbers : info["weights"]["stored"]) {
      stored += numbers["numbers"].get<std::size_t>();
    }
    CHECK(info["parameters"]["total"] == stored);
    CHECK(info["parameters"]["cross_attention"] > 0);
  }
  const std::string text = attnviz({"info", "-m", kT5}).out;
  CHECK(mentions(text, {"3 layers", "4 heads"}));
}

}  // namespace attnviz::test
