#include "show_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/byte_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/formats/npy.h"
#include "attnviz/render/attention_json.h"
#include "attnviz/render/png.h"
#include "attnviz/render/terminal.h"
#include "system_fonts.h"
#include "talk.h"
#include "terminal_info.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

struct FormatName {
  std::string_view extension;
  OutputFormat format;
  bool is_text;
};

constexpr std::array kFormats = {
    FormatName{".png", OutputFormat::kPng, false}, FormatName{".json", OutputFormat::kJson, true},
    FormatName{".npy", OutputFormat::kNpy, false}, FormatName{".txt", OutputFormat::kText, true}};

std::optional<OutputFormat> format_of(const std::string& name) {
  std::string extension = fs::path(name).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const FormatName& entry : kFormats) {
    if (entry.extension == extension) {
      return entry.format;
    }
  }
  return std::nullopt;
}

bool is_text(OutputFormat format) {
  return std::any_of(kFormats.begin(), kFormats.end(), [format](const FormatName& entry) {
    return entry.format == format && entry.is_text;
  });
}

// A slip of the hand that would cost the weights or the text.
void refuse_to_overwrite(const std::string& name, const std::optional<fs::path>& input) {
  std::error_code ignored;  // what does not exist is not overwritten
  if (input && fs::is_regular_file(name, ignored) && fs::equivalent(name, *input, ignored)) {
    throw Error(ErrorKind::kUsage, fmt::format("-o {}: is read, and would be overwritten", name));
  }
}

bool same_place(const fs::path& a, const fs::path& b) {
  return fs::weakly_canonical(fs::absolute(a)) == fs::weakly_canonical(fs::absolute(b));
}

void write_npy(const AttentionDocument& document, const ByteSink& sink) {
  std::vector<HeadId> heads;
  std::set<std::size_t> layers;
  for (const DocumentPattern& pattern : document.patterns) {
    heads.push_back(pattern.head);
    layers.insert(pattern.head.layer);
  }
  if (!is_rectangle(heads)) {
    throw Error(ErrorKind::kUsage,
                "--head: an .npy array needs the same heads of every layer; choose a rectangle, or "
                "write .json");
  }
  const std::array shape = {layers.size(), heads.size() / layers.size(),
                            document.query_tokens.size(), document.key_tokens.size()};
  sink(npy_header(shape));
  for (const DocumentPattern& pattern : document.patterns) {
    write_npy_values(pattern.weights, sink);
  }
}

void write_format(OutputFormat format, const Result& result, const TerminalOptions& drawing,
                  const FigureStyle& figure, const ByteSink& sink) {
  switch (format) {
    case OutputFormat::kPng:
      sink(render_png(result.picture, figure));
      break;
    case OutputFormat::kJson:
      write_attention_json(result.document, sink);
      break;
    case OutputFormat::kNpy:
      write_npy(result.document, sink);
      break;
    case OutputFormat::kText:
      sink(render_terminal(result.picture, drawing));
      break;
  }
}

}  // namespace

ShowOutputs::ShowOutputs(const ShowOptions& options)
    : options_(options), fonts_(open_fonts(options.drawing.fonts)) {
  if (options.json) {
    stdout_format_ = OutputFormat::kJson;
  }
  for (const std::string& name : options.outputs) {
    open(name);
  }
  const bool format_is_used =
      std::any_of(options.outputs.begin(), options.outputs.end(),
                  [](const std::string& name) { return name == "-" || !format_of(name); });
  if (options.format && !format_is_used) {
    throw Error(ErrorKind::kUsage, "--format: the endings of the -o names say it already");
  }
  const bool draws_nothing = options.talk.quiet && !files_.empty() && !stdout_format_;
  stdout_is_open_ = !draws_nothing;
}

void ShowOutputs::open(const std::string& name) {
  const bool to_stdout = name == "-";
  const auto by_name = to_stdout ? std::nullopt : format_of(name);
  const auto format = by_name ? by_name : options_.format;
  if (!format) {
    throw Error(ErrorKind::kUsage,
                to_stdout ? std::string("-o - needs --format png, json, npy or txt")
                          : fmt::format("-o {}: expected a name that ends in .png, .json, .npy or "
                                        ".txt, or --format",
                                        name));
  }
  if (options_.input.many_texts() && *format != OutputFormat::kJson) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("-o {}: only JSON takes the many texts of --lines or --json-lines", name));
  }
  if (!to_stdout) {
    refuse_to_overwrite(name, options_.model.weights);
    refuse_to_overwrite(name, options_.input.file);
    for (const File& earlier : files_) {
      if (same_place(name, earlier.file.path())) {
        throw Error(ErrorKind::kUsage, fmt::format("-o {}: given twice", name));
      }
    }
    files_.emplace_back(*format, name);
    return;
  }
  if (!is_text(*format) && stdout_is_terminal()) {
    throw Error(ErrorKind::kUsage, "-o -: a terminal cannot show bytes: redirect standard output");
  }
  stdout_format_ = format;
}

FigureStyle ShowOutputs::figure_style() const {
  FigureStyle style = options_.drawing.figure;
  style.fonts = fonts_.get();
  return style;
}

void ShowOutputs::write_files(const Result& result) {
  const TerminalOptions drawing = file_drawing(options_.drawing.style, options_.drawing.color);
  for (File& entry : files_) {
    write_format(entry.format, result, drawing, figure_style(),
                 [&entry](std::string_view bytes) { entry.file.write(bytes); });
  }
}

void ShowOutputs::commit() {
  for (File& entry : files_) {
    entry.file.commit();
    if (!options_.talk.quiet) {
      say("wrote " + entry.file.path().string());
    }
  }
  committed_ = true;
}

void ShowOutputs::write_to_standard_output(const Result& result) {
  if (!stdout_is_open_) {
    return;
  }
  const TerminalOptions drawing = stdout_drawing(options_.drawing.style, options_.drawing.color);
  const auto format = stdout_format_.value_or(OutputFormat::kText);
  try {
    if (format == OutputFormat::kText && !is_first_) {
      write_to_stdout("\n");
    }
    write_format(format, result, drawing, figure_style(), write_to_stdout);
  } catch (const ClosedPipe&) {
    if (files_.empty() || committed_) {
      throw;
    }
    stdout_is_open_ = false;
  }
  is_first_ = false;
}

}  // namespace attnviz::app
