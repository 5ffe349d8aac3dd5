#include "options/option_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <system_error>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/threads.h"
#include "attnviz/model/mask.h"
#include "attnviz/text/tokenizer.h"
#include "options/option_values.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

namespace {

std::string parse_tokenizer(std::string_view option, const std::string& word) {
  std::error_code ignored;
  const bool is_path = word.find('/') != std::string::npos || word.ends_with(".json") ||
                       word.ends_with(".model") || std::filesystem::exists(word, ignored);
  const auto names = tokenizer_names();
  if (!is_path && std::find(names.begin(), names.end(), word) == names.end()) {
    fail_choice(option, word, {names.begin(), names.end()});
  }
  return word;
}

}  // namespace

// Options that commands share, group by group.

void define_text(OptionList& list, InputOptions& input) {
  list.add_positional(kText, input.text).conflicts({"--file", "--messages", "--ids"});
  // A second word is nearly always a sentence without quotes; the parser reports that.
  list.add_positional(kSecondText);
}

void define_input(OptionList& list, InputOptions& input) {
  define_text(list, input);
  define_reading(list, input);
  define_chat(list, input);
}

void define_reading(OptionList& list, InputOptions& input) {
  list.add_value("Input", "-f,--file", "FILE", "read the text from a file", input.file)
      .conflicts({"--ids", "--messages"})
      .common();
  list.add_value("Input", "--ids", "IDS", "token ids of the model instead of a TEXT: 5,17,3",
                 input.ids, parse_ids)
      .conflicts({"--messages", "--chat", "--system", "--lines", "--json-lines"})
      .conflicts({"--pair", "--bos", "--no-bos", "--special"}, ": ids are used unchanged");
  list.add_value("Input", "--pair", "TEXT",
                 "a second text, for models that take two (BERT): [CLS] TEXT [SEP] TEXT [SEP]",
                 input.pair)
      .conflicts(kChatOptions);
  list.add_flag("Input", "--bos",
                "add the beginning-of-text token (default: as the tokenizer is configured)",
                [&input] { input.bos = true; })
      .conflicts({"--no-bos"});
  list.add_flag("Input", "--no-bos", "do not add the beginning-of-text token",
                [&input] { input.bos = false; })
      .about("bos");
  list.add_flag("Input", "--special", "parse special tokens such as <|endoftext|> in the text",
                input.special);
}

void define_chat(OptionList& list, InputOptions& input) {
  list.add_flag(
          "Input", "--chat",
          "TEXT is a user's message in a chat; the model's chat template turns it into the prompt",
          input.chat)
      .about("chat")
      .about("fold")
      .common();
  list.add_value("Input", "--system", "TEXT", "the system message of the chat",
                 [&input](const std::string& word) {
                   input.system = word;
                   input.chat = true;
                 });
  list.add_value("Input", "--messages", "FILE",
                 "the chat's messages, a JSON list: [{\"role\": \"user\", \"content\": \"Hi\"}]; - "
                 "is standard input",
                 [&input](const std::string& word) {
                   input.file = word;
                   input.messages = input.chat = true;
                 });
  list.add_value("Input", "--tools", "FILE",
                 "tools that the model may call, as a JSON list; the chat template writes them out",
                 [&input](const std::string& word) { input.tools = word; })
      .needs(kChatOptions);
  list.add_flag("Input", "--no-generation-prompt",
                "end the chat after its last message, without the tokens that begin the answer",
                [&input] { input.generation_prompt = false; })
      .needs(kChatOptions);
  list.add_flag("Input", "--lint-prompt",
                "exit with code 5 if the text looks like a hand-written chat template or has two "
                "BOS tokens (default: warn)",
                input.lint_prompt);
}

void define_many_texts(OptionList& list, InputOptions& input) {
  list.add_flag("Input", "--lines", "each line is a text of its own", input.lines)
      .conflicts({"--messages", "--json-lines"});
  list.add_flag(
          "Input", "--json-lines",
          "each line is a JSON string, an object with \"text\" or \"ids\" (for encoder-decoders "
          "also \"target\" or \"decoder_ids\"), or a chat as a list of messages",
          input.json_lines)
      .conflicts({"--messages"});
}

void define_tokenizer(OptionList& list, std::optional<std::string>& tokenizer) {
  list.add_value("Input", "--tokenizer", "words|chars|bytes|PATH",
                 "how to split the text: a rule, or a tokenizer.json (default: the model's own, "
                 "else words)",
                 tokenizer, parse_tokenizer)
      .about("tokenizer");
}

void define_sizes(OptionList& list, const std::string& what, const std::string& usual_d_head,
                  const ShapeOf& shape) {
  const auto add = [&](const char* name, const std::string& text, std::size_t RandomShape::*size,
                       const std::string& hint = "") {
    list.add_size(
            name, text + what, [shape, size](std::size_t n) { shape().*size = n; }, hint)
        .conflicts({"--model", kFile}, ": a model has sizes of its own" + hint);
  };
  const bool chooses = list.find(kText) != nullptr;
  add("--layers", "layers (default 1)", &RandomShape::n_layers,
      chooses ? "; --layer chooses layers" : "");
  add("--heads", "heads per layer (default 4)", &RandomShape::n_heads,
      chooses ? "; --head chooses heads" : "");
  add("--kv-heads", "key/value heads (default: as --heads)", &RandomShape::n_kv_heads);
  add("--d-model", "width (default heads x d-head)", &RandomShape::d_model);
  add("--d-head", "query/key width of a head (default " + usual_d_head + ")", &RandomShape::d_head);
  add("--d-value", "value width of a head (default d-head)", &RandomShape::d_value);
}

void define_shape(OptionList& list, ModelOptions& model) {
  list.add_value(
      "Model", "--seed", "N",
      fmt::format("seed of everything random: weights, embeddings, --dropout (default {})",
                  kDefaultSeed),
      model.seed, count_between(0, std::numeric_limits<std::uint64_t>::max()));
  define_sizes(list, "; for a random model", "16",
               [&model]() -> RandomShape& { return in_numbers<RandomShape>(model.model); });
  list.add_value("Model", "--positions", joined_choices(kPositionChoices),
                 "position information, for models without their own (default none)",
                 model.positions, parse_positions);
}

void define_cutting(OptionList& list, AttentionOptions& options) {
  define_tokenizer(list, options.tokenizer);
  list.add_choice("Input", "--truncate", kTruncateSides,
                  "cut this end of a text that is longer than the model's context (default: refuse "
                  "the text)",
                  options.truncate)
      .about("n_ctx", "--truncate left or right");
}

void define_model(OptionList& list, AttentionOptions& options) {
  define_cutting(list, options);
  define_named_model(list, options.model.model, options.verbosity,
                     "the model to use, a file, folder or name: weights JSON, a Hugging Face "
                     "folder or .safetensors file, a GGUF file, or the name of a model on this "
                     "machine, as attnviz models lists them (default: demo, the embedded one)");
  define_random(list, options);
}

void define_random(OptionList& list, AttentionOptions& options) {
  list.add_flag("Model", "--random",
                "random weights, whose patterns mean nothing; without --model, they are also "
                "selected by the sizes of a random model, and by --seed unless --dropout is given",
                [&options] { in_numbers<RandomShape>(options.model.model); })
      .conflicts({"--model"});
  define_shape(list, options.model);
}

void define_selection(OptionList& list, HeadOptions& selection, const char* default_heads) {
  list.add_value("Attention", "--layer", "SEL", "only these layers: 0, 0,2, 1-3", selection.layers)
      .about("heads");
  list.add_value("Attention", "--head", "SEL",
                 fmt::format(
                     "only these heads, such as 2.1: L5H1, 5.*, *.0, 5.0-2, 1 (of every layer), or "
                     "a list with commas (default {})",
                     default_heads),
                 selection.heads)
      .common();
}

void define_what_if(OptionList& list, WhatIf& what_if) {
  list.add_list(
      "Attention", "--ablate", "LIST",
      "run without these: heads (2.1, L2H1, 2.*, *.0, 2.0-1), the attention of layers (L2, L0-1), "
      "MLPs (L2.mlp); their output is replaced by 0 or, if =mean follows the list, by its mean "
      "over the text (after an item: for that item only); may be repeated",
      [&what_if](const std::vector<std::string>& lists) {
        for (const std::string& rules : lists) {
          std::ranges::move(parse_ablations(rules), std::back_inserter(what_if.ablate));
        }
      });
  list.add_list("Attention", "--hide", "EDGES",
                "\"QUERIES>KEYS\": hide these keys from these queries, as a mask does; "
                "\"sat>cat@1\" in layer 1, @0-1 in two layers, @1.3 in one head. Tokens: cat "
                "(every one), cat#2, \"the cat\", 3, -1, 3-5, 3- (to the end), *, a list with "
                "commas; indices count the model's tokens in the text as given; may be repeated",
                [&what_if](const std::vector<std::string>& rules) {
                  for (const std::string& rule : rules) {
                    what_if.hide.push_back(parse_hidden(rule));
                  }
                });
}

void define_softmax(OptionList& list, AttentionRequest& request) {
  list.add_value("Attention", "--mask", "causal|none|window:W|strided:S|block:B|around:R",
                 "which keys a query can see (default: the model's own, else causal)", request.mask,
                 parse_mask);
  list.add_value("Attention", "--temperature", "T", "divide the scaled scores by T (default 1)",
                 request.temperature, parse_temperature);
  list.add_flag("Attention", "--no-scale", "do not divide scores by the square root of d_head",
                [&request] { request.scale = false; });
}

void define_attention(OptionList& list, AttentionOptions& options, const char* default_heads) {
  AttentionRequest& request = options.request;
  define_softmax(list, request);
  list.add_value("Attention", "--dropout", "P",
                 "drop weights with probability P, seeded; the others grow by 1/(1-P)",
                 request.dropout, parse_share);
  define_what_if(list, options.what_if);
  define_selection(list, options.heads, default_heads);
}

void define_names(OptionList& list, AttentionOptions& options) {
  list.add_flag("Attention", "--names",
                "first identify induction heads and the like in a test on repeated random tokens, "
                "and label them (default: only for the demo model, whose heads are known)",
                options.names);
}

void define_verbosity(OptionList& list, Verbosity& verbosity) {
  list.add_flag("General", "-q,--quiet",
                "print only errors; with -o or --predict, draw nothing either", verbosity.quiet)
      .conflicts({"--verbose"});
  list.add_flag("General", "-v,--verbose",
                "report on standard error what is done, how long it takes, what each head looks at "
                "and which parts of a model's files are ignored",
                verbosity.verbose);
}

void define_strict(OptionList& list, Verbosity& verbosity) {
  list.add_flag("Model", "--strict",
                "exit with code 4 if the model's files have keys or tensors that attnviz does not "
                "know (default: warn and ignore them)",
                verbosity.strict);
}

void define_run(OptionList& list, AttentionOptions& options) {
  options.request.n_threads = available_threads();
  list.add_value("General", "--threads", "N", "threads to compute with (default: all cores)",
                 options.request.n_threads, count_between(1, 1024));
  list.add_value("General", "--simd", "TARGET",
                 "SIMD instructions to compute with: auto, or a name that --verbose shows",
                 options.simd)
      .proposes({"auto"});
  define_verbosity(list, options.verbosity);
}

void define_color(OptionList& list, ColorChoice& color) {
  list.add_choice("Output", "--color", kColors,
                  "colour (default: on a terminal, unless NO_COLOR is set)", color);
}

void define_fonts(OptionList& list, std::vector<std::filesystem::path>& fonts) {
  list.add_list("Output", "--font", "FILE",
                "font for characters in a picture's labels that the built-in font lacks; tried "
                "before installed fonts; may be repeated",
                fonts)
      .only_in(Effect::kPicture);
}

void define_colormap(OptionList& list, DrawingRequest& request) {
  const auto names = colormap_names();
  list.add_value("Output", "--colormap", "NAME",
                 fmt::format("{}; NAME_r is reversed", joined_by(names, ", ")), request.colormap,
                 [](const std::string& word) { return Colormap(word).name(); })
      .proposes({names.begin(), names.end()})
      .only_in(Effect::kMap);
}

void define_figure_look(OptionList& list, LookOptions& look) {
  define_fonts(list, look.fonts);
  FigureStyle& figure = look.figure;
  list.add_value("Output", "--theme", joined_choices(kThemes),
                 "background of PNG and SVG pictures (default light)", figure.theme,
                 [](const std::string& word) { return parse_choice("theme", word, kThemes); })
      .only_in(Effect::kPicture);
  list.add_value(
          "Output", "--dpi", "N",
          "resolution of PNG and SVG pictures: text, gaps and cells grow with it (default 96)",
          figure.dpi, count_between(kLeastDpi, kMostDpi))
      .only_in(Effect::kPicture)
      .about("picture");
  list.add_value("Output", "--width", "85mm|7in|1200px",
                 "width of a whole PNG or SVG picture: text keeps its size, cells adapt (default: "
                 "as needed)",
                 figure.width, parse_length)
      .only_in(Effect::kPicture)
      .about("picture");
}

void define_figure(OptionList& list, DrawingRequest& request, LookOptions& look) {
  list.add_value("Output", "--title", "TEXT", "title of the picture; empty: none", request.title)
      .only_in(Effect::kMap);
  list.add_value(
          "Output", "--cell", "PX",
          "size of a PNG or SVG picture's cells at 96 dpi; turns pooling off (default: what fits)",
          look.figure.cell, count_between(1, kLargestCell))
      .conflicts({"--width"})
      .only_in(Effect::kPicture)
      .about("picture");
  list.add_flag("Output", "--no-values", "no numbers in the cells",
                [&look] { look.figure.values = false; })
      .conflicts({"--style numbers"}, ": nothing but numbers would be drawn");
  list.add_flag("Output", "--no-footer", "no notes below a PNG or SVG picture",
                [&look] { look.figure.footer = false; })
      .only_in(Effect::kPicture)
      .about("picture");
  define_figure_look(list, look);
}

void define_drawing(OptionList& list, DrawingOptions& drawing) {
  DrawingRequest& request = drawing.request;
  list.add_choice("Output", "--style", kStyles,
                  "how to draw (default: blocks on a terminal and in pipes with a UTF-8 locale, "
                  "else ascii); ascii, mask and arcs-ascii are pure ASCII; mask shows only which "
                  "keys a query can see; arcs draws lines from queries to keys, for at most 12 "
                  "heads in one picture (with more, the most informative one unless you choose)",
                  drawing.style)
      .common();
  define_color(list, drawing.color);
  define_colormap(list, request);
  list.add_value("Output", "--scale", joined_choices(kScales),
                 "how a weight becomes a colour (default linear)", request.scale,
                 [](const std::string& word) { return parse_choice("scale", word, kScales); })
      .only_in(Effect::kMap)
      .about("scale");
  list.add_value("Output", "--range", "LO:HI|auto",
                 "the weights at the ends of the colour scale (default 0:1); auto: from 0 to the "
                 "largest, or symmetric around 0 if some are negative",
                 [&request](const std::string& word) {
                   request.automatic_range = word == "auto";
                   request.range = request.automatic_range
                                       ? std::nullopt
                                       : std::optional(parse_range("--range", word));
                 })
      .only_in(Effect::kMap);
  list.add_flag("Output", "--drop-sink",
                "hide the first token in pictures and rescale the rows; for models with learned "
                "sinks, hide the sinks instead",
                request.drop_sink);
  list.add_flag("Output", "--no-special",
                "hide the tokens that the tokenizer added ([CLS], [SEP], BOS) in pictures; rows "
                "are not rescaled",
                request.no_special);
  list.add_flag("Output", "--plain-labels", "labels without symbols for spaces: cat, not ␣cat",
                request.plain_labels);
  list.add_flag("Output", "--transpose", "draw keys as rows and queries as columns",
                request.transposed);
  list.add_value("Output", "--pool", joined_choices(kPools),
                 "in pictures of long texts, whether a cell shows the largest or the mean of the "
                 "weights under it (default auto: the largest; in very coarse thumbnails the mean, "
                 "with colours scaled to each row)",
                 request.pool, parse_pool);
  define_figure(list, request, drawing);
}

void define_files(OptionList& list, OutputOptions& output, Result result) {
  const auto formats = formats_of(result);
  const std::vector<std::string> names = choice_words(formats);
  list.add_list(
          "Output", "-o,--output", "FILE",
          fmt::format("also write a FILE that ends in .{} or .{}; - is standard output, instead of "
                      "the drawing; may be repeated",
                      joined_by(std::span(names).first(names.size() - 1), ", ."), names.back()),
          output.files)
      .common();
  list.add_choice("Output", "--format", formats, "format of -o if the file name does not show it",
                  output.format)
      .needs({"-o"}, ": it says what is written there");
  list.add_flag("Output", "--json", "print a JSON document instead of the drawing", output.json)
      .common();
}

void define_text_style(OptionList& list, StyleOptions& options) {
  list.add_choice("Output", "--style", std::span(kStyles).first(kTextStyles),
                  "how to draw (default: blocks on a terminal and in pipes with a UTF-8 locale, "
                  "else ascii, which is pure ASCII)",
                  options.style)
      .common();
  define_color(list, options.color);
}

void define_printed(OptionList& list, PrintOptions& options, const std::string& schema) {
  list.add_flag("Output", "--json", "print a JSON document (" + schema + ")", options.json);
  define_text_style(list, options);
  define_verbosity(list, options.verbosity);
}

}  // namespace attnviz::app
