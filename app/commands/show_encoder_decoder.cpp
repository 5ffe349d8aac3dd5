#include "commands/prepared_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/cross_attention.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/report/attention_facts.h"
#include "attnviz/text/token_choice.h"
#include "commands/attention_run.h"
#include "commands/prediction.h"
#include "outputs/formats/shown_attention.h"
#include "system/diagnostics.h"
#include "system/process.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::kUsage, message);
}

AttentionPart shown_part_of(const ShowOptions& options) noexcept {
  return options.part.value_or(AttentionPart::kCross);
}

bool has_target(const ShowOptions& options) noexcept {
  return options.target || options.decoder_ids || options.generate > 0;
}

// The name of a given option that applies to a single stack only; null if none.
const char* not_drawn(const ShowOptions& options) {
  const std::pair<bool, const char*> refused[] = {
      {options.kind != PatternKind::kWeights, "--show with a step or router"},
      {!options.side_by_side.empty(), "--side-by-side"},
      {!options.what_if.empty(), "--ablate and --hide"},
      {options.request.mask.has_value(), "--mask"},
      {options.names, "--names"},
      {options.input.chat, "--chat"},
      {options.input.pair.has_value(), "--pair"},
      {options.drawing.style == TerminalStyle::kMask, "--style mask"}};
  const auto* const found = std::ranges::find(refused, true, &std::pair<bool, const char*>::first);
  return found == std::end(refused) ? nullptr : found->second;
}

void require_target(const ShowOptions& options, const InputText& input, const Model& model) {
  if (!has_target(options) && !input.has_target() &&
      shown_part_of(options) != AttentionPart::kEncoder) {
    throw AdviceError(
        ErrorKind::kUsage,
        {fmt::format("{} is an encoder-decoder: its encoder reads TEXT. Give the decoder's input, "
                     "or let it write:",
                     model.config.name),
         {std::string("--target TEXT, --decoder-ids IDS or --generate N") +
          (options.input.json_lines ? "; in a line of JSON: \"target\" or \"decoder_ids\"" : "")}});
  }
}

TokenId first_id(const Model& model) noexcept {
  return model.config.first_token.value_or(0);
}

// A token that the text does not contain, under the tokenizer's name for it.
Token added_token(TokenId id, const Tokenizer& tokenizer) {
  Token token;
  token.id = id;
  token.text = token_text(tokenizer, token.id);
  token.special = token.added = true;
  return token;
}

// Marks the decoder's start token as added, as if the program had put it there.
TokenizedText text_of_ids(const std::vector<TokenId>& ids, const Model& model,
                          const Tokenizer& tokenizer, const Verbosity& verbosity) {
  TokenizedText text = tokenizer.from_ids(ids);
  Token& first = text.tokens.front();
  if (first.id == first_id(model)) {
    first.special = first.added = true;
  } else {
    inform(verbosity,
           fmt::format(
               "decoder ids: they begin with token {}, not with the model's start token, {} ({})",
               first.id, first_id(model), in_quotes(token_text(tokenizer, first_id(model)))));
  }
  return text;
}

// Makes `tokens` the decoder's input as in training: the start token, then the tokens that begin a
// text, one of which may name the language. No token is added after the text.
void frame_target(const Model& model, const Tokenizer& tokenizer, std::vector<Token>& tokens) {
  while (!tokens.empty() && tokens.back().added) {
    tokens.pop_back();
  }
  const auto begin = std::ranges::find(tokens, false, &Token::added);
  const bool has_begin = begin != tokens.end() && begin->special;
  if (has_begin || model.config.forced_token) {
    tokens.erase(tokens.begin(), begin);
  }
  if (!has_begin && model.config.forced_token) {
    tokens.insert(tokens.begin(), added_token(*model.config.forced_token, tokenizer));
  }
  tokens.insert(tokens.begin(), added_token(first_id(model), tokenizer));
}

TokenizedText target_text(const ShowOptions& options, const InputText& input, const Model& model,
                          const Tokenizer& tokenizer) {
  const auto& ids = input.has_target() ? input.decoder_ids : options.decoder_ids;
  const auto& words = input.has_target() ? input.target : options.target;
  if (ids) {
    return text_of_ids(*ids, model, tokenizer, options.verbosity);
  }
  TokenizedText text;
  if (words && !words->empty()) {
    attnviz::TokenizeOptions how;
    how.parse_special = options.input.special;
    text = tokenizer.tokenize(*words, how);
    frame_target(model, tokenizer, text.tokens);
  } else {
    text.tokens = {added_token(first_id(model), tokenizer)};
  }
  return text;
}

bool has_token(const TokenizedText& text, const std::string& word) {
  try {
    choose_token(text, word, "--focus");
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The tokenizer of the target; null if the source's serves both.
std::unique_ptr<ModelTokenizer> target_tokenizer(const ShowSetup& setup) {
  const StoredModel* const stored = stored_model(setup.origin);
  return stored == nullptr || setup.options.tokenizer ? nullptr : stored->load_target_tokenizer();
}

// A text, and its folded form.
struct Side {
  TokenizedText tokens;
  std::optional<FoldedText> folded = {};

  std::size_t size() const noexcept { return tokens.size(); }
  const TokenizedText& shown() const noexcept { return folded ? folded->text : tokens; }
  PartText part() const noexcept { return {tokens, folded ? &*folded : nullptr}; }
};

class EncoderDecoderRun {
 public:
  EncoderDecoderRun(ShowSetup& setup, const InputText& input)
      : setup_(setup),
        options_(setup.options),
        model_(setup.model),
        part_(shown_part_of(setup.options)),
        source_{read_text(setup, setup.options, *setup.tokenizer,
                          {.content = input.content, .tools = input.tools})},
        own_tokenizer_(target_tokenizer(setup)),
        target_{target_text(setup.options, input, setup.model, tokenizer())},
        n_target_(target_.size() + setup.options.generate),
        request_(request_of(setup.options, setup.model, target_.tokens)) {}

  AttentionDocument document() {
    check_size();
    const MatrixBuffer encoded = encode_source();
    std::optional<Continuation> continuation;
    if (options_.generate > 0) {
      continuation = continue_text(options_, options_.generate, model_, tokenizer(), request_,
                                   target_.tokens, {}, encoded.view());
      n_target_ = target_.size();
      setup_.phases.done("generate");
    }
    if (options_.fold) {
      source_.folded = folded(source_.tokens, *options_.fold);
      target_.folded = folded(target_.tokens, *options_.fold);
    }
    const std::optional<Focus> focus = chosen();
    Predictor predictor(options_, model_, tokenizer(), target_.shown(),
                        target_.folded ? target_.folded->numbers : std::span<const std::size_t>());
    RunObserver patterns(begin(AttentionPart::kDecoder), begin(AttentionPart::kCross));
    ObserverGroup both({&patterns, &predictor.observer()});
    attend("decoder", model_, target_.tokens, request_, both, options_.verbosity, encoded.view());
    AttentionDocument document = drawn_and_others();
    document.continuation = std::move(continuation);
    predictor.add_to(document);
    document.drawing.focus = focus;
    return document;
  }

 private:
  // The tokenizer of the target.
  const Tokenizer& tokenizer() const noexcept {
    return own_tokenizer_ != nullptr ? static_cast<const Tokenizer&>(*own_tokenizer_)
                                     : *setup_.tokenizer;
  }
  // The chosen heads for the part to draw; for the others all heads if documents show them.
  std::vector<HeadId> heads_of(AttentionPart part) const {
    if (part == part_) {
      return setup_.heads;
    }
    const Model& stack = part == AttentionPart::kEncoder ? *model_.encoder : model_;
    return setup_.outputs.writes(Content::kDocument) ? select_heads(stack, "", "")
                                                     : std::vector<HeadId>();
  }
  std::size_t n_queries(AttentionPart part) const noexcept {
    return part == AttentionPart::kEncoder ? source_.size() : n_target_;
  }
  std::size_t n_keys(AttentionPart part) const noexcept {
    return part == AttentionPart::kDecoder ? n_target_ : source_.size();
  }

  void check_size() {
    ExpectedOutput weights;
    std::size_t n_kept = 0;
    double kept_bytes = 0.0;
    for (const auto& [name, part] : kPartChoices) {
      const std::size_t n_heads = heads_of(part).size();
      n_kept += n_heads;
      kept_bytes += PatternStore::bytes(n_heads, n_queries(part), n_keys(part));
      weights.n_patterns += n_heads;
      weights.n_visible += static_cast<double>(n_heads) * static_cast<double>(n_queries(part)) *
                           static_cast<double>(n_keys(part));
    }
    weights.n_tokens = std::max(source_.size(), n_target_);
    // The patterns, twice if words or means are made of them, and the memory of one layer.
    const double copies = options_.fold || options_.pattern.average ? 2.0 : 1.0;
    const auto bytes = [&](std::size_t n_heads, std::size_t n_tokens) {
      const double of_heads = static_cast<double>(n_heads) / static_cast<double>(n_kept);
      const double of_text = static_cast<double>(n_tokens) / static_cast<double>(weights.n_tokens);
      const std::size_t n_source = std::min(source_.size(), n_tokens);
      const std::size_t n_written = std::min(n_target_, n_tokens);
      return copies * kept_bytes * of_heads * of_text * of_text +
             layer_bytes(*model_.encoder, n_source) + layer_bytes(model_, n_written) +
             cross_bytes(model_, n_written, n_source);
    };
    require_memory_for_heads(bytes, "the attention of", n_kept, weights.n_tokens);
    setup_.outputs.check_output_size(weights);
  }

  std::shared_ptr<PatternStore>& store(AttentionPart part) {
    return stores_[static_cast<std::size_t>(part)];
  }
  // A new store for the weights of a part.
  PatternStore& begin(AttentionPart part) {
    return *(store(part) =
                 std::make_shared<PatternStore>(heads_of(part), n_queries(part), n_keys(part)));
  }

  MatrixBuffer encode_source() {
    RunObserver patterns(begin(AttentionPart::kEncoder));
    ProgressLine progress("encoder", options_.verbosity);
    AttentionRequest reporting = request_;
    reporting.report = progress.report();
    MatrixBuffer encoded =
        encode(model_, InputColumns(source_.tokens).view(), reporting, &patterns);
    setup_.phases.done("encoder");
    return encoded;
  }

  AttentionDocument document_of(AttentionPart part) {
    AttentionDocument document =
        part_document(model_, part, source_.part(), target_.part(), request_, store(part));
    if (options_.pattern.average) {
      average_patterns(document, *options_.pattern.average);
    }
    return document;
  }

  AttentionDocument drawn_and_others() {
    if (!setup_.outputs.writes(Content::kDocument)) {
      return document_of(part_);
    }
    std::vector<AttentionDocument> all;
    all.reserve(kPartChoices.size());
    for (const auto& [name, part] : kPartChoices) {
      all.push_back(document_of(part));
    }
    return shown_part(std::move(all), part_);
  }

  // The text along an axis of the drawing.
  const TokenizedText& axis(bool is_of_keys) const noexcept {
    const bool is_source =
        part_ == AttentionPart::kEncoder || (part_ == AttentionPart::kCross && is_of_keys);
    return is_source ? source_.shown() : target_.shown();
  }

  // If only the other text has the word, the error says so.
  std::optional<Focus> chosen() const {
    const PatternOptions& asked = options_.pattern;
    if (asked.focus && part_ == AttentionPart::kCross &&
        !has_token(axis(asked.as_key), *asked.focus) &&
        has_token(axis(!asked.as_key), *asked.focus)) {
      fail(fmt::format("--focus: the {} has no token {}, but the {} has: {}",
                       asked.as_key ? "source" : "target", in_quotes(*asked.focus),
                       asked.as_key ? "target" : "source",
                       asked.as_key ? "leave out --as-key, which searches the source"
                                    : "--as-key searches the source"));
    }
    return chosen_focus(asked, axis(asked.as_key), options_.verbosity);
  }

  ShowSetup& setup_;
  const ShowOptions& options_;
  const Model& model_;
  AttentionPart part_;  // the part to draw
  Side source_;
  std::unique_ptr<ModelTokenizer> own_tokenizer_;  // of the target
  Side target_;
  std::size_t n_target_;  // includes tokens still to be generated
  AttentionRequest request_;
  std::shared_ptr<PatternStore> stores_[kPartChoices.size()];
};

}  // namespace

void check_architecture(const ShowOptions& options, const Model& model) {
  const std::string& name = model.config.name;
  if (model.encoder == nullptr) {
    const char* const option = options.part          ? "--show encoder, decoder and cross"
                               : options.target      ? "--target"
                               : options.decoder_ids ? "--decoder-ids"
                                                     : nullptr;
    if (option != nullptr) {
      fail(fmt::format("{}: {} is not an encoder-decoder: it reads only one text", option, name));
    }
    return;
  }
  if (const char* const option = not_drawn(options); option != nullptr) {
    fail(
        fmt::format("{}: not available for {}, an encoder-decoder, of which only attention weights "
                    "are drawn: encoder, decoder, or cross (--show)",
                    option, name));
  }
  if (!options.input.json_lines) {  // each line may have its own
    require_target(options, {}, model);
  }
}

AttentionDocument encoder_decoder_document(ShowSetup& setup, const InputText& input) {
  if (input.pair) {
    fail(
        fmt::format("\"pair\": not available for {}, an encoder-decoder", setup.model.config.name));
  }
  require_target(setup.options, input, setup.model);
  return EncoderDecoderRun(setup, input).document();
}

}  // namespace attnviz::app
