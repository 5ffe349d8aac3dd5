#include "attnviz/terminal/model_info_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/model_info_words.h"
#include "attnviz/document/words/large_numbers.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kNarrowest = 20;
constexpr std::size_t kWidestText = 100;

class Screen {
 public:
  Screen(const ModelInfo& info, const TerminalOptions& options)
      : info_(info), charset_(options.style), columns_(std::max(options.columns, kNarrowest)) {}

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
    const bool is_narrow = columns_ < std::max(kIndent + widest + 1 + kNarrowest, 2 * kNarrowest);
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

  static TextColumn column(std::string text) { return {{std::move(text), kBold}, {}}; }

  // A row of the table of parameters: what a head has, how many there are, a layer, all layers.
  struct Row {
    std::string label;
    std::string head, heads, layer;
    std::size_t all = 0;
  };

  std::string or_differ(const auto& counts, const auto& number_of) const {
    return counts ? grouped(number_of(*counts)) : "differ";
  }

  void add_attention(std::vector<Row>& rows, const std::string& label, std::size_t n_heads,
                     std::size_t AttentionCounts::*part) const {
    const ParameterCounts& counts = info_.parameters;
    const bool is_there = counts.layers.attention.*part > 0;
    rows.push_back(
        {label,
         is_there ? or_differ(counts.head, [=](const AttentionCounts& head) { return head.*part; })
                  : "0",
         counts.layer ? grouped(n_heads) : "",
         or_differ(counts.layer, [=](const LayerCounts& layer) { return layer.attention.*part; }),
         counts.layers.attention.*part});
  }

  void add_layer(std::vector<Row>& rows, const std::string& label, std::size_t LayerCounts::*part,
                 std::size_t extra = 0) const {
    const ParameterCounts& counts = info_.parameters;
    if (counts.layers.*part + extra > 0) {
      rows.push_back({label, "", "",
                      or_differ(counts.layer, [=](const LayerCounts& l) { return l.*part; }),
                      counts.layers.*part + extra});
    }
  }

  std::vector<Row> parameter_rows() const {
    const ParameterCounts& counts = info_.parameters;
    const LayerShape& layer = info_.shape.layers.front();
    std::vector<Row> rows;
    add_attention(rows, "W_Q", layer.n_heads(), &AttentionCounts::query);
    add_attention(rows, "W_K", layer.n_kv_heads(), &AttentionCounts::key);
    add_attention(rows, "W_V value-down", layer.n_kv_heads(), &AttentionCounts::value);
    add_attention(rows, "W_O value-up", layer.n_heads(), &AttentionCounts::output);
    if (counts.layers.attention.biases > 0) {
      add_attention(rows, "biases", 0, &AttentionCounts::biases);
      rows.back().heads.clear();
    }
    const auto total = [](const AttentionCounts& attention) { return attention.total(); };
    rows.push_back(
        {"attention", or_differ(counts.head, total), "",
         or_differ(counts.layer, [](const LayerCounts& one) { return one.attention.total(); }),
         counts.layers.attention.total()});
    add_layer(rows, "MLP", &LayerCounts::mlp);
    add_layer(rows, "norms", &LayerCounts::norms);
    const std::pair<const char*, std::size_t> rest[] = {
        {"token embeddings", counts.token_embeddings},
        {"positions", counts.positions},
        {"segments", counts.segments},
        {"other norms", counts.outer_norms},
        {"output head", counts.output_head}};
    for (const auto& [label, number] : rest) {
      if (number > 0) {
        rows.push_back({label, "", "", "", number});
      }
    }
    rows.push_back({"total", "", "", "", counts.total});
    return rows;
  }

  void parameters() {
    TextTable table;
    table.indent = kIndent;
    const std::size_t n_layers = info_.shape.n_layers();
    table.columns = {
        column("a head"), column("heads"), column("a layer"),
        column(n_layers == 1 ? "the layer" : fmt::format("all {} layers", grouped(n_layers))),
        column("")};
    table.columns.back().with_previous = true;
    for (const Row& row : parameter_rows()) {
      const bool is_total = row.label == "total";
      const Style style = is_total || row.label == "attention" ? kBold : Style();
      table.labels.push_back({row.label, style});
      const std::string cells[] = {row.head, row.heads, row.layer, grouped(row.all),
                                   row.all < 1000 ? "" : rounded_count(row.all)};
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        table.columns[i].cells.push_back({cells[i], style});
      }
    }
    heading("Parameters");
    page_.add(draw_table(table, columns_, charset_));
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
    const LayerShape& layer = info_.shape.layers.front();
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
    const std::vector<TextMemory> rows = text_memory(info_.shape);
    TextTable table;
    table.indent = kIndent;
    table.corner = {pad_left("tokens", grouped(rows.back().n_tokens).size()), kBold};
    std::size_t n_heads = 0;
    for (const LayerShape& layer : info_.shape.layers) {
      n_heads += layer.n_layers * layer.n_heads();
    }
    table.columns = {
        column("one head"),
        column(n_heads == 1 ? "the model" : fmt::format("all {} heads", grouped(n_heads)))};
    if (info_.shape.keeps_keys) {
      table.columns.push_back(column("KV float32"));
      table.columns.push_back(column("KV float16"));
    }
    bool any_beyond = false;
    for (const TextMemory& row : rows) {
      any_beyond = any_beyond || row.beyond_context;
      table.labels.push_back({pad_left(grouped(row.n_tokens), display_width(table.corner.text)) +
                                  (row.beyond_context ? " *" : ""),
                              {}});
      const std::size_t bytes[] = {row.pattern.head, row.pattern.all, row.kept_float32,
                                   row.kept_float16};
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        table.columns[i].cells.push_back({rounded_bytes(bytes[i]), {}});
      }
    }
    heading("Memory of a text");
    page_.add(draw_table(table, columns_, charset_));
    add_words(memory_note(any_beyond), kIndent);
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
    return text + (has_window ? "; layers with a window could forget those before it." : ".");
  }

  const ModelInfo& info_;
  Charset charset_;
  std::size_t columns_;
  Page page_;
};

}  // namespace

Page info_page(const ModelInfo& info, const TerminalOptions& options) {
  return Screen(info, options).draw();
}

}  // namespace attnviz
