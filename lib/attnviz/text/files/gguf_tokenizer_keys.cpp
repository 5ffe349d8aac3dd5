#include "attnviz/text/files/tokenizer_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/harmless_key.h"
#include "attnviz/formats/llama_cpp_keys.h"

namespace attnviz {

namespace {

// Behind "tokenizer.ggml.". What the chosen model of tokenizer does not use changes no ids.
constexpr std::string_view kOtherModel = "another model of tokenizer uses it";
constexpr HarmlessKey kHarmless[] = {
    {"add_bos_token", "BERT's texts always begin with [CLS]"},
    {"add_eos_token", "BERT's texts always end with [SEP]"},
    {"add_padding_token", kNeutral, 0.0},
    {"add_sep_token", "of pairs of texts"},
    {"add_space_prefix", kOtherModel},
    {"add_unknown_token", kNeutral, 0.0},
    {"merges", kOtherModel},
    {"pre", kOtherModel},
    {"precompiled_charsmap", kOtherModel},
    {"remove_extra_whitespaces", kOtherModel},
    {"scores", kOtherModel},
    {"suppress_tokens", "how another program generates texts"},
    {"token_type_count", "the embeddings say it"},
    {"*_token_id", "the id of a token"},
    {"*_token_ids", "the ids of tokens"},
};

// Which of these keys end a text is asked by who reads the model.
constexpr std::string_view kOfModel[] = {"eot_token_id", "eom_token_id", "eos_token_ids"};

}  // namespace

UnreadKeys unread_tokenizer_keys(const GgufMetadata& metadata) {
  constexpr std::string_view kPrefix = "tokenizer.ggml.";
  UnreadKeys unread;
  for (const std::string_view key : metadata.unread_keys()) {
    if (!key.starts_with(kPrefix)) {
      continue;
    }
    const std::string_view name = key.substr(kPrefix.size());
    if (std::ranges::find(kOfModel, name) != std::end(kOfModel)) {
      continue;
    }
    const GgufValue& value = *metadata.gguf().find(key);
    const std::string_view why = why_harmless(kHarmless, name, plain_number(value));
    const bool is_known = names_key(kHarmless, name) || is_llama_cpp_key(key);
    if (!why.empty()) {
      unread.harmless.push_back({std::string(key), why});
    } else if (!is_known) {
      unread.unknown.emplace_back(key);
    } else if (is_nothing(value) || plain_number(value) == 0.0) {
      unread.harmless.push_back({std::string(key), kNeutral});
    } else {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: {} {}: attnviz does not know what this changes in a tokenizer",
                              metadata.gguf().file(), shown_name(key), value.text()));
    }
  }
  return unread;
}

}  // namespace attnviz
