#include "attnviz/formats/gguf/gguf_token_names.h"

#include <algorithm>
#include <cstddef>

namespace attnviz {

namespace {

constexpr std::string_view kEnd = "<|end|>";
constexpr std::string_view kOldEnd = "</s>";

// Of texts and of turns; and what a model that fills gaps ends with: padding, and the next file of
// a repository.
constexpr std::string_view kEnds[] = {kEnd,
                                      kOldEnd,
                                      "<EOT>",
                                      "<PAD>",
                                      "<REPO>",
                                      "<end_of_turn>",
                                      "<end_of_utterance>",
                                      "<eos>",
                                      "<fim-pad>",
                                      "<fim-repo>",
                                      "<fim_pad>",
                                      "<reponame>",
                                      "<turn|>",
                                      "<|call|>",
                                      "<|calls|>",
                                      "<|end_of_text|>",
                                      "<|endoftext|>",
                                      "<|eom_id|>",
                                      "<|eot_id|>",
                                      "<|file_sep|>",
                                      "<|fim_pad|>",
                                      "<|fim_repo|>",
                                      "<|flush|>",
                                      "<|im_end|>",
                                      "<|repo_name|>",
                                      "<|return|>",
                                      "<|tool_response>",
                                      "<｜end▁of▁sentence｜>",
                                      "[EOS]",
                                      "[EOT]",
                                      "[PAD]",
                                      "_<EOT>"};

// Around a gap that is to be filled.
constexpr std::string_view kOfGaps[] = {
    "<MID>",           "<PRE>",           "<SUF>",          "<fim-middle>",    "<fim-prefix>",
    "<fim-suffix>",    "<fim_middle>",    "<fim_prefix>",   "<fim_suffix>",    "<|code_middle|>",
    "<|code_prefix|>", "<|code_suffix|>", "<|fim_middle|>", "<|fim_prefix|>",  "<|fim_suffix|>",
    "<|middle|>",      "<|prefix|>",      "<|suffix|>",     "<｜fim▁begin｜>", "<｜fim▁end｜>",
    "<｜fim▁hole｜>"};

bool is_among(std::span<const std::string_view> names, std::string_view piece) {
  return std::ranges::find(names, piece) != names.end();
}

}  // namespace

std::vector<GgufNamedToken> gguf_named_tokens(std::span<const std::string_view> pieces) {
  std::vector<GgufNamedToken> named;
  const auto is_called = [&](std::string_view name) {
    return [&pieces, name](const GgufNamedToken& token) { return pieces[token.id] == name; };
  };
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string_view piece = pieces[id];
    // All names begin so, and few of a vocabulary's many pieces do.
    if (piece.starts_with('<') || piece.starts_with('[') || piece.starts_with("_<")) {
      const bool ends_text = is_among(kEnds, piece);
      if (ends_text || is_among(kOfGaps, piece)) {
        std::erase_if(named, is_called(piece));
        named.push_back({static_cast<std::uint32_t>(id), ends_text});
      }
    }
  }
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(named, is_called(name));
  };
  const bool has_call = has("<|call|>") || has("<|calls|>");
  if (has_call && (has("<|return|>") || has("<|flush|>"))) {  // gpt-oss: a message's end
    for (GgufNamedToken& token : named) {
      token.ends_text = token.ends_text && pieces[token.id] != kEnd;
    }
  }
  if (has("<|tool_response>")) {  // Gemma 4: HTML's
    std::erase_if(named, is_called(kOldEnd));
  }
  return named;
}

}  // namespace attnviz
