// Any bytes as a GGUF file: it is read, walked, run on a few tokens and refused with an Error, or
// nothing happens. What else escapes, crashes or is told by a sanitizer is a finding.
//
// With Clang this is libFuzzer's target; with other compilers fuzz_driver.cpp makes the inputs.

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/gguf_model.h"
#include "attnviz/text/files/gguf_tokenizer.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "fuzz/fuzz_target.h"
#include "support/gguf_builder.h"

namespace attnviz {

namespace {

// Keeps the compiler from leaving out what only reads.
volatile std::size_t sink = 0;

void use(std::string_view bytes) {
  std::size_t sum = 0;
  for (const char byte : bytes) {
    sum += static_cast<unsigned char>(byte);
  }
  sink = sink + sum;
}

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

bool is_inside(std::string_view piece, std::string_view bytes) {
  const std::less_equal<const char*> before;
  return before(bytes.data(), piece.data()) &&
         before(piece.data() + piece.size(), bytes.data() + bytes.size());
}

// Runs what may throw an Error of a broken file, and nothing else.
void refused_or_done(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    require(error.kind() != ErrorKind::kUsage);
    const std::string_view message = error.what();
    require(message.find("fuzz") != std::string_view::npos && message.size() < 2000);
  }
}

void walk(const GgufValue& value) {
  require(value.text(40).size() <= 40);
  use(value.text());
  use(value.as_string().value_or(""));
  sink = sink + value.as_unsigned().value_or(0) + (value.as_bool().value_or(false) ? 1 : 0);
  sink = sink + static_cast<std::size_t>(value.as_signed().value_or(0));
  for (const std::string_view text : value.as_strings().value_or(std::vector<std::string_view>())) {
    use(text);
  }
  require(value.as_numbers().value_or(std::vector<double>(value.size())).size() == value.size());
  require(value.as_flags().value_or(std::vector<bool>(value.size())).size() == value.size());
}

void walk_metadata(const Gguf& file) {
  for (const Gguf::Entry& entry : file.metadata()) {
    require(file.find(entry.key) == &entry.value);
    walk(entry.value);
  }
}

void read_metadata(const Gguf& file) {
  const GgufMetadata metadata(file);
  for (const Gguf::Entry& entry : file.metadata()) {
    const std::string_view key = entry.key;
    refused_or_done([&] { sink = sink + metadata.size(key); });
    refused_or_done([&] { sink = sink + metadata.id(key).value_or(0); });
    refused_or_done([&] { require(metadata.positive(key) > 0); });
    refused_or_done([&] { require(std::isfinite(metadata.number_or(key, 0))); });
    refused_or_done([&] { sink = sink + (metadata.flag_or(key, true) ? 1 : 0); });
    refused_or_done([&] { use(metadata.text(key)); });
    refused_or_done([&] { sink = sink + metadata.strings(key).size(); });
    refused_or_done([&] { sink = sink + metadata.numbers(key).size(); });
    refused_or_done([&] { sink = sink + metadata.flags(key).size(); });
  }
}

void read_tensors(const Gguf& file, std::string_view bytes) {
  std::size_t size = 0;
  for (const StoredTensor& tensor : file.tensors()) {
    require(is_inside(tensor.name, bytes) && is_inside(tensor.bytes, bytes));
    require(tensor.bytes.size() == stored_bytes(tensor.type, tensor.n_numbers()));
    size += tensor.bytes.size();
    use(tensor.bytes);
    if (file.is_big_endian()) {
      const std::vector<char> turned = little_endian(tensor);
      require(turned.size() == tensor.bytes.size());
    }
  }
  require(size <= bytes.size());
}

void read_tokenizer(const Gguf& file) {
  const ModelTokenizer tokenizer(read_gguf_tokenizer(GgufMetadata(file)));
  for (const std::string_view text : {"", "The cat's mat,  \n\tétait 猫🐱 1234<s>", "\xF0\x9F a"}) {
    const TokenizedText tokens = tokenizer.tokenize(text);
    for (const Token& token : tokens.tokens) {
      require(token.begin <= token.end && token.end <= tokens.source.size());
      use(tokenizer.piece(token.id));
    }
  }
}

// Of all heads, and of three tokens that any vocabulary has.
class FiniteWeights : public PatternSink {
 public:
  bool wants(HeadId /*head*/) const override { return true; }
  void rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
            ConstMatrix weights) override {
    for (std::size_t row = 0; row < weights.rows; ++row) {
      for (const float weight : weights.row(row)) {
        require(std::isfinite(weight));
      }
    }
  }
};

void run_model(std::string_view bytes) {
  static const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                            ("attnviz-fuzz-" + std::to_string(getpid()) + ".gguf");
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const Model model = load_gguf(path);
  const std::size_t n_tokens =
      std::min({model.embeddings.rows, model.config.n_ctx, std::size_t{3}});
  const std::vector<std::uint32_t> ids(n_tokens, 0);
  ModelInput input;
  input.ids = ids;
  FiniteWeights weights;
  OutputRows output(model, 0, n_tokens);
  RunObserver patterns(weights);
  ObserverGroup all({&patterns, &output});
  run(model, input, {}, all);
}

// What makes something of a whole file is called from here, one line each.
void read(std::string_view bytes) {
  refused_or_done([&] {
    const Gguf file(bytes, "fuzz");
    walk_metadata(file);
    read_metadata(file);
    read_tensors(file, bytes);
    refused_or_done([&] { read_tokenizer(file); });
  });
  refused_or_done([&] { run_model(bytes); });
}

}  // namespace

namespace test {

namespace {

// A small file with a value of every kind, so that there is always one.
std::string built_in(bool big_endian) {
  GgufBuilder b(big_endian);
  b.add_string("general.architecture", "llama")
      .add_u32("general.alignment", 32)
      .add("x.bool", GgufType::kBool, std::string(1, '\1'))
      .add("x.f64", GgufType::kF64, b.number(0.5))
      .add("x.i16", GgufType::kI16, b.number(std::int16_t{-2}))
      .add("x.words", GgufType::kArray,
           b.array(GgufType::kString, 3, b.strings({"the", "cat", ""})))
      .add("x.scores", GgufType::kArray, b.array(GgufType::kF32, 2, b.numbers({-1.0f, 2.0f})))
      .add("x.rows", GgufType::kArray,
           b.array(GgufType::kArray, 1,
                   b.array(GgufType::kU16, 2, b.numbers<std::uint16_t>({1, 2}))));
  b.tensors = {{"norm", {8}, 0, std::string(32, 'n'), {}},
               {"halves", {4, 3}, 1, std::string(24, 'h'), {}},
               {"blocks", {64, 2}, 8, std::string(136, 'b'), {}},
               {"k", {256}, 12, std::string(144, 'k'), {}}};
  return b.bytes();
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {built_in(false), built_in(true)};
}

}  // namespace test

}  // namespace attnviz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attnviz::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
