#include "attnviz/picture/inspection_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/color/role_colors.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/inspection_rows.h"
#include "attnviz/document/inspection_words.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/inspection_figure_blocks.h"
#include "attnviz/picture/layout/figure_sheet.h"
#include "attnviz/picture/raster/scene_painter.h"

namespace attnviz {

namespace {

using Role = InspectionRole;
using Step = InspectionStep;

constexpr Rgb kText = FigureBlocks::kText;
constexpr Rgb kNote = FigureBlocks::kNote;
constexpr Rgb kWarning{0xB0, 0x10, 0x10};
constexpr Rgb kRule{0xD8, 0xD8, 0xD8};

constexpr int kWidth = FigureBlocks::kWidth;
constexpr int kMargin = FigureBlocks::kMargin;
constexpr int kGapAfterStep = 18;

std::string title_of(const InspectionPage& page) {
  return "inspect: " + page.title;
}

std::string figure_facts(const InspectionPage& page) {
  std::string steps;
  for (std::size_t i = 0; i < kInspectionSteps; ++i) {
    const auto is_shown = [&page, step = static_cast<Step>(i)](const Inspection& head) {
      return page.shows(head, step);
    };
    if (std::any_of(page.heads.begin(), page.heads.end(), is_shown)) {
      steps += fmt::format("{}\"{}\"", steps.empty() ? "" : ", ", inspection_step_names()[i]);
    }
  }
  return fmt::format(R"({{"steps": [{}], "explain": {}}})", steps, page.explain);
}

// The widest number of several matrices, in columns.
std::size_t widest(std::initializer_list<ConstMatrix> matrices) {
  std::size_t columns = 0;
  for (const ConstMatrix values : matrices) {
    NumberGroup numbers;
    numbers.add(values);
    columns = std::max(columns, numbers.width());
  }
  return columns;
}

class Figure {
 public:
  Figure(const InspectionPage& page, const FigureStyle& style)
      : page_(page), blocks_(page, style) {}

  Scene scene() {
    title();
    for (const Inspection& head : page_.heads) {
      head_line(head);
      for (std::size_t i = 0; i < kInspectionSteps; ++i) {
        const auto step = static_cast<Step>(i);
        if (page_.shows(head, step)) {
          heading(head, step);
          body(head, step);
        }
      }
    }
    sheet().text(
        "cells: blue is negative, red is positive, white is 0; the strongest colour of a "
        "block is its largest number",
        kMargin, blocks_.y(), FigureBlocks::room(), kNote, FigureSheet::kSmallText);
    blocks_.skip(line_height(FigureSheet::kSmallText) + kMargin);
    return sheet().scene(blocks_.y());
  }

 private:
  FigureSheet& sheet() noexcept { return blocks_.sheet(); }

  void title() {
    blocks_.skip(kMargin);
    blocks_.skip(sheet().paragraph(safe_message(title_of(page_), false), kMargin, blocks_.y(),
                                   FigureBlocks::room(), kText, FigureSheet::kTitle));
    paragraphs(page_.notes, kWarning);
    paragraphs(page_.remarks, kNote);
  }

  void paragraphs(const std::vector<std::string>& texts, Rgb color) {
    for (const std::string& text : texts) {
      blocks_.skip(sheet().paragraph(safe_message(text, false), kMargin, blocks_.y() + 2,
                                     FigureBlocks::room(), color) +
                   2);
    }
  }

  void head_line(const Inspection& head) {
    blocks_.skip(6);
    int x = kMargin;
    const auto add = [&](const std::string& text, Rgb color) {
      x += sheet().text(text, x, blocks_.y(), kWidth - kMargin - x, color) + 2 * FigureSheet::kText;
    };
    add(head_title(head.head), kText);
    add(fmt::format("query {} {}", head.query, blocks_.names().quoted(head.query)),
        role_color(Role::kQuery));
    add(fmt::format("{}   d_model {}   d_head {}   d_value {}", counted(head.n_tokens(), "token"),
                    head.d_model(), head.d_head(), head.d_value()),
        kText);
    add("q query", role_color(Role::kQuery));
    add("k key", role_color(Role::kKey));
    add("v value", role_color(Role::kValue));
    blocks_.skip(line_height(FigureSheet::kText) + kGapAfterStep / 2);
  }

  // A rule, the number and the formula on the left, shapes on the right, the sentence and what the
  // numbers come from below.
  void heading(const Inspection& head, Step step) {
    if (!in_table_) {
      sheet().box({kMargin, blocks_.y(), FigureBlocks::room(), 1}, kRule);
      blocks_.skip(7);
    }
    const StepHeading words = step_heading(head, step, /*ascii=*/false);
    const std::string left = fmt::format("{:<2} {}", words.number, words.formula);
    sheet().text(left, kMargin, blocks_.y(), FigureBlocks::room() * 3 / 4, kText);
    sheet().text_to(words.shape, kMargin + FigureBlocks::room(), blocks_.y(), kNote);
    blocks_.skip(line_height(FigureSheet::kText) + 2);
    constexpr int kIndent = 3 * FigureSheet::kText;
    const auto say = [&](const std::string& text) {
      if (!text.empty()) {
        blocks_.skip(sheet().paragraph(text, kMargin + kIndent, blocks_.y(),
                                       FigureBlocks::room() - kIndent, kNote) +
                     2);
      }
    };
    if (page_.explain) {
      say(step_sentence(head, blocks_.names(), step, false));
    }
    say(step_note(head, step, false));
    blocks_.skip(2);
    in_table_ = false;
  }

  void query(const Inspection& head) {
    const ConstMatrix w_q = head.weights_in.query.weight.as_floats();
    const ConstMatrix q = head.projected_queries().row_block(head.query, 1);
    const std::size_t wide = widest({w_q, q});
    blocks_.matrix("W_Q", w_q, Role::kQuery, wide);
    blocks_.vectors({{"q " + blocks_.names().label(head.query), q.row(0), Role::kQuery}}, wide);
  }

  void keys(const Inspection& head) {
    const ConstMatrix w_k = head.weights_in.key.weight.as_floats();
    const std::size_t wide = widest({w_k, head.projected_keys()});
    blocks_.matrix("W_K", w_k, Role::kKey, wide);
    blocks_.keys(head, head.projected_keys(), wide);
  }

  void query_key_norm(const Inspection& head) {
    if (head.query_norm.present()) {
      blocks_.vectors(query_norm_rows(head));
    }
    if (head.key_norm.present()) {
      blocks_.skip(5);
      blocks_.vectors({{"w of k", head.key_norm.weight, Role::kPlain}});
      blocks_.keys(head, head.upright_keys(), 0);
    }
  }

  // The angle of each dimension stands over its number.
  void turn(const Inspection& head) {
    constexpr double kTurn = 2.0 * std::numbers::pi;
    const std::size_t n_pairs = head.rope->n_pairs();
    std::vector<float> angles(head.d_head(), 0.0f);
    for (std::size_t pair = 0; pair < n_pairs; ++pair) {
      const double angle = static_cast<double>(head.query) * head.rope->frequencies[pair];
      const auto [first, other] = head.rope->dimensions(pair);
      angles[first] = static_cast<float>(std::remainder(angle, kTurn));
      angles[other] = angles[first];
    }
    const ConstMatrix row{angles.data(), 1, angles.size(), angles.size()};
    const std::size_t wide =
        widest({row, head.upright_queries().row_block(head.query, 1), head.k.view()});
    blocks_.vectors({{"angle, −π to π", angles, Role::kPlain}}, wide);
    blocks_.skip(5);
    blocks_.vectors(turned_rows(head), wide);
    blocks_.skip(5);
    blocks_.keys(head, head.k.view(), wide);
  }

  void body(const Inspection& head, Step step) {
    const std::string& query_label = blocks_.names().label(head.query);
    switch (step) {
      case Step::kX:
        blocks_.vectors({{"x " + query_label, head.x(), Role::kPlain}});
        break;
      case Step::kNorm:
        blocks_.vectors(look_rows(head, query_label));
        break;
      case Step::kQuery:
        query(head);
        break;
      case Step::kKeys:
        keys(head);
        break;
      case Step::kQueryKeyNorm:
        query_key_norm(head);
        break;
      case Step::kRope:
        turn(head);
        break;
      case Step::kScores:
      case Step::kScale:
      case Step::kCap:
      case Step::kMask:
      case Step::kSoftmax:
        if (!page_.ends_key_table(head, step)) {
          in_table_ = true;
          return;
        }
        blocks_.table(head);
        break;
      case Step::kValues:
        blocks_.shares(head);
        break;
      case Step::kContext:
        blocks_.vectors({{"context", head.context, Role::kValue}});
        break;
      case Step::kOutput:
        if (head.has_output()) {
          blocks_.vectors({{"output", head.output, Role::kValue}});
        }
        break;
      case Step::kResidual:
        blocks_.vectors(residual_rows(head));
        break;
    }
    blocks_.skip(kGapAfterStep);
  }

  const InspectionPage& page_;
  FigureBlocks blocks_;
  bool in_table_ = false;  // the headings of one table stand together
};

}  // namespace

std::string render_inspection_figure(const InspectionPage& page, const FigureStyle& style) {
  return scene_png(Figure(page, style).scene(), *style.fonts,
                   {{"Title", printable_message(title_of(page))},
                    {"Software", "attnviz"},
                    {"attnviz", page.facts},
                    {"attnviz-figure", figure_facts(page)}});
}

}  // namespace attnviz
