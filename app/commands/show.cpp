#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/analysis/inspection.h"
#include "attnviz/analysis/rollout.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/attention_facts.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/patterns/step_patterns.h"
#include "attnviz/report/words/words.h"
#include "commands/attention_run.h"
#include "commands/commands.h"
#include "commands/prepared_text.h"
#include "outputs/formats/shown_attention.h"
#include "outputs/outputs.h"
#include "system/process.h"

namespace attnviz::app {

namespace {

std::size_t n_runs(const ShowOptions& options) {
  return std::max<std::size_t>(options.side_by_side.size(), 1);
}

void require_memory_for(const ShowSetup& setup, const PreparedText& text) {
  const ShowOptions& options = setup.options;
  if (options.rollout) {
    const std::size_t n = text.tokens.size();
    return require_memory(rollout_bytes(n) + layer_bytes(setup.model, n),
                          "the rollout over " + counted(n, "token"), "take a shorter text");
  }
  // Averages need sums of twice the size, which still exist when the means are made.
  const std::size_t n_patterns =
      options.pattern.average ? 2 * average_groups(setup.heads, *options.pattern.average).size() + 1
                              : setup.heads.size();
  // Besides the patterns, the memory of one layer.
  const auto bytes = [&](std::size_t n_heads, std::size_t n_tokens) {
    const std::vector<HeadId> heads(setup.heads.begin(),
                                    setup.heads.begin() + static_cast<std::ptrdiff_t>(n_heads));
    // Averages always cover all heads.
    const std::size_t n_kept =
        options.pattern.average ? n_patterns : n_patterns * n_heads / setup.heads.size();
    const std::size_t n = std::min(n_tokens, text.shown().size());
    return PatternStore::bytes(n_kept * n_runs(options), n, n) +
           layer_bytes(setup.model, n_tokens) +
           step_bytes(setup.model, heads, n_tokens, options.kind);
  };
  require_memory_for_heads(bytes, "the attention of", setup.heads.size(), text.tokens.size());
}

// One request for each variant.
std::vector<AttentionRequest> requests_of(const ShowOptions& options,
                                          const AttentionRequest& request) {
  std::vector<AttentionRequest> requests;
  requests.reserve(options.side_by_side.size());
  for (const Variant& variant : options.side_by_side) {
    requests.push_back(variant.applied_to(request));
  }
  if (requests.empty()) {
    requests.push_back(request);
  }
  return requests;
}

// The share of `n` queries times `n` keys that the mask leaves visible.
double visible_share(const Mask& mask, std::size_t n) noexcept {
  double n_visible = 0.0;
  for (std::size_t query = 0; query < n; ++query) {
    n_visible += static_cast<double>(mask.n_visible(query, 0, n));
  }
  return n_visible / std::max(1.0, static_cast<double>(n) * static_cast<double>(n));
}

// The heads that each pattern combines.
std::vector<std::vector<HeadId>> heads_of_patterns(const ShowSetup& setup) {
  if (setup.options.rollout) {
    return {setup.heads};
  }
  if (const auto average = setup.options.pattern.average) {
    return average_groups(setup.heads, *average);
  }
  std::vector<std::vector<HeadId>> alone;
  for (const HeadId head : setup.heads) {
    alone.push_back({head});
  }
  return alone;
}

void check_output_size(ShowSetup& setup, const PreparedText& text) {
  const std::vector<std::vector<HeadId>> patterns = heads_of_patterns(setup);
  const auto n = static_cast<double>(text.shown().size());
  ExpectedOutput weights{patterns.size() * n_runs(setup.options), text.shown().size()};
  for (const AttentionRequest& request : requests_of(setup.options, text.request)) {
    std::vector<std::pair<Mask, double>> known;  // layers share few masks
    const auto share_of = [&](const HeadId head) {
      const Mask mask = mask_of(setup.model, head.layer, request);
      const auto found = std::ranges::find(known, mask, &std::pair<Mask, double>::first);
      return found != known.end()
                 ? found->second
                 : known.emplace_back(mask, visible_share(mask, text.tokens.size())).second;
    };
    for (const std::vector<HeadId>& heads : patterns) {
      double largest = 0.0;  // a mean sees what any of its heads sees
      for (const HeadId head : heads) {
        largest = std::max(largest, share_of(head));
      }
      weights.n_visible += largest * n * n;
    }
  }
  setup.outputs.check_output_size(weights);
}

AttentionDocument rollout_document(const ShowSetup& setup, PreparedText& text,
                                   const AttentionRequest& request) {
  const RolloutRequest& asked = *setup.options.rollout;
  Rollout rollout(setup.model, setup.heads, text.tokens.size(), request, asked);
  attend_to(setup.heads, setup.model, text.tokens, request, rollout, rollout,
            setup.options.verbosity);
  MatrixBuffer pattern = rollout.take();
  if (text.folded) {
    AverageSink words({{HeadId{}}}, text.shown().size(), 1.0f);
    MergeSink(words, text.folded->numbers, 1.0f).rows({}, 0, 0, pattern.view());
    pattern = words.take_mean(0);
  }
  AttentionDocument document =
      attention_document(setup.model, text.tokens, request, setup.heads, asked, std::move(pattern));
  if (asked.weighted && has_output_gates(setup.model)) {
    document.notes.emplace_back(kGatesLeftOut);
  }
  if (setup.model.has_states()) {
    document.notes.emplace_back("it leaves out what states carry from token to token");
  }
  if (setup.model.altup.present()) {
    document.notes.emplace_back("it assumes one residual stream, but the model has several");
  }
  if (has_sinks(setup.model)) {
    document.notes.emplace_back(
        "attention to learned sinks reaches no token, so rows sum to less than 1");
  }
  if (request.interventions != nullptr && !request.interventions->ablations.empty()) {
    document.notes.emplace_back("the rollout includes all heads, also those that are left out");
  }
  return document;
}

AttentionDocument pattern_document(const ShowSetup& setup, PreparedText& text,
                                   const AttentionRequest& request) {
  TextRun run(setup, text, request);
  if (const auto average = setup.options.pattern.average) {
    AverageSink means(average_groups(setup.heads, *average), text.shown().size(),
                      request.largest_sum());
    run.attend(means, setup.options.verbosity);
    AttentionDocument document =
        attention_document(setup.model, text.tokens, request, means, *average);
    run.add_to(document);
    return document;
  }
  const auto patterns = std::make_shared<PatternStore>(setup.heads, text.shown().size());
  run.attend(*patterns, setup.options.verbosity);
  AttentionDocument document = attention_document(setup.model, text.tokens, request, *patterns);
  document.storage = patterns;
  run.add_to(document);
  const PatternKind kind = setup.options.kind;
  if (kind != PatternKind::kWeights) {
    show_step(document, setup.model, InputColumns(text.tokens).view(), request, kind);
    for (DocumentPattern& pattern : document.patterns) {
      pattern.sink.clear();
    }
  }
  if (kind == PatternKind::kValueShares && has_output_gates(setup.model)) {
    document.notes.emplace_back(kGatesLeftOut);
  }
  return document;
}

// Shows which experts tokens are routed to, not which tokens they attend to.
AttentionDocument routed_document(const ShowSetup& setup, PreparedText& text,
                                  const AttentionRequest& request) {
  std::vector<std::size_t> layers;
  std::ranges::transform(setup.heads, std::back_inserter(layers), &HeadId::layer);
  RouterStore router(layers);
  ObserverGroup observers({&router, &text.predictor.observer()});
  attend("routers", setup.model, text.tokens, request, observers, setup.options.verbosity);
  return router_document(setup.model, text.tokens, request, router.take());
}

// Shows how long states keep their input.
AttentionDocument kept_by_states(const ShowSetup& setup, PreparedText& text,
                                 const AttentionRequest& request) {
  DecayStore decays(setup.heads);
  ObserverGroup observers({&decays, &text.predictor.observer()});
  attend("states", setup.model, text.tokens, request, observers, setup.options.verbosity);
  return decay_document(setup.model, text.tokens, request, setup.heads, decays);
}

// One document for each variant.
std::vector<AttentionDocument> documents_of(const ShowSetup& setup, PreparedText& text) {
  const auto make = setup.options.rollout                        ? rollout_document
                    : setup.options.kind == PatternKind::kRouter ? routed_document
                    : setup.options.kind == PatternKind::kDecay  ? kept_by_states
                                                                 : pattern_document;
  std::vector<AttentionDocument> documents;
  for (const AttentionRequest& request : requests_of(setup.options, text.request)) {
    AttentionDocument& document = documents.emplace_back(make(setup, text, request));
    if (text.folded) {
      name_words(document, text.tokens, *text.folded);
    }
    document.continuation = text.continuation;
    text.predictor.add_to(document);
    document.drawing.focus = text.focus;
  }
  return documents;
}

// All documents share one drawing, so that their colours mean the same.
void choose_drawing_of(std::vector<AttentionDocument>& documents, const ShowOptions& options) {
  AttentionDocument all = documents.front();
  for (std::size_t i = 1; i < documents.size(); ++i) {
    all.patterns.insert(all.patterns.end(), documents[i].patterns.begin(),
                        documents[i].patterns.end());
  }
  Drawing drawing = choose_drawing(options.drawing.request, all);
  for (std::size_t i = 0; i < options.side_by_side.size(); ++i) {
    const Variant& variant = options.side_by_side[i];
    drawing.side_by_side.push_back(variant.is_ablated.value_or(false)
                                       ? intervention_title(documents[i].run.interventions)
                                       : variant.name());
  }
  drawing.focus = documents.front().drawing.focus;
  for (AttentionDocument& document : documents) {
    document.drawing = drawing;
  }
}

// The heads that a page follows step by step: all if heads and tokens are few, else the one that it
// shows first.
std::vector<HeadId> followed_heads(const ShowSetup& setup, const PreparedText& text,
                                   const std::optional<FirstShown>& first) {
  constexpr std::size_t kMostHeads = 64;
  constexpr std::size_t kMostTokens = 128;
  constexpr std::size_t kMostTokensOfOne = 512;
  const ShowOptions& options = setup.options;
  const bool has_other_rows = options.kind != PatternKind::kWeights || options.pattern.average ||
                              options.rollout || text.folded || !options.side_by_side.empty();
  if (has_other_rows || text.tokens.size() > kMostTokensOfOne) {
    return {};
  }
  if (setup.heads.size() <= kMostHeads && text.tokens.size() <= kMostTokens) {
    return setup.heads;
  }
  return {first ? first->head : setup.heads.front()};
}

// Reports that the ablation does not change the drawn weights: the pictures alone would not explain
// it.
void inform_if_alike(const ShowSetup& setup, const std::vector<AttentionDocument>& documents) {
  const std::vector<Variant>& variants = setup.options.side_by_side;
  if (variants.empty() || !variants.back().is_ablated.value_or(false)) {
    return;
  }
  const auto have_same_weights = [](const DocumentPattern& a, const DocumentPattern& b) {
    for (std::size_t query = 0; query < a.weights.rows; ++query) {
      if (!std::ranges::equal(a.weights.row(query), b.weights.row(query))) {
        return false;
      }
    }
    return true;
  };
  if (std::ranges::equal(documents.front().patterns, documents.back().patterns,
                         have_same_weights)) {
    inform(setup.options.verbosity,
           "--side-by-side ablated: both sides are the same: what is left out changes none of the "
           "weights drawn (a layer's heads and MLP affect only later layers)");
  }
}

// The data of a page besides its pictures.
struct PageExtras {
  // `text`: the text, if its steps can be followed; may be null.
  PageExtras(ShowSetup& setup, const PreparedText* text, const ShownAttention& shown) {
    const ShowOptions& options = setup.options;
    if (!setup.outputs.writes(Content::kPage) || is_no_attention(options.kind)) {
      return;
    }
    extras.command = options.output.command;
    extras.first = first_shown(shown);
    if (text == nullptr) {
      return;
    }
    const bool says_file = options.input.file && !options.live;
    if (!says_file && !options.input.ids && !extras.command.text) {
      extras.command.text = text->tokens.source;  // also from standard input
    }
    extras.text = &text->tokens;
    if (text->focus) {
      extras.first = FirstShown{extras.first ? extras.first->head : HeadId{},
                                text->focus->token,
                                {},
                                text->focus->as_key};
    }
    if (const auto heads = followed_heads(setup, *text, extras.first); !heads.empty()) {
      followed = inspect_heads(setup.model, InputColumns(text->tokens).view(), text->request, heads,
                               text->tokens.size() - 1, false);
      setup.phases.done("queries, keys and values");
    }
    extras.followed = followed;
    extras.live = options.live;
  }

  std::vector<Inspection> followed;
  ExplorerExtras extras;
};

// `text`: as for PageExtras.
void draw(ShowSetup& setup, std::vector<AttentionDocument> documents, const PreparedText* text) {
  const ShowOptions& options = setup.options;
  setup.phases.done(is_no_attention(options.kind) ? subject_of(options.kind) : "attention");
  inform_if_alike(setup, documents);
  choose_drawing_of(documents, options);
  note_nothing_special(documents, setup.diagnostics);
  ShownAttention shown = shown_attention(documents, options.heads, options.pattern,
                                         options.drawing.style, setup.outputs);
  if (!is_no_attention(options.kind)) {
    note_flat(setup, shown);
  }
  warn_unused_of_bars(shown, setup.outputs, setup.diagnostics);
  const PageExtras beside(setup, text, shown);
  shown.set_extras(beside.extras);
  setup.outputs.write(shown);
  setup.phases.done("render");
}

void show(ShowSetup& setup, const InputText& input) {
  if (setup.model.encoder != nullptr) {
    return draw(setup, {encoder_decoder_document(setup, input)}, nullptr);
  }
  PreparedText text(setup, input);
  if (setup.options.kind != PatternKind::kRouter) {
    check_output_size(setup, text);
    if (should_stream(setup, text)) {
      return show_streamed(setup, text);
    }
    require_memory_for(setup, text);
  }
  draw(setup, documents_of(setup, text), &text);
}

}  // namespace

void run(const ShowOptions& options) {
  ShowSetup setup(options);
  if (options.live && !setup.outputs.writes(Content::kPage)) {
    throw Error(ErrorKind::kUsage, "--live needs -o FILE.html");
  }
  warn_unused_drawing(setup.outputs, options.drawing, options.verbosity);
  if (options.at == kEveryPlace && options.predict > 1 &&
      !setup.outputs.writes(Content::kDocument)) {
    inform(options.verbosity, fmt::format("--predict {}: the table of --at all has only the most "
                                          "probable token at each position; --json has {} of them",
                                          options.predict, options.predict));
  }
  setup.source.for_each([&](const InputText& input) {
    if (setup.options.input.many_texts()) {
      const auto* const words = std::get_if<std::string>(&input.content);
      setup.outputs.begin_result(setup.source.lines().count(),
                                 words != nullptr ? *words : std::string());
    }
    show(setup, input);
  });
  setup.outputs.finish();
}

}  // namespace attnviz::app
