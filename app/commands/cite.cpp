#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/head_names.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/decoding.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/report/why_document.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/text/unicode_classes.h"
#include "commands/attention_run.h"
#include "commands/commands.h"
#include "commands/prediction.h"
#include "system/output_file.h"
#include "system/process.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

std::string whole_text(TextSource& source) {
  const std::optional<InputText> text = source.next();
  return std::get<std::string>(text->content);
}

// Documents are named by file, or by path if file names repeat.
std::vector<CitedText> cited_documents(const CiteOptions& options) {
  std::map<std::string, std::size_t> times;
  for (const std::filesystem::path& file : options.documents) {
    ++times[file.filename().string()];
  }
  std::vector<CitedText> documents;
  for (const std::filesystem::path& file : options.documents) {
    InputOptions input;
    input.file = file;
    TextSource source(input, options.verbosity);
    const std::string name = file.filename().string();
    documents.push_back({.name = file == "-"        ? "standard input"
                                 : times[name] == 1 ? name
                                                    : file.string(),
                         .text = whole_text(source)});
  }
  return documents;
}

// The separator of prompt and answer: a space, unless one is present or the script uses none.
std::string_view space_between(std::string_view prompt, std::string_view answer) {
  constexpr char32_t kFirstWide = 0x2E80;  // first Chinese or Japanese character or sign
  constexpr char32_t kHangul = 0xAC00;
  constexpr char32_t kAfterHangul = 0xD7B0;
  const auto wants_none = [](std::string_view cluster) {
    const CodePoint point = decode_utf8(cluster, 0);
    return !point.valid || is_white_space(point.value) ||
           (point.value >= kFirstWide && (point.value < kHangul || point.value >= kAfterHangul));
  };
  std::size_t last = prompt.size() - 1;
  while (last > 0 && (static_cast<unsigned char>(prompt[last]) & 0xC0u) == 0x80u) {
    --last;
  }
  return wants_none(prompt.substr(last)) || wants_none(answer) ? "" : " ";
}

// An answer ends at the end of its first line with words.
class EndOfLine {
 public:
  explicit EndOfLine(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  bool operator()(TokenId id) {
    const std::string text = tokenizer_.from_ids({&id, 1}).tokens.front().text;
    const std::size_t line_end = text.find('\n');
    const bool has_words = text.substr(0, line_end).find_first_not_of(" \t\r") != std::string::npos;
    if (is_over_ || (has_begun_ && !has_words && line_end != std::string::npos)) {
      return true;
    }
    has_begun_ = has_begun_ || has_words;
    is_over_ = has_begun_ && line_end != std::string::npos;
    return false;
  }

 private:
  const Tokenizer& tokenizer_;
  bool has_begun_ = false;
  bool is_over_ = false;
};

// Advice on how to shorten the text.
std::string shorter_words(const CiteOptions& options) {
  const std::string words =
      options.documents.empty() ? "give a shorter prompt" : "give fewer or shorter documents";
  return options.truncate ? words : words + ", or cut the beginning with --truncate left";
}

void require_context(const CiteOptions& options, const Model& model, std::size_t n_tokens) {
  if (model.config.is_too_long(n_tokens)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("prompt and answer have {} tokens, and {} takes at most {}: {}",
                            grouped(n_tokens), model.config.name, grouped(model.config.n_ctx),
                            shorter_words(options)));
  }
}

std::string trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return valid_utf8(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin));
}

struct Reading {
  TokenizedText text;        // the prompt followed by the answer
  AttentionRequest request;  // hides edges of the prompt and of a given answer
};

// Also sets the prompt's length and the answer in the document.
Reading read_prompt_and_answer(const CiteOptions& options, AttentionSetup& setup,
                               const Tokenizer& tokenizer, const std::string& prompt,
                               CiteDocument& document) {
  std::string whole = prompt;
  if (options.answer) {
    whole += space_between(prompt, *options.answer);
    whole += *options.answer;
  }
  TokenizedText text =
      read_text(setup, options, tokenizer, {whole}, options.answer ? 0 : options.generate);
  while (!text.tokens.empty() && text.tokens.back().added && text.size() > 1) {
    text.tokens.pop_back();  // an end token: the answer still follows
  }
  const AttentionRequest request =
      request_of(options, setup.model, text, {}, options.answer ? 0 : options.generate);
  if (options.answer) {
    const auto answer = std::ranges::find_if(
        text.tokens, [&](const Token& token) { return !token.added && token.end > prompt.size(); });
    document.n_prompt_tokens = static_cast<std::size_t>(answer - text.tokens.begin());
    document.answer = trimmed(*options.answer);
    require_context(options, setup.model, text.size());
    return {std::move(text), request};
  }
  require_context(options, setup.model, text.size() + 1);
  document.n_prompt_tokens = text.size();
  document.continuation = continue_text(options, options.generate, setup.model, tokenizer, request,
                                        text, EndOfLine(tokenizer));
  document.answer = trimmed(document.continuation->text);
  if (document.continuation->ids.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} writes nothing after the prompt, so there is no "
                                               "answer to explain; --answer TEXT gives one",
                                               setup.model.config.name));
  }
  return {std::move(text), request};
}

// Hidden edges are positions in the prompt, which mean nothing in random probes.
AttentionRequest without_hidden_edges(AttentionRequest request) {
  if (request.interventions) {
    auto kept = std::make_shared<Interventions>(*request.interventions);
    kept->knock_outs.clear();
    request.interventions = std::move(kept);
  }
  return request;
}

void measure(const CiteOptions& options, const Model& model, const Tokenizer& tokenizer,
             const Reading& reading, CiteDocument& document) {
  AttentionRequest request = reading.request;
  const TokenizedText& text = reading.text;
  std::vector<HeadId> chosen;
  if (options.retrieval_heads) {
    ProgressLine progress("probes", options.verbosity);
    request.report = progress.report();
    chosen = retrieval_heads(model, dynamic_cast<const ModelTokenizer*>(&tokenizer),
                             without_hidden_edges(request));
    document.retrieval_heads = chosen;
  }
  const std::vector<IndexRange> spans = spans_of(document);
  require_memory(
      citation_bytes(model, text.size()), fmt::format("reading {}", counted(text.size(), "token")),
      options.documents.empty() ? "give a shorter prompt" : "give fewer or shorter documents");
  ProgressLine progress(fmt::format("hiding {}s", document.piece()), options.verbosity);
  request.report = progress.report();
  add_citation(document, cite(model, InputColumns(text).ids, document.n_prompt_tokens, spans,
                              request, chosen));
}

std::vector<std::string> cite_notes(const CiteOptions& options, const CiteDocument& document,
                                    const TokenizedText& text, bool has_states) {
  std::vector<std::string> notes = model_notes(document.model);
  if (options.request.mask) {
    notes.push_back("mask " + options.request.mask->name());
  }
  for (const std::vector<std::string>& more : {run_notes(document.run), text.notes}) {
    notes.insert(notes.end(), more.begin(), more.end());
  }
  if (has_states) {
    notes.emplace_back(
        "sentences are hidden only from attention: the model's states still carry them");
  }
  if (document.retrieval_heads) {
    std::vector<std::string> names;
    for (const HeadId head : *document.retrieval_heads) {
      names.push_back(head_name(head));
    }
    notes.push_back(names.empty()
                        ? "retrieval heads: none found; no head copies a needle from random tokens"
                        : fmt::format("retrieval heads: {}", joined(names, "and")));
  }
  return notes;
}

}  // namespace

void run(const CiteOptions& options) {
  for (const std::string& output : options.output.files) {
    for (const std::filesystem::path& file : options.documents) {
      refuse_to_overwrite("-o", output, file == "-" ? kStandardInput : file);
    }
  }
  AttentionSetup setup(options, options.look, Result::kTextReport);
  CiteDocument document;
  document.least_factor = static_cast<double>(options.least_factor);
  document.span_words = options.span_words;
  document.documents = cited_documents(options);
  std::string prompt = whole_text(setup.source);
  if (document.documents.empty()) {
    document.documents.push_back({.name = setup.source.name(), .text = prompt});
  } else {
    document.question = valid_utf8(prompt);
    prompt = question_prompt(document.documents, prompt);
  }
  if (options.print_prompt) {
    return write_to_stdout(prompt + "\n");
  }
  check_continues(setup.model, options.request);
  setup.phases.done("model");
  const auto tokenizer = chosen_tokenizer(options, setup.origin, setup.model);
  const Reading reading = read_prompt_and_answer(options, setup, *tokenizer, prompt, document);
  const TokenizedText& text = reading.text;
  TokenizedText of_prompt = text;
  of_prompt.tokens.resize(document.n_prompt_tokens);
  cut_into_sentences(document.documents, of_prompt, options.span_words);
  if (spans_of(document).empty()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--truncate {}: of the {} that {} takes, none is left for a sentence of the {}",
                    word_for(kTruncateSides, TruncateSide::kLeft),
                    counted(setup.model.config.n_ctx, "token"), setup.model.config.name,
                    options.documents.empty() ? "prompt" : "documents"));
  }
  for (std::size_t i = document.n_prompt_tokens; i < text.size(); ++i) {
    document.tokens.push_back({text.tokens[i].text, text.tokens[i].id});
  }
  document.model = model_facts(setup.model, text);
  document.run = run_facts(setup.model, reading.request);
  setup.phases.done("answer");
  measure(options, setup.model, *tokenizer, reading, document);
  document.notes = cite_notes(options, document, text, setup.model.has_states());
  setup.phases.done("sentences");
  const Colormap colormap(options.drawing.colormap.value_or(Colormap().name()));
  const Report report = cite_report(document, options.top, colormap);
  setup.outputs.write(report);
}

}  // namespace attnviz::app
