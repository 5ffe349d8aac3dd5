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

#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/json/attention_reader.h"
#include "attnviz/report/model_info.h"
#include "attnviz/report/patterns/step_patterns.h"
#include "commands/input.h"
#include "options/advice.h"
#include "outputs/formats/shown_attention.h"
#include "outputs/outputs.h"
#include "stores/model_source.h"
#include "system/diagnostics.h"
#include "system/output_file.h"
#include "system/system_fonts.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

bool reads_stdin(const RenderOptions& options) {
  return !options.file || *options.file == "-";
}

// The path, or the path of a sample by its name.
std::filesystem::path file_of(const RenderOptions& options) {
  return sample_path(*options.file).value_or(*options.file);
}

std::vector<std::filesystem::path> read_files(const RenderOptions& options) {
  return {reads_stdin(options) ? std::filesystem::path(kStandardInput) : file_of(options)};
}

std::string name_of(const RenderOptions& options) {
  return reads_stdin(options) ? "standard input" : options.file->string();
}

MappedFile open_file(const RenderOptions& options) {
  if (!reads_stdin(options)) {
    return MappedFile(file_of(options));
  }
  if (!options.file && stdin_is_terminal()) {
    throw Error(ErrorKind::kUsage, "render needs a FILE, as in: attnviz render attention.json");
  }
  return MappedFile(kStandardInput);
}

void keep_chosen_heads(const HeadOptions& options, AttentionDocument& document) {
  const std::vector<HeadId> chosen =
      select_heads(heads_of(document), options.heads, options.layers);
  keep_patterns(document, chosen);
}

// Scores and other values that cannot be attention weights get a range of their own.
Drawing drawing_of_values(DrawingRequest request, const AttentionDocument& document) {
  constexpr float kMost = 1.001f;
  const ValueRange values = value_range(document);
  const bool are_weights = values.low >= 0.0f && values.high <= kMost;
  request.automatic_range = request.automatic_range || !are_weights;
  return choose_drawing(request, document);
}

// The kind to read the numbers as; absent: the kind stated in the file.
std::optional<PatternKind> kind_of(const RenderOptions& options) {
  return options.kind || !options.softmax ? options.kind : PatternKind::kScores;
}

// What the model does to these scores before softmax, besides dividing and masking them.
std::string left_out_before_softmax(const AttentionDocument& document) {
  const bool has_biases = document.model && document.model->positions == Positions::kAlibi;
  const auto has = [&document](const auto& is_there) {
    return std::ranges::any_of(document.run.layers, is_there);
  };
  std::vector<std::string> left_out;
  if (is_before_mask(document.kind) &&
      has([](const LayerFacts& layer) { return layer.soft_cap > 0.0f; })) {
    left_out.emplace_back("soft caps");
  }
  if (is_before_mask(document.kind) && has_biases) {
    left_out.emplace_back("ALiBi");
  }
  const char* const what_has_it =
      left_out.empty() ? "" : "; --show masked writes scores that include everything else";
  if (has([](const LayerFacts& layer) { return layer.learned_sink; })) {
    left_out.emplace_back("learned sinks");
  }
  return left_out.empty() ? std::string()
                          : fmt::format(
                                "softmax of scores without {}, which the model has: these weights "
                                "differ from its own{}",
                                joined(left_out, "and"), what_has_it);
}

// Without --kind, softmax takes the kind stated in the file, if it is scores.
void settle_kind(const RenderOptions& options, std::optional<PatternKind> said,
                 AttentionDocument& document) {
  if (options.softmax && !options.kind && said) {
    if (!is_before_softmax(*said)) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format(
              "--softmax: {} holds {}, not scores; --show masked draws and writes a model's scores",
              name_of(options), word_for(kPatternKinds, *said)));
    }
    document.kind = *said;
  }
}

// Divides the scores or applies softmax to them.
void take_scores(const RenderOptions& options, AttentionDocument& document) {
  const auto& [temperature, divisor] = options.of_scores;
  if (!options.softmax && !is_before_softmax(document.kind) && options.of_scores.divides()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} needs scores: --kind scores or --softmax",
                                               divisor != 1.0f ? "--divide-by" : "--temperature"));
  }
  std::string divided = divisor != 1.0f ? fmt::format(" / {}", divisor) : "";
  divided += temperature != 1.0f ? fmt::format(" / temperature {}", temperature) : "";
  if (options.softmax) {
    document.notes.push_back("softmax of the given scores" + divided);
    if (const std::string left_out = left_out_before_softmax(document); !left_out.empty()) {
      document.notes.push_back(left_out);
      inform(options.verbosity, left_out);
    }
    take_softmax(document, options.of_scores);
  } else if (is_before_softmax(document.kind)) {
    divide_scores(document, options.of_scores);
    if (!divided.empty()) {
      document.notes.push_back("scores given" + divided);
    }
  }
}

// For numbers that cannot be weights; the picture notes that rows do not sum to 1.
Advice scores_hint(const RenderOptions& options) {
  const std::string again =
      "attnviz render " + (reads_stdin(options) ? "-" : shell_quoted(options.file->string()));
  return {fmt::format("{}: numbers below 0 or above 1 are not weights; to draw them as scores, or "
                      "to apply softmax:",
                      name_of(options)),
          {again + " --kind scores", again + " --softmax"}};
}

AttentionDocument prepared(const RenderOptions& options, ReadDocument read) {
  AttentionDocument document = std::move(read.document);
  keep_chosen_heads(options.heads, document);
  if (options.mask) {
    document.run.mask = options.mask;
    forget_layer_masks(document.run);
  }
  settle_kind(options, read.kind, document);
  take_scores(options, document);
  if (options.pattern.average) {
    average_patterns(document, *options.pattern.average);
  }
  if (options.drawing.style == TerminalStyle::kMask && !document.run.mask) {
    throw Error(ErrorKind::kUsage, "--style mask: the file does not name a mask; give --mask");
  }
  const bool has_other_values = options.softmax || options.of_scores.divides();
  document.drawing = read.drawn_before && !has_other_values
                         ? changed_drawing(options.drawing.request, document)
                         : drawing_of_values(options.drawing.request, document);
  std::string note = row_sum_note(document);
  inform(options.verbosity, look_like_scores(document) ? scores_hint(options) : Advice{note});
  // A file from attnviz already has this note.
  if (!note.empty() && std::ranges::find(document.notes, note) == document.notes.end()) {
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

// Refuses pictures, models and the like instead of attention.
void refuse_other_kinds(const RenderOptions& options, std::string_view bytes) {
  constexpr std::size_t kFirst = 16;
  const FileKind kind = kind_of_bytes(bytes.substr(0, kFirst));
  if (kind != FileKind::kOther && kind != FileKind::kNumPy) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: is {}, not attention", name_of(options), name_of(kind)));
  }
}

std::vector<AttentionDocument> read_documents(const RenderOptions& options) {
  const MappedFile file = open_file(options);
  refuse_other_kinds(options, file.bytes());
  std::vector<AttentionDocument> documents;
  for (ReadDocument& read : read_attention(file.bytes(), name_of(options), options.tokens,
                                           {kind_of(options), options.part})) {
    documents.push_back(prepared(options, std::move(read)));
  }
  const AttentionDocument& first = documents.front();
  const auto focus = chosen_focus(
      options.pattern, text_of(options.pattern.as_key ? first.key_tokens : first.query_tokens),
      options.verbosity);
  if (focus) {
    for (AttentionDocument& document : documents) {
      document.drawing.focus = focus;
    }
  }
  return documents;
}

// JSON cannot write them; a null would be read back as a masked score or a missing value.
void refuse_non_finite(const AttentionDocument& document) {
  const auto is_written = [&document](float number) {
    return std::isfinite(number) || (number < 0.0f && is_before_softmax(document.kind));
  };
  for (const DocumentPattern& pattern : document.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      const auto row = pattern.weights.row(query);
      if (!std::ranges::all_of(row, is_written)) {
        throw Error(ErrorKind::kUnsupported,
                    fmt::format("head {}, query {}: JSON can only hold finite numbers",
                                head_name(pattern.head), query));
      }
    }
  }
}

// Documents of one --side-by-side run make one picture; all others make one each.
bool belong_together(const std::vector<AttentionDocument>& documents) {
  const AttentionDocument& first = documents.front();
  return std::all_of(documents.begin(), documents.end(), [&](const AttentionDocument& document) {
    return document.drawing.side_by_side.size() == documents.size() &&
           heads_of(document) == heads_of(first) && document.query_tokens == first.query_tokens &&
           document.key_tokens == first.key_tokens;
  });
}

}  // namespace

void run(const RenderOptions& options) {
  Phases phases(options.verbosity);
  const auto fonts = open_fonts(options.drawing.fonts, options.verbosity);
  Outputs outputs({.result = Result::kAttention,
                   .options = options.output,
                   .look = options.drawing,
                   .verbosity = options.verbosity,
                   .fonts = *fonts,
                   .read_files = read_files(options)});
  const std::vector<AttentionDocument> documents = read_documents(options);
  warn_unused_drawing(outputs, options.drawing, options.verbosity);
  Diagnostics diagnostics(options.verbosity);
  if (options.drawing.request.no_special) {
    note_nothing_special(documents, diagnostics);
  }
  phases.done("read");
  const std::size_t of_a_picture = belong_together(documents) ? documents.size() : 1;
  std::vector<ShownAttention> pictures;
  for (std::size_t first = 0; first < documents.size(); first += of_a_picture) {
    pictures.push_back(shown_attention(std::span(documents).subspan(first, of_a_picture),
                                       options.heads, options.pattern, options.drawing.style,
                                       outputs));
  }
  for (ShownAttention& picture : pictures) {
    warn_unused_of_bars(picture, outputs, diagnostics);
    picture.set_extras({.command = options.output.command, .first = first_shown(picture)});
  }
  outputs.write([&](const Format& format, const Look& look, const ByteSink& sink) {
    const std::size_t n_results =
        format.content == Content::kNumbers                                      ? documents.size()
        : format.content == Content::kFigure || format.content == Content::kPage ? pictures.size()
                                                                                 : 1;
    if (n_results > 1) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format(
              "{}: {} documents do not fit into one picture or array; render them one at a time",
              name_of(options), documents.size()));
    }
    if (format.content == Content::kDocument) {
      std::for_each(documents.begin(), documents.end(), refuse_non_finite);
    }
    for (const ShownAttention& picture : pictures) {
      format.attention(picture, look, sink);
    }
  });
  phases.done("render");
}

}  // namespace attnviz::app
