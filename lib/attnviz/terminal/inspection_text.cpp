#include "attnviz/terminal/inspection_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/inspection_rows.h"
#include "attnviz/document/inspection_words.h"
#include "attnviz/terminal/inspection_tables.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

namespace {

using Role = InspectionRole;
using Step = InspectionStep;

constexpr std::size_t kGap = 2;

class Screen {
 public:
  Screen(const InspectionPage& page, const TerminalOptions& options)
      : page_(page), style_(options), names_(page.tokens, style_.charset.is_ascii()) {}

  Page draw();

 private:
  std::size_t columns() const noexcept { return style_.options.columns; }
  void add_paragraph(std::string_view text, std::size_t indent, const Style& style = {}) {
    out_.add(paragraph(text, columns(), style, indent));
  }
  void add_table(const TextTable& table) { out_.add(draw_table(table, columns(), style_.charset)); }

  void head_line(const Inspection& head);
  void heading(const Inspection& head, Step step);
  void body(const Inspection& head, Step step);
  void vectors(const std::vector<VectorRow>& rows);
  void keys(const Inspection& head, ConstMatrix keys);
  void query_key_norm(const Inspection& head);
  void folded_keys(const ShownKeys& shown);

  void matrix(std::string_view title, ConstMatrix values, MatrixAxis rows, MatrixAxis columns,
              Role role);
  void weight_matrix(std::string_view title, const Projection& projection, Role role);
  void full_matrices(const Inspection& head, Step step);

  const InspectionPage& page_;
  InspectionStyle style_;
  TokenNames names_;
  Page out_;
};

// Which head and query, and what the hues mean.
void Screen::head_line(const Inspection& head) {
  std::vector<Line> items;
  const auto add = [&](const std::string& text, const Style& style = {}) {
    items.emplace_back(style_.charset.fitted(text, columns()), style);
  };
  add(head_title(head.head), kBold);
  add(fmt::format("query {} \"{}\"", head.query, names_.label(head.query)),
      style_.role(Role::kQuery));
  add(counted(head.n_tokens(), "token"));
  add(fmt::format("d_model {}", head.d_model()));
  add(fmt::format("d_head {}", head.d_head()));
  if (head.d_value() != head.d_head()) {
    add(fmt::format("d_value {}", head.d_value()));
  }
  // The meaning of the hues stays together.
  const std::pair<const char*, Role> hues[] = {
      {"q query", Role::kQuery}, {"k key", Role::kKey}, {"v value", Role::kValue}};
  Line meaning;
  for (const auto& [text, role] : hues) {
    meaning.space(meaning.spans.empty() ? 0 : kGap);
    meaning.put(text, style_.role(role));
  }
  if (meaning.width() <= columns()) {
    items.push_back(std::move(meaning));
  }
  out_.add(flow(items, kGap, columns()));
}

// The number and the formula on the left, shapes on the right or, where there is no room, below.
void Screen::heading(const Inspection& head, Step step) {
  constexpr std::size_t kWidest = 100;
  const StepHeading words = step_heading(head, step, style_.charset.is_ascii());
  const std::string left = fmt::format("{:<2} {}", words.number, words.formula);
  const std::size_t room = std::min(columns(), kWidest);
  const std::size_t width = display_width(left) + kGap + display_width(words.shape);
  if (width <= room) {
    Line line(left, kBold);
    line.space(room - width + kGap);
    line.put(words.shape, kDim);
    out_.add(std::move(line));
  } else {
    add_paragraph(left, 0, kBold);
    add_paragraph(words.shape, style_.indent, kDim);
  }
  if (page_.explain) {
    add_paragraph(step_sentence(head, names_, step, style_.charset.is_ascii()), style_.indent);
  }
  if (const std::string note = step_note(head, step, style_.charset.is_ascii()); !note.empty()) {
    add_paragraph(note, style_.indent, kDim);
  }
}

void Screen::vectors(const std::vector<VectorRow>& rows) {
  NumberGroup numbers;
  for (const VectorRow& row : rows) {
    numbers.add(row.values);
  }
  add_table(vector_table(style_, rows, numbers, page_.full));
}

void Screen::folded_keys(const ShownKeys& shown) {
  const auto say = [this](const std::string& text) {
    add_paragraph(fmt::format("{} {}", style_.charset.ellipsis(), text), style_.indent, kDim);
  };
  if (shown.left_out > 0) {
    say(fmt::format("{} with the least weight {} left out", counted(shown.left_out, "key"),
                    shown.left_out == 1 ? "is" : "are"));
  }
  const std::pair<std::size_t, const char*> masked[] = {{shown.masked_before, "earlier"},
                                                        {shown.masked_after, "later"}};
  for (const auto& [count, where] : masked) {
    if (count > 0) {
      say(fmt::format("{} {} key{} masked", count, where, count == 1 ? " is" : "s are"));
    }
  }
}

// The keys as they are at some step; with page_.full they stand in a matrix.
void Screen::keys(const Inspection& head, ConstMatrix keys) {
  if (page_.full) {
    return;
  }
  const ShownKeys shown = shown_keys(head, false);
  NumberGroup numbers;
  numbers.add(keys);
  add_table(vector_table(style_, key_rows(keys, names_, shown), numbers, /*full=*/false));
  folded_keys(shown);
}

void Screen::query_key_norm(const Inspection& head) {
  if (head.query_norm.present()) {
    vectors(query_norm_rows(head));
  }
  if (head.key_norm.present()) {
    vectors({{"w of k", head.key_norm.weight, Role::kPlain}});
    keys(head, head.upright_keys());
  }
}

void Screen::body(const Inspection& head, Step step) {
  const std::string& query = names_.label(head.query);
  switch (step) {
    case Step::kX:
      vectors({{"x " + query, head.x(), Role::kPlain}});
      break;
    case Step::kNorm:
      vectors(look_rows(head, query));
      break;
    case Step::kQuery:
      vectors({{"q " + query, head.projected_queries().row(head.query), Role::kQuery}});
      break;
    case Step::kKeys:
      keys(head, head.projected_keys());
      break;
    case Step::kQueryKeyNorm:
      query_key_norm(head);
      break;
    case Step::kRope:
      add_table(turn_table(style_, head, page_.full));
      if (!page_.full) {
        add_paragraph("keys turned:", style_.indent, kDim);
      }
      keys(head, head.k.view());
      break;
    case Step::kScores:
    case Step::kScale:
    case Step::kCap:
    case Step::kMask:
    case Step::kSoftmax:
      if (page_.ends_key_table(head, step)) {
        const ShownKeys shown = shown_keys(head, page_.full);
        add_table(key_table(style_, page_, names_, head, shown));
        folded_keys(shown);
      }
      break;
    case Step::kValues:
      if (!page_.full) {
        const ShownKeys shown = shown_keys(head, page_.full);
        add_table(share_table(style_, names_, head, shown));
        folded_keys(shown);
      }
      break;
    case Step::kContext:
      vectors({{"context", head.context, Role::kValue}});
      break;
    case Step::kOutput:
      if (head.has_output()) {
        vectors({{"output", head.output, Role::kValue}});
      }
      break;
    case Step::kResidual:
      vectors(residual_rows(head));
      break;
  }
}

void Screen::matrix(std::string_view title, ConstMatrix values, MatrixAxis rows, MatrixAxis columns,
                    Role role) {
  add_paragraph(fmt::format("{} [{}, {}]", title, values.rows, values.cols), style_.indent,
                style_.role(role));
  add_table(matrix_table(style_, values, rows, columns, role));
}

void Screen::weight_matrix(std::string_view title, const Projection& projection, Role role) {
  matrix("W_" + std::string(title), projection.weight.as_floats(), {}, {}, role);
  if (!projection.bias.empty()) {
    const ConstMatrix bias{projection.bias.data(), 1, projection.bias.size(),
                           projection.bias.size()};
    matrix("b_" + std::string(title), bias, {}, {}, role);
  }
}

// What all queries do in this step, and the weights of the model that do it.
void Screen::full_matrices(const Inspection& head, Step step) {
  const InspectedMatrices& all = *head.all;
  const MatrixAxis tokens{&names_, Role::kPlain};
  const MatrixAxis queries{&names_, Role::kQuery};
  const MatrixAxis keys{&names_, Role::kKey};
  switch (step) {
    case Step::kX:
      return matrix("X", head.input->view(), tokens, {}, Role::kPlain);
    case Step::kNorm:
      return matrix("Y", head.look->view(), tokens, {}, Role::kPlain);
    case Step::kQuery:
      weight_matrix("Q", head.weights_in.query, Role::kQuery);
      return matrix("Q", head.projected_queries(), queries, {}, Role::kQuery);
    case Step::kKeys:
      weight_matrix("K", head.weights_in.key, Role::kKey);
      return matrix("K", head.projected_keys(), keys, {}, Role::kKey);
    case Step::kQueryKeyNorm:
      matrix("Q normed", head.upright_queries(), queries, {}, Role::kQuery);
      return matrix("K normed", head.upright_keys(), keys, {}, Role::kKey);
    case Step::kRope:
      matrix("Q turned", head.q.view(), queries, {}, Role::kQuery);
      return matrix("K turned", head.k.view(), keys, {}, Role::kKey);
    case Step::kScores:
      return matrix("scores", all.scores.view(), queries, keys, Role::kPlain);
    case Step::kScale:
      return matrix("scaled", all.scaled.view(), queries, keys, Role::kPlain);
    case Step::kCap:
      return matrix("capped", all.capped.view(), queries, keys, Role::kPlain);
    case Step::kMask:
      return matrix("masked", all.masked.view(), queries, keys, Role::kPlain);
    case Step::kSoftmax:
      return matrix("weights", all.weights.view(), queries, keys, Role::kPlain);
    case Step::kValues:
      weight_matrix("V", head.weights_in.value, Role::kValue);
      matrix("V", head.v.view(), {&names_, Role::kValue}, {}, Role::kValue);
      return matrix(style_.charset.formula("weight · v"), head.shares.view(), keys, {},
                    Role::kValue);
    case Step::kContext:
      return matrix("context", all.context.view(), queries, {}, Role::kValue);
    case Step::kOutput:
      if (head.has_output()) {
        matrix("W_O", head.w_output, {}, {}, Role::kPlain);
        matrix("output", all.output.view(), queries, {}, Role::kValue);
      }
      return;
    case Step::kResidual:
      return;
  }
}

Page Screen::draw() {
  add_paragraph(style_.charset.sentence("inspect: " + page_.title), 0, kBold);
  for (const std::vector<std::string>* texts : {&page_.notes, &page_.remarks}) {
    for (const std::string& text : *texts) {
      add_paragraph(style_.charset.sentence(text), 0);
    }
  }
  for (const Inspection& head : page_.heads) {
    out_.blank();
    head_line(head);
    bool in_table = false;  // the headings of one table stand together
    for (std::size_t i = 0; i < kInspectionSteps; ++i) {
      const auto step = static_cast<Step>(i);
      if (!page_.shows(head, step)) {
        continue;
      }
      if (!in_table || page_.explain) {
        out_.blank();
      }
      heading(head, step);
      body(head, step);
      in_table = step >= Step::kScores && step < Step::kSoftmax &&
                 !page_.ends_key_table(head, step) && !page_.full;
      if (page_.full) {
        full_matrices(head, step);
      }
    }
  }
  return std::move(out_);
}

}  // namespace

Page inspection_screen(const InspectionPage& page, const TerminalOptions& options) {
  return Screen(page, options).draw();
}

}  // namespace attnviz
