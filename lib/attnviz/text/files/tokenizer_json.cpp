#include "attnviz/text/files/tokenizer_files.h"

#include <fmt/core.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <unordered_set>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/json_reader.h"
#include "attnviz/text/files/stages_json.h"

namespace attnviz {

namespace {

// The document with null instead of the parts that take long to read, and these parts. A tree is
// used for the rest, so that messages have paths. For a vocabulary and its merges, hundreds of
// thousands of strings, a tree would take several times as long, in every run of the program.
struct Scanned {
  std::string rest;
  bool has_model = false;
  bool has_vocabulary = false;
  PieceList pieces;
  std::vector<Merge> merges;
};

void append_member(std::string& rest, std::string_view key, std::string_view value) {
  rest += rest.ends_with('{') ? "\"" : ",\"";
  for (const char c : key) {  // a key with escapes is decoded already
    rest += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  rest += "\":";
  rest += value;
}

void scan_model(JsonReader& reader, Scanned& scanned) {
  bool is_first = true;
  reader.expect('{');
  append_member(scanned.rest, "model", "{");
  while (reader.next_item('}', is_first)) {
    const std::string_view key = reader.key();
    if (key == "vocab") {
      if (scanned.has_vocabulary) {
        reader.fail("one \"vocab\"");
      }
      scanned.has_vocabulary = true;
      scanned.pieces = scan_pieces(reader);
      append_member(scanned.rest, key, "null");
    } else if (key == "merges" && reader.peek() != 'n') {
      scanned.merges = scan_merges(reader);
      append_member(scanned.rest, key, "null");
    } else {
      append_member(scanned.rest, key, reader.raw_value());
    }
  }
  scanned.rest += "}";
}

Scanned scan(JsonReader& reader) {
  Scanned scanned;
  bool is_first = true;
  reader.expect('{');
  scanned.rest = "{";
  while (reader.next_item('}', is_first)) {
    const std::string_view key = reader.key();
    if (key == "model" && reader.peek() == '{') {
      scanned.has_model = true;
      scan_model(reader, scanned);
    } else {
      append_member(scanned.rest, key, reader.raw_value());
    }
  }
  scanned.rest += "}";
  reader.expect_end();
  return scanned;
}

// Reports syntax errors with the line numbers of the whole file.
JsonTree parse_rest(const std::string& rest, std::string_view bytes, std::string_view name) {
  try {
    return JsonTree::parse(rest, name);
  } catch (const Error&) {
    JsonTree::parse(bytes, name);
    throw;
  }
}

// The usual decoder for files without one: it inverts the pre-tokenizer.
Decoder usual_decoder(const JsonNode& root, bool is_byte_level) {
  if (is_byte_level) {
    return Decoder({{DecoderStep::Kind::kByteLevel, "", ""}});
  }
  const auto stage = find_value(root, "pre_tokenizer");
  if (stage && has_stage(*stage, "Metaspace")) {
    return Decoder({{DecoderStep::Kind::kMetaspace, "▁", "", 1}});
  }
  return {};
}

// Ids in the template must be tokens: other ids would be looked up in the model's embeddings.
void check_template(const TokenizerParts& parts, const JsonNode& node) {
  std::unordered_set<TokenId> added;
  for (const AddedToken& token : parts.added) {
    added.insert(token.id);
  }
  for (const Template* items : {&parts.post.single, &parts.post.pair}) {
    for (const TemplateItem& item : *items) {
      if (item.kind == TemplateItem::Kind::kSpecial &&
          parts.model->vocabulary().piece(item.id).empty() && !added.contains(item.id)) {
        node.fail("expected ids of the vocabulary, found " + std::to_string(item.id));
      }
    }
  }
}

}  // namespace

AddedToken read_added_token(const JsonNode& node, TokenId id) {
  AddedToken token;
  token.id = id;
  token.content = node.at("content").as_string();
  if (token.content.empty()) {
    node.at("content").fail("expected a token, found an empty string");
  }
  if (token.content.size() > PrefixIndex::kLongestPiece) {
    node.at("content").fail(fmt::format("expected a token of at most {}, found {}",
                                        counted(PrefixIndex::kLongestPiece, "byte"),
                                        token.content.size()));
  }
  token.single_word = flag_or(node, "single_word", false);
  token.lstrip = flag_or(node, "lstrip", false);
  token.rstrip = flag_or(node, "rstrip", false);
  token.special = flag_or(node, "special", false);
  token.normalized = flag_or(node, "normalized", !token.special);
  return token;
}

void find_special_ids(TokenizerParts& parts) {
  const auto set = [&](std::optional<TokenId>& id, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      if (!id) {
        id = find_token(parts, name);
      }
    }
  };
  SpecialIds& ids = parts.special;
  set(ids.cls, {"[CLS]"});
  set(ids.sep, {"[SEP]"});
  set(ids.mask, {"[MASK]", "<mask>"});
  set(ids.bos, {"<s>", "<|begin_of_text|>", "<bos>", "<|startoftext|>", "<|endoftext|>"});
  set(ids.eos, {"</s>", "<|end_of_text|>", "<eos>", "<|endoftext|>"});
  set(ids.pad, {"[PAD]", "<pad>"});
  if (!ids.unk) {
    ids.unk = parts.model->unknown();
  }
}

TokenizerParts read_tokenizer_json(std::string_view bytes, std::string_view name) {
  if (bytes.empty()) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: expected JSON, found an empty file", name));
  }
  JsonReader reader(bytes, name);
  const Scanned scanned = scan(reader);
  const JsonTree tree = parse_rest(scanned.rest, bytes, name);
  const JsonNode root = tree.root();
  const JsonNode model = root.at("model");
  if (!scanned.has_model) {
    model.fail("expected an object");
  }
  model.at("vocab");

  TokenizerParts parts;
  parts.where = fmt::format("{}: ", name);
  const auto normalizer = find_value(root, "normalizer");
  const auto pre_tokenizer = find_value(root, "pre_tokenizer");
  const bool is_byte_level = (normalizer && has_stage(*normalizer, "ByteLevel")) ||
                             (pre_tokenizer && has_stage(*pre_tokenizer, "ByteLevel"));
  parts.takes_any_byte = is_byte_level;
  parts.model = read_model(model, scanned.pieces, scanned.merges, is_byte_level);
  if (normalizer) {
    parts.normalizer = read_normalizer(*normalizer);
    parts.bert_normalization = read_bert_normalization(*normalizer);
  }
  if (pre_tokenizer) {
    parts.pre_tokenizer = read_pre_tokenizer(*pre_tokenizer);
    parts.adds_prefix_space = read_prefix_space(*pre_tokenizer);
  }
  if (!is_byte_level) {
    parts.prepends_space = prepends_space(normalizer, pre_tokenizer);
  }
  if (const auto added = find_value(root, "added_tokens")) {
    for (const JsonNode& token : added->as_list("a list of tokens")) {
      parts.added.push_back(read_added_token(token, read_id(token.at("id"))));
    }
  }
  if (const auto post = find_value(root, "post_processor")) {
    parts.post = read_post_processor(*post);
    check_template(parts, *post);
  }
  const auto decoder = find_value(root, "decoder");
  parts.decoder = decoder ? read_decoder(*decoder) : usual_decoder(root, is_byte_level);
  return parts;
}

namespace {

// Each stage goes through the whole text, and each decoder through every piece.
constexpr std::size_t kMostStages = 256;

// Compiling a pattern of a few bytes may take a millisecond and a hundred kilobytes.
constexpr std::size_t kMostPatternBytes = std::size_t{1} << 14;

struct StageCount {
  std::size_t n_stages = 1;
  std::size_t n_pattern_bytes = 0;
};

// Stages of a sequence, including nested ones.
StageCount count_stages(const JsonNode& node, std::string_view key) {
  StageCount count;
  if (node.kind() != JsonKind::kObject) {
    return count;
  }
  if (const auto pattern = node.find("pattern"); pattern && pattern->kind() == JsonKind::kObject) {
    count.n_pattern_bytes = optional_string(*pattern, "Regex").size();
  }
  const auto stages = node.find(key);
  if (stages && stages->kind() == JsonKind::kList) {
    for (const JsonNode& stage : stages->as_list("a list of stages")) {
      const auto [n_stages, n_pattern_bytes] = count_stages(stage, key);
      count.n_stages += n_stages;
      count.n_pattern_bytes += n_pattern_bytes;
    }
  }
  return count;
}

}  // namespace

std::vector<JsonNode> stages_at(const JsonNode& node, std::string_view key) {
  const JsonNode stages = node.at(key);
  const auto [n_all, n_pattern_bytes] = count_stages(node, key);
  if (const std::size_t count = n_all - 1; count > kMostStages) {
    stages.fail(fmt::format("expected at most {} stages, found {}", kMostStages, count));
  }
  if (n_pattern_bytes > kMostPatternBytes) {
    stages.fail(fmt::format("expected at most {} bytes of regular expressions, found {}",
                            kMostPatternBytes, n_pattern_bytes));
  }
  return stages.as_list("a list of stages");
}

}  // namespace attnviz
