#include "commands/commands.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/average.h"
#include "attnviz/analysis/merge_sink.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/core/error.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/attention_heatmap.h"
#include "attnviz/document/drawing_choice.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/text/tokenizer.h"
#include "attnviz/text/word_groups.h"
#include "commands/attention_run.h"
#include "commands/focus.h"
#include "commands/input.h"
#include "commands/prediction.h"
#include "commands/streamed_show.h"
#include "outputs/drawing_notes.h"
#include "outputs/outputs.h"
#include "outputs/overview_show.h"
#include "outputs/show_formats.h"
#include "system/memory.h"
#include "system/system_fonts.h"
#include "system/talk.h"

namespace attnviz::app {

namespace {

double patterns_bytes(std::size_t n_heads, std::size_t n_tokens) {
  const auto n = static_cast<double>(n_tokens);
  return static_cast<double>(n_heads) * n * n * static_cast<double>(sizeof(float));
}

// The text's tokens brought together to words.
struct Words {
  std::vector<std::size_t> numbers;  // as word_numbers() gives them
  TokenizedText text;

  explicit Words(const TokenizedText& tokens)
      : numbers(word_numbers(tokens)), text(merged_words(tokens, numbers)) {}
};

// `n_shown`: tokens, or words.
void require_memory_for(const Model& model, const std::vector<HeadId>& heads,
                        const ShowOptions& options, std::size_t n_tokens, std::size_t n_shown) {
  // A mean needs its sums, of twice the size, and is made while they are still there.
  const std::size_t n_patterns =
      options.pattern.average ? 2 * average_groups(heads, *options.pattern.average).size() + 1
                              : heads.size();
  const std::size_t n_runs = std::max<std::size_t>(options.side_by_side.size(), 1);
  // Beside the patterns: what one layer takes.
  require_memory_for_heads(
      patterns_bytes(n_patterns * n_runs, n_shown) + layer_bytes(model, n_tokens),
      "the attention of", heads.size(), n_tokens);
}

// One for each of the variants that stand side by side.
std::vector<AttentionRequest> requests_of(const ShowOptions& options) {
  const AttentionRequest request = request_of(options);
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

// What one run makes its document of.
struct Run {
  const Model& model;
  const TokenizedText& text;
  const std::optional<Words>& words;  // that patterns are to be over, in place of tokens
  const std::vector<HeadId>& heads;
  const TalkOptions& talk;
  RunObserver& observer;  // looks on beside what is drawn

  std::size_t n_shown() const noexcept { return words ? words->text.size() : text.size(); }

  // Fills `sink` with patterns over what is shown.
  void attend(const AttentionRequest& request, PatternSink& sink) const {
    if (!words) {
      return attend_to(heads, model, text, request, sink, observer, talk);
    }
    MergeSink merged(sink, words->numbers, largest_sum(request));
    attend_to(heads, model, text, request, merged, observer, talk);
  }

  // Of a row of weights.
  static float largest_sum(const AttentionRequest& request) noexcept {
    return 1.0f / (1.0f - request.dropout);
  }
};

AttentionDocument run_document(const Run& run, const AttentionRequest& request,
                               std::optional<AverageOver> average) {
  AttentionDocument document;
  if (average) {
    AverageSink means(average_groups(run.heads, *average), run.n_shown(),
                      Run::largest_sum(request));
    run.attend(request, means);
    document = attention_document(run.model, run.text, request, means, *average);
  } else {
    const auto patterns = std::make_shared<PatternStore>(run.heads, run.n_shown());
    run.attend(request, *patterns);
    document = attention_document(run.model, run.text, request, *patterns);
    document.storage = patterns;
  }
  if (run.words) {
    name_words(document, run.text, run.words->numbers);
  }
  return document;
}

// An overview of tokens, or what is too large to be kept; null where the patterns are kept.
std::unique_ptr<StreamedPicture> streamed_picture(const ShowOptions& options,
                                                  const std::vector<HeadId>& heads,
                                                  std::size_t n_tokens, const FigureStyle& figure,
                                                  const Outputs& outputs) {
  if (options.side_by_side.empty() && !options.merge_words &&
      draws_overview(heads, options.heads, options.pattern, options.drawing.style, outputs)) {
    return std::make_unique<StreamedOverview>(options, heads, figure, outputs);
  }
  if (should_stream(options, heads.size(), n_tokens)) {
    return std::make_unique<StreamedPanels>(options, heads, figure, outputs);
  }
  return nullptr;
}

// One way of drawing for all of them, so that their colours mean the same.
void choose_drawing_of(std::vector<AttentionDocument>& documents, const ShowOptions& options,
                       const std::optional<Focus>& focus) {
  AttentionDocument all = documents.front();
  for (std::size_t i = 1; i < documents.size(); ++i) {
    all.patterns.insert(all.patterns.end(), documents[i].patterns.begin(),
                        documents[i].patterns.end());
  }
  Drawing drawing = choose_drawing(options.drawing.request, all);
  for (const Variant& variant : options.side_by_side) {
    drawing.side_by_side.push_back(variant.name());
  }
  drawing.focus = focus;
  for (AttentionDocument& document : documents) {
    document.drawing = drawing;
  }
}

}  // namespace

void run(const ShowOptions& options) {
  Phases phases(options.talk);
  choose_engine(options);
  tell_slip(options);
  TextSource source(options.input, options.talk);
  const auto fonts = open_fonts(options.drawing.fonts);
  FigureStyle figure = options.drawing.figure;
  figure.fonts = fonts.get();
  ModelSource origin = model_source(options.model);
  Outputs outputs({options.output,
                   options.talk,
                   kEveryFormat,
                   {options.drawing.style, options.drawing.color},
                   read_files(options, origin),
                   options.input.many_texts()});
  if (!options.side_by_side.empty() && outputs.writes(OutputFormat::kNpy)) {
    throw Error(ErrorKind::kUsage,
                "--side-by-side: an .npy array has no place for several patterns; .json has");
  }
  tell_unused(figure, options.drawing.fonts.size(), outputs, options.talk);
  Model model = open_model(origin, options.model);
  check_next_tokens(options, model);
  phases.done("model");
  const auto tokenizer = chosen_tokenizer(options, origin, model);
  phases.done("tokenizer");
  const std::vector<HeadId> heads = select_heads(model, options.heads.heads, options.heads.layers);
  const std::vector<AttentionRequest> requests = requests_of(options);
  bool is_first = true;
  bool told_flat = false;
  bool told_far = false;
  source.for_each([&](const InputText& input) {
    TokenizedText text = chosen_tokens(options, model, *tokenizer, input);
    phases.done("tokenize");
    tell_randomness(options, origin, model, text, std::exchange(is_first, false));
    told_far = note_far_words(options, origin, model, text, /*tell=*/!told_far) || told_far;
    const std::optional<Continuation> continuation =
        continue_text(options, model, *tokenizer, text);
    if (continuation) {
      phases.done("generate");
    }
    const std::optional<Words> words =
        options.merge_words ? std::optional<Words>(text) : std::nullopt;
    const TokenizedText& shown = words ? words->text : text;
    const std::optional<Focus> focus = chosen_focus(options.pattern, shown, options.talk);
    Predictor predictor(options, model, *tokenizer, shown,
                        words ? words->numbers : std::vector<std::size_t>());
    if (const auto picture = streamed_picture(options, heads, text.size(), figure, outputs)) {
      told_flat |= show_streamed(options, {model, text, heads, continuation}, predictor, *picture,
                                 !told_flat, outputs);
      phases.done("attention and render");
      return;
    }
    require_memory_for(model, heads, options, text.size(), shown.size());
    const Run run{model, text, words, heads, options.talk, predictor.observer()};
    std::vector<AttentionDocument> documents;
    documents.reserve(requests.size());
    for (const AttentionRequest& request : requests) {
      documents.push_back(run_document(run, request, options.pattern.average));
      documents.back().continuation = continuation;
      predictor.add_to(documents.back());
    }
    phases.done("attention");
    choose_drawing_of(documents, options, focus);
    const Heatmap picture = attention_heatmap(documents);
    told_flat = told_flat || tell_flat(picture, options, outputs);
    const auto overview =
        overview_of_kept(documents, options.heads, options.pattern, options.drawing.style, outputs);
    const FormatWriter write = [&](OutputFormat format, const TerminalOptions& terminal,
                                   const ByteSink& sink) {
      if (overview && (format == OutputFormat::kPng || format == OutputFormat::kText)) {
        return write_overview(format, documents.front(), *overview, figure, terminal, sink);
      }
      write_attention(format, documents, picture, figure, terminal, sink);
    };
    outputs.write_files(write);
    if (!options.input.many_texts()) {
      outputs.commit();
    }
    outputs.write_to_standard_output(write);
    phases.done("render");
  });
  if (options.input.many_texts()) {
    outputs.commit();
  }
}

}  // namespace attnviz::app
