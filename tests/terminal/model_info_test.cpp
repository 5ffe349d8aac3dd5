// The description of a model: facts in words, the screen, and that it fits.
#include "attnviz/report/model_info.h"
#include "attnviz/report/attention_facts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>

#include "attnviz/core/utf8.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/terminal/views.h"
#include "support/screen_text.h"

namespace attnviz {
namespace {

using test::contains;

const std::filesystem::path kModels = ATTNVIZ_SOURCE_DIR "/tests/reference/models";

ModelInfo info_of(const Model& model) {
  ModelInfo info;
  info.name = model.config.name;
  info.model = &model;
  info.shape = model_shape(model);
  info.parameters = count_parameters(info.shape);
  info.tokenizer.emplace();
  info.tokenizer->kind = "byte-level BPE";
  info.tokenizer->n_entries = 40;
  info.tokenizer->n_special = 1;
  info.tokenizer->special = {{"bos", "\xE2\x96\x81\x1b[31m", 3}};
  info.tokenizer->before = {"<s>"};
  return info;
}

ModelInfo gpt3() {
  DescribedModel described;
  described.attention = {96, 96, 0, 12288, 128};
  described.n_vocab = 50257;
  ModelInfo info;
  info.name = "a model in numbers";
  info.shape = model_shape(described);
  info.parameters = count_parameters(info.shape);
  return info;
}

std::string text_of(const std::vector<InfoFact>& facts, const std::string& label) {
  const auto found = std::ranges::find(facts, label, &InfoFact::label);
  return found == facts.end() ? "(none)" : found->text;
}

// The words of the line that begins with `label`.
std::string row_of(const std::string& screen, const std::string& label) {
  std::istringstream lines(screen);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.find_first_not_of(' ') != std::string::npos &&
        line.compare(line.find_first_not_of(' '), label.size(), label) == 0) {
      std::istringstream words(line);
      std::string word;
      std::string all;
      while (words >> word) {
        all += (all.empty() ? "" : " ") + word;
      }
      return all;
    }
  }
  return "(none)";
}

std::string screen_of(const ModelInfo& info, const TerminalOptions& options) {
  return to_ansi(report_page(info_report(info), options), options.color);
}

}  // namespace

TEST_CASE("runs of three or more layers are drawn together") {
  CHECK(layer_list(std::array<std::size_t, 1>{0}) == "0");
  CHECK(layer_list(std::array<std::size_t, 3>{0, 2, 4}) == "0, 2, 4");
  CHECK(layer_list(std::array<std::size_t, 4>{0, 1, 5, 6}) == "0, 1, 5, 6");
  CHECK(layer_list(std::array<std::size_t, 6>{0, 1, 2, 3, 7, 9}) == "0-3, 7, 9");
}

TEST_CASE("Gemma 2: windows by layer, soft caps and a score scale of its own") {
  const Model model = load_hugging_face(kModels / "gemma2-softcap-window");
  const auto facts = attention_facts(info_of(model));
  CHECK(text_of(facts, "mask") == "layers 0, 2: window 5; layer 1: causal");
  CHECK(text_of(facts, "soft cap") == "1.75 tanh(score / 1.75)");
  CHECK(text_of(facts, "score scale") == "0.5774, not 1/√6 = 0.4082");
  CHECK(text_of(facts, "q/k norms") == "(none)");
  const auto shape = shape_facts(info_of(model));
  CHECK(contains(text_of(shape, "output"), "logits capped at 4.5"));
  CHECK(text_of(shape, "heads") == "4 per layer, sharing 2 kv heads");
  CHECK(contains(text_of(shape, "norms"), "RMS norm, epsilon 1e-06, weights stored less 1"));
}

TEST_CASE("Gemma 3: RoPE bases by layer, norms of queries and keys") {
  const Model model = load_hugging_face(kModels / "gemma3-local-global");
  const auto facts = attention_facts(info_of(model));
  CHECK(text_of(facts, "mask") == "layers 0, 1, 3: window 5; layer 2: causal");
  CHECK(text_of(facts, "RoPE") ==
        "layers 0, 1, 3: base 100, all 8 dimensions of a head; layer 2: base 50,000, all 8 "
        "dimensions of a head, linear scaling by 8");
  CHECK(text_of(facts, "q/k norms") == "each head's queries and keys, before RoPE");
}

TEST_CASE("GPT-NeoX: partial rotation, parallel residual, no tied head") {
  const Model model = load_hugging_face(kModels / "gpt-neox-parallel");
  const ModelInfo info = info_of(model);
  CHECK(contains(text_of(attention_facts(info), "RoPE"), "(partial)"));
  CHECK(contains(text_of(shape_facts(info), "order"), "parallel residual"));
  CHECK(contains(text_of(shape_facts(info), "output"), "not tied"));
}

TEST_CASE("scalings of RoPE are named, with their factor and original context") {
  const auto rope = [](const char* name) {
    const Model model = load_hugging_face(kModels / name);
    return text_of(attention_facts(info_of(model)), "RoPE");
  };
  CHECK(contains(rope("llama-rope-linear"), "linear scaling by"));
  CHECK(contains(rope("llama-rope-dynamic"), "dynamic scaling by"));
  CHECK(contains(rope("llama-rope-llama3"), "llama3 scaling by"));
  CHECK(contains(rope("llama-rope-yarn"), "yarn scaling by"));
  CHECK(contains(rope("phi3-longrope-long"), "longrope scaling by"));
  CHECK(!contains(rope("llama-mha-untied"), "scaling"));
}

TEST_CASE("BERT: post-norm, learned positions, no KV cache") {
  const Model model = load_hugging_face(kModels / "bert-pair");
  const ModelInfo info = info_of(model);
  CHECK(text_of(attention_facts(info), "mask") == "none: every token sees all tokens");
  CHECK(contains(text_of(shape_facts(info), "order"), "post-norm"));
  const std::string screen = screen_of(info, {});
  CHECK(contains(screen, "segments"));
  CHECK(!contains(screen, "KV float32"));
}

TEST_CASE("GPT-3 in numbers: the lecture's table") {
  const std::string screen = screen_of(gpt3(), {});
  CHECK(row_of(screen, "W_Q") == "W_Q 1,572,864 96 150,994,944 14,495,514,624 14.5 B");
  CHECK(row_of(screen, "W_K") == "W_K 1,572,864 96 150,994,944 14,495,514,624 14.5 B");
  CHECK(row_of(screen, "W_V") == "W_V 1,572,864 96 150,994,944 14,495,514,624 14.5 B");
  CHECK(row_of(screen, "W_O") == "W_O 1,572,864 96 150,994,944 14,495,514,624 14.5 B");
  CHECK(row_of(screen, "attention") == "attention 6,291,456 603,979,776 57,982,058,496 58.0 B");
  CHECK(row_of(screen, "token embeddings") == "token embeddings 617,558,016 618 M");
  CHECK(row_of(screen, "attention:") ==
        "attention: 6.3 M per head, 604 M per layer, 58.0 B in 96 layers.");
  CHECK(row_of(screen, "131,072") == "131,072 68.7 GB 633 TB 1.2 TB 618 GB");
}

TEST_CASE("lengths beyond the context are marked") {
  ModelInfo info = gpt3();
  info.shape.n_ctx = 2048;
  const std::string screen = screen_of(info, {});
  CHECK(row_of(screen, "1,024").starts_with("1,024 4.2 MB"));
  CHECK(row_of(screen, "4,096").starts_with("4,096 * 67.1 MB"));
  CHECK(contains(screen, "* beyond the context of 2,048 tokens"));
}

TEST_CASE("a screen of any width holds its lines, and is 7-bit when asked to be") {
  const Model gemma = load_hugging_face(kModels / "gemma3-local-global");
  const Model random = random_model({2, 4, 2, 16}, 1);
  for (const ModelInfo& info : {info_of(gemma), info_of(random), gpt3()}) {
    for (const std::size_t columns : {20U, 40U, 80U, 200U}) {
      for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
        const std::string screen = screen_of(info, {style, ColorDepth::kNone, columns});
        CHECK(screen.find('\x1b') == std::string::npos);
        if (style == TerminalStyle::kAscii) {
          CHECK(std::ranges::all_of(screen, [](char c) { return c >= 0 && c < 127; }));
        }
        std::istringstream lines(screen);
        std::string line;
        while (std::getline(lines, line)) {
          CAPTURE(line);
          CHECK(display_width(line) <= columns);
        }
      }
    }
  }
}

TEST_CASE("text from files cannot reach a terminal as control codes") {
  const Model random = random_model({1, 4}, 1);
  ModelInfo info = info_of(random);
  info.name = "a\x1b[31m\nb";
  info.tokenizer->kind.clear();
  info.tokenizer->missing = "m\x1b[31mødel: none";
  for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
    const std::string screen = screen_of(info, {style, ColorDepth::kNone, 80});
    CHECK(screen.find('\x1b') == std::string::npos);
    CHECK(contains(screen, "kind  none: m"));
    CHECK(contains(screen, style == TerminalStyle::kAscii ? "\\u{00F8}del" : "ødel"));
  }
}

TEST_CASE("layers of multi-token prediction are listed among unused parts") {
  Model model = load_hugging_face(kModels / "gemma2-softcap-window");
  model.stored.unused_tensors = {{"a", "f", kMultiToken}, {"b", "f", kOtherTask}};
  CHECK(contains(row_of(screen_of(info_of(model), {}), "not used"),
                 "2 tensors in the files, 0 B; 1 of multi-token prediction"));
}

TEST_CASE("random weights are said to be random") {
  const Model random = random_model({1, 4}, 1);
  CHECK(contains(screen_of(info_of(random), {}), "RANDOM WEIGHTS"));
}

}  // namespace attnviz
