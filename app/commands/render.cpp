#include "commands/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/document/attention_heatmap.h"
#include "attnviz/document/drawing_choice.h"
#include "attnviz/document/json/attention_reader.h"
#include "attnviz/document/overview.h"
#include "attnviz/document/row_sums.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "commands/focus.h"
#include "outputs/drawing_notes.h"
#include "outputs/outputs.h"
#include "outputs/overview_show.h"
#include "outputs/show_formats.h"
#include "system/system_fonts.h"
#include "system/talk.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

bool reads_stdin(const RenderOptions& options) {
  return !options.file || *options.file == "-";
}

MappedFile open_file(const RenderOptions& options) {
  if (!reads_stdin(options)) {
    return MappedFile(*options.file);
  }
  if (!options.file && stdin_is_terminal()) {
    throw Error(ErrorKind::kUsage, "render needs a FILE, as in: attnviz render attention.json");
  }
  return MappedFile("/dev/stdin");
}

void keep_chosen_heads(const HeadOptions& options, AttentionDocument& document) {
  const std::vector<HeadId> chosen =
      select_heads(heads_of(document), options.heads, options.layers);
  keep_patterns(document, chosen);
}

// What is no attention, as scores, gets the range of its own values.
Drawing drawing_of_values(DrawingRequest request, const AttentionDocument& document) {
  constexpr float kMost = 1.001f;
  const ValueRange values = value_range(document);
  const bool are_weights = values.low >= 0.0f && values.high <= kMost;
  request.automatic_range = request.automatic_range || !are_weights;
  return choose_drawing(request, document);
}

AttentionDocument prepared(const RenderOptions& options, ReadDocument read) {
  AttentionDocument document = std::move(read.document);
  keep_chosen_heads(options.heads, document);
  if (options.mask) {
    document.run.mask = options.mask;
    for (LayerFacts& layer : document.run.layers) {
      layer.window = 0;
    }
    std::erase_if(document.run.layers,
                  [](const LayerFacts& layer) { return layer.soft_cap == 0.0f; });
  }
  if (options.pattern.average) {
    average_patterns(document, *options.pattern.average);
  }
  if (options.drawing.style == StyleChoice::kMask && !document.run.mask) {
    throw Error(ErrorKind::kUsage, "--style mask: the file names no mask; give --mask");
  }
  document.drawing = read.drawn_before ? changed_drawing(options.drawing.request, document)
                                       : drawing_of_values(options.drawing.request, document);
  if (std::string note = row_sum_note(document); !note.empty()) {
    if (!options.talk.quiet) {
      say(note);
    }
    document.notes.push_back(std::move(note));
  }
  return document;
}

TokenizedText text_of(const std::vector<std::string>& tokens) {
  TokenizedText text;
  for (const std::string& token : tokens) {
    text.tokens.push_back({0, token, 0, 0});
  }
  return text;
}

// JSON has no way to write them; a null would be read back as something else.
void refuse_non_finite(const AttentionDocument& document) {
  for (const DocumentPattern& pattern : document.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      const auto row = pattern.weights.row(query);
      if (!std::all_of(row.begin(), row.end(),
                       [](float weight) { return std::isfinite(weight); })) {
        throw Error(ErrorKind::kUnsupported,
                    fmt::format("head {}, query {}: JSON cannot hold what is no finite number",
                                head_name(pattern.head), query));
      }
    }
  }
}

// The documents of one run with --side-by-side make one picture; others a picture each.
bool belong_together(const std::vector<AttentionDocument>& documents) {
  const AttentionDocument& first = documents.front();
  return std::all_of(documents.begin(), documents.end(), [&](const AttentionDocument& document) {
    return document.drawing.side_by_side.size() == documents.size() &&
           document.patterns.size() == first.patterns.size() &&
           document.query_tokens == first.query_tokens && document.key_tokens == first.key_tokens;
  });
}

}  // namespace

void run(const RenderOptions& options) {
  Phases phases(options.talk);
  std::vector<std::filesystem::path> read_files;
  if (!reads_stdin(options)) {
    read_files.push_back(*options.file);
  }
  const auto fonts = open_fonts(options.drawing.fonts);
  FigureStyle figure = options.drawing.figure;
  figure.fonts = fonts.get();
  Outputs outputs({options.output,
                   options.talk,
                   kEveryFormat,
                   {options.drawing.style, options.drawing.color},
                   read_files});
  tell_unused(figure, options.drawing.fonts.size(), outputs, options.talk);
  const MappedFile file = open_file(options);
  const std::string name = reads_stdin(options) ? "standard input" : options.file->string();
  std::vector<AttentionDocument> documents;
  for (ReadDocument& read : read_attention(file.bytes(), name, options.tokens)) {
    documents.push_back(prepared(options, std::move(read)));
  }
  const AttentionDocument& first = documents.front();
  if (const auto focus = chosen_focus(
          options.pattern, text_of(options.pattern.as_key ? first.key_tokens : first.query_tokens),
          options.talk)) {
    for (AttentionDocument& document : documents) {
      document.drawing.focus = focus;
    }
  }
  phases.done("read");
  const bool together = belong_together(documents);
  const std::optional<Overview> overview =
      overview_of_kept(documents, options.heads, options.pattern, options.drawing.style, outputs);
  const FormatWriter write = [&](OutputFormat format, const TerminalOptions& terminal,
                                 const ByteSink& sink) {
    const bool one_only =
        format == OutputFormat::kNpy || (format == OutputFormat::kPng && !together);
    if (documents.size() > 1 && one_only) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: {} documents do not fit one picture or array; render them one "
                              "by one",
                              name, documents.size()));
    }
    if (format == OutputFormat::kJson) {
      std::for_each(documents.begin(), documents.end(), refuse_non_finite);
    }
    if (overview && (format == OutputFormat::kPng || format == OutputFormat::kText)) {
      return write_overview(format, documents.front(), *overview, figure, terminal, sink);
    }
    if (together) {
      return write_attention(format, documents, attention_heatmap(documents), figure, terminal,
                             sink);
    }
    for (const AttentionDocument& document : documents) {
      write_attention(format, {&document, 1}, attention_heatmap(document), figure, terminal, sink);
    }
  };
  outputs.write_files(write);
  outputs.commit();
  outputs.write_to_standard_output(write);
  phases.done("render");
}

}  // namespace attnviz::app
