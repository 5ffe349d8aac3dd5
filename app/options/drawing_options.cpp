#include "options/option_groups.h"

#include <fmt/format.h>

#include <utility>

#include "attnviz/document/pooling.h"
#include "options/option_adders.h"
#include "options/option_values.h"

namespace attnviz::app {

void define_color(CLI::App& app, ColorChoice& color) {
  add_choice(app, "Output", "--color", "auto|always|never",
             "colour (default: on a terminal, unless NO_COLOR is set)", color);
}

void define_fonts(CLI::App& app, std::vector<std::filesystem::path>& fonts) {
  app.add_option("--font", fonts,
                 "font of a picture's labels for characters that the built-in one lacks, before "
                 "those installed; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Output");
}

void define_drawing(CLI::App& app, DrawingOptions& drawing) {
  DrawingRequest& request = drawing.request;
  add_choice(app, "Output", "--style", "auto|ascii|blocks|dots|numbers|mask",
             "how to draw (default: blocks on a terminal, else ascii); ascii and mask are pure "
             "7-bit, mask shows only who may see whom",
             drawing.style);
  define_color(app, drawing.color);
  add_value(app, "Output", "--colormap", "NAME",
            fmt::format("{}; NAME_r is reversed", fmt::join(colormap_names(), ", ")),
            [&request](const std::string& word) { request.colormap = Colormap(word).name(); });
  add_value(app, "Output", "--scale", "linear|sqrt|log|row-max",
            "how a weight becomes a colour (default linear)",
            [&request](const std::string& word) { request.scale = parse_scale(word); });
  add_value(app, "Output", "--range", "LO:HI|auto",
            "the weights at the ends of the colour scale (default 0:1); auto: 0 and "
            "the largest, or with negative ones the same to both sides of 0",
            [&request](const std::string& word) {
              request.automatic_range = word == "auto";
              request.range = request.automatic_range ? std::nullopt
                                                      : std::optional(parse_range("--range", word));
            });
  add_flag(app, "Output", "--drop-sink",
           "leave the first token out of the pictures and rescale the rows", request.drop_sink);
  add_value(app, "Output", "--pool", "max|mean",
            "what a cell shows of the weights under it, in pictures of long texts (default max)",
            [&request](const std::string& word) { request.pool = parse_pool(word); });
  add_value(app, "Output", "--title", "TEXT", "title of the picture; empty: none",
            [&request](const std::string& word) { request.title = word; });
  define_fonts(app, drawing.fonts);
  FigureStyle& figure = drawing.figure;
  add_value(app, "Output", "--theme", "light|dark", "background of PNG pictures (default light)",
            [&figure](const std::string& word) { figure.theme = parse_theme(word); });
  add_value(app, "Output", "--cell", "PX",
            "size of a PNG picture's cells at 96 dpi; none are pooled then (default: what fits)",
            [&figure](const std::string& word) {
              figure.cell = static_cast<int>(parse_count("--cell", word, 1, kLargestCell));
            });
  add_value(app, "Output", "--dpi", "N",
            "resolution of PNG pictures: text, gaps and cells grow with it (default 96)",
            [&figure](const std::string& word) {
              figure.dpi = static_cast<int>(parse_count("--dpi", word, kLeastDpi, kMostDpi));
            });
}

void define_files(CLI::App& app, OutputOptions& output, const std::string& formats) {
  std::vector<std::string> names = split_choices(formats);
  app.add_option("-o,--output", output.files,
                 fmt::format("also write FILE.{} or .{}; - is standard output, in place of the "
                             "drawing; may be repeated",
                             fmt::join(names.begin(), names.end() - 1, ", ."), names.back()))
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Output");
  add_value(app, "Output", "--format", formats, "format of -o where the name does not tell it",
            [&output, names = std::move(names)](const std::string& word) {
              const std::vector<std::string> all = {"png", "json", "npy", "txt"};
              parse_choice("--format", word, names);
              output.format = static_cast<OutputFormat>(parse_choice("--format", word, all));
            });
  add_flag(app, "Output", "--json", "print a JSON document in place of the drawing", output.json);
}

void define_text_style(CLI::App& app, StyleChoice& style) {
  add_choice(app, "Output", "--style", "auto|ascii|blocks",
             "how to write (default: blocks on a terminal, else ascii, which is pure 7-bit)",
             style);
}

void define_inspection_output(CLI::App& app, InspectOptions& options) {
  define_files(app, options.output, "png|json|txt");
  define_text_style(app, options.style);
  define_color(app, options.color);
  define_fonts(app, options.fonts);
}

void define_steps(CLI::App& app, InspectOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--step",
         [&options](const std::vector<std::string>& lists) {
           options.steps =
               parse_inspection_steps("--step", fmt::format("{}", fmt::join(lists, ",")));
         },
         fmt::format("only these steps: {}, or a list with commas; may be repeated",
                     inspection_step_list()))
      ->type_name("STEP")
      ->allow_extra_args(false)
      ->group("Output");
  add_flag(app, "Output", "--explain", "a plain sentence to each step, true for its numbers",
           options.explain);
  add_flag(app, "Output", "--full",
           "every key, every number, and the matrices of all queries, as JSON always has them",
           options.full);
}

}  // namespace attnviz::app
