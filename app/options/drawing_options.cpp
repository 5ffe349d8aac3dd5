#include "options/option_groups.h"

#include <fmt/format.h>

#include <span>

#include "options/option_values.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

void define_color(OptionList& list, ColorChoice& color) {
  list.add_choice("Output", "--color", kColors,
                  "colour (default: on a terminal, unless NO_COLOR is set)", color);
}

void define_fonts(OptionList& list, std::vector<std::filesystem::path>& fonts) {
  list.add_list("Output", "--font", "FILE",
                "font of a picture's labels for characters that the built-in one lacks, before "
                "those installed; may be repeated",
                [&fonts](const std::vector<std::string>& files) {
                  fonts.assign(files.begin(), files.end());
                });
}

void define_drawing(OptionList& list, DrawingOptions& drawing) {
  DrawingRequest& request = drawing.request;
  list.add_choice(
      "Output", "--style", kStyles,
      "how to draw (default: blocks on a terminal, else ascii); ascii and mask are pure "
      "7-bit, mask shows only who may see whom",
      drawing.style);
  define_color(list, drawing.color);
  list.add_value("Output", "--colormap", "NAME",
                 fmt::format("{}; NAME_r is reversed", fmt::join(colormap_names(), ", ")),
                 [&request](const std::string& word) { request.colormap = Colormap(word).name(); });
  list.add_value("Output", "--scale", joined_choices(kScales),
                 "how a weight becomes a colour (default linear)",
                 [&request](const std::string& word) {
                   request.scale = parse_choice("scale", word, kScales);
                 });
  list.add_value("Output", "--range", "LO:HI|auto",
                 "the weights at the ends of the colour scale (default 0:1); auto: 0 and "
                 "the largest, or with negative ones the same to both sides of 0",
                 [&request](const std::string& word) {
                   request.automatic_range = word == "auto";
                   request.range = request.automatic_range
                                       ? std::nullopt
                                       : std::optional(parse_range("--range", word));
                 });
  list.add_flag("Output", "--drop-sink",
                "leave the first token out of the pictures and rescale the rows",
                request.drop_sink);
  list.add_value(
      "Output", "--pool", joined_choices(kPools),
      "what a cell shows of the weights under it, in pictures of long texts (default max)",
      [&request](const std::string& word) { request.pool = parse_pool(word); });
  list.add_value("Output", "--title", "TEXT", "title of the picture; empty: none",
                 [&request](const std::string& word) { request.title = word; });
  define_fonts(list, drawing.fonts);
  FigureStyle& figure = drawing.figure;
  list.add_value(
      "Output", "--theme", joined_choices(kThemes), "background of PNG pictures (default light)",
      [&figure](const std::string& word) { figure.theme = parse_choice("theme", word, kThemes); });
  list.add_value(
      "Output", "--cell", "PX",
      "size of a PNG picture's cells at 96 dpi; none are pooled then (default: what fits)",
      [&figure](const std::string& word) {
        figure.cell = static_cast<int>(parse_count("--cell", word, 1, kLargestCell));
      });
  list.add_value("Output", "--dpi", "N",
                 "resolution of PNG pictures: text, gaps and cells grow with it (default 96)",
                 [&figure](const std::string& word) {
                   figure.dpi = static_cast<int>(parse_count("--dpi", word, kLeastDpi, kMostDpi));
                 });
}

void define_files(OptionList& list, OutputOptions& output, Result result) {
  const auto formats = formats_of(result);
  const std::vector<std::string> names = choice_words(formats);
  list.add_list("Output", "-o,--output", "FILE",
                fmt::format("also write FILE.{} or .{}; - is standard output, in place of the "
                            "drawing; may be repeated",
                            fmt::join(names.begin(), names.end() - 1, ", ."), names.back()),
                [&output](const std::vector<std::string>& files) { output.files = files; });
  list.add_choice("Output", "--format", formats, "format of -o where the name does not tell it",
                  output.format);
  list.add_flag("Output", "--json", "print a JSON document in place of the drawing", output.json);
}

void define_text_style(OptionList& list, StyleChoice& style) {
  list.add_choice("Output", "--style", std::span(kStyles).first(kTextStyles),
                  "how to write (default: blocks on a terminal, else ascii, which is pure 7-bit)",
                  style);
}

void define_inspection_output(OptionList& list, InspectOptions& options) {
  define_files(list, options.output, Result::kInspection);
  define_text_style(list, options.look.style);
  define_color(list, options.look.color);
  define_fonts(list, options.look.fonts);
}

void define_steps(OptionList& list, InspectOptions& options) {
  list.add_list("Output", "--step", "STEP",
                fmt::format("only these steps: {}, or a list with commas; may be repeated",
                            inspection_step_list()),
                [&options](const std::vector<std::string>& lists) {
                  options.steps =
                      parse_inspection_steps("--step", fmt::format("{}", fmt::join(lists, ",")));
                });
  list.add_flag("Output", "--explain", "a plain sentence to each step, true for its numbers",
                options.explain);
  list.add_flag("Output", "--full",
                "every key, every number, and the matrices of all queries, as JSON always has them",
                options.full);
}

}  // namespace attnviz::app
