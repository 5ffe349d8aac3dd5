#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/analysis/why/logit_lens.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/report/why_document.h"
#include "attnviz/text/units.h"
#include "commands/attention_run.h"
#include "commands/commands.h"
#include "commands/prediction.h"
#include "outputs/outputs.h"
#include "system/process.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// The logits after the last token.
MatrixBuffer last_logits(const Model& model, const TokenizedText& text,
                         const AttentionRequest& request) {
  OutputRows output(model, text.size() - 1, 1);
  run(model, InputColumns(text).view(), request, output);
  return run_output_head(model, output.rows(), request.n_threads);
}

attnviz::TokenizeOptions as_text() {
  attnviz::TokenizeOptions options;
  options.add_special_tokens = false;
  options.parse_special = true;
  return options;
}

// The single token that `word` is. Some tokenizers put a space before a text, and others have most
// words only with one.
std::optional<Token> single_token(const std::string& word, const Tokenizer& tokenizer) {
  std::vector<std::string> ways = {word, " " + word};
  if (word.starts_with(' ')) {
    ways.push_back(word.substr(1));
  }
  std::optional<Token> nearest;
  for (const std::string& way : ways) {
    const TokenizedText text = tokenizer.tokenize(way, as_text());
    if (text.size() == 1 && text.tokens.front().text == word) {
      return text.tokens.front();
    }
    if (text.size() == 1 && !nearest) {
      nearest = text.tokens.front();
    }
  }
  return nearest;
}

// The token that `word` names: "id:301", or a text that is one token.
TokenId named_token(const char* option, const std::string& word, const Tokenizer& tokenizer,
                    std::size_t n_vocabulary, const Verbosity& verbosity) {
  constexpr std::string_view kId = "id:";
  std::optional<TokenId> id;
  if (word.starts_with(kId)) {
    id = parse_number<TokenId>(std::string_view(word).substr(kId.size()));
    if (!id) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: expected a number after id:, found {}",
                                                 option, in_quotes(word)));
    }
  } else if (const auto token = single_token(word, tokenizer)) {
    id = token->id;
    if (token->text != word) {
      inform(verbosity, fmt::format("{}: {} is the token {} of this model", option, in_quotes(word),
                                    in_quotes(token->text)));
    }
  } else {
    std::vector<std::string> pieces;
    for (const Token& piece : tokenizer.tokenize(word, as_text()).tokens) {
      pieces.push_back(in_quotes(piece.text));
    }
    throw Error(
        ErrorKind::kUsage,
        pieces.empty()
            ? fmt::format("{}: expected a token, found {}", option, in_quotes(word))
            : fmt::format("{}: {} is {} of this model: {}; choose one of them", option,
                          in_quotes(word), counted(pieces.size(), "token"), joined(pieces, "and")));
  }
  if (*id >= n_vocabulary) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected an id below {}, found {}", option, n_vocabulary, *id));
  }
  return *id;
}

WhyDocument::Prediction prediction_of(const WhyOptions& options, const Tokenizer& tokenizer,
                                      std::span<const float> logits) {
  const auto with_probability = [&](TokenId id) {
    return WhyToken{id, log_probability(logits, id)};
  };
  const std::vector<ProbableToken> top = most_probable(logits, 2);
  const auto named = [&](const char* option, const std::optional<std::string>& word) {
    return word ? std::optional(
                      named_token(option, *word, tokenizer, logits.size(), options.verbosity))
                : std::nullopt;
  };
  const auto versus = named("--versus", options.versus);
  const auto first_but = [&](std::optional<TokenId> other) {
    return other == top.front().id && top.size() > 1 ? top[1].id : top.front().id;
  };
  const TokenId target = named("--toward", options.toward).value_or(first_but(versus));
  if (versus == target) {
    throw Error(ErrorKind::kUsage, "--versus: it is the same token as --toward");
  }
  return {with_probability(target), with_probability(versus.value_or(first_but(target))),
          logits.size()};
}

// The text up to the token after which the prediction is made.
TokenizedText up_to(const WhyOptions& options, TokenizedText text) {
  const std::size_t at =
      options.at ? chosen_token(text, *options.at, "--at", options.verbosity) : text.size() - 1;
  if (at + 1 < text.size()) {
    text.notes.push_back(fmt::format("predicted after token {} of {}", at, text.size()));
    text.tokens.resize(at + 1);
    text.source.resize(std::min(text.source.size(), text.tokens.back().end));
  }
  return text;
}

std::vector<TokenSpan> word_spans(const TokenizedText& text) {
  std::vector<TokenSpan> spans;
  const std::vector<std::size_t> numbers = word_numbers(text);
  for (std::size_t token = 0; token < numbers.size(); ++token) {
    if (numbers[token] == spans.size()) {
      spans.push_back({token, token});
    }
    spans.back().end = token + 1;
  }
  return spans;
}

// Computes the requested parts.
class Explanation {
 public:
  Explanation(const WhyOptions& options, AttentionSetup& setup, const Tokenizer& tokenizer,
              TokenizedText text)
      : options_(options),
        setup_(setup),
        tokenizer_(tokenizer),
        request_(request_of(options, setup.model, text)) {
    document_.model = model_facts(setup.model, text);
    document_.run = run_facts(setup.model, request_);
    document_.text = std::move(text);
    document_.notes = model_notes(document_.model);
    if (options.request.mask) {
      document_.notes.push_back("mask " + options.request.mask->name());
    }
    for (const auto& more : {run_notes(document_.run), document_.text.notes}) {
      document_.notes.insert(document_.notes.end(), more.begin(), more.end());
    }
  }

  WhyDocument prediction() {
    const MatrixBuffer logits = last_logits(setup_.model, document_.text, request_);
    document_.prediction = prediction_of(options_, tokenizer_, logits.view().row(0));
    name(target().id);
    name(document_.prediction->versus.id);
    const bool all = options_.wants_all();
    const bool sums_up = !setup_.model.altup.present();
    if (all && !sums_up) {
      document_.notes.push_back(fmt::format(
          "attribution and lens are not available: layers compute with one of {} residual streams",
          setup_.model.altup.n_streams()));
    }
    if (all || options_.tokens) {
      if (setup_.model.has_states()) {
        document_.notes.emplace_back(
            "words are hidden only from attention: the model's states still carry them");
      }
      words();
    }
    if ((all && sums_up) || options_.attribution) {
      attribution();
    }
    if (all || !options_.ablate_each.empty()) {
      ablation();
    }
    if ((all && sums_up) || options_.lens) {
      lens();
    }
    return std::move(document_);
  }

  WhyDocument score(HeadId head) {
    const auto token = [&](const std::string& word, const char* option) {
      return chosen_token(document_.text, word, option, options_.verbosity);
    };
    const std::size_t query = token(*options_.query, "--query");
    const std::size_t key = token(*options_.key, "--key");
    document_.split = WhyDocument::Split{
        head, query, key, split_score(setup_.model, document_.text, request_, head, query, key)};
    if (const float cap = setup_.model.layers[head.layer].soft_cap; cap > 0.0f) {
      document_.notes.push_back(
          fmt::format("the score before the soft cap, {0:.4g} tanh(score / {0:.4g})", cap));
    }
    setup_.phases.done("score");
    return std::move(document_);
  }

 private:
  const WhyToken& target() const { return document_.prediction->target; }
  void name(TokenId id) { document_.token_texts.try_emplace(id, token_text(tokenizer_, id)); }

  AttentionRequest reporting(ProgressLine& line) const {
    AttentionRequest request = request_;
    request.report = line.report();
    return request;
  }

  void words() {
    const TokenizedText& text = document_.text;
    const std::vector<TokenSpan> spans = word_spans(text);
    const TokenizedText merged = merged_words(text, word_numbers(text));
    const std::vector<double> looks = mean_last_row(setup_.model, text, request_);
    if (has_sinks(setup_.model)) {
      document_.sink = std::max(0.0, 1.0 - std::accumulate(looks.begin(), looks.end(), 0.0));
    }
    ProgressLine progress("words", options_.verbosity);
    const auto lost = leave_one_out(setup_.model, text, reporting(progress), target().id, spans);
    std::vector<LostWord>& words = document_.words.emplace();
    for (std::size_t i = 0; i < spans.size(); ++i) {
      double attention = 0.0;
      for (std::size_t token = spans[i].begin; token < spans[i].end; ++token) {
        attention += looks[token];
      }
      words.push_back({spans[i], valid_utf8(merged.tokens[i].text), lost[i], attention});
    }
    setup_.phases.done("words");
  }

  void attribution() {
    const LogitDirection directions[] = {
        logit_direction(setup_.model, target().id),
        logit_direction(setup_.model, document_.prediction->versus.id)};
    document_.attribution =
        attribute(setup_.model, document_.text, request_, document_.text.size() - 1, directions);
    if (const float cap = setup_.model.head.soft_cap; cap > 0.0f) {
      document_.notes.push_back(fmt::format(
          "attribution explains the logits before the soft cap, {0:.4g} tanh(logit / {0:.4g})",
          cap));
    }
    setup_.phases.done("attribution");
  }

  void ablation() {
    document_.ablation = WhyDocument::Ablations{options_.by_mean, options_.ablate_each, {}};
    WhyDocument::Ablations& ablation = *document_.ablation;
    if (ablation.parts.empty()) {
      ablation.parts = {AblatedPart::kHeads, AblatedPart::kLayers};
      if (setup_.model.config.order != LayerOrder::kAttentionOnly) {
        ablation.parts.insert(ablation.parts.begin() + 1, AblatedPart::kMlps);
      }
    }
    if (request_.interventions != nullptr && !request_.interventions->ablations.empty()) {
      document_.notes.emplace_back(
          "parts ablated by --ablate stay ablated while other parts are ablated one at a time");
    }
    ProgressLine progress("taking out parts", options_.verbosity);
    ablation.effects = ablate_each(setup_.model, document_.text, reporting(progress), target().id,
                                   ablation.parts, options_.by_mean);
    for (const AblationEffect& effect : ablation.effects) {
      name(effect.change.top.id);
    }
    setup_.phases.done("ablation");
  }

  void lens() {
    constexpr std::size_t kTop = 5;
    document_.lens = logit_lens(setup_.model, document_.text, request_, document_.text.size() - 1,
                                target().id, kTop);
    for (const LensPoint& point : *document_.lens) {
      for (const ProbableToken& token : point.top) {
        name(token.id);
      }
    }
    setup_.phases.done("lens");
  }

  const WhyOptions& options_;
  AttentionSetup& setup_;
  const Tokenizer& tokenizer_;
  AttentionRequest request_;
  WhyDocument document_;
};

// Besides the model, this needs the logits of all tokens for ablation, or of the points of the
// lens.
void require_memory_for(const WhyOptions& options, const Model& model, const TokenizedText& text) {
  const auto n_points = static_cast<double>(2 * model.n_layers() + 1);
  const double of_lens = n_points * static_cast<double>(model.head.unembedding.d_out()) *
                         static_cast<double>(sizeof(float));
  const bool ablates = options.wants_all() || !options.ablate_each.empty();
  require_memory(
      std::max({layer_bytes(model, text.size()), continuation_bytes(model, text.size(), 1), of_lens,
                ablates ? ablation_bytes(model, text.size()) : 0.0}),
      fmt::format("why of {}", counted(text.size(), "token")), "take a shorter text");
}

HeadId only_head(const Model& model, const WhyOptions& options) {
  const std::vector<HeadId> heads = select_heads(model, options.heads.heads, options.heads.layers);
  if (heads.size() != 1) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--head: expected one head, whose score is explained, found {}",
                            counted(heads.size(), "head")));
  }
  return heads.front();
}

// Whether a picture is possible: it shows a number for each head.
bool has_map(const WhyOptions& options) {
  return options.query || options.wants_all() || options.attribution ||
         std::ranges::find(options.ablate_each, AblatedPart::kHeads) != options.ablate_each.end();
}

void require_heads(const WhyOptions& options, const Outputs& outputs) {
  if (outputs.writes(Content::kFigure) && !has_map(options)) {
    throw Error(
        ErrorKind::kUsage,
        "-o: a picture of why shows a number for each head: --ablate-each heads, or --attribution");
  }
}

void require_causal(const Model& model) {
  if (model.config.mask.looks_ahead()) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format(
            "{}: its tokens also look at later tokens: it fills gaps and predicts no next token",
            model.config.name));
  }
}

}  // namespace

void run(const WhyOptions& options) {
  AttentionSetup setup(options, options.look, Result::kReport);
  require_heads(options, setup.outputs);
  setup.phases.done("model");
  const bool is_split = options.query.has_value();
  if (!is_split) {
    require_predictions("why", setup.model);
    require_causal(setup.model);
  }
  const auto tokenizer = chosen_tokenizer(options, setup.origin, setup.model);
  name_heads(options, *tokenizer, setup.model);
  const std::optional<HeadId> head =
      is_split ? std::optional(only_head(setup.model, options)) : std::nullopt;
  const auto input = setup.source.next();
  if (!input) {
    return;
  }
  TokenizedText text = up_to(options, read_text(setup, options, *tokenizer, *input));
  require_memory_for(options, setup.model, text);
  Explanation explanation(options, setup, *tokenizer, std::move(text));
  const WhyDocument document = head ? explanation.score(*head) : explanation.prediction();
  Report report = why_report(document, options.top);
  if (setup.outputs.writes(Content::kFigure) ||
      (setup.outputs.writes(Content::kPage) && has_map(options))) {
    report.draw(Figure{why_map(document), /*on_screen=*/false});
    draw_as_asked(report, options.drawing);
  } else {
    warn_unused(options.verbosity, Effect::kMap, "no map was drawn (-o FILE.png)");
  }
  if (!setup.outputs.writes(Content::kScreen) && !setup.outputs.writes(Content::kPage)) {
    warn_unused(options.verbosity, Effect::kTable, "no table was drawn");
  }
  setup.outputs.write(report);
  setup.phases.done("render");
}

}  // namespace attnviz::app
