// Encoder-decoders against independent forward passes in float64: tests/reference/experts.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/safetensors.h"
#include "attnviz/model/families/readers/part_readers.h"
#include "attnviz/model/stored_model.h"
#include "support/model_run.h"
#include "support/reference_case.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

const fs::path kExperts = ATTNVIZ_SOURCE_DIR "/tests/reference/experts";

// The numbers of a case.
class Expected {
 public:
  explicit Expected(const fs::path& folder)
      : file_(folder / "expected.safetensors"), tensors_(file_.bytes(), folder.string()) {}

  std::vector<float> numbers(std::string_view name) const { return read<float>(name); }
  std::vector<std::uint32_t> ids(std::string_view name) const {
    const std::vector<std::int64_t> wide = read<std::int64_t>(name);
    return {wide.begin(), wide.end()};
  }

 private:
  template <class Number>
  std::vector<Number> read(std::string_view name) const {
    const StoredTensor* const tensor = tensors_.find(name);
    REQUIRE(tensor != nullptr);
    std::vector<Number> numbers(tensor->n_numbers());
    REQUIRE(tensor->bytes.size() == numbers.size() * sizeof(Number));
    std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
    return numbers;
  }

  MappedFile file_;
  Safetensors tensors_;
};

struct HalfText {
  std::vector<std::uint32_t> ids;
  ModelInput view(ConstMatrix encoded = {}) const {
    ModelInput input;
    input.ids = ids;
    input.encoded = encoded;
    return input;
  }
};

std::vector<HeadId> all_heads(const Model& model) {
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      heads.push_back({layer, head});
    }
  }
  return heads;
}

std::vector<float> weights_of(const PatternStore& store) {
  std::vector<float> all;
  for (const HeadId head : store.heads()) {
    const ConstMatrix pattern = store.pattern(head);
    for (std::size_t row = 0; row < pattern.rows; ++row) {
      all.insert(all.end(), pattern.row(row).begin(), pattern.row(row).end());
    }
  }
  return all;
}

void check_case(const Model& model, const Expected& expected, std::size_t n_threads) {
  REQUIRE(model.encoder != nullptr);
  AttentionRequest request;
  request.n_threads = n_threads;
  const HalfText source{expected.ids("ids")};
  const HalfText target{expected.ids("decoder_ids")};
  const std::size_t n_source = source.ids.size();
  const std::size_t n_target = target.ids.size();

  PatternStore of_encoder(all_heads(*model.encoder), n_source);
  RunObserver encoder(of_encoder);
  const MatrixBuffer encoded = encode(model, source.view(), request, &encoder);
  CHECK(test::largest_difference(weights_of(of_encoder), expected.numbers("encoder")) < 1e-5);

  PatternStore of_decoder(all_heads(model), n_target);
  PatternStore of_cross(all_heads(model), n_target, n_source);
  RunObserver patterns(of_decoder, of_cross);
  OutputRows output(model, 0, n_target);
  ObserverGroup both({&patterns, &output});
  run(model, target.view(encoded.view()), request, both);
  CHECK(test::largest_difference(weights_of(of_decoder), expected.numbers("decoder")) < 1e-5);
  CHECK(test::largest_difference(weights_of(of_cross), expected.numbers("cross")) < 1e-5);
  const MatrixBuffer logits = run_output_head(model, output.rows(), n_threads);
  CHECK(test::largest_difference(test::all_of(logits), expected.numbers("logits")) < 1e-4);

  PatternStore growing(all_heads(model), n_target, n_source);
  PatternStore own(all_heads(model), n_target);
  RunObserver watching(own, growing);
  Decoding decoding(model, request, n_target, &watching, encoded.view());
  for (std::size_t i = 0; i < n_target; ++i) {
    const std::span<const float> row = decoding.feed(std::span(target.ids).subspan(i, 1));
    CHECK(test::largest_difference(row, logits.view().row(i)) < 2e-5);
  }
  CHECK(test::largest_difference(weights_of(growing), weights_of(of_cross)) < 2e-6);
}

Model t5() {
  return load_hugging_face(kExperts / "t5-relu-tied");
}

}  // namespace

TEST_CASE("encoder-decoders: attention within 1e-5 of float64, logits within 1e-4") {
  for (const char* name :
       {"t5-relu-tied", "t5-v1.1", "t5-short-buckets", "marian", "bart", "mbart"}) {
    const fs::path folder = kExperts / name;
    std::vector<Model> models;
    models.push_back(load_hugging_face(folder));
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".gguf") {
        models.push_back(load_gguf(entry.path()));
      }
    }
    CHECK(models.size() == (fs::exists(folder / (std::string(name) + ".gguf")) ? 2 : 1));
    for (const Model& model : models) {
      for (const std::size_t n_threads : {std::size_t{1}, std::size_t{2}}) {
        CAPTURE(name);
        CAPTURE(model.config.name);
        CAPTURE(n_threads);
        check_case(model, Expected(folder), n_threads);
      }
    }
  }
}

TEST_CASE("an encoder-decoder's weights do not depend on the number of threads") {
  const Model model = t5();
  const Expected expected(kExperts / "t5-relu-tied");
  const HalfText source{expected.ids("ids")};
  const HalfText target{expected.ids("decoder_ids")};
  std::vector<std::vector<float>> found;
  for (const std::size_t n_threads : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    AttentionRequest request;
    request.n_threads = n_threads;
    const MatrixBuffer encoded = encode(model, source.view(), request);
    PatternStore own(all_heads(model), target.ids.size());
    PatternStore cross(all_heads(model), target.ids.size(), source.ids.size());
    RunObserver observer(own, cross);
    run(model, target.view(encoded.view()), request, observer);
    found.push_back(weights_of(cross));
  }
  CHECK(found[0] == found[1]);
  CHECK(found[0] == found[2]);
}

TEST_CASE("rows of cross-attention sum to 1 over the source, at any temperature") {
  const Model model = t5();
  const HalfText source{{5, 6, 7, 8, 1}};
  const HalfText target{{0, 9, 10}};
  AttentionRequest request;
  request.temperature = 0.5f;
  const MatrixBuffer encoded = encode(model, source.view(), request);
  PatternStore own(all_heads(model), 3);
  PatternStore cross(all_heads(model), 3, 5);
  RunObserver observer(own, cross);
  run(model, target.view(encoded.view()), request, observer);
  for (const HeadId head : cross.heads()) {
    for (std::size_t query = 0; query < 3; ++query) {
      double sum = 0.0;
      for (const float weight : cross.pattern(head).row(query)) {
        sum += static_cast<double>(weight);
      }
      CHECK(sum == doctest::Approx(1.0).epsilon(1e-5));
      CHECK(own.pattern(head)(query, 2) == (query == 2 ? own.pattern(head)(2, 2) : 0.0f));
    }
  }
}

TEST_CASE("a decoder with cross-attention is refused without a source text") {
  const Model model = t5();
  const HalfText target{{0, 9}};
  RunObserver idle_observer;
  CHECK_THROWS_WITH_AS(run(model, target.view(), {}, idle_observer),
                       doctest::Contains("expected the output of its encoder"), Error);
  CHECK_THROWS_AS(Decoding(model, {}, 4).feed(target.ids), Error);
}

TEST_CASE("a decoder's start token is known, and Marian never generates it") {
  CHECK(t5().config.first_token == 0u);
  CHECK(load_gguf(kExperts / "t5-relu-tied/t5-relu-tied.gguf").config.first_token == 0u);
  const Model marian = load_hugging_face(kExperts / "marian");
  CHECK(marian.config.first_token == 76u);
  const HalfText source{{5, 6, 7, 8, 0}};
  Model eager = marian;  // so that it would
  std::vector<float> bias(77, 0.0f);
  bias[76] = 1000.0f;
  eager.head.unembedding.bias = bias;
  const MatrixBuffer encoded = encode(eager, source.view(), {});
  const std::array<std::uint32_t, 1> start = {76};
  const auto write = [&] {
    return continue_greedily(eager, start, 3, {}, nullptr, {}, encoded.view()).ids;
  };
  const std::vector<std::uint32_t> written = write();
  CHECK(std::ranges::find(written, 76u) == written.end());
  eager.config.never_written.clear();
  CHECK(write() == std::vector<std::uint32_t>{76, 76, 76});
}

TEST_CASE(
    "near distances have a bucket each, farther ones share buckets, the farthest share the last") {
  const auto buckets = [](std::size_t n, std::size_t most,
                          const std::vector<std::size_t>& distances) {
    std::vector<std::size_t> found;
    found.reserve(distances.size());
    for (const std::size_t distance : distances) {
      found.push_back(distance_bucket(distance, n, most));
    }
    return found;
  };
  using Numbers = std::vector<std::size_t>;
  // A decoder's 32 buckets up to 128 tokens: 16 exact ones.
  CHECK(buckets(32, 128, {0, 1, 15, 16, 18, 19, 64, 127, 128, 5000}) ==
        Numbers{0, 1, 15, 16, 16, 17, 26, 31, 31, 31});
  // An encoder's 16 on each side: powers of two in the logarithm fall on a bucket's first distance.
  CHECK(buckets(16, 128, {7, 8, 15, 16, 31, 32, 63, 64, 128}) ==
        Numbers{7, 8, 9, 10, 11, 12, 13, 14, 15});
  const float table[] = {10.0f, 11.0f, 12.0f, 13.0f};
  const DistanceBias both = distance_bias({table, 4, 1, 1}, 3, true);
  CHECK(std::ranges::equal(both.of_heads.view().row(0),
                           std::vector<float>{11.0f, 11.0f, 11.0f, 10.0f, 13.0f, 13.0f, 13.0f}));
  const DistanceBias before = distance_bias({table, 4, 1, 1}, 3, false);
  CHECK(before.of_heads.view()(0, 3) == 10.0f);
  CHECK(before.of_heads.view()(0, 4) == 10.0f);
}

}  // namespace attnviz
