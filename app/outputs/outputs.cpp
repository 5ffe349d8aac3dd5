#include "outputs/outputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/ascii.h"
#include "attnviz/core/byte_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "system/talk.h"
#include "system/terminal_info.h"

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
  const std::string extension = ascii_lower(fs::path(name).extension().string());
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

// "png, json or txt".
std::string alternatives(std::span<const OutputFormat> formats, std::string_view prefix) {
  std::vector<std::string> names;
  for (const OutputFormat format : formats) {
    const auto found = std::find_if(kFormats.begin(), kFormats.end(), [&](const FormatName& entry) {
      return entry.format == format;
    });
    names.push_back(fmt::format("{}{}", prefix, found->extension.substr(1)));
  }
  return joined(names, "or");
}

// A slip of the hand that would cost the weights or the text.
void refuse_to_overwrite(const std::string& name, const fs::path& input) {
  std::error_code ignored;  // what does not exist is not overwritten
  if (fs::is_regular_file(name, ignored) && fs::equivalent(name, input, ignored)) {
    throw Error(ErrorKind::kUsage, fmt::format("-o {}: is read, and would be overwritten", name));
  }
}

bool same_place(const fs::path& a, const fs::path& b) {
  return fs::weakly_canonical(fs::absolute(a)) == fs::weakly_canonical(fs::absolute(b));
}

}  // namespace

Outputs::Outputs(OutputPlan plan)
    : plan_(std::move(plan)),
      stdout_drawing_(stdout_drawing(plan_.style.style, plan_.style.color)),
      file_drawing_(file_drawing(plan_.style.style, plan_.style.color)) {
  const OutputOptions& options = plan_.options;
  if (options.json) {
    stdout_format_ = OutputFormat::kJson;
  }
  for (const std::string& name : options.files) {
    open(name);
  }
  const bool format_is_used =
      std::any_of(options.files.begin(), options.files.end(),
                  [](const std::string& name) { return name == "-" || !format_of(name); });
  if (options.format && !format_is_used) {
    throw Error(ErrorKind::kUsage, "--format: the endings of the -o names say it already");
  }
  const bool draws_nothing = plan_.talk.quiet && !files_.empty() && !stdout_format_;
  stdout_is_open_ = !draws_nothing;
}

void Outputs::open(const std::string& name) {
  const bool to_stdout = name == "-";
  const auto by_name = to_stdout ? std::nullopt : format_of(name);
  const auto format = by_name ? by_name : plan_.options.format;
  if (!format ||
      std::find(plan_.formats.begin(), plan_.formats.end(), *format) == plan_.formats.end()) {
    throw Error(ErrorKind::kUsage,
                to_stdout ? fmt::format("-o - needs --format {}", alternatives(plan_.formats, ""))
                          : fmt::format("-o {}: expected a name that ends in {}, or --format", name,
                                        alternatives(plan_.formats, ".")));
  }
  if (plan_.many_results && *format != OutputFormat::kJson) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("-o {}: only JSON takes the many texts of --lines or --json-lines", name));
  }
  if (!to_stdout) {
    for (const fs::path& file : plan_.read_files) {
      refuse_to_overwrite(name, file);
    }
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

bool Outputs::writes(OutputFormat format) const {
  return (stdout_is_open_ && stdout_format_.value_or(OutputFormat::kText) == format) ||
         std::any_of(files_.begin(), files_.end(),
                     [format](const File& file) { return file.format == format; });
}

std::vector<TerminalOptions> Outputs::drawings() const {
  std::vector<TerminalOptions> drawings;
  if (std::any_of(files_.begin(), files_.end(),
                  [](const File& file) { return file.format == OutputFormat::kText; })) {
    drawings.push_back(file_drawing_);
  }
  if (stdout_is_open_ && stdout_format_.value_or(OutputFormat::kText) == OutputFormat::kText) {
    drawings.push_back(stdout_drawing_);
  }
  return drawings;
}

bool Outputs::shows(OutputFormat format) const {
  return stdout_is_open_ && stdout_format_ == format && stdout_is_terminal();
}

ByteSink Outputs::all(OutputFormat format) {
  return [this, format](std::string_view bytes) {
    for (File& entry : files_) {
      if (entry.format == format) {
        entry.file.write(bytes);
      }
    }
    if (stdout_is_open_ && stdout_format_ == format) {
      try {
        unless_closed([bytes] { write_to_stdout(bytes); });
      } catch (const Error&) {
        if (files_.empty()) {
          throw;
        }
        stdout_failure_ = std::current_exception();
        stdout_is_open_ = false;
      }
    }
  };
}

// A reader that has gone is no reason not to finish files.
void Outputs::unless_closed(const std::function<void()>& write) {
  try {
    write();
  } catch (const ClosedPipe&) {
    if (files_.empty() || committed_) {
      throw;
    }
    stdout_is_open_ = false;
  }
}

void Outputs::write_files(const FormatWriter& write) {
  for (File& entry : files_) {
    write(entry.format, file_drawing_,
          [&entry](std::string_view bytes) { entry.file.write(bytes); });
  }
}

void Outputs::commit() {
  for (File& entry : files_) {
    entry.file.commit();
    if (!plan_.talk.quiet) {
      say("wrote " + entry.file.path().string());
    }
  }
  committed_ = true;
  if (stdout_failure_) {
    std::rethrow_exception(std::exchange(stdout_failure_, nullptr));
  }
}

void Outputs::write_to_standard_output(const FormatWriter& write) {
  if (!stdout_is_open_) {
    return;
  }
  const auto format = stdout_format_.value_or(OutputFormat::kText);
  unless_closed([&] {
    if (format == OutputFormat::kText && !is_first_) {
      write_to_stdout("\n");
    }
    write(format, stdout_drawing_, write_to_stdout);
  });
  is_first_ = false;
}

}  // namespace attnviz::app
