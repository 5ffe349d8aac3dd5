// Texts that grow token by token, against forward passes over the whole text.

#include "attnviz/attention/decoding.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/screen_text.h"

namespace attnviz {

namespace {

using test::contains;

namespace fs = std::filesystem;

using Ids = std::vector<std::uint32_t>;

const fs::path kFamilies = ATTNVIZ_SOURCE_DIR "/tests/reference/models";
const fs::path kMoreFamilies = ATTNVIZ_SOURCE_DIR "/../shared/reference/models";

Ids some_ids(const Model& model, std::size_t n) {
  Ids ids;
  for (std::size_t i = 0; i < n; ++i) {
    ids.push_back(static_cast<std::uint32_t>((i * i * 5 + 3 * i + 1) % model.embeddings.rows));
  }
  return ids;
}

Ids first_of(const Ids& ids, std::size_t n) {
  return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n)};
}

// Logits of the token after `ids`, from a forward pass over all of them.
std::vector<float> logits_of_whole(const Model& model, const Ids& ids,
                                   const AttentionRequest& request,
                                   RunObserver* observer = nullptr) {
  ModelInput input;
  input.ids = ids;
  OutputRows last(model, ids.size() - 1, 1);
  RunObserver idle_observer;
  ObserverGroup all({&last, observer == nullptr ? &idle_observer : observer});
  run(model, input, request, all);
  const MatrixBuffer logits = run_output_head(model, last.rows(), request.n_threads);
  const std::span<const float> row = logits.view().row(0);
  return {row.begin(), row.end()};
}

double relative_difference(std::span<const float> found, std::span<const float> expected) {
  REQUIRE(found.size() == expected.size());
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto number = static_cast<double>(expected[i]);
    difference = std::max(difference, std::abs(static_cast<double>(found[i]) - number));
    size = std::max(size, std::abs(number));
  }
  REQUIRE(size > 0.0);
  return difference / size;
}

bool continues(const Model& model) {
  return model.config.mask.kind != MaskKind::kNone && !model.head.unembedding.weight.empty();
}

void check_every_split(const Model& model, const AttentionRequest& request) {
  const std::size_t n = std::min<std::size_t>(model.config.n_ctx, 20);
  const Ids ids = some_ids(model, n);
  std::vector<std::vector<float>> expected;
  for (std::size_t length = 1; length <= n; ++length) {
    expected.push_back(logits_of_whole(model, first_of(ids, length), request));
  }
  for (std::size_t first = 1; first <= n; ++first) {
    CAPTURE(first);
    Decoding decoding(model, request, n);
    const auto logits = decoding.feed(std::span(ids).first(first));
    CHECK(relative_difference(logits, expected[first - 1]) < 1e-5);
    for (std::size_t length = first + 1; length <= n; ++length) {
      const auto next = decoding.feed(std::span(ids).subspan(length - 1, 1));
      REQUIRE(relative_difference(next, expected[length - 1]) < 1e-5);
    }
    CHECK(decoding.n_tokens() == n);
  }
}

template <class Call>
std::string message_of(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE(
    "every family that continues texts: after any split, the logits are those of the whole text") {
  std::size_t n_models = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFamilies)) {
    if (!fs::exists(entry.path() / "expected.safetensors")) {
      continue;
    }
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const Model model = load_hugging_face(entry.path());
    if (continues(model)) {
      ++n_models;
      check_every_split(model, {});
    }
  }
  CHECK(n_models >= 25);
}

TEST_CASE("a growing text under every attention option") {
  const Model model = load_hugging_face(kFamilies / "gemma2-softcap-window");
  AttentionRequest request;
  request.temperature = 0.5f;
  request.scale = false;
  check_every_split(model, request);
  request.dropout = 0.4f;
  request.dropout_seed = 7;
  check_every_split(model, request);
  for (const char* mask : {"window:3", "strided:4", "block:5"}) {
    CAPTURE(mask);
    request.mask = parse_mask(mask);
    check_every_split(model, request);
  }
}

TEST_CASE("a growing text with interventions: the logits of the whole text with the same ones") {
  // In the first layer: the token before the last is hidden, one head doubled, the MLP halved.
  class Editor : public RunObserver {
   public:
    explicit Editor(std::size_t d_value) : d_value_(d_value) {}
    bool wants(std::size_t layer, LayerStep step) const override {
      return layer == 0 && (step == LayerStep::kContexts || step == LayerStep::kMlp);
    }
    void contexts(const RunPlace& /*at*/, Matrix z) override {
      scale(z.col_block(0, d_value_), 2.0f);
    }
    void mlp(const RunPlace& /*at*/, Matrix y) override { scale(y, 0.5f); }
    bool hides(HeadId head) const override { return head.layer == 0; }
    void hide(HeadId /*head*/, EdgeBlock& edges) const override {
      for (std::size_t query = edges.first_query(); query < edges.end_query(); ++query) {
        edges.hide(query, query - 2);  // wraps around for the first two: not a key
      }
    }

   private:
    static void scale(Matrix x, float factor) {
      for (std::size_t row = 0; row < x.rows; ++row) {
        for (float& value : x.row(row)) {
          value *= factor;
        }
      }
    }
    std::size_t d_value_;
  };
  for (const char* name :
       {"llama-gqa-bias", "gemma2-softcap-window", "gpt-neox-parallel", "llama-rope-dynamic"}) {
    CAPTURE(name);
    const Model model = load_hugging_face(kFamilies / name);
    Editor editor(model.layers.front().heads.front().d_value());
    const std::size_t n = std::min<std::size_t>(model.config.n_ctx, 20);
    const Ids ids = some_ids(model, n);
    CHECK(relative_difference(logits_of_whole(model, ids, {}, &editor),
                              logits_of_whole(model, ids, {})) > 1e-3);
    for (const std::size_t first : {std::size_t{1}, std::size_t{7}}) {
      Decoding decoding(model, {}, n, &editor);
      decoding.feed(std::span(ids).first(first));
      for (std::size_t length = first + 1; length <= n; ++length) {
        const auto next = decoding.feed(std::span(ids).subspan(length - 1, 1));
        const auto expected = logits_of_whole(model, first_of(ids, length), {}, &editor);
        REQUIRE(relative_difference(next, expected) < 1e-5);
      }
    }
  }
}

TEST_CASE("a text fed in pieces of any length, across panels of keys and blocks of rows") {
  const Model model = load_hugging_face(kFamilies / "qwen3-qk-norm");
  Model longer = model;
  longer.config.n_ctx = 1000;
  const Ids ids = some_ids(longer, 900);
  AttentionRequest request;
  request.n_threads = 2;
  for (const std::vector<std::size_t>& pieces :
       {std::vector<std::size_t>{16, 16, 868}, {7, 1, 400, 9, 483}, {193, 2, 705}, {899, 1}}) {
    Decoding decoding(longer, request, ids.size());
    std::span<const std::uint32_t> rest = ids;
    std::span<const float> logits;
    for (const std::size_t piece : pieces) {
      logits = decoding.feed(rest.first(piece));
      rest = rest.subspan(piece);
    }
    CHECK(rest.empty());
    CHECK(relative_difference(logits, logits_of_whole(longer, ids, request)) < 1e-5);
  }
}

TEST_CASE("rotary frequencies that depend on the text's length are those of the whole text") {
  for (const char* name : {"llama-rope-dynamic", "phi3-longrope-short"}) {
    CAPTURE(name);
    const Model model = load_hugging_face(kFamilies / name);
    const Rope& rope = *model.layers.front().rope;
    REQUIRE(rope.short_text > 2);
    const std::size_t n = rope.short_text + 5;
    REQUIRE(n <= model.config.n_ctx);
    CHECK(rope.turns_alike(1, rope.short_text));
    CHECK_FALSE(rope.turns_alike(rope.short_text, rope.short_text + 1));
    CHECK(rope.turns_alike(n - 1, n) == (rope.frequencies(n - 1) == rope.frequencies(n)));
    const Ids ids = some_ids(model, n);
    Decoding decoding(model, {}, n);
    decoding.feed(std::span(ids).first(rope.short_text - 1));
    for (std::size_t length = rope.short_text; length <= n; ++length) {
      const auto logits = decoding.feed(std::span(ids).subspan(length - 1, 1));
      CHECK(relative_difference(logits, logits_of_whole(model, first_of(ids, length), {})) < 1e-5);
    }
  }
}

TEST_CASE(
    "a text that is rewound and grows differently: the logits of a fresh one, at each token") {
  for (const char* name : {"llama-gqa-bias", "gemma2-softcap-window", "llama-rope-dynamic",
                           "phi3-longrope-short", "gpt2-tied"}) {
    CAPTURE(name);
    const Model model = load_hugging_face(kFamilies / name);
    const std::size_t n = std::min<std::size_t>(model.config.n_ctx, 40);
    const Ids ids = some_ids(model, n);
    Decoding decoding(model, {}, n);
    decoding.feed(ids);
    // Kept tokens followed by other ones, up to a text that is shorter or as long.
    using Part = std::pair<std::size_t, std::size_t>;
    for (const Part& part : {Part{n - 3, n}, {n / 2, n}, {5, n - 2}, {2, 9}, {0, n}}) {
      const std::size_t kept = part.first;
      const std::size_t end = part.second;
      CAPTURE(kept);
      CAPTURE(end);
      Ids other = first_of(ids, end);
      std::reverse(other.begin() + static_cast<std::ptrdiff_t>(kept), other.end());
      decoding.rewind(kept);
      CHECK(decoding.n_tokens() == kept);
      std::vector<std::vector<float>> found;
      decoding.feed(std::span(other).subspan(kept),
                    [&](std::size_t index, std::span<const float> logits) {
                      CHECK(index == found.size());
                      found.emplace_back(logits.begin(), logits.end());
                    });
      REQUIRE(found.size() == end - kept);
      CHECK(relative_difference(found.back(), logits_of_whole(model, other, {})) < 1e-5);
      if (model.layers.front().rope == nullptr || model.layers.front().rope->short_text == 0) {
        CHECK(relative_difference(found.front(),
                                  logits_of_whole(model, first_of(other, kept + 1), {})) < 1e-5);
      }
      decoding.rewind(kept);
      decoding.feed(std::span(ids).subspan(kept));
    }
  }
}

TEST_CASE("tokens that cannot be read do not become part of the text") {
  for (const char* name : {"llama-gqa-bias", "llama-rope-dynamic"}) {
    CAPTURE(name);
    const Model model = load_hugging_face(kFamilies / name);
    const std::size_t short_text = model.layers.front().rope->short_text;
    const std::size_t n = short_text == 0 ? 6 : short_text;  // longer texts change all keys
    const Ids ids = some_ids(model, n + 2);
    Decoding decoding(model, {}, n + 3);
    decoding.feed(std::span(ids).first(n));
    const auto unknown = static_cast<std::uint32_t>(model.embeddings.rows);
    const Ids wrong = {ids[n], unknown};
    CHECK(contains(message_of(ErrorKind::kUsage, [&] { decoding.feed(wrong); }), "token id"));
    CHECK(decoding.n_tokens() == n);
    const auto logits = decoding.feed(std::span(ids).last(2));
    CHECK(decoding.n_tokens() == n + 2);
    CHECK(relative_difference(logits, logits_of_whole(model, ids, {})) < 1e-5);
  }
}

TEST_CASE("keys and values shared by heads are kept once") {
  const Model model = load_hugging_face(kFamilies / "gemma-mqa");
  const HeadWeights& head = model.layers.front().heads.front();
  REQUIRE(model.n_heads() > 1);
  const double one = 4.0 * static_cast<double>(head.d_head() + head.d_value());
  CHECK(KeyValueCache::bytes(model, 32) == 32.0 * static_cast<double>(model.n_layers()) * one);
}

TEST_CASE("greedy text: the most probable token each time, as in forward passes") {
  const Model model = load_hugging_face(kFamilies / "llama-gqa-bias");
  Model endless = model;
  endless.config.end_of_text.clear();
  const Ids prompt = some_ids(model, 5);
  double progress = 0.0;
  AttentionRequest request;
  request.report = [&progress](double done) { progress = done; };
  const ContinuedIds found = continue_greedily(endless, prompt, 12, request);
  CHECK(progress == 1.0);
  CHECK(found.end == ContinuationEnd::kLength);
  REQUIRE(found.ids.size() == 12);
  Ids text = prompt;
  for (const std::uint32_t id : found.ids) {
    const std::vector<float> logits = logits_of_whole(model, text, {});
    CHECK(id == static_cast<std::uint32_t>(std::max_element(logits.begin(), logits.end()) -
                                           logits.begin()));
    text.push_back(id);
  }

  Model ending = model;
  ending.config.end_of_text = {found.ids[3]};
  const auto first = std::find(found.ids.begin(), found.ids.end(), found.ids[3]);
  const ContinuedIds ended = continue_greedily(ending, prompt, 12, {});
  CHECK(ended.end == ContinuationEnd::kEndOfText);
  CHECK(ended.end_of_text == found.ids[3]);
  CHECK(ended.ids == Ids(found.ids.begin(), first));

  Model full = endless;
  full.config.n_ctx = prompt.size() + 3;
  const ContinuedIds short_of_room = continue_greedily(full, prompt, 12, {});
  CHECK(short_of_room.end == ContinuationEnd::kContext);
  CHECK(short_of_room.ids == first_of(found.ids, 3));
  CHECK(continue_greedily(full, prompt, 3, {}).end == ContinuationEnd::kLength);
  CHECK(continue_greedily(full, prompt, 0, {}).ids.empty());
}

TEST_CASE("a trained Llama model: the greedy text of the reference file through the cache") {
  const fs::path folder = kMoreFamilies / "stories260k";
  if (!fs::exists(folder)) {
    MESSAGE("SKIPPED: no ../shared/reference/models");
    return;
  }
  const Model model = load_hugging_face(folder);
  const Ids greedy = test::read_json(folder / "greedy.json")["ids"].get<Ids>();
  for (const std::size_t n_prompt : {std::size_t{1}, std::size_t{17}}) {
    const Ids prompt = first_of(greedy, n_prompt);
    const ContinuedIds found = continue_greedily(model, prompt, greedy.size() - n_prompt, {});
    CHECK(found.ids == Ids(greedy.begin() + static_cast<std::ptrdiff_t>(n_prompt), greedy.end()));
  }
}

TEST_CASE("a text that cannot be continued is refused with the reason") {
  const Model bert = load_hugging_face(kFamilies / "bert-mlm-gamma-beta");
  const auto make = [](const Model& model, const AttentionRequest& request) {
    return message_of(ErrorKind::kUsage, [&] { const Decoding decoding(model, request, 8); });
  };
  CHECK(contains(make(bert, {}), "a bert model fills gaps"));
  AttentionRequest causal;
  causal.mask = Mask{};
  CHECK(contains(make(bert, causal), "a bert model fills gaps"));
  const Model gpt = load_hugging_face(kFamilies / "gpt2-tied");
  AttentionRequest unmasked;
  unmasked.mask = parse_mask("none");
  CHECK(contains(make(gpt, unmasked), "mask \"none\""));
  Model headless = gpt;
  headless.head = {};
  CHECK(contains(make(headless, {}), "no output head"));

  const Ids ids = some_ids(gpt, 9);
  Decoding decoding(gpt, {}, 8);
  CHECK(contains(message_of(ErrorKind::kUsage, [&] { decoding.feed(ids); }), "8 tokens"));
  CHECK(contains(message_of(ErrorKind::kUsage, [&] { decoding.feed({}); }), "no tokens"));
  const Ids longer = some_ids(gpt, gpt.config.n_ctx + 1);
  CHECK(contains(message_of(ErrorKind::kUsage, [&] { continue_greedily(gpt, longer, 5, {}); }),
                 "context"));
}

TEST_CASE("logits that are not finite are an error, not a prediction") {
  Model model = load_hugging_face(kFamilies / "gpt2-tied");
  const std::vector<float> huge(model.config.d_model, 3e38f);
  model.head.norm.weight = huge;
  const Ids ids = some_ids(model, 4);
  Decoding decoding(model, {}, 8);
  CHECK(contains(message_of(ErrorKind::kMalformed, [&] { decoding.feed(ids); }), "a logit"));
}

}  // namespace attnviz
