#include "outputs/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "options/advice.h"
#include "outputs/formats/shown_attention.h"
#include "system/diagnostics.h"
#include "system/process.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLinePlace = "{line}";

const Format* format_of(const std::string& name) {
  const std::string extension = ascii_lower(fs::path(name).extension().string());
  return extension.empty() ? nullptr : find_format(std::string_view(extension).substr(1));
}

const Format& with_content(Content content) {
  return *std::ranges::find(all_formats(), content, &Format::content);
}

// Pictures have no characters, so styles that only differ in characters become colours.
CellStyle cells_of(StyleChoice style) {
  return style == TerminalStyle::kDots      ? CellStyle::kDots
         : style == TerminalStyle::kNumbers ? CellStyle::kNumbers
         : style == TerminalStyle::kMask    ? CellStyle::kMask
                                            : CellStyle::kColors;
}

// "png, json or txt".
std::string alternatives(Result result, std::string_view prefix) {
  std::vector<std::string> names = choice_words(formats_of(result));
  for (std::string& name : names) {
    name.insert(0, prefix);
  }
  return joined(names, "or");
}

// The command that converts an SVG to a PDF, which attnviz does not write.
std::optional<std::string> way_to_pdf(const std::string& name) {
  fs::path path = name;
  if (ascii_lower(path.extension().string()) != ".pdf") {
    return std::nullopt;
  }
  const std::string svg = path.replace_extension(".svg").string();
  return fmt::format("rsvg-convert -f pdf -o {} {}", shell_quoted(name), shell_quoted(svg));
}

}  // namespace

Outputs::Outputs(OutputPlan plan)
    : plan_(std::move(plan)),
      figure_(plan_.look.figure),
      stdout_look_{figure_, stdout_drawing(plan_.look.style, plan_.look.color),
                   plan_.verbosity.quiet},
      file_look_{figure_, file_drawing(plan_.look.style, plan_.look.color)} {
  plan_.read_files.insert(plan_.read_files.end(), plan_.look.fonts.begin(), plan_.look.fonts.end());
  figure_.fonts = &plan_.fonts;
  figure_.cells = cells_of(plan_.look.style);
  stdout_look_.terminal.values = file_look_.terminal.values = figure_.values;
  const OutputOptions& options = plan_.options;
  if (options.json) {
    stdout_format_ = &with_content(Content::kDocument);
  }
  for (const std::string& name : options.files) {
    open(name);
  }
  const bool format_is_used = std::any_of(
      options.files.begin(), options.files.end(),
      [](const std::string& name) { return name == "-" || format_of(name) == nullptr; });
  if (options.format != nullptr && !format_is_used) {
    throw Error(ErrorKind::kUsage, "--format: the names of the -o files already show it");
  }
  const bool has_files = !files_.empty() || !patterns_.empty();
  stdout_is_open_ = stdout_format_ != nullptr || !has_files || !plan_.verbosity.quiet;
  if (stdout_format_ == nullptr) {
    stdout_format_ = &with_content(Content::kScreen);
  }
  for (const File& entry : files_) {
    refuse_standard_output(entry.file.path());
  }
  if (plan_.side_by_side && writes(Content::kNumbers)) {
    throw Error(ErrorKind::kUsage,
                "--side-by-side: an .npy array cannot hold several patterns; .json can");
  }
  if (!writes(Content::kFigure)) {
    constexpr const char* kWhy = "no picture was asked for (-o FILE.png, -o FILE.svg)";
    warn_unused(plan_.verbosity, Effect::kPicture, kWhy);
    if (!has_colored_screen()) {
      warn_unused(plan_.verbosity, {"--no-values"}, kWhy);
    }
  }
}

void Outputs::open(const std::string& name) {
  const bool to_stdout = name == "-";
  const Format* const by_name = to_stdout ? nullptr : format_of(name);
  const Format* const format = by_name != nullptr ? by_name : plan_.options.format;
  if (format == nullptr || !format->takes(plan_.result)) {
    if (to_stdout) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("-o - needs --format {}", alternatives(plan_.result, "")));
    }
    const std::string expected = fmt::format("-o {}: expected a name that ends in {}, or --format",
                                             name, alternatives(plan_.result, "."));
    if (const auto line = way_to_pdf(name)) {
      throw AdviceError(ErrorKind::kUsage, {expected + "; to make a PDF from an SVG:", {*line}});
    }
    throw Error(ErrorKind::kUsage, expected);
  }
  if (name.find(kLinePlace) != std::string::npos) {
    if (!plan_.many_results) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("-o {}: {} needs --lines or --json-lines", name, kLinePlace));
    }
    patterns_.push_back({format, name});
    return;
  }
  if (plan_.many_results && format->content != Content::kDocument) {
    const fs::path path = name;
    throw Error(
        ErrorKind::kUsage,
        fmt::format("-o {}: only JSON can hold many texts (--lines, --json-lines); for one file "
                    "each: -o {}",
                    name,
                    (path.parent_path() / (path.stem().string() + "-" + std::string(kLinePlace) +
                                           path.extension().string()))
                        .string()));
  }
  if (!to_stdout) {
    return open_file(*format, name, /*is_of_one_result=*/false);
  }
  if (!format->is_text && stdout_is_terminal()) {
    throw Error(ErrorKind::kUsage, "-o -: a terminal cannot show bytes: redirect standard output");
  }
  stdout_format_ = format;
}

void Outputs::open_file(const Format& format, const std::string& name, bool is_of_one_result) {
  for (const fs::path& file : plan_.read_files) {
    refuse_to_overwrite("-o", name, file);
  }
  for (const File& earlier : files_) {
    if (same_place(name, earlier.file.path())) {
      throw Error(ErrorKind::kUsage, fmt::format("-o {}: given twice", name));
    }
  }
  files_.emplace_back(format, name, is_of_one_result);
}

void Outputs::refuse_standard_output(const fs::path& file) const {
  if (stdout_is_open_ && is_where_stdout_goes(file)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("-o {}: standard output is the same file", file.string()));
  }
}

void Outputs::begin_result(std::size_t line, std::string_view text) {
  stdout_look_.heading = fmt::format("line {}: {}", line, text);
  stdout_look_.line = file_look_.line = line;
  for (const NamePattern& pattern : patterns_) {
    std::string name = pattern.name;
    for (std::size_t at = name.find(kLinePlace); at != std::string::npos;
         at = name.find(kLinePlace, at)) {
      name.replace(at, kLinePlace.size(), std::to_string(line));
    }
    refuse_standard_output(name);
    open_file(*pattern.format, name, /*is_of_one_result=*/true);
  }
}

void Outputs::check_output_size(const ExpectedOutput& weights) {
  constexpr double kMost = 10e9;
  const auto n = static_cast<double>(weights.n_tokens);
  const double n_hidden = static_cast<double>(weights.n_patterns) * n * n - weights.n_visible;
  const auto bytes_in = [&](const Format& format) {
    return weights.n_visible * format.weight_bytes + n_hidden * format.hidden_bytes;
  };
  if (writes(Content::kPage) && weights.n_visible > static_cast<double>(kMostPageWeights)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("a page holds at most {} million weights, and {} over {} have {:.0f} "
                            "million: choose fewer heads (--head 0.0, --layer 0) or a shorter "
                            "text, or draw a picture (-o FILE.png)",
                            kMostPageWeights / 1'000'000, counted(weights.n_patterns, "head"),
                            counted(weights.n_tokens, "token"), weights.n_visible / 1e6));
  }
  const double earlier = file_bytes_;
  for (const File& file : files_) {
    file_bytes_ += bytes_in(*file.format);
  }
  // The reader of standard output need not keep earlier results.
  const double bytes = file_bytes_ + (stdout_is_open_ ? bytes_in(*stdout_format_) : 0.0);
  if (bytes > kMost && !plan_.options.force) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "the weights of {} over {}{} would take about {}: choose fewer heads (--head 0.0, "
            "--layer 0) or a shorter text, draw a picture (-o FILE.png), or give --force",
            counted(weights.n_patterns, "head"), counted(weights.n_tokens, "token"),
            bytes - earlier > kMost ? "" : " and of the texts before it", in_bytes(bytes)));
  }
}

// Whether the screen shows coloured cells, which may show their values.
bool Outputs::has_colored_screen() const {
  const auto is_such = [](const Look& look) {
    return look.terminal.style == TerminalStyle::kBlocks &&
           look.terminal.color != ColorDepth::kNone;
  };
  return std::ranges::any_of(all_formats(), [&](const Format& format) {
    if (format.content != Content::kScreen) {
      return false;
    }
    const std::vector<Look> all = looks(format);
    return std::ranges::any_of(all, is_such);
  });
}

bool Outputs::has_file(const Format& format) const {
  const auto is_such = [&format](const auto& one) { return one.format == &format; };
  return std::ranges::any_of(files_, is_such) || std::ranges::any_of(patterns_, is_such);
}

bool Outputs::goes_to_stdout(const Format& format) const {
  return stdout_is_open_ && stdout_format_ == &format;
}

bool Outputs::writes(const Format& format) const {
  return has_file(format) || goes_to_stdout(format);
}

bool Outputs::writes(Content content) const {
  return std::ranges::any_of(all_formats(), [&](const Format& format) {
    return format.content == content && writes(format);
  });
}

std::vector<Look> Outputs::looks(const Format& format) const {
  std::vector<Look> looks;
  if (has_file(format)) {
    looks.push_back(file_look_);
  }
  if (goes_to_stdout(format)) {
    looks.push_back(stdout_look_);
  }
  return looks;
}

bool Outputs::streams_to_screen() const {
  return stdout_is_open_ && stdout_format_->begin_rows != nullptr && stdout_is_terminal();
}

ByteSink Outputs::all(const Format& format) {
  return [this, &format](std::string_view bytes) {
    for (File& entry : files_) {
      if (entry.format == &format) {
        entry.file.write(bytes);
      }
    }
    if (goes_to_stdout(format)) {
      unless_closed([this, bytes] { to_standard_output(bytes); });
    }
  };
}

bool Outputs::has_files_to_finish() const noexcept {
  return !committed_ && !(files_.empty() && patterns_.empty());
}

// Defers an error until the files have their names.
void Outputs::to_standard_output(std::string_view bytes) {
  try {
    write_to_stdout(bytes);
  } catch (const Error&) {
    if (!has_files_to_finish()) {
      throw;
    }
    stdout_failure_ = std::current_exception();
    throw ClosedPipe{};
  }
}

// Finishes the files even if the reader of standard output is gone.
void Outputs::unless_closed(const std::function<void()>& write) {
  try {
    write();
  } catch (const ClosedPipe&) {
    if (!has_files_to_finish()) {
      throw;
    }
    stdout_is_open_ = false;
  }
}

void Outputs::write(const Export& write) {
  for (File& entry : files_) {
    write(*entry.format, file_look_, [&entry](std::string_view bytes) { entry.file.write(bytes); });
  }
  if (!plan_.many_results) {
    commit();
  }
  while (!files_.empty() && files_.back().is_of_one_result) {  // these were opened last
    commit(files_.back().file);
    files_.pop_back();
  }
  write_to_standard_output(write);
}

void Outputs::write(const ShownAttention& shown) {
  write([&](const Format& format, const Look& look, const ByteSink& sink) {
    format.attention(shown, look, sink);
  });
}

void Outputs::write(const Report& report) {
  write([&](const Format& format, const Look& look, const ByteSink& sink) {
    format.report(report, look, sink);
  });
}

void Outputs::finish() {
  if (plan_.many_results) {
    commit();
  }
}

void Outputs::commit(OutputFile& file) {
  file.commit();
  inform(plan_.verbosity, "wrote " + file.path().string());
}

void Outputs::commit() {
  for (File& entry : files_) {
    commit(entry.file);
  }
  committed_ = true;
  if (stdout_failure_) {
    std::rethrow_exception(std::exchange(stdout_failure_, nullptr));
  }
}

void Outputs::write_to_standard_output(const Export& write) {
  if (!stdout_is_open_) {
    return;
  }
  unless_closed([&] {
    if (stdout_format_->content == Content::kScreen && !is_first_) {
      to_standard_output("\n");
    }
    write(*stdout_format_, stdout_look_,
          [this](std::string_view bytes) { to_standard_output(bytes); });
  });
  is_first_ = false;
}

}  // namespace attnviz::app
