#include "commands/attention_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "attnviz/analysis/heads/head_names.h"
#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/kernels/simd.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/chat.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "attnviz/text/tokenizers/prompt_lint.h"
#include "commands/prepared_text.h"
#include "options/advice.h"
#include "options/command_line.h"
#include "stores/model_source.h"
#include "stores/model_store.h"
#include "system/output_file.h"
#include "system/system_fonts.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// Selects the SIMD target; prints it with --verbose.
void choose_engine(const AttentionOptions& options) {
  if (options.simd != "auto") {
    kernels::force_simd_target(options.simd);
  }
  if (!options.verbosity.verbose) {
    return;
  }
  warn(fmt::format("simd {} (of {}), threads {}", kernels::active_simd_target(),
                   joined_by(kernels::simd_targets(), " "), options.request.n_threads));
}

// Adds the chat's stops that are single tokens.
void add_stops(const ChatTemplate& chat, const Tokenizer& tokenizer,
               std::vector<std::uint32_t>& end_of_text) {
  attnviz::TokenizeOptions how;
  how.add_special_tokens = false;
  how.parse_special = true;
  for (const std::string& stop : chat.stops) {
    const std::vector<TokenId> ids = tokenizer.tokenize(stop, how).ids();
    if (ids.size() == 1 && std::ranges::find(end_of_text, ids.front()) == end_of_text.end()) {
      end_of_text.push_back(ids.front());
    }
  }
}

// Warns about a TEXT that may have been meant as a command, a model or a file name; it is still
// used as a text.
void warn_about_slip(const AttentionOptions& options) {
  if (options.verbosity.quiet || !options.input.text) {
    return;
  }
  const std::string& word = *options.input.text;
  std::vector<std::string> commands = command_names();
  commands.insert(commands.end(), {"--help", "--version"});
  std::error_code ignored;  // a text need not be a valid file name
  const auto command = closest_word(word, commands);
  if (command && *command != word) {
    warn(fmt::format("drawing the text {} (did you mean attnviz {}?)", in_quotes(word), *command));
  } else if (is_sample_of_attention(word)) {
    warn(fmt::format("drawing the text {}; this sample is attention: attnviz render {}",
                     in_quotes(word), word));
  } else if (names_model(word, false)) {
    warn(fmt::format("drawing the text {}; -m takes a model: attnviz -m {} \"The cat sat\"",
                     in_quotes(word), shell_quoted(word)));
  } else if (kind_of_name(word) == FileKind::kNumPy && is_file(word)) {
    warn(fmt::format("drawing the text {}; to draw the attention in this file: attnviz render {}",
                     in_quotes(word), shell_quoted(word)));
  } else if (std::filesystem::is_regular_file(word, ignored)) {
    warn(fmt::format("drawing the text {}; -f reads a file, -m loads weights", in_quotes(word)));
  }
}

Phases begun(const AttentionOptions& options) {
  const Phases phases(options.verbosity);
  choose_engine(options);
  warn_about_slip(options);
  return phases;
}

// Reports, unless quiet, which parts of the model are random for this text; random weights only
// once.
void inform_of_randomness(const AttentionOptions& options, const ModelSource& source,
                          const Model& model, const TokenizedText& text, Diagnostics& diagnostics) {
  const ModelFacts facts = model_facts(model, text);
  if (facts.random) {
    const StoredModel* const stored = stored_model(source);
    diagnostics.inform(
        Note::kRandomWeights,
        stored != nullptr
            ? fmt::format("{}: \"random\" marks weights that mean nothing; delete this key once "
                          "the weights are your own",
                          stored->given())
            : fmt::format(
                  "{} mean nothing; to see the embedded demo model, leave out --random, --seed and "
                  "sizes (--layer and --head choose its heads); -m loads another model",
                  model_title(facts)));
  }
  inform(options.verbosity, random_embeddings_note(facts));
}

// If the embedded model has rarely seen the words of much of the text, adds a note to the text and
// warns once. For other models this is not known.
void note_far_words(const ModelSource& source, const Model& model, TokenizedText& text,
                    Diagnostics& diagnostics) {
  if (!is_embedded(source) || model.config.is_too_long(text.size())) {  // will be refused
    return;
  }
  const VocabularyFit fit = vocabulary_fit(text);
  if (!fit.is_far()) {
    return;
  }
  const std::string note =
      fmt::format("{}: {} of {} are fragments of words the model has rarely seen", kDemo,
                  fit.n_in_pieces, counted(fit.n_tokens, "token"));
  text.notes.push_back(note);
  std::vector<std::string> named;
  for (const std::string& word : fit.named) {
    named.push_back(in_quotes(word));
  }
  if (fit.n_words > named.size()) {
    named.push_back(fmt::format("{} more", fit.n_words - named.size()));
  }
  diagnostics.inform(Note::kFarWords, fmt::format("{} ({}), so its attention there means little",
                                                  note, joined(named, "and")));
}

// With --truncate, cuts the text to the model's context; reports the cut and notes it in the text.
TokenizedText chosen_tokens(const AttentionOptions& options, const Model& model,
                            const Tokenizer& tokenizer, const InputText& input,
                            std::size_t n_after) {
  TokenizedText text = tokenize(tokenizer, input, options.input);
  check_prompt(text, tokenizer, options.input, options.verbosity);
  const std::size_t room = std::min(n_after, model.config.n_ctx / 2);
  const std::size_t most = model.config.n_ctx - room;
  const std::size_t n_tokens = text.size();
  if (!options.truncate || !model.config.is_too_long(n_tokens + room)) {
    return text;
  }
  text = truncated(std::move(text), most, *options.truncate);
  text.notes.push_back(fmt::format("text cut at its {} to {} of its {} tokens",
                                   *options.truncate == TruncateSide::kLeft ? "beginning" : "end",
                                   most, n_tokens));
  inform(options.verbosity, text.notes.back());
  return text;
}

// Prints what a head does, in a few numbers.
void print_scores(HeadId head, const std::string& names, const ScoreValues& scores) {
  if (!scores[Score::kEntropyBits]) {
    return warn(fmt::format("head {}: no query sees more than one key", head_name(head)));
  }
  const auto percent = [&scores](Score score) { return 100.0 * scores[score].value_or(0.0); };
  warn(
      fmt::format(
          "head {}: mean entropy {:.2f} bits, mean distance {:.1f}; {:.1f} % on the first "
          "token, {:.1f} % on the one before, {:.1f} % on itself (the one before can be the first)",
          head_name(head), *scores[Score::kEntropyBits], *scores[Score::kDistanceMean],
          percent(Score::kFirst), percent(Score::kPrevious), percent(Score::kSelf)) +
      (scores[Score::kLearnedSink]
           ? fmt::format(", {:.1f} % on no token", percent(Score::kLearnedSink))
           : "") +
      (names.empty() ? "" : "; identified as " + names));
}

// Prints which turns fill the context, and which get the attention.
void print_turns(const FoldedText& turns, const TurnAttention& shares) {
  const std::vector<TokenTurn> units = token_turns(turns.text);
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100.0 * share); };
  std::vector<std::size_t> n_tokens(units.size());
  for (const std::size_t unit : turns.numbers) {
    ++n_tokens[unit];
  }
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::string& name = turns.text.tokens[i].text;
    warn(fmt::format(
        "turn {}: {}, {} of the text; receives {} of all attention, {} of the last turn's",
        units[i].role ? name : in_quotes(printable(name)), counted(n_tokens[i], "token"),
        percent(static_cast<double>(n_tokens[i]) / static_cast<double>(turns.numbers.size())),
        percent(static_cast<double>(shares.mean[i])),
        percent(static_cast<double>(shares.from_last[i]))));
  }
}

// The request without the hidden edges of a text.
AttentionRequest request_of(const AttentionOptions& options, const Model& model) {
  AttentionRequest request = options.request;
  request.dropout_seed = options.model.seed.value_or(kDefaultSeed);
  if (Interventions interventions = interventions_of(options.what_if, model);
      !interventions.empty()) {
    request.interventions = std::make_shared<const Interventions>(std::move(interventions));
  }
  return request;
}

std::vector<std::filesystem::path> joined_files(std::vector<std::filesystem::path> files,
                                                const std::vector<std::filesystem::path>& more) {
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

bool names_a_model(const ModelOptions& options) {
  const auto* const given = std::get_if<GivenModel>(&options.model);
  return given != nullptr && std::holds_alternative<NamedModel>(*given);
}

// Handwritten weights may name a text of their own. For all other models, a missing text is
// reported at once, before the model is opened.
Model model_of(ModelSource& origin, const AttentionOptions& options, TextSource& source) {
  const StoredModel* const stored = stored_model(origin);
  const bool by_hand = stored != nullptr && stored->form() == ModelForm::kWeightsJson;
  if (!by_hand) {
    source.or_else("");
  }
  Model model = open_model(
      origin, options.model,
      options.takes_encoder_decoders ? Architecture::kEncoderDecoder : Architecture::kDecoderOnly);
  source.or_else(model.text);
  return model;
}

}  // namespace

std::vector<std::filesystem::path> read_files(const AttentionOptions& options,
                                              const ModelSource& source) {
  std::vector<std::filesystem::path> files = files_of(source);
  if (options.input.reads_stdin()) {
    files.insert(files.begin(), kStandardInput);
  } else if (options.input.file) {
    files.insert(files.begin(), *options.input.file);
  }
  if (options.tokenizer && !is_tokenizer_name(*options.tokenizer)) {
    std::ranges::move(tokenizer_files(*options.tokenizer), std::back_inserter(files));
  }
  return files;
}

AttentionSetup::AttentionSetup(const AttentionOptions& options, const LookOptions& look,
                               Result result, bool side_by_side,
                               const std::vector<std::filesystem::path>& also_read)
    : phases(begun(options)),
      diagnostics(options.verbosity),
      source(options.input, options.verbosity, /*model_may_have_one=*/names_a_model(options.model)),
      fonts(open_fonts(look.fonts, options.verbosity)),
      origin(model_source(options.model)),
      outputs({.result = result,
               .options = options.output,
               .look = look,
               .verbosity = options.verbosity,
               .fonts = *fonts,
               .read_files = joined_files(read_files(options, origin), also_read),
               .many_results = options.input.many_texts() && result != Result::kReport,
               .side_by_side = side_by_side}),
      model(model_of(origin, options, source)) {
  if (const StoredModel* const stored = stored_model(origin);
      stored != nullptr && options.verbosity.verbose) {
    warn(fmt::format("reads {}", stored->files().front().string()));
  }
  report_unread_keys(model.config, options.verbosity);
  if (stored_model(origin) != nullptr) {
    inform(options.verbosity, model.config.origin);  // set if the files contradict each other
  }
  interventions_of(options.what_if, model);  // throws for parts that the model lacks
}

std::vector<HeadId> chosen_heads(const HeadOptions& options, const Model& model,
                                 const Verbosity& verbosity) {
  std::vector<HeadId> heads = select_heads(model, options.heads, options.layers);
  const std::string& word = options.heads;
  const std::size_t comma = word.find(',');
  if (comma == std::string::npos || !options.layers.empty() || model.n_layers() == 1) {
    return heads;
  }
  const auto layer = parse_number<std::size_t>(std::string_view(word).substr(0, comma));
  const auto head = parse_number<std::size_t>(std::string_view(word).substr(comma + 1));
  if (layer && head && *layer < model.n_layers() && *head < model.layers[*layer].heads.size()) {
    inform(verbosity,
           fmt::format("--head {}: heads {} and {} of every layer; head {} of layer {} is "
                       "--head {}.{}",
                       word, *layer, *head, *head, *layer, *layer, *head));
  }
  return heads;
}

std::unique_ptr<Tokenizer> chosen_tokenizer(const AttentionOptions& options, ModelSource& source,
                                            Model& model) {
  auto tokenizer = open_tokenizer(options.tokenizer, source, model);
  model.config.tokenizer = tokenizer->name();
  report_unread_keys(model.config, *tokenizer, options.verbosity);
  if (const ChatTemplate* const chat = tokenizer->chat_template()) {
    add_stops(*chat, *tokenizer, model.config.end_of_text);
  }
  return tokenizer;
}

void name_heads(const AttentionOptions& options, const Tokenizer& tokenizer, Model& model) {
  if (!options.names) {
    return;
  }
  if (model.config.is_too_long(kShortestNamedProbe + 1)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--names: the test needs sequences of {} tokens after a first one, and "
                            "{} takes at most {}",
                            kShortestNamedProbe, model.config.name, model.config.n_ctx));
  }
  ProgressLine progress("probes", options.verbosity);
  AttentionRequest request;
  request.n_threads = options.request.n_threads;
  request.report = progress.report();
  model.config.named_heads =
      measured_names(model, dynamic_cast<const ModelTokenizer*>(&tokenizer), request);
}

TokenizedText read_text(AttentionSetup& setup, const AttentionOptions& options,
                        const Tokenizer& tokenizer, const InputText& input, std::size_t n_after) {
  TokenizedText text = chosen_tokens(options, setup.model, tokenizer, input, n_after);
  setup.phases.done("tokenize");
  inform_of_randomness(options, setup.origin, setup.model, text, setup.diagnostics);
  note_far_words(setup.origin, setup.model, text, setup.diagnostics);
  return text;
}

AttentionRequest request_of(const AttentionOptions& options, const Model& model,
                            const TokenizedText& text, std::span<const Variant> variants,
                            std::size_t n_written) {
  AttentionRequest request = request_of(options, model);
  if (options.what_if.hide.empty()) {
    return request;
  }
  Interventions interventions;
  if (request.interventions != nullptr) {
    interventions = *request.interventions;
  }
  std::vector<AttentionRequest> requests;
  std::ranges::transform(variants, std::back_inserter(requests),
                         [&request](const Variant& one) { return one.applied_to(request); });
  if (requests.empty()) {
    requests.push_back(request);
  }
  std::vector<std::string> notes;
  interventions.knock_outs =
      edges_of(options.what_if, text, text.size() + n_written, model, requests, notes);
  request.interventions = std::make_shared<const Interventions>(std::move(interventions));
  for (const std::string& note : notes) {
    inform(options.verbosity, note);
  }
  return request;
}

RunFacts facts_of_each(const AttentionOptions& options, const Model& model) {
  RunFacts facts = run_facts(model, request_of(options, model));
  for (const HideRule& hidden : options.what_if.hide) {
    facts.hidden_in_each.push_back(valid_utf8(hidden.rule));
  }
  return facts;
}

void attend(std::string_view what, const Model& model, const TokenizedText& text,
            const AttentionRequest& request, RunObserver& observer, const Verbosity& verbosity,
            ConstMatrix encoded) {
  ProgressLine progress(what, verbosity);
  AttentionRequest reporting = request;
  reporting.report = progress.report();
  const InputColumns columns(text);
  ModelInput input = columns.view();
  input.encoded = encoded;
  attnviz::run(model, input, reporting, observer);
}

void attend(std::string_view what, const Model& model, const TokenizedText& text,
            const AttentionRequest& request, PatternSink& sink, const Verbosity& verbosity) {
  RunObserver observer(sink);
  attend(what, model, text, request, observer, verbosity);
}

std::optional<TurnAttention> attend_to(const std::vector<HeadId>& heads, const Model& model,
                                       const TokenizedText& text, const AttentionRequest& request,
                                       PatternSink& sink, RunObserver& observer,
                                       const Verbosity& verbosity) {
  const ScoredTokens tokens(text.size(), {});
  HeadScores scores(verbosity.verbose ? heads : std::vector<HeadId>(), tokens,
                    visibilities(model, request, text.size()));
  std::optional<FoldedText> by_turns;
  std::optional<TurnAttentionSink> turns;
  std::vector<PatternSink*> sinks = {&sink};
  if (verbosity.verbose) {
    sinks.push_back(&scores);
  }
  if (!text.turns.empty()) {
    by_turns = folded(text, Fold::kTurns);
    turns.emplace(heads, *by_turns, request.largest_sum());
    sinks.push_back(&*turns);
  }
  SinkGroup group(sinks);
  RunObserver patterns(sinks.size() > 1 ? group : sink);
  ObserverGroup all({&patterns, &observer});
  attend("attention", model, text, request, all, verbosity);
  auto shares = turns ? std::optional(turns->take()) : std::nullopt;
  if (!verbosity.verbose) {
    return shares;
  }
  if (shares) {
    print_turns(*by_turns, *shares);
  }
  const ModelFacts facts = model_facts(model, {});
  for (const HeadId head : heads) {
    print_scores(head, names_of(facts, head), scores.scores(head));
  }
  return shares;
}

}  // namespace attnviz::app
