#include "attnviz/terminal/diff_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/pronouns.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/core/message.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

constexpr std::size_t kDiffBar = 6;
constexpr std::size_t kWidestToken = 12;
constexpr std::size_t kSideIndent = 3;  // behind "A"

// Three decimals, or what a small number begins with; 0 is said only of what is 0.
std::string digits(double value) {
  constexpr double kSmall = 0.0005;
  return value == 0.0      ? "0"
         : value >= kSmall ? fmt::format("{:.3f}", value)
                           : fmt::format("{:.1e}", value);
}

// "0.12 -> 0.56"; what two decimals do not tell apart: "by +1.2e-06".
std::string change(const HeadDifference& head, const Charset& charset) {
  const std::string before = fmt::format("{:.2f}", head.weights[0]);
  const std::string after = fmt::format("{:.2f}", head.weights[1]);
  return before != after ? fmt::format("{} {} {}", before, charset.is_ascii() ? "->" : "→", after)
                         : fmt::format("by {:+.1e}", head.weights[1] - head.weights[0]);
}

class DiffPage {
 public:
  DiffPage(const DiffDocument& document, std::size_t top, const TerminalOptions& asked)
      : document_(document),
        top_(top),
        options_(wide_enough(asked)),
        charset_(options_.style),
        palette_(Colormap(), options_.color) {}

  Page draw() {
    sentence("diff: " + diff_title(document_), kBold);
    sides();
    sentence(alignment_note(document_), kDim);
    for (const std::string& note : document_.notes) {
      sentence(note, kDim);
    }
    names_of_heads();
    page_.blank();
    heads();
    if (document_.of_models) {
      page_.blank();
      predictions(*document_.of_models);
      departures(*document_.of_models);
      page_.blank();
      settings(*document_.of_models);
      tensors(*document_.of_models);
    }
    return std::move(page_);
  }

 private:
  void sentence(const std::string& text, const Style& style = {}) {
    if (!text.empty()) {
      page_.add(paragraph(charset_.sentence(text), options_.columns, style));
    }
  }

  // "3 sat".
  std::string token(std::size_t index, bool is_same = true) const {
    const std::string_view piece = without_spaces_before(document_.texts[0].tokens[index].text);
    const std::string label = charset_.fitted(charset_.label(piece), kWidestToken);
    return fmt::format(fmt::runtime(is_same ? "{} {}" : "{} [{}]"), index, label);
  }
  std::string aligned(std::size_t row) const {
    return token(document_.alignment.first[row], document_.alignment.is_same[row]);
  }

  // What A and B are: of texts the tokens, those in brackets that the other does not have there.
  void sides() {
    if (document_.of_models) {
      side("A", model_name(0));
      side("B", model_name(1));
      side("on", tokens(0));
      return;
    }
    side("A", tokens(0));
    side("B", tokens(1));
  }

  // Names of files are long, and differ at their ends.
  std::vector<Line> model_name(std::size_t side) const {
    std::vector<Line> lines;
    for (const std::string& line :
         wrap(charset_.sentence(document_.names[side]), options_.columns - kSideIndent)) {
      lines.emplace_back(line);
    }
    return lines;
  }

  void side(std::string_view name, const std::vector<Line>& items) {
    constexpr std::size_t kMostLines = 6;
    const Page lines = flow(items, 1, options_.columns - kSideIndent);
    for (std::size_t i = 0; i < std::min(lines.lines.size(), kMostLines); ++i) {
      Line line;
      line.put_padded(i == 0 ? name : "", kSideIndent, kBold);
      line.put(i + 1 == kMostLines && lines.lines.size() > kMostLines ? Line(charset_.ellipsis())
                                                                      : lines.lines[i]);
      page_.add(std::move(line));
    }
  }

  std::vector<Line> tokens(std::size_t side) const {
    const TokenAlignment& alignment = document_.alignment;
    const std::vector<std::size_t>& shared = side == 0 ? alignment.first : alignment.second;
    std::vector<bool> is_marked(document_.texts[side].size(), !document_.of_models);
    for (std::size_t row = 0; row < shared.size(); ++row) {
      is_marked[shared[row]] = !alignment.is_same[row];
    }
    std::vector<Line> lines;
    for (std::size_t i = 0; i < is_marked.size(); ++i) {
      const std::string label = charset_.fitted(
          charset_.label(without_spaces_before(document_.texts[side].tokens[i].text)),
          options_.columns / 2);
      lines.push_back(is_marked[i] ? Line("[" + label + "]", kBold) : Line(label));
    }
    return lines;
  }

  // What heads were found to be on probes; of two models what both say, or each.
  void names_of_heads() {
    std::vector<HeadId> heads;
    for (const HeadDifference& head : document_.heads) {
      heads.push_back(head.head);
    }
    const std::string of_a = names_note(document_.models[0], heads);
    const std::string of_b = names_note(document_.models[1], heads);
    if (of_a == of_b) {
      return sentence(of_a, kDim);
    }
    sentence(of_a.empty() ? "" : "A: " + of_a, kDim);
    sentence(of_b.empty() ? "" : "B: " + of_b, kDim);
  }

  void heads() {
    if (document_.is_same_attention()) {
      return sentence(same_attention_sentence(document_) + ".");
    }
    std::vector<std::size_t> rows = ranked_differences(document_);
    const std::size_t n_all = rows.size();
    rows.resize(top_ == 0 ? n_all : std::min(n_all, top_));
    page_.add(draw_table(heads_table(rows), options_.columns, charset_));
    if (rows.size() < n_all) {
      page_.add(
          fmt::format("{} {}", charset_.ellipsis(), counted(n_all - rows.size(), "more head")),
          kDim);
    }
    page_.add(paragraph(
        fmt::format("JS: the Jensen-Shannon divergence of what a query looks at in A and in B, in "
                    "bits: 0 the same, 1 nothing in common; mean: over the queries that see two "
                    "keys or more; max: of one query; largest change: of one weight, query > key, "
                    "from A to B. 2.1 "
                    "is head 1 of layer 2, both counted from 0"),
        options_.columns, kDim));
  }

  Span divergence(const std::optional<double>& bits) const {
    return bits ? Span{digits(*bits)} : Span{charset_.dash(), kDim};
  }

  TextTable heads_table(const std::vector<std::size_t>& rows) const {
    double largest = 0.0;
    for (const HeadDifference& head : document_.heads) {
      largest = std::max(largest, head.js_bits.value_or(0.0));
    }
    TextTable table;
    table.corner = {"head", kDim};
    TextColumn mean{{"mean JS", kDim}, {}};
    TextColumn bar{{{}, kDim}, {}, false, true};
    TextColumn most{{"max JS", kDim}, {}};
    TextColumn query{{"of query", kDim}, {}, false, true};
    TextColumn edge{{"largest change", kDim}, {}, false};
    TextColumn weights{{charset_.is_ascii() ? "A -> B" : "A → B", kDim}, {}, false, true};
    for (const std::size_t row : rows) {
      const HeadDifference& head = document_.heads[row];
      table.labels.push_back({head_name(head.head)});
      mean.cells.push_back(divergence(head.js_bits));
      const double share = largest > 0.0 ? head.js_bits.value_or(0.0) / largest : 0.0;
      bar.cells.push_back(
          {charset_.bar(share, kDiffBar), {.ink = palette_.share_ink(static_cast<float>(share))}});
      most.cells.push_back(divergence(head.js_bits_max));
      query.cells.push_back(
          {head.js_bits_max.value_or(0.0) > 0.0 ? aligned(head.js_max_query) : ""});
      const bool changes = head.largest_change > 0.0f;
      edge.cells.push_back(
          {changes ? fmt::format("{} > {}", aligned(head.query), aligned(head.key)) : ""});
      weights.cells.push_back({changes ? change(head, charset_) : "none"});
    }
    table.columns = {std::move(mean),  std::move(bar),  std::move(most),
                     std::move(query), std::move(edge), std::move(weights)};
    return table;
  }

  void predictions(const ModelsDiff& models) {
    if (models.kl_bits.empty()) {
      return sentence("next token: no two predictions over one vocabulary to compare");
    }
    sentence(
        fmt::format("next token: KL(A || B) is {} bits after the last token and {} on average "
                    "over {} (0: the same probabilities)",
                    digits(models.kl_bits.back()), digits(models.kl_bits_mean()),
                    counted(models.kl_bits.size(), "token")));
  }

  void departures(const ModelsDiff& models) {
    if (models.departures.empty()) {
      return sentence("residual streams: of different widths, not compared");
    }
    const std::string measure = "residual streams, |x_A - x_B| / |x_A| of a token: ";
    const Departure& last = models.departures.back();
    const Departure* const first = models.first_departure();
    if (std::ranges::all_of(models.departures,
                            [](const Departure& one) { return one.largest == 0.0; })) {
      return sentence(measure + "0 after every layer");
    }
    const std::string begin =
        first == nullptr
            ? fmt::format("never more than {:.3g}", models.threshold)
            : fmt::format("first more than {:.3g} {} ({} at token {})", models.threshold,
                          departure_name(*first), digits(first->largest), token(first->token));
    sentence(fmt::format("{}{}; {} at most {} (at token {})", measure, begin, departure_name(last),
                         digits(last.largest), token(last.token)));
  }

  static std::string tensor_name(const TensorDifference& tensor) {
    return tensor.layer ? fmt::format("layer {} {}", *tensor.layer, tensor.name) : tensor.name;
  }

  // "3 only in A: layer 0 b_Q, layer 0 b_K, layer 0 b_V"; names until there are many.
  void some_of(const std::vector<const TensorDifference*>& tensors, std::string_view what) {
    constexpr std::size_t kMost = 6;
    if (tensors.empty()) {
      return;
    }
    std::string line = fmt::format("{} {}:", counted(tensors.size(), "tensor"), what);
    for (std::size_t i = 0; i < std::min(tensors.size(), kMost); ++i) {
      line += (i == 0 ? " " : ", ") + tensor_name(*tensors[i]);
    }
    sentence(line + (tensors.size() > kMost ? ", ..." : ""), kDim);
  }

  void settings(const ModelsDiff& models) {
    if (!models.settings.empty()) {
      sentence("settings that differ: " + joined(models.settings, "and"));
    }
  }

  void tensors(const ModelsDiff& models) {
    std::vector<const TensorDifference*> ranked, odd, only_a, only_b;
    std::size_t n_same = 0;
    for (const TensorDifference& tensor : models.tensors) {
      if (tensor.only_in) {
        (*tensor.only_in == 0 ? only_a : only_b).push_back(&tensor);
      } else if (!tensor.relative) {
        odd.push_back(&tensor);
      } else if (*tensor.relative > 0.0) {
        ranked.push_back(&tensor);
      } else {
        ++n_same;
      }
    }
    if (ranked.empty()) {
      sentence(fmt::format("weights: {} that both have, all the same", counted(n_same, "tensor")));
    } else {
      most_different(ranked, n_same);
    }
    some_of(odd, "of other shapes, or 0 in A alone");
    some_of(only_a, "only in A");
    some_of(only_b, "only in B");
  }

  void most_different(std::vector<const TensorDifference*> ranked, std::size_t n_same) {
    constexpr std::size_t kMost = 6;
    std::ranges::stable_sort(ranked, std::greater(),
                             [](const TensorDifference* tensor) { return *tensor->relative; });
    const std::size_t n_all = ranked.size();
    const double largest = *ranked.front()->relative;
    ranked.resize(std::min(n_all, kMost));
    sentence("weights that differ most: |A - B| / |A|, Frobenius norms of whole tensors");
    TextTable table;
    table.indent = 2;
    table.has_headings = false;
    TextColumn name{{}, {}, false};
    TextColumn number, bar{{}, {}, false, true};
    for (const TensorDifference* const tensor : ranked) {
      table.labels.push_back(
          {tensor->layer ? fmt::format("layer {}", *tensor->layer) : std::string()});
      name.cells.push_back({tensor->name});
      number.cells.push_back({digits(*tensor->relative)});
      const double share = *tensor->relative / largest;
      bar.cells.push_back(
          {charset_.bar(share, kDiffBar), {.ink = palette_.share_ink(static_cast<float>(share))}});
    }
    table.columns = {std::move(name), std::move(number), std::move(bar)};
    page_.add(draw_table(table, options_.columns, charset_));
    const std::string more =
        n_all > ranked.size()
            ? fmt::format("{} {} more that differ, ", charset_.ellipsis(), n_all - ranked.size())
            : std::string();
    page_.add(more + fmt::format("{} the same", n_same), kDim);
  }

  const DiffDocument& document_;
  std::size_t top_;
  TerminalOptions options_;
  Charset charset_;
  TerminalPalette palette_;
  Page page_;
};

}  // namespace

Page diff_page(const DiffDocument& document, std::size_t top, const TerminalOptions& options) {
  return DiffPage(document, top, options).draw();
}

}  // namespace attnviz
