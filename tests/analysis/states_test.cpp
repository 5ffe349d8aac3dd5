// Layers that mix tokens through states: what they keep, and how fast they forget.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/model/stored_model.h"
#include "support/model_run.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;

const fs::path kHybrids = ATTNVIZ_SOURCE_DIR "/tests/reference/experts";
const std::vector<std::uint32_t> kHybridIds = {1, 36, 53, 24, 66, 52, 38, 36, 53};

std::vector<float> logits_after(const Model& model, std::span<const std::uint32_t> ids) {
  Decoding decoding(model, {}, ids.size());
  const std::span<const float> logits = decoding.feed(ids);
  return {logits.begin(), logits.end()};
}

MatrixBuffer decay_of(const Model& model, HeadId head) {
  DecayStore store({head});
  ModelInput input;
  input.ids = kHybridIds;
  run(model, input, {}, store);
  MatrixBuffer pattern(kHybridIds.size(), kHybridIds.size());
  store.fill(head, pattern.view());
  return pattern;
}

}  // namespace

TEST_CASE("states: after a rewind, a text that continues differently is read like a fresh one") {
  for (const char* name : {"qwen3next", "granite4-hybrid", "nemotronh", "falcon-h1"}) {
    CAPTURE(name);
    const Model model = load_hugging_face(kHybrids / name);
    Decoding decoding(model, {}, 16);
    decoding.feed(kHybridIds);
    for (const std::size_t kept :
         {std::size_t{4}, std::size_t{4}, std::size_t{6}, std::size_t{2}, std::size_t{0}}) {
      CAPTURE(kept);
      decoding.rewind(kept);
      std::vector<std::uint32_t> text(kHybridIds.begin(),
                                      kHybridIds.begin() + static_cast<std::ptrdiff_t>(kept));
      const std::vector<std::uint32_t> others = {7, 9, static_cast<std::uint32_t>(11 + kept), 5};
      text.insert(text.end(), others.begin(), others.end());
      const std::span<const float> logits = decoding.feed(others);
      CHECK(test::largest_difference(logits, logits_after(model, text)) < 2e-5);
      decoding.rewind(kept);  // and back to where the other tokens do not yet begin
      decoding.feed(std::span(kHybridIds).subspan(kept));
    }
  }
}

TEST_CASE("states: the bits do not depend on the number of threads") {
  const Model model = load_hugging_face(kHybrids / "qwen3.5");
  const Recurrence& states = model.layers[0].recurrence;
  REQUIRE(states.present());
  MatrixBuffer x(700, model.config.d_model);  // more than one block
  for (std::size_t i = 0; i < x.rows() * x.cols(); ++i) {
    x.view().data[i] = std::sin(static_cast<float>(i));
  }
  std::vector<std::vector<float>> found;
  for (const std::size_t n_threads : {std::size_t{1}, std::size_t{3}}) {
    RecurrenceMemory memory;
    std::vector<float> kept(states.n_kept());
    MatrixBuffer out(x.rows(), x.cols());
    recur(states, std::as_const(x).view(), true, kept, n_threads, memory, {}, out.view());
    const std::span<const float> all = test::all_of(out);
    found.emplace_back(all.begin(), all.end());
  }
  CHECK(found[0] == found[1]);
}

TEST_CASE("state decay: 1 at the token itself, then a decreasing product of factors") {
  for (const char* name : {"qwen3next", "granite4-hybrid", "falcon-h1"}) {
    CAPTURE(name);
    const Model model = load_hugging_face(kHybrids / name);
    const std::vector<HeadId> heads = state_heads(model);
    REQUIRE(!heads.empty());
    const MatrixBuffer decay = decay_of(model, heads.back());
    const ConstMatrix left = decay.view();
    for (std::size_t i = 0; i < left.rows; ++i) {
      CHECK(left(i, i) == 1.0f);
      for (std::size_t j = 0; j < left.cols; ++j) {
        CHECK((j > i ? left(i, j) == 0.0f : left(i, j) > 0.0f && left(i, j) <= 1.0f));
        if (j + 1 < i) {
          CHECK(left(i, j) == doctest::Approx(left(i, i - 1) * left(i - 1, j)));
        }
      }
    }
  }
}

TEST_CASE("states have the same numbers in GGUF files, which store heads in another order") {
  for (const std::string name : {"qwen3.5", "falcon-h1"}) {
    const Model folder = load_hugging_face(kHybrids / name);
    const Model file = load_gguf(kHybrids / name / (name + ".gguf"));
    const std::vector<HeadId> heads = state_heads(folder);
    REQUIRE(heads == state_heads(file));
    for (const HeadId head : heads) {
      CHECK(test::largest_difference(test::all_of(decay_of(folder, head)),
                                     test::all_of(decay_of(file, head))) < 1e-5);
    }
  }
}

}  // namespace attnviz
