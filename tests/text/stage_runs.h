// The results of a tokenizer's stages for a text; each stage is given as in tokenizer.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/json_tree.h"
#include "attnviz/text/files/stages_json.h"

namespace attnviz::test {

inline std::vector<std::string> words(std::string_view pre_tokenizer, std::string_view text) {
  const JsonTree tree = JsonTree::parse(pre_tokenizer, "stage.json");
  WordCut cut{AlignedText(text, 0), {{0, text.size()}}};
  read_pre_tokenizer(tree.root())(cut);
  std::vector<std::string> out;
  for (const ByteRange& word : cut.words) {
    out.emplace_back(cut.text.text(word));
  }
  return out;
}

inline std::string normalized(std::string_view normalizer, std::string_view text) {
  const JsonTree tree = JsonTree::parse(normalizer, "stage.json");
  AlignedText aligned(text, 0);
  read_normalizer(tree.root())(aligned);
  return std::string(aligned.text());
}

}  // namespace attnviz::test
