#include "support/toy_retrieval.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz::test {
namespace {

constexpr std::size_t kPairs = 24;  // keys, and values
constexpr std::size_t kPositions = 160;

std::vector<std::string> vocabulary() {
  std::vector<std::string> words = {"[UNK]", "The", "A", "of", "is", "."};
  for (const char* kind : {"k", "v"}) {
    for (std::size_t i = 0; i < kPairs; ++i) {
      words.push_back(kind + std::to_string(i));
    }
  }
  return words;
}

// Rows of zeros with ones, or another value, inserted.
class Weights {
 public:
  Weights(std::string name, std::size_t rows, std::size_t cols)
      : tensor_{std::move(name), {rows, cols}, std::vector<float>(rows * cols, 0.0f)} {}
  // value at (row + i, col + i) for i < count.
  Weights& diagonal(std::size_t row, std::size_t col, std::size_t count, float value) {
    for (std::size_t i = 0; i < count; ++i) {
      tensor_.numbers[(row + i) * tensor_.shape[1] + col + i] = value;
    }
    return *this;
  }
  TestTensor take() { return std::move(tensor_); }

 private:
  TestTensor tensor_;
};

TestTensor row_of(const std::string& name, std::size_t size, float value) {
  return {name, {size}, std::vector<float>(size, value)};
}

}  // namespace

NeedleText needle_text(std::uint64_t seed) {
  const std::vector<std::string> words = vocabulary();
  const auto first_key = static_cast<std::uint32_t>(words.size() - 2 * kPairs);
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> keys(kPairs), values(kPairs);
  std::iota(keys.begin(), keys.end(), first_key);
  std::iota(values.begin(), values.end(), first_key + static_cast<std::uint32_t>(kPairs));
  std::shuffle(keys.begin(), keys.end(), random);
  std::shuffle(values.begin(), values.end(), random);
  NeedleText text;
  for (std::size_t i = 0; i < kNeedleSentences; ++i) {
    text.sentences.push_back(text.ids.size());
    const auto article = static_cast<std::uint32_t>(1 + random() % 2);
    for (std::size_t n = 1 + random() % 2; n > 0; --n) {
      text.ids.push_back(article);
    }
    text.ids.insert(text.ids.end(), {keys[i], values[i], 4, 5});
  }
  text.sentences.push_back(text.ids.size());
  text.needle = random() % kNeedleSentences;
  text.answer = values[text.needle];
  text.ids.push_back(keys[text.needle]);
  for (std::size_t i = 0; i < text.ids.size(); ++i) {
    text.words += words[text.ids[i]];
    text.words += i + 2 == text.ids.size() ? "\n\n" : " ";
  }
  text.words.pop_back();
  return text;
}

void write_retrieval_model(const std::filesystem::path& folder) {
  const std::vector<std::string> words = vocabulary();
  const std::size_t n_words = words.size();
  // The stream: one coordinate per position, then one per token, then one per preceding token.
  const std::size_t token = kPositions;
  const std::size_t before = token + n_words;
  const std::size_t d_model = before + n_words;
  constexpr float kSharp = 10.0f;
  constexpr float kLoud = 0.5f;  // contexts are of tokens that a norm made about ten times larger
  std::filesystem::create_directories(folder);
  std::vector<TestTensor> tensors;
  tensors.push_back(
      Weights("wte.weight", n_words, d_model).diagonal(0, token, n_words, 1.0f).take());
  tensors.push_back(
      Weights("wpe.weight", kPositions, d_model).diagonal(0, 0, kPositions, 1.0f).take());
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const std::string name = "h." + std::to_string(layer) + ".";
    Weights attention(name + "attn.c_attn.weight", d_model, 3 * d_model);
    if (layer == 0) {  // the query of position i + 1 matches the key of i
      attention.diagonal(1, 1, kPositions - 1, kSharp)
          .diagonal(0, d_model + 1, kPositions - 1, kSharp);
    } else {  // the query of a token matches the key of one that follows it
      attention.diagonal(token, token, n_words, kSharp)
          .diagonal(before, d_model + token, n_words, kSharp);
    }
    attention.diagonal(token, 2 * d_model + token, n_words, 1.0f);
    tensors.push_back(attention.take());
    tensors.push_back(
        Weights(name + "attn.c_proj.weight", d_model, d_model)
            .diagonal(token, layer == 0 ? before : token, n_words, layer == 0 ? 0.1f : kLoud)
            .take());
    tensors.push_back(Weights(name + "mlp.c_fc.weight", d_model, 4).take());
    tensors.push_back(Weights(name + "mlp.c_proj.weight", 4, d_model).take());
    for (const auto& [part, size] :
         {std::pair<const char*, std::size_t>{"attn.c_attn.bias", 3 * d_model},
          {"attn.c_proj.bias", d_model},
          {"ln_1.bias", d_model},
          {"ln_2.bias", d_model},
          {"mlp.c_fc.bias", 4},
          {"mlp.c_proj.bias", d_model}}) {
      tensors.push_back(row_of(name + part, size, 0.0f));
    }
    tensors.push_back(row_of(name + "ln_1.weight", d_model, 1.0f));
    tensors.push_back(row_of(name + "ln_2.weight", d_model, 1.0f));
  }
  tensors.push_back(row_of("ln_f.weight", d_model, 1.0f));
  tensors.push_back(row_of("ln_f.bias", d_model, 0.0f));
  write_file(folder / "model.safetensors", safetensors_of(tensors));
  const nlohmann::json config = {{"model_type", "gpt2"},
                                 {"architectures", {"GPT2LMHeadModel"}},
                                 {"n_embd", d_model},
                                 {"n_head", 1},
                                 {"n_layer", 2},
                                 {"n_positions", kPositions},
                                 {"n_inner", 4},
                                 {"vocab_size", n_words},
                                 {"layer_norm_epsilon", 1e-5},
                                 {"activation_function", "gelu_new"}};
  write_file(folder / "config.json", config.dump());
  nlohmann::json vocab = nlohmann::json::object();
  for (std::size_t i = 0; i < n_words; ++i) {
    vocab[words[i]] = i;
  }
  const nlohmann::json tokenizer = {
      {"pre_tokenizer", {{"type", "Whitespace"}}},
      {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", false}}},
      {"model",
       {{"type", "WordPiece"},
        {"unk_token", "[UNK]"},
        {"continuing_subword_prefix", "##"},
        {"vocab", vocab}}}};
  write_file(folder / "tokenizer.json", tokenizer.dump());
}

}  // namespace attnviz::test
