#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "attnviz/analysis/lessons/meaning.h"
#include "attnviz/attention/layer.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/document/lessons/meaning_document.h"
#include "attnviz/document/report/meaning_report.h"
#include "commands/attention_run.h"
#include "commands/commands.h"
#include "system/memory.h"

namespace attnviz::app {

namespace {

// Where the word stands in the text of a context, counted from 1.
WordPlace find_word(const MeaningOptions& options, const TokenizedText& text, std::size_t number) {
  const std::string where = fmt::format("--in {}", number);
  try {
    return place_of_word(text, options.word, where);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) {
      throw;
    }
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--in {}: the text {} does not have the word {}", number,
                    attnviz::quoted(options.contexts[number - 1]), attnviz::quoted(options.word)));
  }
}

void add_note(MeaningDocument& document, const std::string& note) {
  if (!note.empty() && std::ranges::find(document.notes, note) == document.notes.end()) {
    document.notes.push_back(note);
  }
}

void add_context(const MeaningOptions& options, AttentionSetup& setup, const Tokenizer& tokenizer,
                 std::size_t number, MeaningDocument& document) {
  const std::string& given = options.contexts[number - 1];
  if (given.find_first_not_of(" \t\r\n\v\f") == std::string::npos) {
    throw Error(ErrorKind::kUsage, fmt::format("--in {}: the text is empty", number));
  }
  WordContext context;
  context.text = read_text(setup, options, tokenizer, {given});
  WordPlace place = find_word(options, context.text, number);
  context.tokens = std::move(place.tokens);
  const AttentionRequest request = request_of(options, setup.model, context.text);
  require_memory(layer_bytes(setup.model, context.text.size()),
                 fmt::format("meaning in {}", counted(context.text.size(), "token")),
                 "take a shorter text");
  context.vectors = word_vectors(setup.model, context.text, request, context.tokens);
  if (number == 1) {
    document.model = model_facts(setup.model, context.text);
    document.run = run_facts(setup.model, request);
    for (const std::string& note : model_notes(document.model)) {
      add_note(document, note);
    }
  }
  add_note(document, place.note.empty() ? "" : fmt::format("text {}: {}", number, place.note));
  for (const std::string& note : context.text.notes) {
    add_note(document, fmt::format("text {}: {}", number, note));
  }
  document.contexts.push_back(std::move(context));
}

}  // namespace

void run(const MeaningOptions& options) {
  constexpr std::size_t kMostTexts = 256;  // each is compared with each
  if (options.contexts.size() > kMostTexts) {
    throw Error(ErrorKind::kUsage, fmt::format("--in: expected {} texts at most, found {}",
                                               kMostTexts, options.contexts.size()));
  }
  AttentionSetup setup(options, options.look, Result::kReport);
  setup.phases.done("model");
  const auto tokenizer = chosen_tokenizer(options, setup.origin, setup.model);
  MeaningDocument document;
  document.word = options.word;
  for (std::size_t number = 1; number <= options.contexts.size(); ++number) {
    add_context(options, setup, *tokenizer, number, document);
  }
  setup.phases.done("vectors");
  Report report = meaning_report(document);
  draw_as_asked(report, options.drawing);
  setup.outputs.write([&](const Format& format, const Look& look, const ByteSink& sink) {
    format.report(report, look, sink);
  });
  setup.phases.done("render");
}

}  // namespace attnviz::app
