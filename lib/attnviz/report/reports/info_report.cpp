#include "attnviz/report/reports/reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/model/known_keys.h"
#include "attnviz/report/attention_facts.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/report/model_info.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

constexpr std::size_t kIndent = 2;

// Parameters of a head, the number of heads, parameters of a layer, and of all layers in full and
// rounded.
struct ParameterRow {
  std::string label, a_head, heads, a_layer, all, rounded;
  bool is_sum = false;
};

class InfoReport {
 public:
  explicit InfoReport(const ModelInfo& info) : info_(info) {
    const std::string family = info.model == nullptr ? "" : info.model->config.family;
    report_.title =
        fmt::format("info: {}{}{}", info.name, family.empty() ? "" : ", family ", family);
    report_.schema = "attnviz.info/1";
    report_.json_indent = 2;
    report_.members = info_record(info);
  }

  Report make() {
    if (info_.model != nullptr && info_.model->config.random_weights) {
      report_.say("RANDOM WEIGHTS: they mean nothing");
    }
    section("Model", shape_facts(info_));
    section("Attention", attention_facts(info_));
    section("Tokenizer", tokenizer_facts(info_));
    parameters();
    section("Weights", weights_facts(info_));
    memory();
    metadata();
    return std::move(report_);
  }

 private:
  void section(const char* title, const std::vector<InfoFact>& facts) {
    if (facts.empty()) {
      return;
    }
    std::string previous;
    Table table = TableOf(facts)
                      .column({.emphasis = Emphasis::kQuiet},
                              [&previous](const InfoFact& fact) {
                                return std::exchange(previous, fact.label) == fact.label
                                           ? std::string()
                                           : fact.label;
                              })
                      .column({}, &InfoFact::text)
                      .take();
    table.has_headings = false;
    table.indent = kIndent;
    report_.draw(Heading{title});
    report_.draw(std::move(table));
  }

  // Metadata keys may be longer than a line.
  void metadata() {
    const std::vector<InfoFact> facts = metadata_facts(info_);
    if (facts.empty()) {
      return;
    }
    report_.draw(Heading{"Metadata"});
    for (const InfoFact& fact : facts) {
      report_.say(fmt::format("{}: {}", fact.label, fact.text), Emphasis::kPlain, kIndent);
    }
  }

  static std::string or_differ(const auto& counts, const auto& number_of) {
    return counts ? grouped(std::invoke(number_of, *counts)) : "differ";
  }

  std::vector<ParameterRow> parameter_rows() const {
    const ParameterCounts& counts = info_.parameters;
    const LayerCounts& layers = counts.layers;
    const LayerShape& layer = info_.shape.first_attention();
    std::vector<ParameterRow> rows;
    const auto add = [&rows](const std::string& label, std::size_t all, std::string a_layer = "",
                             std::string a_head = "", std::string heads = "") {
      const bool is_sum = label == "attention" || label == "total";
      rows.push_back({label, std::move(a_head), std::move(heads), std::move(a_layer), grouped(all),
                      all < 1000 ? "" : rounded_count(all), is_sum});
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
    add_attention("W_V", &AttentionCounts::value, layer.n_kv_heads());
    add_attention("W_O", &AttentionCounts::output, layer.n_heads());
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
      add("used by a token", counts.active);
    }
    return rows;
  }

  void parameters() {
    const std::size_t n_layers = info_.shape.n_layers();
    const std::string all =
        n_layers == 1 ? "the layer" : fmt::format("all {} layers", grouped(n_layers));
    const std::vector<ParameterRow> rows = parameter_rows();
    Table table = TableOf(rows)
                      .column({}, &ParameterRow::label)
                      .column({.heading = "per head", .to_right = true}, &ParameterRow::a_head)
                      .column({.heading = "heads", .to_right = true}, &ParameterRow::heads)
                      .column({.heading = "per layer", .to_right = true}, &ParameterRow::a_layer)
                      .column({.heading = all, .to_right = true}, &ParameterRow::all)
                      .column({.to_right = true, .with_previous = true}, &ParameterRow::rounded)
                      .take();
    for (const ParameterRow& row : rows) {
      table.emphasis.push_back(row.is_sum ? Emphasis::kStrong : Emphasis::kPlain);
    }
    table.indent = kIndent;
    report_.draw(Heading{"Parameters"});
    report_.draw(std::move(table));
    report_.say(summary(), Emphasis::kQuiet, kIndent);
  }

  std::string summary() const {
    const ParameterCounts& counts = info_.parameters;
    std::string text = "attention: ";
    if (counts.head && counts.layer) {
      text += fmt::format("{} per head, {} per layer, ", rounded_count(counts.head->total()),
                          rounded_count(counts.layer->attention.total()));
    }
    text += fmt::format("{} in {}.", rounded_count(counts.layers.attention.total()),
                        counted(info_.shape.n_layers(), "layer"));
    const LayerShape& layer = info_.shape.first_attention();
    if (counts.head && layer.n_heads() != layer.n_kv_heads()) {
      text += fmt::format(
          " A head counts all of the keys and values it uses, although {} heads share them; a "
          "layer "
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
    std::size_t n_heads = 0;
    for (const LayerShape& layer : info_.shape.layers) {
      n_heads += layer.n_layers * layer.n_heads();
    }
    TableOf table(lengths);
    const auto bytes = [&table](const std::string& heading, const auto& of) {
      table.column({.heading = heading, .to_right = true},
                   [&of](const TextMemory& row) { return rounded_bytes(std::invoke(of, row)); });
    };
    table.column({.heading = "tokens"}, [](const TextMemory& row) {
      return grouped(row.n_tokens) + (row.beyond_context ? " *" : "");
    });
    bytes("one head", [](const TextMemory& row) { return row.pattern.head; });
    bytes(n_heads == 1 ? "the model" : fmt::format("all {} heads", grouped(n_heads)),
          [](const TextMemory& row) { return row.pattern.all; });
    if (info_.shape.keeps_keys) {
      bytes("KV float32", &TextMemory::kept_float32);
      bytes("KV float16", &TextMemory::kept_float16);
    }
    if (info_.shape.first_latent() != nullptr) {
      bytes("latents float16", &TextMemory::latents_float16);
    }
    Table out = table.take();
    out.indent = kIndent;
    report_.draw(Heading{"Memory for a text"});
    report_.draw(std::move(out));
    report_.say(memory_note(lengths.back().beyond_context), Emphasis::kQuiet, kIndent);
  }

  std::string memory_note(bool any_beyond) const {
    std::string text;
    if (any_beyond) {
      text += fmt::format("* beyond the context of {} tokens. ", grouped(info_.shape.n_ctx));
    }
    text += "Heads: their attention patterns, [tokens, tokens] in float32. ";
    if (!info_.shape.keeps_keys) {
      return text + "Every token sees all others, so no keys and values are kept for a next one.";
    }
    text += "KV: the keys and values of all layers, kept for later tokens";
    const bool has_window =
        info_.model != nullptr && std::ranges::any_of(info_.model->layers, [](const auto& layer) {
          return layer.mask && layer.mask->kind == MaskKind::kWindow;
        });
    text += has_window ? "; layers with a window could forget those before it." : ".";
    if (info_.shape.first_latent() != nullptr) {
      text += " Latents: what can be kept instead, to compute keys and values again.";
    }
    return text;
  }

  const ModelInfo& info_;
  Report report_;
};

// Shows line feeds in names and paths as a sign.
std::string one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    text.replace(at, 1, "⏎");
  }
  return text;
}

std::string layers_and_heads(const ListedModel& model) {
  return model.n_layers && model.n_heads ? fmt::format("{} × {}", *model.n_layers, *model.n_heads)
                                         : std::string();
}

// Null for an empty text.
auto known(std::string ListedModel::*text) {
  return [text](const ListedModel& model) {
    return (model.*text).empty() ? Datum() : Datum(model.*text);
  };
}

Table model_table(const ModelList& list) {
  TableOf table(list.models);
  table.data("name", known(&ListedModel::name))
      .data("store", known(&ListedModel::store))
      .data("path", known(&ListedModel::path))
      .data("family", known(&ListedModel::family))
      .data("quantisation", known(&ListedModel::quantisation))
      .data("parameters", &ListedModel::parameters)
      .data("bytes", &ListedModel::bytes)
      .data("n_layers", &ListedModel::n_layers)
      .data("n_heads", &ListedModel::n_heads)
      .data("chat_template", &ListedModel::chat_template)
      .data("problem", known(&ListedModel::problem))
      .column({.heading = "name"}, [](const ListedModel& model) { return one_line(model.name); })
      .column({.heading = "family"},
              [](const ListedModel& model) {
                return model.problem.empty() ? model.family : "(unreadable)";
              })
      .column({.heading = "params", .to_right = true},
              [](const ListedModel& model) {
                return model.parameters ? rounded_count(*model.parameters) : "";
              })
      .column(
          {.heading = "size", .to_right = true},
          [](const ListedModel& model) { return model.bytes ? rounded_bytes(*model.bytes) : ""; })
      .column({.heading = "type"}, &ListedModel::quantisation)
      .column({.heading = "layers × heads", .to_right = true}, layers_and_heads);
  if (std::ranges::any_of(list.models,
                          [](const ListedModel& model) { return model.chat_template == true; })) {
    table.column({.heading = "chat"}, [](const ListedModel& model) {
      return model.chat_template ? *model.chat_template ? "yes" : "no" : "";
    });
  }
  table.column({.heading = "where"}, &ListedModel::store);
  return table.take();
}

}  // namespace

Report info_report(const ModelInfo& info) {
  return InfoReport(info).make();
}

Report model_list_report(const ModelList& list) {
  Report report{.schema = "attnviz.models/1", .json_indent = 2};
  Table table = model_table(list);
  report.add("models", records(table));
  report.add("stores", list_of(list.places, [](const ModelList::Place& place) {
               return Record{{"store", place.store},
                             {"path", place.path.empty() ? Datum() : Datum(place.path)},
                             {"exists", place.exists}};
             }));
  if (list.models.empty()) {
    report.say("no models found");
  } else {
    report.draw(std::move(table));
  }
  for (const ListedModel& model : list.models) {
    if (!model.problem.empty()) {
      report.draw(Gap{});
      report.say(one_line(fmt::format("{} cannot be read: {}", model.name, model.problem)));
    }
  }
  report.draw(Heading{"searched"});
  for (const ModelList::Place& place : list.places) {
    report.say(one_line(fmt::format("{}: {}{}", place.store, place.path,
                                    place.barred   ? " (not allowed to read it)"
                                    : place.exists ? ""
                                                   : " (not found)")));
  }
  return report;
}

Report families_report(std::span<const KnownFamily> families) {
  Report report{.schema = "attnviz.families/1", .json_indent = 2};
  const std::vector<KnownFamily> rows(families.begin(), families.end());
  Table table =
      TableOf(rows)
          .column({.key = "name", .heading = "family"}, &KnownFamily::name)
          .column({.key = "hugging_face", .heading = "Hugging Face"}, &KnownFamily::hugging_face)
          .data("gguf", [](const KnownFamily& one) { return one.gguf; })
          .column({.heading = "GGUF"},
                  [](const KnownFamily& one) {
                    return one.gguf.empty() ? "no" : joined_by(one.gguf, ", ");
                  })
          .column({.key = "left_out", .heading = "not read", .null = ""},
                  [](const KnownFamily& one) {
                    return one.left_out.empty() ? Datum() : Datum(one.left_out);
                  })
          .take();
  report.add("families", records(table));
  report.draw(std::move(table));
  report.draw(Gap{});
  report.say(
      "family: model_type of a config.json; GGUF: general.architecture. Models that Ollama stores "
      "under names and keys of its own are read, too. Not read in any family: weights quantised "
      "by tools other than llama.cpp's.");
  return report;
}

}  // namespace attnviz
