#include "attnviz/terminal/model_info_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/attention_facts.h"
#include "attnviz/document/words/short_numbers.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kNarrowestText = 20;
constexpr std::size_t kWidestText = 100;

class InfoScreen {
 public:
  InfoScreen(const ModelInfo& info, const TerminalOptions& options)
      : info_(info), charset_(options.style), columns_(std::max(options.columns, kNarrowestText)) {}

  Page draw() {
    add_words(title(), 0, kBold);
    if (info_.model != nullptr && info_.model->config.random_weights) {
      add_words("RANDOM WEIGHTS: they mean nothing");
    }
    section("Model", shape_facts(info_, charset_.is_ascii()));
    section("Attention", attention_facts(info_, charset_.is_ascii()));
    section("Tokenizer", tokenizer_facts(info_, charset_.is_ascii()));
    parameters();
    section("Weights", weights_facts(info_));
    memory();
    section("Metadata", metadata_facts(info_, charset_.is_ascii()));
    return std::move(page_);
  }

 private:
  std::string title() const {
    const std::string family = info_.model == nullptr ? "" : info_.model->config.family;
    return charset_.sentence(
        fmt::format("info: {}{}{}", info_.name, family.empty() ? "" : ", family ", family));
  }

  void add_words(std::string_view text, std::size_t indent = 0, const Style& style = {}) {
    page_.add(paragraph(text, std::min(columns_, kWidestText), style, indent));
  }

  void heading(std::string_view text) {
    page_.blank();
    page_.add(text, kBold);
  }

  // Labels on the left; texts that are too long go on below themselves.
  void section(std::string_view title, const std::vector<InfoFact>& facts) {
    if (facts.empty()) {
      return;
    }
    constexpr std::size_t kLabels = 12;
    std::size_t widest = kLabels;
    for (const InfoFact& fact : facts) {
      widest = std::max(widest, display_width(fact.label));
    }
    const bool is_narrow =
        columns_ < std::max(kIndent + widest + 1 + kNarrowestText, 2 * kNarrowestText);
    const std::size_t start = kIndent + (is_narrow ? 0 : widest + 1);
    heading(title);
    std::string_view previous;
    for (const InfoFact& fact : facts) {
      const std::vector<std::string> lines =
          wrap(fact.text, std::min(columns_, kWidestText) - start);
      if (start == kIndent) {
        add_words(fact.label + ":");
      }
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool is_labelled = i == 0 && start > kIndent && fact.label != previous;
        page_.add(pad_right(std::string(kIndent, ' ') + (is_labelled ? fact.label : ""), start) +
                  lines[i]);
      }
      previous = fact.label;
    }
  }

  struct Row {
    Span label;
    std::vector<std::string> cells;
  };

  void table(std::string_view title, Span corner, const std::vector<std::string>& headings,
             const std::vector<Row>& rows) {
    TextTable drawn;
    drawn.indent = kIndent;
    drawn.corner = std::move(corner);
    for (std::size_t i = 0; i < headings.size(); ++i) {
      drawn.columns.push_back({{headings[i], kBold}, {}});
      drawn.columns.back().with_previous = headings[i].empty();
      for (const Row& row : rows) {
        drawn.columns.back().cells.push_back({row.cells[i], row.label.style});
      }
    }
    for (const Row& row : rows) {
      drawn.labels.push_back(row.label);
    }
    heading(title);
    page_.add(draw_table(drawn, columns_, charset_));
  }

  static std::string or_differ(const auto& counts, const auto& number_of) {
    return counts ? grouped(std::invoke(number_of, *counts)) : "differ";
  }

  // What a head has, how many there are, a layer, all layers in full and rounded.
  std::vector<Row> parameter_rows() const {
    const ParameterCounts& counts = info_.parameters;
    const LayerCounts& layers = counts.layers;
    const LayerShape& layer = info_.shape.first_attention();
    std::vector<Row> rows;
    const auto add = [&rows](const std::string& label, std::size_t all, std::string a_layer = "",
                             std::string a_head = "", std::string heads = "") {
      const bool is_sum = label == "attention" || label == "total";
      rows.push_back({{label, is_sum ? kBold : Style()},
                      {std::move(a_head), std::move(heads), std::move(a_layer), grouped(all),
                       all < 1000 ? "" : rounded_count(all)}});
    };
    const auto add_attention = [&](const char* label, const auto& number_of,
                                   std::size_t n_heads = 0) {
      const std::size_t all = std::invoke(number_of, layers.attention);
      const auto of_layer = [&number_of](const LayerCounts& one) {
        return std::invoke(number_of, one.attention);
      };
      add(label, all, or_differ(counts.layer, of_layer),
          all == 0 ? "0" : or_differ(counts.head, number_of),
          n_heads == 0 || !counts.layer ? "" : grouped(n_heads));
    };
    add_attention("W_Q", &AttentionCounts::query, layer.n_heads());
    add_attention("W_K", &AttentionCounts::key, layer.n_kv_heads());
    add_attention("W_V value-down", &AttentionCounts::value, layer.n_kv_heads());
    add_attention("W_O value-up", &AttentionCounts::output, layer.n_heads());
    if (layers.attention.latents > 0) {
      add_attention("latents", &AttentionCounts::latents);
    }
    if (layers.attention.biases > 0) {
      add_attention("biases", &AttentionCounts::biases);
    }
    add_attention("attention", &AttentionCounts::total);
    for (const auto& [label, part] :
         {std::pair("MLP", &LayerCounts::mlp), std::pair("experts", &LayerCounts::experts),
          std::pair("norms", &LayerCounts::norms), std::pair("other", &LayerCounts::other),
          std::pair("cross-attention", &LayerCounts::cross)}) {
      if (layers.*part > 0) {
        add(label, layers.*part, or_differ(counts.layer, part));
      }
    }
    const std::pair<const char*, std::size_t> rest[] = {
        {"token embeddings", counts.token_embeddings},
        {"positions", counts.positions},
        {"segments", counts.segments},
        {"layer embeddings", counts.layer_embeddings},
        {"other norms", counts.outer_norms},
        {"encoder", counts.encoder},
        {"output head", counts.output_head}};
    for (const auto& [label, number] : rest) {
      if (number > 0) {
        add(label, number);
      }
    }
    add("total", counts.total);
    if (counts.active != counts.total) {
      add("of a token", counts.active);
    }
    return rows;
  }

  void parameters() {
    const std::size_t n_layers = info_.shape.n_layers();
    const std::string all =
        n_layers == 1 ? "the layer" : fmt::format("all {} layers", grouped(n_layers));
    table("Parameters", {}, {"a head", "heads", "a layer", all, ""}, parameter_rows());
    add_words(summary(), kIndent);
  }

  std::string summary() const {
    const ParameterCounts& counts = info_.parameters;
    std::string text = "attention: ";
    if (counts.head && counts.layer) {
      text += fmt::format("{} a head, {} a layer, ", rounded_count(counts.head->total()),
                          rounded_count(counts.layer->attention.total()));
    }
    text += fmt::format("{} in {}.", rounded_count(counts.layers.attention.total()),
                        counted(info_.shape.n_layers(), "layer"));
    const LayerShape& layer = info_.shape.first_attention();
    if (counts.head && layer.n_heads() != layer.n_kv_heads()) {
      text += fmt::format(
          " A head counts the keys and values it uses whole, although {} heads share them; a layer "
          "counts them once.",
          layer.n_heads() / layer.n_kv_heads());
    }
    if (info_.shape.tied) {
      text += " The output head is the token embeddings, counted once.";
    }
    return text;
  }

  void memory() {
    const std::vector<TextMemory> lengths = text_memory(info_.shape);
    const std::size_t width = grouped(lengths.back().n_tokens).size();
    std::vector<Row> rows;
    rows.reserve(lengths.size());
    for (const TextMemory& text : lengths) {
      rows.push_back({{pad_left(grouped(text.n_tokens), width) + (text.beyond_context ? " *" : "")},
                      {rounded_bytes(text.pattern.head), rounded_bytes(text.pattern.all),
                       rounded_bytes(text.kept_float32), rounded_bytes(text.kept_float16),
                       rounded_bytes(text.latents_float16)}});
    }
    std::size_t n_heads = 0;
    for (const LayerShape& layer : info_.shape.layers) {
      n_heads += layer.n_layers * layer.n_heads();
    }
    std::vector<std::string> headings = {
        "one head", n_heads == 1 ? "the model" : fmt::format("all {} heads", grouped(n_heads))};
    if (info_.shape.keeps_keys) {
      headings.insert(headings.end(), {"KV float32", "KV float16"});
    }
    if (info_.shape.first_latent() != nullptr) {
      headings.emplace_back("latents float16");
    }
    table("Memory of a text", {pad_left("tokens", width), kBold}, headings, rows);
    add_words(memory_note(lengths.back().beyond_context), kIndent);
  }

  std::string memory_note(bool any_beyond) const {
    std::string text;
    if (any_beyond) {
      text += fmt::format("* beyond the context of {} tokens. ", grouped(info_.shape.n_ctx));
    }
    text += "Heads: their patterns, [tokens, tokens] of float32. ";
    if (!info_.shape.keeps_keys) {
      return text + "Every token sees all: there are no keys and values to keep for the next one.";
    }
    text += "KV: the keys and values of all layers, kept for the next token";
    const bool has_window =
        info_.model != nullptr && std::ranges::any_of(info_.model->layers, [](const auto& layer) {
          return layer.mask && layer.mask->kind == MaskKind::kWindow;
        });
    text += has_window ? "; layers with a window could forget those before it." : ".";
    if (info_.shape.first_latent() != nullptr) {
      text += " Latents: what can be kept in their place, and keys and values made of again.";
    }
    return text;
  }

  const ModelInfo& info_;
  Charset charset_;
  std::size_t columns_;
  Page page_;
};

// Columns as wide as their widest cell, without empty ones. Where names are too long for all of
// them to fit, the long ones have a line of their own.
template <std::size_t kColumns>
void add_table(Page& page, const std::vector<std::array<std::string, kColumns>>& rows,
               const std::array<bool, kColumns>& to_right, std::size_t columns) {
  constexpr std::size_t kGap = 2;
  std::array<std::size_t, kColumns> widths{};
  std::size_t rest = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    for (const auto& row : rows) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
    rest += i == 0 || widths[i] == 0 ? 0 : kGap + widths[i];
  }
  widths[0] = std::min(widths[0], std::max(columns - std::min(columns, rest), rows[0][0].size()));
  for (const auto& row : rows) {
    const Style style = &row == rows.data() ? kBold : Style();
    std::string text = pad_right(row[0], widths[0]);
    if (display_width(row[0]) > widths[0]) {
      page.add(row[0], style);
      text = std::string(widths[0], ' ');
    }
    for (std::size_t i = 1; i < kColumns; ++i) {
      if (widths[i] > 0) {
        text += std::string(kGap, ' ') +
                (to_right[i] ? pad_left(row[i], widths[i]) : pad_right(row[i], widths[i]));
      }
    }
    text.erase(text.find_last_not_of(' ') + 1);
    page.add(text, style);
  }
}

class ListScreen {
 public:
  ListScreen(const ModelList& list, const TerminalOptions& options)
      : list_(list),
        charset_(options.style),
        columns_(std::max(options.columns, 2 * kNarrowestText)) {}

  Page draw() {
    if (list_.models.empty()) {
      page_.add("no models found");
    } else {
      table();
    }
    for (const ListedModel& model : list_.models) {
      if (!model.problem.empty()) {
        page_.blank();
        item(fmt::format("{} cannot be read: {}", model.name, model.problem));
      }
    }
    page_.blank();
    page_.add("looked in", kBold);
    for (const ModelList::Place& place : list_.places) {
      item(fmt::format("{}: {}{}", place.store, place.path,
                       place.barred   ? " (you may not look there)"
                       : place.exists ? ""
                                      : " (not there)"));
    }
    return std::move(page_);
  }

 private:
  using Row = std::array<std::string, 8>;

  // A line feed in a name or a path is a sign of it, and no blank.
  std::string one_line(std::string_view text) const {
    std::string line;
    for (const char c : text) {
      line += c != '\n' ? std::string(1, c) : charset_.is_ascii() ? "\\n" : "⏎";
    }
    return charset_.sentence(line);
  }

  // All lines but the first are indented.
  void item(std::string_view text) {
    std::size_t indent = 0;
    for (const std::string& piece : wrap(one_line(text), columns_ - kIndent)) {
      page_.add(std::string(indent, ' ') + piece);
      indent = kIndent;
    }
  }

  Row row_of(const ListedModel& model) const {
    return {one_line(model.name),
            charset_.sentence(model.problem.empty() ? model.family : "(unreadable)"),
            model.parameters ? rounded_count(*model.parameters) : "",
            model.bytes ? rounded_bytes(*model.bytes) : "",
            charset_.sentence(model.quantisation),
            model.n_layers && model.n_heads
                ? fmt::format("{} x {}", *model.n_layers, *model.n_heads)
                : "",
            model.chat_template ? *model.chat_template ? "yes" : "no" : "",
            charset_.sentence(model.store)};
  }

  void table() {
    constexpr std::array kToRight = {false, false, true, true, false, true, false, false};
    const bool any_chat = std::ranges::any_of(
        list_.models, [](const ListedModel& model) { return model.chat_template == true; });
    std::vector<Row> rows = {
        {"name", "family", "params", "size", "type", "layers x heads", "chat", "where"}};
    for (const ListedModel& model : list_.models) {
      rows.push_back(row_of(model));
    }
    if (!any_chat) {
      for (Row& row : rows) {
        row[6].clear();
      }
    }
    add_table(page_, rows, kToRight, columns_);
  }

  const ModelList& list_;
  Charset charset_;
  std::size_t columns_;
  Page page_;
};

}  // namespace

std::string render_info(const ModelInfo& info, const TerminalOptions& options) {
  return to_ansi(InfoScreen(info, options).draw(), options.color);
}

std::string render_model_list(const ModelList& list, const TerminalOptions& options) {
  return to_ansi(ListScreen(list, options).draw(), options.color);
}

std::string render_families(std::span<const KnownFamily> families, const TerminalOptions& options) {
  const std::size_t columns = std::max(options.columns, 2 * kNarrowestText);
  Page page;
  std::vector<std::array<std::string, 4>> rows = {{"family", "Hugging Face", "GGUF", "not read"}};
  for (const KnownFamily& family : families) {
    rows.push_back({std::string(family.name), family.hugging_face ? "yes" : "no",
                    family.gguf.empty() ? "no" : fmt::format("{}", fmt::join(family.gguf, ", ")),
                    std::string(family.left_out)});
  }
  add_table(page, rows, {false, false, false, false}, columns);
  page.blank();
  page.add(
      paragraph("family: model_type of a config.json; GGUF: general.architecture. Models that "
                "Ollama stores under names and keys of its own are read, too. Not read of any "
                "family: weights quantised by other tools than llama.cpp's.",
                std::min(columns, kWidestText)));
  return to_ansi(page, options.color);
}

}  // namespace attnviz
