#include "attnviz/document/json/attention_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/json/run_json.h"
#include "attnviz/document/json/run_members_reader.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/npy.h"
#include "attnviz/model/mask.h"

namespace attnviz {

namespace {

// The text and the tokens of each word, where both are said.
std::vector<DocumentWords::Source> read_sources(const JsonNode& root,
                                                const AttentionDocument& document) {
  const auto ranges = root.find("merged_ranges");
  const auto ids = root.find("merged_token_ids");
  if (!ranges || !ids) {
    return {};
  }
  const auto range_list = read_index_lists(*ranges);
  const auto id_list = read_index_lists(*ids);
  const std::size_t n_words = document.query_tokens.size();
  for (const auto& [node, count] :
       {std::pair{*ranges, range_list.size()}, std::pair{*ids, id_list.size()}}) {
    if (count != n_words) {
      node.fail(
          fmt::format("expected one of each of {}, found {}", counted(n_words, "token"), count));
    }
  }
  std::vector<DocumentWords::Source> sources;
  for (std::size_t word = 0; word < n_words; ++word) {
    const std::vector<std::size_t>& range = range_list[word];
    const bool is_range = range.size() == 2 && range[0] <= range[1] &&
                          (!document.text || range[1] <= document.text->size());
    if (!is_range) {
      ranges->fail(fmt::format("expected bytes [begin, end) of the text (item {})", word));
    }
    sources.push_back({range[0], range[1], {id_list[word].begin(), id_list[word].end()}});
  }
  return sources;
}

[[noreturn]] void fail(ErrorKind kind, std::string_view name, const std::string& what) {
  throw Error(kind, fmt::format("{}: {}", name, what));
}

std::string file_name(std::string_view path) {
  return valid_utf8(path.substr(path.find_last_of('/') + 1));
}

// [layer][head] of a rectangle; `layers` and `heads` name them, else they count from 0.
void read_layers(const std::vector<JsonNode>& layers, const std::vector<std::size_t>& layer_names,
                 const std::vector<std::size_t>& head_names, AttentionDocument& document) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto heads = layers[i].as_list("a list of heads' [query][key] matrices");
    if (heads.size() != head_names.size()) {
      layers[i].fail(fmt::format("expected {} heads, found {}", head_names.size(), heads.size()));
    }
    for (std::size_t j = 0; j < heads.size(); ++j) {
      document.patterns.push_back({{layer_names[i], head_names[j]}, heads[j].as_matrix()});
    }
  }
}

std::vector<std::size_t> counted_from_zero(std::size_t count) {
  std::vector<std::size_t> names(count);
  for (std::size_t i = 0; i < count; ++i) {
    names[i] = i;
  }
  return names;
}

HeadId read_head(const JsonNode& node) {
  HeadId head;
  read_if_there(node, "layer", head.layer);
  read_if_there(node, "head", head.head);
  return head;
}

RolloutRequest read_rollout(const JsonNode& node) {
  RolloutRequest rollout;
  read_if_there(node, "residual", rollout.residual);
  if (!(rollout.residual >= 0.0f && rollout.residual < 1.0f)) {
    node.at("residual")
        .fail(fmt::format("expected a number from 0 to below 1, found {}", rollout.residual));
  }
  read_if_there(node, "over", rollout.over,
                [](std::string_view word) { return parse_choice("rollout", word, kRolloutOvers); });
  read_if_there(node, "weighted", rollout.weighted);
  return rollout;
}

// What `node` says that the patterns are, and what went into them: the heads in `averaged`, else
// every head of every layer that is listed.
DocumentAverage read_average(const JsonNode& root, const JsonNode& node) {
  DocumentAverage average;
  if (node.key() == "rollout") {
    average = {AverageOver::kAll, {}, read_rollout(node)};
  } else {
    average.over = parsed(node, parse_average);
  }
  if (const auto averaged = root.find("averaged")) {
    for (const JsonNode& entry : averaged->as_list("a list of heads")) {
      const HeadId head = read_head(entry);
      if (!average.heads.empty() && head <= average.heads.back()) {
        entry.fail("expected different heads in rising order");
      }
      average.heads.push_back(head);
    }
    if (average.heads.empty()) {
      averaged->fail("expected at least one head, found none");
    }
    return average;
  }
  constexpr std::size_t kMostHeads = 1'000'000;
  const std::vector<std::size_t> heads = read_indices(root.at("heads"));
  const std::vector<std::size_t> layers = read_indices(root.at("layers"));
  if (layers.size() > kMostHeads / std::max<std::size_t>(heads.size(), 1)) {
    node.fail(fmt::format("expected at most {} heads in layers and heads", kMostHeads));
  }
  for (const std::size_t layer : layers) {
    for (const std::size_t head : heads) {
      average.heads.push_back({layer, head});
    }
  }
  return average;
}

void read_rectangle(const JsonNode& root, const JsonNode& attention, AttentionDocument& document) {
  const auto layers = attention.as_list("a list of layers");
  if (layers.empty()) {
    attention.fail("expected at least one layer, found none");
  }
  const auto rollout = root.find("rollout");
  if (const auto average = rollout ? rollout : root.find("average")) {
    document.average = read_average(root, *average);
  }
  const auto names = [&root, &document](std::string_view key, std::size_t count,
                                        AverageOver averaged) {
    const auto node = root.find(key);
    const bool is_mean = document.average && (document.average->over == averaged ||
                                              document.average->over == AverageOver::kAll);
    if (!node || (is_mean && count == 1)) {
      return counted_from_zero(count);
    }
    std::vector<std::size_t> list = read_indices(*node);
    if (list.size() != count || !std::is_sorted(list.begin(), list.end()) ||
        std::adjacent_find(list.begin(), list.end()) != list.end()) {
      node->fail(fmt::format("expected {} different indices in rising order", count));
    }
    return list;
  };
  const std::size_t n_heads =
      layers.front().as_list("a list of heads' [query][key] matrices").size();
  read_layers(layers, names("layers", layers.size(), AverageOver::kLayers),
              names("heads", n_heads, AverageOver::kHeads), document);
  name_means(document);
}

void read_selected(const JsonNode& selected, AttentionDocument& document) {
  for (const JsonNode& entry : selected.as_list("a list of heads")) {
    const HeadId head = read_head(entry);
    if (!document.patterns.empty() && head <= document.patterns.back().head) {
      entry.fail("expected different heads in rising order");
    }
    document.patterns.push_back({head, entry.at("attention").as_matrix()});
  }
  if (document.patterns.empty()) {
    selected.fail("expected at least one head, found none");
  }
}

// Three nested lists of heads or four of layers; the innermost two are matrices.
void read_nested_list(const JsonNode& root, AttentionDocument& document) {
  if (root.kind() != JsonKind::kList) {
    document.patterns.push_back({{0, 0}, root.as_matrix()});
    return;
  }
  const auto items = root.as_list("[q][k], [head][q][k] or [layer][head][q][k]");
  if (items.front().kind() == JsonKind::kList) {
    const std::size_t n_heads = items.front().as_list("a list of heads").size();
    return read_layers(items, counted_from_zero(items.size()), counted_from_zero(n_heads),
                       document);
  }
  for (std::size_t head = 0; head < items.size(); ++head) {
    document.patterns.push_back({{0, head}, items[head].as_matrix()});
  }
}

void name_tokens(const GivenTokens& given, std::string_view name, AttentionDocument& document) {
  const ConstMatrix first = document.patterns.front().weights;
  for (const DocumentPattern& pattern : document.patterns) {
    if (pattern.weights.rows != first.rows || pattern.weights.cols != first.cols) {
      fail(ErrorKind::kMalformed, name,
           fmt::format("head {}: expected [{}, {}] weights as of the first head, found [{}, {}]",
                       head_name(pattern.head), first.rows, first.cols, pattern.weights.rows,
                       pattern.weights.cols));
    }
  }
  const auto settle = [name](std::vector<std::string>& tokens,
                             const std::optional<std::vector<std::string>>& asked,
                             std::size_t count, const char* key) {
    const bool from_file = !asked && !tokens.empty();
    if (asked) {
      tokens = *asked;
    }
    if (tokens.empty()) {
      for (std::size_t i = 0; i < count; ++i) {
        tokens.push_back(std::to_string(i));
      }
    }
    if (tokens.size() != count) {
      const std::string found =
          fmt::format("expected {}, found {}", counted(count, "token"), tokens.size());
      if (from_file) {
        fail(ErrorKind::kMalformed, fmt::format("{}: {}", name, key), found);
      }
      const bool one_is_missing = tokens.size() + 1 == count;
      throw Error(
          ErrorKind::kUsage,
          fmt::format("{}: {}{}", key, found,
                      one_is_missing ? "; arrays that attnviz wrote begin with the BOS token "
                                       "of the model's tokenizer, and the .json that it "
                                       "writes knows its tokens"
                                     : ""),
          key);
    }
    for (std::string& token : tokens) {
      token = valid_utf8(token);
    }
  };
  const bool square = first.rows == first.cols;
  const bool keys_follow = square && document.key_tokens.empty();
  if (given.queries || given.keys) {
    document.text.reset();
    document.token_ids.clear();
    document.marks = {};
    if (document.words) {
      document.words->sources.clear();
    }
  }
  settle(document.query_tokens, given.queries, first.rows, "tokens");
  if (keys_follow && !given.keys) {
    document.key_tokens = document.query_tokens;
  }
  settle(document.key_tokens, given.keys, first.cols, "key_tokens");
  if (!document.token_ids.empty() && document.token_ids.size() != first.rows) {
    fail(ErrorKind::kMalformed, name,
         fmt::format("token_ids: expected {} of them, found {}", first.rows,
                     document.token_ids.size()));
  }
}

// What the numbers are: as asked, else as the file says.
PatternKind kind_in(const JsonNode& root, std::optional<PatternKind> asked) {
  return asked ? *asked
               : choice_named(kPatternKinds, text_if_any(root, "kind"))
                     .value_or(PatternKind::kWeights);
}

// Among scores, null and -Infinity are what a mask hides; weights have none.
JsonTree parse_patterns(std::string_view bytes, std::string_view name,
                        std::optional<PatternKind> kind) {
  JsonTree tree = JsonTree::parse(bytes, name, {}, JsonNulls::kMinusInfinity);
  return tree.has_nulls_in_lists() && !is_before_softmax(kind_in(tree.root(), kind))
             ? JsonTree::parse(bytes, name)  // says where they are
             : std::move(tree);
}

ReadDocument read_json(std::string_view bytes, std::string_view name, const GivenTokens& tokens,
                       std::optional<PatternKind> kind) {
  const JsonTree tree = parse_patterns(bytes, name, kind);
  const JsonNode root = tree.root();
  ReadDocument read;
  AttentionDocument& document = read.document;
  document.storage = tree.numbers();
  if (root.kind() != JsonKind::kObject) {
    read_nested_list(root, document);
    document.model = ModelFacts{};
    document.model->name = file_name(name);
  } else {
    constexpr std::string_view kSchema = "attnviz.attention/1";
    if (const auto schema = root.find("schema"); schema && schema->as_string() != kSchema) {
      const bool is_model = schema->as_string().starts_with("attnviz.weights/");
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}expected \"{}\", found \"{}\"{}", schema->where(), kSchema,
                              schema->as_string(), is_model ? "; these are a model's weights" : ""),
                  "schema");
    }
    read_if_there(root, "text", document.text);
    document.query_tokens = strings_at(root, "tokens", "a list of tokens");
    document.key_tokens = strings_at(root, "key_tokens", "a list of tokens");
    if (const auto list = root.find("token_ids")) {
      for (const std::size_t id : read_indices(*list)) {
        document.token_ids.push_back(static_cast<TokenId>(id));
      }
    }
    if (const auto turns = root.find("turns")) {
      document.turns = read_turns(*turns, document.query_tokens.size());
    }
    if (const auto shares = root.find("turn_attention")) {
      document.turn_attention = read_turn_attention(*shares, document.turns.size());
    }
    if (const auto router = root.find("router")) {
      document.router = read_router(*router, document.query_tokens.size());
    }
    if (const auto marks = root.find("marks")) {
      document.marks = read_marks(*marks, document.query_tokens.size());
    }
    document.notes = strings_at(root, "notes", "a list of notes");
    if (const auto merged = root.find("merged")) {
      document.words.emplace().fold = parsed(
          *merged, [](std::string_view word) { return parse_choice("merged", word, kFolds); });
      read_if_there(root, "token_mask", document.words->mask, parse_mask);
      document.words->sources = read_sources(root, document);
    }
    if (const auto model = root.find("model")) {
      document.model = read_model(*model);
    }
    document.run = read_run(root);
    read_if_there(root, "kind", document.kind,
                  [](std::string_view word) { return parse_choice("kind", word, kPatternKinds); });
    if (root.find("kind") || root.find("drawing")) {  // ours do not name the usual one
      read.kind = document.kind;
    }
    if (const auto difference = root.find("difference")) {
      document.difference = DocumentDifference{std::string(difference->at("a").as_string()),
                                               std::string(difference->at("b").as_string()),
                                               text_or(*difference, "of", "texts") == "models"};
    }
    if (const auto drawing = root.find("drawing")) {
      document.drawing = read_drawing(*drawing);
      read.drawn_before = true;
    }
    if (const auto selected = root.find("selected")) {
      read_selected(*selected, document);
    } else {
      read_rectangle(root, root.at("attention"), document);
    }
  }
  document.kind = kind.value_or(document.kind);
  name_tokens(tokens, name, document);
  if (root.kind() == JsonKind::kObject) {
    if (const auto sink = root.find("sink")) {
      read_sinks(*sink, root.find("selected").has_value(), document);
    }
  }
  return read;
}

ReadDocument read_array(std::string_view bytes, std::string_view name, const GivenTokens& tokens,
                        std::optional<PatternKind> kind) {
  const auto array = std::make_shared<NpyArray>(read_npy(bytes, name));
  const std::vector<std::size_t>& shape = array->shape;
  if (shape.size() < 2 || shape.size() > 4) {
    fail(
        ErrorKind::kUnsupported, name,
        fmt::format("expected axes [q, k], [head, q, k] or [layer, head, q, k], found {} of them{}",
                    shape.size(),
                    shape.size() == 5 ? "; of a batch take one text, as in array[:, 0]" : ""));
  }
  const std::size_t n_heads = shape.size() < 3 ? 1 : shape[shape.size() - 3];
  const std::size_t n_layers = shape.size() < 4 ? 1 : shape[0];
  ReadDocument read;
  for (std::size_t layer = 0; layer < n_layers; ++layer) {
    for (std::size_t head = 0; head < n_heads; ++head) {
      read.document.patterns.push_back({{layer, head}, array->matrix(layer * n_heads + head)});
    }
  }
  read.document.storage = array;
  read.document.model = ModelFacts{};
  read.document.model->name = file_name(name);
  read.document.kind = kind.value_or(PatternKind::kWeights);
  name_tokens(tokens, name, read.document);
  return read;
}

// The documents of JSON lines: more than one line, each an object.
std::vector<std::string_view> object_lines(std::string_view bytes) {
  std::vector<std::string_view> lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      continue;
    }
    if (line[begin] != '{' || line[line.find_last_not_of(" \t\r")] != '}') {
      return {};
    }
    lines.push_back(line);
  }
  return lines.size() > 1 ? lines : std::vector<std::string_view>{};
}

}  // namespace

std::vector<ReadDocument> read_attention(std::string_view bytes, std::string_view name,
                                         const GivenTokens& tokens,
                                         std::optional<PatternKind> kind) {
  std::vector<ReadDocument> documents;
  if (bytes.starts_with("PK\x03\x04")) {
    fail(ErrorKind::kUnsupported, name,
         "expected one array, found an archive (.npz); np.save writes one");
  }
  if (is_npy(bytes)) {
    documents.push_back(read_array(bytes, name, tokens, kind));
    return documents;
  }
  const std::vector<std::string_view> lines = object_lines(bytes);
  if (lines.empty()) {
    documents.push_back(read_json(bytes, name, tokens, kind));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    documents.push_back(read_json(lines[i], fmt::format("{}: line {}", name, i + 1), tokens, kind));
  }
  return documents;
}

}  // namespace attnviz
