#include "attnviz/text/files/tokenizer_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// Class names without the ending "Tokenizer".
constexpr std::string_view kLikeRoberta[] = {"Roberta", "Bart", "Longformer", "LED", "Mvp"};
constexpr std::string_view kByteLevelBpe[] = {"GPT2", "GPTNeoX", "CodeGen", "Qwen2", "Qwen3"};
constexpr std::string_view kWordPiece[] = {
    "Bert",       "DistilBert", "Electra",     "MobileBert",  "DPRContextEncoder",
    "DPRReader",  "Lxmert",     "ConvBert",    "SqueezeBert", "DPRQuestionEncoder",
    "RetriBert",  "LayoutLM",   "Realm",       "Ernie",       "Nezha",
    "VisualBert", "NomicBert",  "MegatronBert"};
constexpr std::string_view kSentencePiece[] = {
    "Llama", "LLaMA", "CodeLlama", "Gemma", "Baichuan", "InternLM", "InternLM2", "Yi", "Orion"};
constexpr std::string_view kT5[] = {"T5", "MT5"};

// Types of models whose tokenizer class is not the default of these forms of files.
constexpr std::pair<std::string_view, std::string_view> kClassOfType[] = {
    {"albert", "Albert"},
    {"bart", "Bart"},
    {"big_bird", "BigBird"},
    {"bigbird_pegasus", "Pegasus"},
    {"blenderbot", "Blenderbot"},
    {"blenderbot-small", "BlenderbotSmall"},
    {"camembert", "Camembert"},
    {"clip", "CLIP"},
    {"ctrl", "CTRL"},
    {"data2vec-text", "Roberta"},
    {"deberta", "Deberta"},
    {"deberta-v2", "DebertaV2"},
    {"esm", "Esm"},
    {"fnet", "FNet"},
    {"funnel", "Funnel"},
    {"ibert", "Roberta"},
    {"led", "LED"},
    {"longformer", "Longformer"},
    {"luke", "Luke"},
    {"mbart", "MBart"},
    {"mpnet", "MPNet"},
    {"mvp", "Mvp"},
    {"openai-gpt", "OpenAIGPT"},
    {"pegasus", "Pegasus"},
    {"qwen2", "Qwen2"},
    {"qwen2_moe", "Qwen2"},
    {"qwen3", "Qwen2"},
    {"qwen3_moe", "Qwen2"},
    {"reformer", "Reformer"},
    {"rembert", "RemBert"},
    {"roberta", "Roberta"},
    {"roberta-prelayernorm", "Roberta"},
    {"roformer", "RoFormer"},
    {"whisper", "Whisper"},
    {"xglm", "XGLM"},
    {"xlm-roberta", "XLMRoberta"},
    {"xlm-roberta-xl", "XLMRoberta"},
    {"xlnet", "XLNet"},
};

constexpr std::string_view kTokenizer = "Tokenizer";

// "Roberta" of "RobertaTokenizerFast".
std::string_view stem_of(std::string_view name) {
  constexpr std::string_view kFast = "Fast";
  name.remove_suffix(name.ends_with(kFast) ? kFast.size() : 0);
  name.remove_suffix(name.ends_with(kTokenizer) ? kTokenizer.size() : 0);
  return name;
}

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, stem_of(name)) != names.end();
}

std::string_view file_of(VocabularyForm form) {
  switch (form) {
    case VocabularyForm::kByteLevelBpe:
      return "vocab.json with merges.txt";
    case VocabularyForm::kWordPiece:
      return "vocab.txt";
    case VocabularyForm::kSentencePiece:
      return "a SentencePiece model";
    case VocabularyForm::kT5:
      break;
  }
  return "spiece.model";
}

bool is_known(VocabularyForm form, std::string_view name) {
  // A class without behaviour of its own.
  if (name.empty() || name.starts_with("PreTrainedTokenizer")) {
    return true;
  }
  switch (form) {
    case VocabularyForm::kByteLevelBpe:
      return is_among(kByteLevelBpe, name) || is_among(kLikeRoberta, name);
    case VocabularyForm::kWordPiece:
      return is_among(kWordPiece, name);
    case VocabularyForm::kSentencePiece:
      return is_among(kSentencePiece, name);
    case VocabularyForm::kT5:
      break;
  }
  return is_among(kT5, name);
}

TokenizerClass said(const std::filesystem::path& folder, const TokenizerSettings& settings,
                    OpenFiles& files) {
  constexpr const char* kClass = "tokenizer_class";
  if (std::string name = settings.tokenizer_class(); !name.empty()) {
    return {std::move(name),
            fmt::format("{}: {}: ", (folder / "tokenizer_config.json").string(), kClass)};
  }
  const auto config = read_beside(folder, "config.json", files);
  if (!config || config->root().kind() != JsonKind::kObject) {
    return {};
  }
  const std::string place = (folder / "config.json").string();
  if (std::string name = optional_string(config->root(), kClass); !name.empty()) {
    return {std::move(name), fmt::format("{}: {}: ", place, kClass)};
  }
  const std::string type = optional_string(config->root(), "model_type");
  for (const auto& [known, stem] : kClassOfType) {
    if (known == type) {
      return {fmt::format("{}{}", stem, kTokenizer), fmt::format("{}: model_type: ", place)};
    }
  }
  return {};
}

}  // namespace

bool TokenizerClass::is_like_roberta() const {
  return is_among(kLikeRoberta, name);
}

TokenizerClass find_tokenizer_class(const std::filesystem::path& folder,
                                    const TokenizerSettings& settings, VocabularyForm form,
                                    OpenFiles& files) {
  TokenizerClass found = said(folder, settings, files);
  if (!is_known(form, found.name)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{} is not known to make the tokens of {} as attnviz would: a "
                            "tokenizer.json says what it does",
                            found.where, shown_name(found.name), file_of(form)));
  }
  return found;
}

namespace {

// Adds tokens to a tokenizer, each only once.
class TokenAdder {
 public:
  explicit TokenAdder(TokenizerParts& parts)
      : parts_(parts), next_(parts.model->vocabulary().size()) {
    for (std::size_t i = 0; i < parts.added.size(); ++i) {
      remember(i);
    }
  }

  // A token that already exists, by its content.
  AddedToken* find(const std::string& content) {
    const auto found = places_.find(content);
    return found == places_.end() ? nullptr : &parts_.added[found->second];
  }
  // The id of a token in the vocabulary, or the next free one.
  std::size_t id_of(const std::string& content) const {
    const auto id = parts_.model->vocabulary().find(content);
    return id ? *id : next_;
  }
  void add(AddedToken token) {
    parts_.added.push_back(std::move(token));
    remember(parts_.added.size() - 1);
  }

 private:
  void remember(std::size_t place) {
    const AddedToken& token = parts_.added[place];
    places_.emplace(token.content, place);
    next_ = std::max(next_, std::size_t{token.id} + 1);
  }

  TokenizerParts& parts_;
  std::size_t next_;  // after all ids
  std::map<std::string, std::size_t> places_;
};

// If several have the same id, keeps the last.
void add_with_ids(TokenizerParts& parts, std::vector<AddedToken> tokens) {
  std::vector<AddedToken> all = std::move(parts.added);
  all.insert(all.end(), std::move_iterator(tokens.begin()), std::move_iterator(tokens.end()));
  std::unordered_set<TokenId> ids;
  std::vector<AddedToken> kept;
  for (auto token = all.rbegin(); token != all.rend(); ++token) {
    if (ids.insert(token->id).second) {
      kept.push_back(std::move(*token));
    }
  }
  parts.added.assign(std::move_iterator(kept.rbegin()), std::move_iterator(kept.rend()));
}

void add_named(TokenAdder& adder, AddedToken token) {
  token.id = static_cast<TokenId>(adder.id_of(token.content));
  adder.add(std::move(token));
}

}  // namespace

void add_own_tokens(TokenizerParts& parts, const TokenizerSettings& settings, bool lstrip_of_mask) {
  std::vector<AddedToken> tokens = settings.added_tokens();
  std::set<std::string> with_ids;
  for (const AddedToken& token : tokens) {
    with_ids.insert(token.content);
  }
  add_with_ids(parts, std::move(tokens));
  TokenAdder adder(parts);
  for (AddedToken& token : settings.named_tokens(lstrip_of_mask)) {
    AddedToken* const known = adder.find(token.content);
    if (known == nullptr) {
      add_named(adder, std::move(token));
    } else if (!with_ids.contains(token.content)) {
      token.id = known->id;
      token.as_normalized = known->as_normalized;
      token.normalized = known->normalized;  // where the file looks for its own
      *known = std::move(token);
    }
  }
}

void add_missing_tokens(TokenizerParts& parts, const TokenizerSettings& settings) {
  std::vector<AddedToken> tokens = settings.added_tokens();
  std::ranges::sort(tokens, {}, &AddedToken::id);
  TokenAdder adder(parts);
  for (AddedToken& token : tokens) {
    if (AddedToken* const known = adder.find(token.content)) {
      if (settings.has_added_tokens_decoder()) {
        token.id = known->id;
        token.special |= known->special;
        *known = std::move(token);
      }
      continue;
    }
    const std::size_t id = adder.id_of(token.content);
    if (token.id != id) {
      throw Error(
          ErrorKind::kUnsupported,
          fmt::format("{}expected id {} for {}, which tokenizer.json leaves it, found {}: "
                      "which of them holds depends on the library",
                      settings.added_tokens_where(), id, in_quotes(token.content), token.id));
    }
    adder.add(std::move(token));
  }
  for (AddedToken& token : settings.named_tokens(false)) {
    if (adder.find(token.content) == nullptr) {
      add_named(adder, std::move(token));
    }
  }
}

}  // namespace attnviz
