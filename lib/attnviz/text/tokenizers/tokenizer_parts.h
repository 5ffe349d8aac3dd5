// All stages of a tokenizer, as a file describes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/core/unread.h"
#include "attnviz/text/tokenizers/added_tokens.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "attnviz/text/tokenizers/normalizers.h"
#include "attnviz/text/tokenizers/post_processor.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"
#include "attnviz/text/tokenizers/token_decoder.h"
#include "attnviz/text/tokenizers/token_model.h"

namespace attnviz {

struct TokenizerParts {
  std::vector<AddedToken> added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<TokenModel> model;
  PostProcessor post;
  Decoder decoder;
  SpecialIds special;
  // What a tokenizer_config.json may contradict.
  std::optional<BertNormalization> bert_normalization;
  std::optional<bool> adds_prefix_space;  // of a byte-level pre-tokenizer that is no sequence
  std::optional<bool> prepends_space;     // ▁ in front of a text; absent: not of a tokenizer.json
  bool takes_any_byte = false;            // bytes that are no UTF-8 are tokens, not U+FFFD
  std::vector<PassedOver> passed_over;
  std::vector<std::string> unknown_keys;  // keys of its file
  std::string where;  // stands in front of what is wrong with the stages: a file and ": "
};

/// The id of a special or ordinary token by its name.
std::optional<TokenId> find_token(const TokenizerParts& parts, std::string_view name);

}  // namespace attnviz
