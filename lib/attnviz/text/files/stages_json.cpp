#include "attnviz/text/files/stages_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/base64.h"
#include "attnviz/text/tokenizers/byte_level.h"
#include "attnviz/text/tokenizers/vocabulary.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

// The value that the name of a type or setting stands for. Throws as fail_type() does for other
// names.
template <class Choices>
auto read_choice(const JsonNode& name, std::string_view what, const Choices& choices) {
  if (const auto value = choice_named(choices, name.as_string())) {
    return *value;
  }
  fail_type(name, what, choice_words(choices));
}

// A stage's name in the file, and its reader.
template <class Stage>
using Reader = Choice<Stage (*)(const JsonNode& node)>;
using Reading = const JsonNode&;

// A template's items multiply by the number of ids per token, and they surround every text.
void check_template_size(const Template& items, const JsonNode& node) {
  constexpr std::size_t kMost = 4096;
  if (items.size() > kMost) {
    node.fail(fmt::format("expected at most {} tokens around a text, found more", kMost));
  }
}

template <class Stage>
std::vector<Stage> read_stages(const JsonNode& node, std::string_view key,
                               Stage (*read)(const JsonNode& node)) {
  std::vector<Stage> stages;
  const std::vector<JsonNode> items = stages_at(node, key);
  stages.reserve(items.size());
  for (const JsonNode& item : items) {
    stages.push_back(read(item));
  }
  return stages;
}

std::string text_at(const JsonNode& node, std::string_view key) {
  return std::string(node.at(key).as_string());
}

// A string to search for in texts: each position takes as many steps as the string has bytes.
std::string sought(const JsonNode& node) {
  constexpr std::size_t kLongest = 1024;
  const std::string_view text = node.as_string();
  if (text.size() > kLongest) {
    node.fail(fmt::format("expected at most {}, found {}", counted(kLongest, "byte"), text.size()));
  }
  return std::string(text);
}

// {"String": "…"} or {"Regex": "…"}.
struct Pattern {
  std::optional<std::string> string;
  std::optional<Regex> regex;
};

Pattern read_pattern(const JsonNode& node) {
  const JsonNode pattern = node.at("pattern");
  if (const auto string = pattern.find("String")) {
    return {sought(*string), std::nullopt};
  }
  const auto regex = pattern.find("Regex");
  if (!regex) {
    pattern.fail("expected a \"String\" or a \"Regex\", found neither");
  }
  return {std::nullopt, Regex(regex->as_string(), regex->where())};
}

Normalizer read_replace(const JsonNode& node) {
  Pattern pattern = read_pattern(node);
  std::string content = text_at(node, "content");
  return pattern.string ? replace_normalizer(std::move(*pattern.string), std::move(content))
                        : replace_normalizer(std::move(*pattern.regex), std::move(content));
}

BertNormalization bert_options(const JsonNode& node) {
  BertNormalization options;
  options.clean_text = flag_or(node, "clean_text", true);
  options.handle_chinese_chars = flag_or(node, "handle_chinese_chars", true);
  options.lowercase = flag_or(node, "lowercase", true);
  options.strip_accents = flag_or(node, "strip_accents", options.lowercase);
  return options;
}

bool has_prefix_space(const JsonNode& node) {
  return flag_or(node, "add_prefix_space", true);
}

Normalizer read_precompiled(const JsonNode& node) {
  const auto map = find_value(node, "precompiled_charsmap");
  if (!map) {
    return {};
  }
  return charsmap_normalizer(decoded_base64(map->as_string(), map->where()), map->where());
}

CutBehavior read_behavior(const JsonNode& node, CutBehavior otherwise) {
  const auto behavior = find_value(node, "behavior");
  constexpr std::array kBehaviors = {
      Choice{"Removed", CutBehavior::kRemoved},
      Choice{"Isolated", CutBehavior::kIsolated},
      Choice{"MergedWithPrevious", CutBehavior::kMergedWithPrevious},
      Choice{"MergedWithNext", CutBehavior::kMergedWithNext},
      Choice{"Contiguous", CutBehavior::kContiguous},
  };
  return behavior ? read_choice(*behavior, "behavior", kBehaviors) : otherwise;
}

PreTokenizer read_split(const JsonNode& node) {
  Pattern pattern = read_pattern(node);
  const CutBehavior behavior = read_behavior(node, CutBehavior::kIsolated);
  const bool invert = flag_or(node, "invert", false);
  return pattern.string ? string_cut(std::move(*pattern.string), behavior, invert)
                        : regex_cut(std::move(*pattern.regex), behavior, invert);
}

PrependScheme read_prepend_scheme(const JsonNode& node) {
  PrependScheme scheme =
      flag_or(node, "add_prefix_space", true) ? PrependScheme::kAlways : PrependScheme::kNever;
  if (const auto name = find_value(node, "prepend_scheme")) {
    constexpr std::array kSchemes = {Choice{"always", PrependScheme::kAlways},
                                     Choice{"first", PrependScheme::kFirst},
                                     Choice{"never", PrependScheme::kNever}};
    scheme = read_choice(*name, "prepend scheme", kSchemes);
  }
  return scheme;
}

PreTokenizer read_metaspace(const JsonNode& node) {
  return metaspace(sought(node.at("replacement")), read_prepend_scheme(node),
                   flag_or(node, "split", true));
}

TokenId special_id(const JsonNode& pair) {
  const std::vector<JsonNode> items = pair.as_list("a token's name and its id");
  if (items.size() != 2) {
    pair.fail(
        fmt::format("expected a token's name and its id, found {}", counted(items.size(), "item")));
  }
  return read_id(items[1]);
}

// From names to lists of ids. An ordered map: the names come from the file, which could choose
// colliding hashes.
using SpecialTokens = std::map<std::string_view, JsonNode>;

void append_item(const JsonNode& node, const SpecialTokens& special_tokens, Template& items) {
  if (const auto text = node.find("Sequence")) {
    const std::string_view id = text->at("id").as_string();
    if (id != "A" && id != "B") {
      text->at("id").fail("expected \"A\" or \"B\", found " + in_quotes(id));
    }
    items.push_back({id == "A" ? TemplateItem::Kind::kFirst : TemplateItem::Kind::kSecond, 0,
                     read_id(text->at("type_id"))});
    return;
  }
  const JsonNode special = node.at("SpecialToken");
  const TokenId segment = read_id(special.at("type_id"));
  const auto token = special_tokens.find(special.at("id").as_string());
  if (token == special_tokens.end()) {
    special.at("id").fail("expected one of the special_tokens, found " +
                          in_quotes(special.at("id").as_string()));
  }
  const JsonNode& ids = token->second;
  for (const float id : ids.as_numbers()) {
    if (!(id >= 0.0f && id < static_cast<float>(Vocabulary::kMostIds)) || id != std::trunc(id)) {
      ids.fail(fmt::format("expected whole ids below {}, found {}", Vocabulary::kMostIds, id));
    }
    items.push_back({TemplateItem::Kind::kSpecial, static_cast<TokenId>(id), segment});
    check_template_size(items, node);
  }
}

Template read_template(const JsonNode& list, const SpecialTokens& special_tokens, bool is_pair) {
  Template items;
  for (const JsonNode& item : list.as_list("a list of template items")) {
    append_item(item, special_tokens, items);
  }
  const auto count = [&](TemplateItem::Kind kind) {
    return std::count_if(items.begin(), items.end(),
                         [&](const TemplateItem& item) { return item.kind == kind; });
  };
  if (count(TemplateItem::Kind::kFirst) != 1 ||
      count(TemplateItem::Kind::kSecond) != (is_pair ? 1 : 0)) {
    list.fail(is_pair ? "expected the sequences A and B, once each"
                      : "expected the sequence A, once");
  }
  return items;
}

PostProcessor read_template_processing(const JsonNode& node) {
  SpecialTokens special_tokens;
  for (const JsonNode& token : node.at("special_tokens").as_object()) {
    special_tokens.emplace(token.key(), token.at("ids"));
  }
  return {read_template(node.at("single"), special_tokens, /*is_pair=*/false),
          read_template(node.at("pair"), special_tokens, /*is_pair=*/true)};
}

PostProcessor read_processors(const JsonNode& node) {
  PostProcessor made;
  for (const PostProcessor& next : read_stages(node, "processors", read_post_processor)) {
    made = made.adds_tokens() ? composed(made, next) : next;
    check_template_size(made.pair, node);
  }
  return made;
}

DecoderStep read_metaspace_step(const JsonNode& node) {
  const bool strips = text_or(node, "prepend_scheme", "always") != "never" &&
                      flag_or(node, "add_prefix_space", true);
  return {DecoderStep::Kind::kMetaspace, sought(node.at("replacement")), "", strips ? 1u : 0u};
}

DecoderStep read_replace_step(const JsonNode& node) {
  const JsonNode pattern = node.at("pattern");
  const auto text = pattern.find("String");
  if (!text) {
    pattern.fail("expected a \"String\", found none: decoders replace no regular expressions");
  }
  return {DecoderStep::Kind::kReplace, sought(*text), text_at(node, "content")};
}

DecoderStep read_word_piece_step(const JsonNode& node) {
  DecoderStep step{DecoderStep::Kind::kWordPiece, std::string(text_or(node, "prefix", "##")), ""};
  step.cleanup = flag_or(node, "cleanup", true);
  return step;
}

void append_steps(const JsonNode& node, std::vector<DecoderStep>& steps) {
  using Kind = DecoderStep::Kind;
  static const std::vector<Reader<DecoderStep>> readers = {
      {"BPEDecoder",
       [](Reading step) {
         const auto suffix = find_value(step, "suffix");
         return DecoderStep{Kind::kWordEnd, suffix ? sought(*suffix) : "</w>", ""};
       }},
      {"ByteFallback",
       [](Reading) {
         return DecoderStep{Kind::kByteFallback, "", ""};
       }},
      {"ByteLevel",
       [](Reading) {
         return DecoderStep{Kind::kByteLevel, "", ""};
       }},
      {"Fuse",
       [](Reading) {
         return DecoderStep{Kind::kFuse, "", ""};
       }},
      {"Metaspace", read_metaspace_step},
      {"Replace", read_replace_step},
      {"Sequence", nullptr},
      {"Strip",
       [](Reading step) {
         return DecoderStep{Kind::kStrip, text_at(step, "content"), "", read_id(step.at("start")),
                            read_id(step.at("stop"))};
       }},
      {"WordPiece", read_word_piece_step},
  };
  if (const auto read = read_choice(node.at("type"), "decoder", readers)) {
    steps.push_back(read(node));
    return;
  }
  for (const JsonNode& stage : stages_at(node, "decoders")) {
    append_steps(stage, steps);
  }
}

// A stage of `type`: the node itself, or one in a sequence.
std::optional<JsonNode> find_stage(const JsonNode& node, std::string_view type) {
  if (node.kind() != JsonKind::kObject) {
    return std::nullopt;
  }
  const auto own = node.find("type");
  if (own && own->kind() == JsonKind::kString && own->as_string() == type) {
    return node;
  }
  for (const JsonNode& member : node.as_object()) {
    if (member.kind() == JsonKind::kList) {
      for (const JsonNode& item : member.as_list("a list of stages")) {
        if (auto found = find_stage(item, type)) {
          return found;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

TokenId read_id(const JsonNode& node) {
  const std::uint64_t id = node.as_unsigned();
  if (id >= Vocabulary::kMostIds) {
    node.fail(fmt::format("expected a number below {}, found {}", Vocabulary::kMostIds, id));
  }
  return static_cast<TokenId>(id);
}

void fail_type(const JsonNode& node, std::string_view what, std::vector<std::string> known) {
  const std::string hint = did_you_mean(node.as_string(), known);
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}the {} {} is not supported{}; there are {}", node.where(), what,
                          in_quotes(node.as_string()), hint, joined(known, "and")));
}

bool has_stage(const JsonNode& node, std::string_view type) {
  return find_stage(node, type).has_value();
}

bool prepends_space(const std::optional<JsonNode>& normalizer,
                    const std::optional<JsonNode>& pre_tokenizer) {
  if (normalizer && has_stage(*normalizer, "Prepend")) {
    return true;
  }
  const auto cut = pre_tokenizer ? find_stage(*pre_tokenizer, "Metaspace") : std::nullopt;
  return cut && read_prepend_scheme(*cut) != PrependScheme::kNever;
}

std::optional<BertNormalization> read_bert_normalization(const JsonNode& node) {
  return text_at(node, "type") == "BertNormalizer" ? std::optional(bert_options(node))
                                                   : std::nullopt;
}

std::optional<bool> read_prefix_space(const JsonNode& node) {
  return text_at(node, "type") == "ByteLevel" ? std::optional(has_prefix_space(node))
                                              : std::nullopt;
}

Normalizer read_normalizer(const JsonNode& node) {
  static const std::vector<Reader<Normalizer>> readers = {
      {"BertNormalizer", [](Reading stage) { return bert_normalizer(bert_options(stage)); }},
      {"ByteLevel", [](Reading) { return byte_level_normalizer(); }},
      {"Lowercase", [](Reading) { return lowercase_normalizer(); }},
      {"NFC", [](Reading) { return unicode_normalizer(UnicodeForm::kNfc); }},
      {"NFD", [](Reading) { return unicode_normalizer(UnicodeForm::kNfd); }},
      {"NFKC", [](Reading) { return unicode_normalizer(UnicodeForm::kNfkc); }},
      {"NFKD", [](Reading) { return unicode_normalizer(UnicodeForm::kNfkd); }},
      {"Nmt", [](Reading) { return nmt_normalizer(); }},
      {"Precompiled", read_precompiled},
      {"Prepend", [](Reading stage) { return prepend_normalizer(text_at(stage, "prepend")); }},
      {"Replace", read_replace},
      {"Sequence",
       [](Reading stage) {
         return sequence_normalizer(read_stages(stage, "normalizers", read_normalizer));
       }},
      {"Strip",
       [](Reading stage) {
         return strip_normalizer(flag_or(stage, "strip_left", true),
                                 flag_or(stage, "strip_right", true));
       }},
      {"StripAccents", [](Reading) { return strip_accents_normalizer(); }},
  };
  return read_choice(node.at("type"), "normalizer", readers)(node);
}

PreTokenizer read_pre_tokenizer(const JsonNode& node) {
  static const std::vector<Reader<PreTokenizer>> readers = {
      {"BertPreTokenizer", [](Reading) { return bert_cut(); }},
      {"ByteLevel",
       [](Reading stage) {
         return byte_level(has_prefix_space(stage), flag_or(stage, "use_regex", true));
       }},
      {"CharDelimiterSplit",
       [](Reading stage) {
         return string_cut(sought(stage.at("delimiter")), CutBehavior::kRemoved, /*invert=*/false);
       }},
      {"Digits",
       [](Reading stage) {
         return character_cut(is_number, flag_or(stage, "individual_digits", false)
                                             ? CutBehavior::kIsolated
                                             : CutBehavior::kContiguous);
       }},
      {"Metaspace", read_metaspace},
      {"Punctuation",
       [](Reading stage) {
         return character_cut(is_punctuation, read_behavior(stage, CutBehavior::kIsolated));
       }},
      {"Sequence",
       [](Reading stage) {
         return sequence_cut(read_stages(stage, "pretokenizers", read_pre_tokenizer));
       }},
      {"Split", read_split},
      {"UnicodeScripts", [](Reading) { return script_cut(); }},
      {"Whitespace",
       [](Reading) {  // \w+|[^\w\s]+
         return class_cut([](char32_t c) { return is_white_space(c) ? 0 : is_word(c) ? 1 : 2; });
       }},
      {"WhitespaceSplit",
       [](Reading) { return character_cut(is_white_space, CutBehavior::kRemoved); }},
  };
  return read_choice(node.at("type"), "pre-tokenizer", readers)(node);
}

PostProcessor read_post_processor(const JsonNode& node) {
  static const std::vector<Reader<PostProcessor>> readers = {
      {"BertProcessing",
       [](Reading stage) {
         return bert_post_processor(special_id(stage.at("cls")), special_id(stage.at("sep")));
       }},
      {"ByteLevel", [](Reading) { return PostProcessor(); }},
      {"RobertaProcessing",
       [](Reading stage) {
         return roberta_post_processor(special_id(stage.at("cls")), special_id(stage.at("sep")));
       }},
      {"Sequence", read_processors},
      {"TemplateProcessing", read_template_processing},
  };
  return read_choice(node.at("type"), "post-processor", readers)(node);
}

Decoder read_decoder(const JsonNode& node) {
  std::vector<DecoderStep> steps;
  append_steps(node, steps);
  return Decoder(std::move(steps), node.where());
}

}  // namespace attnviz
