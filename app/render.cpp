#include "render.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/render/attention_heatmap.h"
#include "attnviz/render/attention_reader.h"
#include "attnviz/render/drawing_choice.h"
#include "outputs.h"
#include "show_formats.h"
#include "system_fonts.h"
#include "talk.h"
#include "terminal_info.h"

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
  std::vector<HeadId> available;
  for (const DocumentPattern& pattern : document.patterns) {
    available.push_back(pattern.head);
  }
  const std::vector<HeadId> chosen = select_heads(available, options.heads, options.layers);
  std::erase_if(document.patterns, [&chosen](const DocumentPattern& pattern) {
    return std::find(chosen.begin(), chosen.end(), pattern.head) == chosen.end();
  });
}

// What is no attention, as scores, gets the range of its own values.
Drawing drawing_of_values(DrawingRequest request, const AttentionDocument& document) {
  constexpr float kMost = 1.001F;
  const ValueRange values = value_range(document);
  const bool are_weights = values.low >= 0.0F && values.high <= kMost;
  request.automatic_range = request.automatic_range || !are_weights;
  return choose_drawing(request, document);
}

AttentionDocument prepared(const RenderOptions& options, ReadDocument read) {
  AttentionDocument document = std::move(read.document);
  keep_chosen_heads(options.heads, document);
  if (options.mask) {
    document.run.mask = options.mask;
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

}  // namespace

void run_render(const RenderOptions& options) {
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
  const MappedFile file = open_file(options);
  const std::string name = reads_stdin(options) ? "standard input" : options.file->string();
  std::vector<AttentionDocument> documents;
  for (ReadDocument& read : read_attention(file.bytes(), name, options.tokens)) {
    documents.push_back(prepared(options, std::move(read)));
  }
  phases.done("read");
  const FormatWriter write = [&](OutputFormat format, const TerminalOptions& terminal,
                                 const ByteSink& sink) {
    if (documents.size() > 1 && (format == OutputFormat::kPng || format == OutputFormat::kNpy)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: {} documents do not fit one picture or array; render them one "
                              "by one",
                              name, documents.size()));
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
