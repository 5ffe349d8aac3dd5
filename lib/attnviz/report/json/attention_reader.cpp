#include "attnviz/report/json/attention_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/npy.h"
#include "attnviz/model/mask.h"
#include "attnviz/report/attention_facts.h"
#include "attnviz/report/json/document_json.h"

namespace attnviz {

namespace {

[[noreturn]] void fail(ErrorKind kind, std::string_view name, const std::string& what) {
  throw Error(kind, fmt::format("{}: {}", name, what));
}

std::string file_name(std::string_view path) {
  return valid_utf8(path.substr(path.find_last_of('/') + 1));
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
                      one_is_missing ? "; arrays written by attnviz begin with the BOS token of "
                                       "the model's tokenizer; its .json files contain the tokens"
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
    document.marks = document.key_marks = {};
    if (document.words) {
      document.words->sources.clear();
    }
    if (document.query_tokens.size() != first.rows) {  // which the tokens belong to
      document.turns.clear();
      document.turn_attention.reset();
      document.router.clear();
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

// The requested kind of numbers, else the kind stated by the file.
PatternKind kind_in(const JsonNode& root, std::optional<PatternKind> asked) {
  return asked ? *asked
               : choice_named(kPatternKinds, optional_string(root, "kind"))
                     .value_or(PatternKind::kWeights);
}

// In scores, null and -Infinity are masked; in weights they are errors.
JsonTree parse_patterns(std::string_view bytes, std::string_view name,
                        std::optional<PatternKind> kind) {
  JsonTree tree = JsonTree::parse(bytes, name, {}, JsonNulls::kMinusInfinity);
  return tree.has_nulls_in_lists() && !is_before_softmax(kind_in(tree.root(), kind))
             ? JsonTree::parse(bytes, name)  // reports where the nulls are
             : std::move(tree);
}

void refuse_part(std::string_view name, std::optional<AttentionPart> asked) {
  if (asked) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: expected the three attentions of an encoder-decoder, of which \"{}\" "
                    "is one, found one attention",
                    name, word_for(kPartChoices, *asked)));
  }
}

// Reads the tokens of a document, or of one part of it.
void read_tokens(const JsonNode& object, AttentionDocument& document) {
  document.query_tokens = strings_at(object, "tokens", "a list of tokens");
  document.key_tokens = strings_at(object, "key_tokens", "a list of tokens");
  if (const auto list = object.find("token_ids")) {
    for (const std::size_t id : read_indices(*list)) {
      document.token_ids.push_back(static_cast<TokenId>(id));
    }
  }
  if (const auto turns = object.find("turns")) {
    document.turns = read_turns(*turns, document.query_tokens.size());
  }
  if (const auto marks = object.find("marks")) {
    document.marks = read_marks(*marks, document.query_tokens.size());
  }
  if (const auto marks = object.find("key_marks")) {
    document.key_marks = read_marks(*marks, document.key_tokens.size());
  }
  if (const auto merged = object.find("merged")) {
    document.words.emplace().fold =
        parsed(*merged, [](std::string_view word) { return parse_choice("merged", word, kFolds); });
    read_optional(object, "token_mask", document.words->mask, parse_mask);
    document.words->sources = read_sources(object, document);
  }
}

// Reads how the document was run and drawn.
void read_run(const JsonNode& root, ReadDocument& read) {
  AttentionDocument& document = read.document;
  document.notes = strings_at(root, "notes", "a list of notes");
  if (const auto model = root.find("model")) {
    document.model = read_model(*model);
  }
  document.run = attnviz::read_run(root);
  read_optional(root, "kind", document.kind,
                [](std::string_view word) { return parse_choice("kind", word, kPatternKinds); });
  if (root.find("kind") || root.find("drawing")) {  // our documents omit the default kind
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
}

AttentionPart part_named(std::string_view word) {
  return parse_choice("part", word, kPartChoices);
}

// If each head hides different edges, the work grows as heads times edges.
void check_hidden_edges(const AttentionDocument& document, std::string_view name) {
  constexpr std::size_t kMost = 10'000;  // the limit for a run's own hidden edges
  constexpr std::size_t kMostPlaces = 4'096;
  constexpr std::size_t kMostInAll = 4'194'304;
  const std::size_t n_edges = document.run.interventions.knock_outs.size();
  HeadsByEdges numbers(document.run.interventions.knock_outs);
  if (n_edges > kMost || numbers.n_places() > kMostPlaces) {
    fail(ErrorKind::kMalformed, name,
         fmt::format("interventions: expected at most {} hidden edges of {} layers and heads, "
                     "found {} of {}",
                     kMost, kMostPlaces, n_edges, numbers.n_places()));
  }
  for (const HeadId head : document.source_heads(heads_of(document))) {
    numbers.number(head);
    if (numbers.count() * n_edges > kMostInAll) {
      fail(ErrorKind::kMalformed, name,
           fmt::format(
               "interventions: {} hidden edges that differ between {} or more heads are too many",
               n_edges, numbers.count()));
    }
  }
}

// Reads the patterns, after the tokens and the run, and names tokens that still have no names.
void read_patterns(const JsonNode& object, const GivenTokens& tokens, std::string_view name,
                   AttentionDocument& document) {
  attnviz::read_patterns(object, document);
  check_hidden_edges(document, name);
  name_tokens(tokens, name, document);
  if (const auto sink = object.find("sink")) {
    read_sinks(*sink, object.find("selected").has_value(), document);
  }
}

// Reads one part of an encoder-decoder. `given` tokens apply only to the part that is shown.
AttentionDocument read_part(const JsonNode& root, AttentionPart part, const GivenTokens& given,
                            std::string_view name, const AttentionDocument& run) {
  AttentionDocument document = run;
  const std::string_view word = word_for(kPartChoices, part);
  const JsonNode object = root.at(word);
  document.part = part;
  read_optional(root, part == AttentionPart::kEncoder ? "text" : "target", document.text);
  read_tokens(object, document);
  read_optional(object, "mask", document.run.mask, parse_mask);
  read_patterns(object, given, fmt::format("{}: {}", name, word), document);
  return document;
}

ReadDocument read_parts(const JsonNode& root, const GivenTokens& given, std::string_view name,
                        std::optional<AttentionPart> asked, ReadDocument read) {
  AttentionPart shown = AttentionPart::kCross;
  read_optional(root, "shown", shown, part_named);
  shown = asked.value_or(shown);
  std::vector<AttentionDocument> all;
  all.reserve(kPartChoices.size());
  for (const auto& [word, part] : kPartChoices) {
    all.push_back(
        read_part(root, part, part == shown ? given : GivenTokens(), name, read.document));
  }
  read.document = shown_part(std::move(all), shown);
  return read;
}

ReadDocument read_json(std::string_view bytes, std::string_view name, const GivenTokens& tokens,
                       const AskedPatterns& asked) {
  const JsonTree tree = parse_patterns(bytes, name, asked.kind);
  const JsonNode root = tree.root();
  ReadDocument read;
  AttentionDocument& document = read.document;
  document.storage = tree.numbers();
  if (root.kind() != JsonKind::kObject) {
    refuse_part(name, asked.part);
    read_nested_list(root, document);
    document.model = ModelFacts{};
    document.model->name = file_name(name);
    document.kind = asked.kind.value_or(document.kind);
    name_tokens(tokens, name, document);
    return read;
  }
  constexpr std::string_view kSchema = "attnviz.attention/1";
  if (const auto schema = root.find("schema"); schema && schema->as_string() != kSchema) {
    const bool is_model = schema->as_string().starts_with("attnviz.weights/");
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}expected \"{}\", found {}{}", schema->where(), kSchema,
                            in_quotes(schema->as_string()),
                            is_model ? "; these are a model's weights" : ""),
                "schema");
  }
  read_run(root, read);
  document.kind = asked.kind.value_or(document.kind);
  if (root.find("encoder") || root.find("decoder") || root.find("cross")) {
    return read_parts(root, tokens, name, asked.part, std::move(read));
  }
  refuse_part(name, asked.part);
  read_optional(root, "text", document.text);
  read_optional(root, "part", document.part, part_named);
  read_tokens(root, document);
  if (const auto shares = root.find("turn_attention")) {
    document.turn_attention = read_turn_attention(*shares, document.turns.size());
  }
  if (const auto router = root.find("router")) {
    document.router = read_router(*router, document.query_tokens.size());
  }
  read_patterns(root, tokens, name, document);
  return read;
}

ReadDocument read_array(std::string_view bytes, std::string_view name, const GivenTokens& tokens,
                        const AskedPatterns& asked) {
  refuse_part(name, asked.part);
  const auto array = std::make_shared<NpyArray>(read_npy(bytes, name));
  const std::vector<std::size_t>& shape = array->shape;
  if (shape.size() < 2 || shape.size() > 4) {
    fail(
        ErrorKind::kUnsupported, name,
        fmt::format("expected axes [q, k], [head, q, k] or [layer, head, q, k], found {} of them{}",
                    shape.size(),
                    shape.size() == 5 ? "; select one text of a batch, as in array[:, 0]" : ""));
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
  read.document.kind = asked.kind.value_or(PatternKind::kWeights);
  name_tokens(tokens, name, read.document);
  return read;
}

// Reads JSON lines: more than one line, each an object.
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
                                         const GivenTokens& tokens, const AskedPatterns& asked) {
  std::vector<ReadDocument> documents;
  if (bytes.starts_with("PK\x03\x04")) {
    fail(ErrorKind::kUnsupported, name,
         "expected one array, found an archive (.npz); np.save writes one");
  }
  if (is_npy(bytes)) {
    documents.push_back(read_array(bytes, name, tokens, asked));
    return documents;
  }
  const std::vector<std::string_view> lines = object_lines(bytes);
  if (lines.empty()) {
    documents.push_back(read_json(bytes, name, tokens, asked));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    documents.push_back(
        read_json(lines[i], fmt::format("{}: line {}", name, i + 1), tokens, asked));
  }
  return documents;
}

}  // namespace attnviz
