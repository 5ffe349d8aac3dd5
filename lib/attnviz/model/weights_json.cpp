// Reads and writes the weights JSON format `attnviz.weights/1`; a written file is a template to
// edit.
#include "attnviz/model/stored_model.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

constexpr std::string_view kSchema = "attnviz.weights/1";

// Keeps the memory of a Model's matrices alive.
struct JsonStorage {
  std::shared_ptr<const void> numbers;
  std::vector<MatrixBuffer> transposed;  // for files in column convention
};

// A size that a matrix must have, and its name in messages. 0: any.
struct Size {
  std::size_t count = 0;
  std::string_view name = {};
};

class Reader {
 public:
  explicit Reader(const JsonTree& tree) : root_(tree.root()) { storage_->numbers = tree.numbers(); }

  Model read(std::string_view model_name);

 private:
  void read_schema() const;
  void read_config(std::string_view model_name);
  std::size_t find_d_model() const;
  void read_tokens();
  void read_embeddings(const JsonNode& embeddings);
  LayerWeights read_layer(const JsonNode& layer, bool is_last);
  HeadWeights read_head(const JsonNode& head);
  void check_outputs(const JsonNode& layer, const std::vector<JsonNode>& heads, bool is_last) const;
  ConstMatrix read_matrix(const JsonNode& node, Size rows, Size cols);
  std::span<const float> read_bias(const JsonNode& owner, std::string_view key, Size size) const;
  ConstMatrix transpose(ConstMatrix matrix);

  JsonNode root_;
  bool column_convention_ = false;
  std::shared_ptr<JsonStorage> storage_ = std::make_shared<JsonStorage>();
  Model model_;
};

// The index of the member's string in `choices`.
std::size_t read_choice(const JsonNode& node, std::span<const std::string> choices) {
  const std::string_view text = node.as_string();
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end()) {
    node.fail(fmt::format("expected {}, found {}{}", joined_by(choices, " or "), in_quotes(text),
                          did_you_mean(text, choices)));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

// Parses mask and position names, whose errors name key and value but not the file.
template <class Parse>
auto read_name(const JsonNode& root, const JsonNode& node, Parse parse) {
  const std::string_view text = node.as_string();
  try {
    return parse(text);
  } catch (const Error& error) {
    root.fail(error.what());
  }
}

Model Reader::read(std::string_view model_name) {
  static const std::array<std::string, 15> keys = {
      "schema",     "name",   "random",  "seed",     "d_model", "tokenizer",  "mask", "positions",
      "convention", "inputs", "unknown", "residual", "layers",  "embeddings", "text"};
  read_schema();
  root_.expect_keys(std::span(keys));
  read_config(model_name);
  const auto layers = root_.at("layers").as_list("a list of layers");
  if (layers.empty()) {
    root_.at("layers").fail("expected at least 1 layer, found an empty list");
  }
  model_.config.d_model = find_d_model();
  read_tokens();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    model_.layers.push_back(read_layer(layers[i], i + 1 == layers.size()));
  }
  model_.storage = storage_;
  return std::move(model_);
}

void Reader::read_schema() const {
  const auto schema = root_.find("schema");
  if (schema && schema->as_string() != kSchema) {
    const bool is_attention = schema->as_string().starts_with("attnviz.attention/");
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected \"{}\", found {}{}", schema->where(), kSchema,
                            in_quotes(schema->as_string()),
                            is_attention ? "; attention is for attnviz render FILE" : ""));
  }
}

void Reader::read_config(std::string_view model_name) {
  static const std::array<std::string, 3> tokenizers = {"words", "chars", "bytes"};
  static const std::array<std::string, 2> conventions = {"row", "column"};
  static const std::array<std::string, 2> unknown_choices = {"random", "error"};
  ModelConfig& config = model_.config;
  config.name = model_name;
  read_optional(root_, "name", config.name);
  read_optional(root_, "random", config.random_weights);
  read_optional(root_, "seed", config.seed);
  if (const auto tokenizer = root_.find("tokenizer")) {
    config.tokenizer = tokenizers[read_choice(*tokenizer, tokenizers)];
  }
  if (const auto mask = root_.find("mask")) {
    config.mask = read_name(root_, *mask, parse_mask);
  }
  if (const auto positions = root_.find("positions")) {
    config.positions = read_name(root_, *positions, parse_positions);
  }
  if (const auto convention = root_.find("convention")) {
    column_convention_ = read_choice(*convention, conventions) == 1;
  }
  if (const auto unknown = root_.find("unknown")) {
    model_.random_unknown = read_choice(*unknown, unknown_choices) == 0;
  }
  read_optional(root_, "residual", config.residual);
  if (const auto text = root_.find("text")) {
    model_.text = text->as_string();
    if (model_.text.find_first_not_of(" \t\r\n\v\f") == std::string::npos) {
      text->fail("expected a text with words, found a blank one");
    }
  }
}

std::size_t Reader::find_d_model() const {
  if (const auto d_model = root_.find("d_model")) {
    const std::uint64_t size = d_model->as_unsigned();
    if (size == 0) {
      d_model->fail("expected at least 1, found 0");
    }
    return size;
  }
  if (const auto inputs = root_.find("inputs")) {
    return inputs->as_matrix().cols;
  }
  if (const auto embeddings = root_.find("embeddings")) {
    const auto members = embeddings->as_object();
    if (!members.empty() && !members.front().as_numbers().empty()) {
      return members.front().as_numbers().size();
    }
  }
  const auto heads =
      root_.at("layers").as_list("a list of layers").front().at("heads").as_list("a list of heads");
  if (heads.empty()) {
    return 1;  // reported where the heads are read
  }
  const ConstMatrix w_q = heads.front().at("W_Q").as_matrix();
  return column_convention_ ? w_q.cols : w_q.rows;
}

void Reader::read_tokens() {
  const auto inputs = root_.find("inputs");
  const auto embeddings = root_.find("embeddings");
  if (inputs && embeddings) {
    inputs->fail("expected either \"inputs\" by position or \"embeddings\" by token, found both");
  }
  if (inputs) {
    // One row per token in either convention.
    model_.inputs = inputs->as_matrix();
    if (model_.inputs.cols != model_.config.d_model) {
      inputs->fail(fmt::format("expected {}, found {} (d_model is {})",
                               counted(model_.config.d_model, "column"), model_.inputs.cols,
                               model_.config.d_model));
    }
  }
  if (embeddings) {
    read_embeddings(*embeddings);
  }
  if (!inputs && !embeddings && !model_.random_unknown) {
    root_.at("unknown").fail(
        "\"error\" refuses every token, as there are no \"embeddings\": add them, or \"inputs\" by "
        "position, or set it to \"random\"");
  }
}

void Reader::read_embeddings(const JsonNode& embeddings) {
  const auto members = embeddings.as_object();
  if (members.empty()) {
    embeddings.fail("expected at least 1 token, found an empty object");
  }
  const std::size_t d_model = model_.config.d_model;
  const float* first = members.front().as_numbers().data();
  model_.vocabulary.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::span<const float> numbers = members[i].as_numbers();
    if (numbers.size() != d_model) {
      members[i].fail(fmt::format("expected {}, found {} (d_model is {})",
                                  counted(d_model, "number"), numbers.size(), d_model));
    }
    assert(numbers.data() == first + i * d_model);  // back to back: the members form a matrix
    model_.vocabulary.emplace_back(members[i].key());
  }
  model_.embeddings = {first, members.size(), d_model, d_model};
}

LayerWeights Reader::read_layer(const JsonNode& layer, bool is_last) {
  static const std::array<std::string, 3> keys = {"heads", "W_O", "b_O"};
  layer.expect_keys(keys);
  const auto heads = layer.at("heads").as_list("a list of heads");
  if (heads.empty()) {
    layer.at("heads").fail("expected at least 1 head, found an empty list");
  }
  // Each head is compared with the others, to find shared keys and values.
  constexpr std::size_t kMostHeads = 4096;
  if (heads.size() > kMostHeads) {
    layer.at("heads").fail(
        fmt::format("expected at most {} heads, found {}", kMostHeads, heads.size()));
  }
  check_outputs(layer, heads, is_last);

  LayerWeights weights;
  std::size_t d_contexts = 0;
  for (const JsonNode& head : heads) {
    weights.heads.push_back(read_head(head));
    d_contexts += weights.heads.back().d_value();
  }
  const Size d_model{model_.config.d_model, "d_model"};
  if (const auto w_o = layer.find("W_O")) {
    weights.output.weight =
        read_matrix(*w_o, {d_contexts, "the sum of the heads' d_value"}, d_model);
  }
  weights.output.bias = read_bias(layer, "b_O", d_model);
  return weights;
}

void Reader::check_outputs(const JsonNode& layer, const std::vector<JsonNode>& heads,
                           bool is_last) const {
  const auto has_output = [](const JsonNode& head) { return head.find("W_O").has_value(); };
  const auto with = std::find_if(heads.begin(), heads.end(), has_output);
  const auto without = std::find_if_not(heads.begin(), heads.end(), has_output);
  const auto whole = layer.find("W_O");
  if (with != heads.end() && whole) {
    whole->fail("expected either one W_O a head or one a layer, found both");
  }
  if (with != heads.end() && without != heads.end()) {
    without->fail(fmt::format("missing key \"W_O\", which {} has", with->path()));
  }
  if (with != heads.end() || whole) {
    return;
  }
  if (!is_last) {
    layer.fail("missing key \"W_O\": only the last layer may leave it out");
  }
  if (const auto bias = layer.find("b_O")) {
    bias->fail("expected a W_O beside it, found none");
  }
}

HeadWeights Reader::read_head(const JsonNode& head) {
  static const std::array<std::string, 7> keys = {"W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V", "W_O"};
  head.expect_keys(keys);
  const Size d_model{model_.config.d_model, "d_model"};
  HeadWeights weights;
  weights.query.weight = read_matrix(head.at("W_Q"), d_model, {});
  const Size d_head{weights.d_head(), "d_head, from W_Q,"};
  weights.key.weight = read_matrix(head.at("W_K"), d_model, d_head);
  weights.value.weight = read_matrix(head.at("W_V"), d_model, {});
  const Size d_value{weights.d_value(), "d_value, from W_V,"};
  weights.query.bias = read_bias(head, "b_Q", d_head);
  weights.key.bias = read_bias(head, "b_K", d_head);
  weights.value.bias = read_bias(head, "b_V", d_value);
  if (const auto w_o = head.find("W_O")) {
    weights.output = read_matrix(*w_o, d_value, d_model);
  }
  return weights;
}

// `rows` and `cols` count in row convention; messages count as the file does.
ConstMatrix Reader::read_matrix(const JsonNode& node, Size rows, Size cols) {
  const ConstMatrix matrix = node.as_matrix();
  if (column_convention_) {
    std::swap(rows, cols);
  }
  const auto check = [&](Size expected, std::size_t found, std::string_view noun) {
    if (expected.count != 0 && expected.count != found) {
      node.fail(fmt::format("expected {}, found {} ({} is {})", counted(expected.count, noun),
                            found, expected.name, expected.count));
    }
  };
  check(cols, matrix.cols, "column");
  check(rows, matrix.rows, "row");
  return column_convention_ ? transpose(matrix) : matrix;
}

std::span<const float> Reader::read_bias(const JsonNode& owner, std::string_view key,
                                         Size size) const {
  const auto node = owner.find(key);
  if (!node) {
    return {};
  }
  const std::span<const float> bias = node->as_numbers();
  if (bias.size() != size.count) {
    node->fail(fmt::format("expected {}, found {} ({} is {})", counted(size.count, "number"),
                           bias.size(), size.name, size.count));
  }
  return bias;
}

ConstMatrix Reader::transpose(ConstMatrix matrix) {
  MatrixBuffer& buffer = storage_->transposed.emplace_back(matrix.cols, matrix.rows);
  const Matrix out = buffer.view();
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.cols; ++j) {
      out(j, i) = matrix(i, j);
    }
  }
  return out;
}

}  // namespace

Model load_weights_json(const std::filesystem::path& path, OpenFiles files) {
  const MappedFile file = files.open(path);
  if (is_gguf(file.bytes())) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: a GGUF model is read from a file, not from a pipe", path.string()));
  }
  const auto forget = [&file](std::string_view bytes) { file.forget(bytes); };
  return Reader(JsonTree::parse(file.bytes(), path.string(), forget))
      .read(path.filename().string());
}

Model parse_weights_json(std::string_view bytes, std::string_view name) {
  return Reader(JsonTree::parse(bytes, name)).read(name);
}

namespace {

void expect_finite(std::string_view key, std::span<const float> numbers) {
  if (!std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); })) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{} holds NaN or infinity, which JSON cannot say", key));
  }
}

void write_numbers(JsonWriter& json, std::string_view key, std::span<const float> numbers) {
  expect_finite(key, numbers);
  json.member_if_any(key, numbers);
}

void write_matrix(JsonWriter& json, std::string_view key, ConstMatrix matrix) {
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    expect_finite(key, matrix.row(i));
  }
  json.member_if_any(key, matrix);
}

void write_head(JsonWriter& json, const HeadWeights& head) {
  write_matrix(json, "W_Q", head.query.weight.as_floats());
  write_numbers(json, "b_Q", head.query.bias);
  write_matrix(json, "W_K", head.key.weight.as_floats());
  write_numbers(json, "b_K", head.key.bias);
  write_matrix(json, "W_V", head.value.weight.as_floats());
  write_numbers(json, "b_V", head.value.bias);
  write_matrix(json, "W_O", head.output.as_floats());
}

void write_layer(JsonWriter& json, const LayerWeights& layer) {
  json.objects("heads", layer.heads, [&](const HeadWeights& head) { write_head(json, head); });
  write_matrix(json, "W_O", layer.output.weight.as_floats());
  write_numbers(json, "b_O", layer.output.bias);
}

void write_config(JsonWriter& json, const Model& model) {
  const ModelConfig& config = model.config;
  json.member("schema", "attnviz.weights/1");
  json.member("name", config.name);
  json.member("random", config.random_weights);
  json.member("seed", config.seed);
  json.member("d_model", config.d_model);
  json.member("tokenizer", config.tokenizer);
  json.member("mask", config.mask.name());
  json.member("positions", positions_name(config.positions));
  json.member("convention", "row");
  json.member("unknown", model.random_unknown ? "random" : "error");
  json.member("residual", config.residual);
  if (!model.text.empty()) {
    json.member("text", model.text);
  }
}

}  // namespace

void write_weights_json(const Model& model, const ByteSink& sink) {
  if (model.config.is_transformer()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: weights JSON holds attention alone, and this model has more",
                            model.config.name));
  }
  JsonWriter json(sink, /*indent=*/2);
  json.begin_object();
  write_config(json, model);
  if (!model.vocabulary.empty()) {
    json.begin_object("embeddings");
    for (std::size_t i = 0; i < model.vocabulary.size(); ++i) {
      write_numbers(json, model.vocabulary[i], model.embeddings.as_floats().row(i));
    }
    json.end_object();
  }
  write_matrix(json, "inputs", model.inputs);
  json.objects("layers", model.layers,
               [&](const LayerWeights& layer) { write_layer(json, layer); });
  json.end_object();
  json.finish();
}

}  // namespace attnviz
