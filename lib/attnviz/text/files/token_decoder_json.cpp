// The decoder, as tokenizer.json describes it.

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "attnviz/text/files/stages_json.h"

namespace attnviz {

namespace {

using Kind = DecoderStep::Kind;

DecoderStep read_metaspace(const JsonNode& node) {
  const bool strips = text_or(node, "prepend_scheme", "always") != "never" &&
                      flag_or(node, "add_prefix_space", true);
  return {Kind::kMetaspace, std::string(node.at("replacement").as_string()), "", strips ? 1u : 0u};
}

DecoderStep read_replace(const JsonNode& node) {
  const JsonNode pattern = node.at("pattern");
  const auto text = pattern.find("String");
  if (!text) {
    pattern.fail("expected a \"String\", found none: decoders replace no regular expressions");
  }
  return {Kind::kReplace, std::string(text->as_string()),
          std::string(node.at("content").as_string())};
}

DecoderStep read_strip(const JsonNode& node) {
  return {Kind::kStrip, std::string(node.at("content").as_string()), "", read_id(node.at("start")),
          read_id(node.at("stop"))};
}

DecoderStep read_word_piece(const JsonNode& node) {
  DecoderStep step{Kind::kWordPiece, std::string(text_or(node, "prefix", "##")), ""};
  step.cleanup = flag_or(node, "cleanup", true);
  return step;
}

void append_steps(const JsonNode& node, std::vector<DecoderStep>& steps) {
  const JsonNode type = node.at("type");
  const std::string_view name = type.as_string();
  if (name == "Sequence") {
    for (const JsonNode& stage : node.at("decoders").as_list("a list of stages")) {
      append_steps(stage, steps);
    }
  } else if (name == "ByteLevel") {
    steps.push_back({Kind::kByteLevel, "", ""});
  } else if (name == "ByteFallback") {
    steps.push_back({Kind::kByteFallback, "", ""});
  } else if (name == "Fuse") {
    steps.push_back({Kind::kFuse, "", ""});
  } else if (name == "Metaspace") {
    steps.push_back(read_metaspace(node));
  } else if (name == "Replace") {
    steps.push_back(read_replace(node));
  } else if (name == "Strip") {
    steps.push_back(read_strip(node));
  } else if (name == "WordPiece") {
    steps.push_back(read_word_piece(node));
  } else if (name == "BPEDecoder") {
    steps.push_back({Kind::kWordEnd, std::string(text_or(node, "suffix", "</w>")), ""});
  } else {
    fail_type(type, "decoder",
              {"BPEDecoder", "ByteFallback", "ByteLevel", "Fuse", "Metaspace", "Replace",
               "Sequence", "Strip", "WordPiece"});
  }
}

}  // namespace

Decoder read_decoder(const JsonNode& node) {
  std::vector<DecoderStep> steps;
  append_steps(node, steps);
  return Decoder(std::move(steps));
}

}  // namespace attnviz
