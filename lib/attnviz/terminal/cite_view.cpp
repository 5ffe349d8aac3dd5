#include "attnviz/terminal/cite_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/words/number_group.h"
#include "attnviz/document/words/short_numbers.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

using Place = CiteDocument::Place;

std::string nats(double change) {
  return without_zero_sign(fmt::format("{:+.2f}", change));
}

bool is_never_hidden(const CiteDocument& document, const Place& place) {
  return !document.at(place).effect.log_probability_change;
}

// "a.md:12:34": of a long name less is seen, so that the place is.
std::string name_of(const CiteDocument& document, const Place& place, const Charset& charset) {
  constexpr std::size_t kMostName = 20;
  constexpr std::size_t kLeastName = 6;
  const std::string begin = document.begin_at(place);
  const std::size_t rest = std::max(kLeastName, kMostName - std::min(kMostName, begin.size()));
  return charset.fitted(charset.label(document.documents[place.document].name), rest) + begin;
}

std::string pieces_of(const CiteDocument& document, std::size_t count) {
  const std::string pieces = counted(count, document.piece());
  return document.span_words == 0
             ? pieces
             : fmt::format("{} of at most {}", pieces, counted(document.span_words, "word"));
}

TextTable table_of(const CiteDocument& document, const std::vector<Place>& places,
                   const TerminalOptions& options) {
  constexpr std::size_t kNumbers = 42;  // the other columns, and what lies between
  constexpr std::size_t kLeastText = 20;
  const Charset charset(options.style);
  TextTable table;
  TextColumn change{{"change", kDim}, {}};
  TextColumn factor{{"if hidden", kDim}, {}};
  TextColumn attention{{"attention", kDim}, {}};
  TextColumn retrieval{{"retrieval", kDim}, {}};
  TextColumn where{{"where", kDim}, {}, false};
  TextColumn text{{std::string(document.piece()), kDim}, {}, false};
  for (const Place& place : places) {
    const SpanEffect& effect = document.at(place).effect;
    const Style style = document.matters(effect.log_probability_change) ? Style() : kDim;
    table.labels.push_back({fmt::format("{}", table.labels.size() + 1), style});
    const std::optional<double>& lost = effect.log_probability_change;
    change.cells.push_back({lost ? nats(*lost) : charset.dash(), style});
    factor.cells.push_back(
        {lost ? factor_words(*lost, charset.is_ascii()) : charset.dash(), style});
    attention.cells.push_back({percent_cell(static_cast<float>(effect.attention), 1), style});
    if (effect.chosen_attention) {
      retrieval.cells.push_back(
          {percent_cell(static_cast<float>(*effect.chosen_attention), 1), style});
    }
    where.cells.push_back({name_of(document, place, charset), style});
  }
  const bool has_retrieval = !places.empty() && retrieval.cells.size() == places.size();
  const std::size_t used = kNumbers + where.width() + (has_retrieval ? 11 : 0);
  const std::size_t width = std::max(kLeastText, options.columns - std::min(options.columns, used));
  for (const Place& place : places) {
    text.cells.push_back({charset.fitted(charset.sentence(document.text_at(place)), width),
                          where.cells[text.cells.size()].style});
  }
  table.columns = {std::move(change), std::move(factor), std::move(attention)};
  if (has_retrieval) {
    table.columns.push_back(std::move(retrieval));
  }
  table.columns.push_back(std::move(where));
  table.columns.push_back(std::move(text));
  return table;
}

// Words one after the other, in lines of some width.
class RunningText {
 public:
  explicit RunningText(std::size_t columns) : columns_(columns) {}

  // With a blank before it, unless it is the first of a line or stands close to the one before.
  void put(std::string_view word, const Style& style, bool is_close, const Style& blank) {
    const std::vector<std::string_view> clusters = grapheme_clusters(word);
    auto next = clusters.begin();
    std::size_t rest = display_width(word);
    while (next != clusters.end()) {
      const bool is_new = line_.spans.empty();
      const std::size_t gap = is_new || is_close ? 0 : 1;
      std::string part;
      std::size_t width = 0;
      // What fits no line, and close signs such as those of Chinese, break anywhere.
      if (width_ + gap + rest <= columns_ || rest > columns_ || is_close) {
        for (; next != clusters.end(); ++next) {
          const std::size_t sign = display_width(*next);
          if (width_ + gap + width + sign > columns_) {
            break;
          }
          part += *next;
          width += sign;
        }
      }
      if (!part.empty()) {
        add(part, width, gap, style, blank);
        rest -= width;
      } else if (is_new) {
        return;  // one sign that is wider than a line
      }
      if (next != clusters.end()) {
        end_line();
      }
    }
  }
  void end_line() {
    if (!line_.spans.empty()) {
      page_.add(std::exchange(line_, {}));
    }
    width_ = 0;
  }
  Page take() {
    end_line();
    return std::move(page_);
  }

 private:
  void add(std::string_view word, std::size_t width, std::size_t gap, const Style& style,
           const Style& blank) {
    line_.put(std::string(gap, ' '), blank);
    line_.put(word, style);
    width_ += gap + width;
  }

  std::size_t columns_;
  Page page_;
  Line line_;
  std::size_t width_ = 0;
};

// Draws documents whose sentences are marked with their ranks, and shaded.
class ShadedText {
 public:
  ShadedText(const CiteDocument& document, const std::vector<Place>& marked,
             const Colormap& colormap, const TerminalOptions& options)
      : document_(document),
        charset_(options.style),
        palette_(colormap, options.color),
        has_color_(options.color != ColorDepth::kNone),
        columns_(options.columns) {
    for (const Place& place : marked) {
      ranks_.emplace(std::pair(place.document, place.sentence), ranks_.size() + 1);
    }
    most_ = marked.empty() ? 0.0 : lost_by(document.at(marked.front()));
  }

  Page draw() const {
    constexpr std::size_t kMostSentences = 40;  // of documents that are drawn whole
    std::size_t n_sentences = 0;
    for (const CitedText& text : document_.documents) {
      n_sentences += text.sentences.size();
    }
    Page page;
    for (std::size_t i = 0; i < document_.documents.size(); ++i) {
      const auto of_text = ranks_.lower_bound({i, 0});
      const bool has_any = of_text != ranks_.end() && of_text->first.first == i;
      if (document_.documents[i].sentences.empty() || (!has_any && n_sentences > kMostSentences)) {
        continue;
      }
      page.blank();
      page.add(charset_.sentence(document_.documents[i].name), kBold);
      add_text(page, i, n_sentences > kMostSentences);
    }
    return page;
  }

 private:
  static double lost_by(const CitedSentence& sentence) {
    return -sentence.effect.log_probability_change.value_or(0.0);
  }

  std::optional<std::size_t> rank(std::size_t text, std::size_t sentence) const {
    const auto found = ranks_.find({text, sentence});
    return found == ranks_.end() ? std::nullopt : std::optional(found->second);
  }

  Style style_of(const CitedSentence& sentence) const {
    if (!has_color_) {
      return kBold;
    }
    const double share = lost_by(sentence) / most_;
    return {.ink = {}, .fill = palette_.color(static_cast<float>(share))};
  }

  // Line ends in what stands between a sentence and the one before it.
  std::size_t line_ends_before(const CitedText& text, std::size_t sentence) const {
    if (sentence == 0) {
      return 0;
    }
    const std::size_t begin = text.sentences[sentence - 1].end;
    const std::size_t end = text.sentences[sentence].begin;
    return static_cast<std::size_t>(std::ranges::count(text.text.substr(begin, end - begin), '\n'));
  }

  void add_text(Page& page, std::size_t index, bool only_marked) const {
    const CitedText& text = document_.documents[index];
    std::size_t n_left_out = 0;
    const auto tell_left_out = [&] {
      if (n_left_out > 0) {
        page.add(fmt::format("{} {}", charset_.ellipsis(), counted(n_left_out, document_.piece())),
                 kDim);
      }
      n_left_out = 0;
    };
    for (std::size_t begin = 0; begin < text.sentences.size();) {
      std::size_t end = begin + 1;
      bool is_marked = rank(index, begin).has_value();
      while (end < text.sentences.size() && !text.sentences[end].begins_line) {
        is_marked = is_marked || rank(index, end).has_value();
        ++end;
      }
      if (only_marked && !is_marked) {
        n_left_out += end - begin;
      } else {
        tell_left_out();
        if (line_ends_before(text, begin) > 1) {
          page.blank();
        }
        page.add(paragraph_of(index, begin, end));
      }
      begin = end;
    }
    tell_left_out();
  }

  Page paragraph_of(std::size_t index, std::size_t begin, std::size_t end) const {
    const CitedText& text = document_.documents[index];
    RunningText running(columns_);
    for (std::size_t i = begin; i < end; ++i) {
      const CitedSentence& sentence = text.sentences[i];
      const std::optional<std::size_t> mark = rank(index, i);
      const Style style = mark ? style_of(sentence) : Style();
      // Sentences of scripts without spaces follow each other closely.
      bool is_close = i > begin && text.sentences[i - 1].end == sentence.begin;
      Style blank;
      if (mark) {
        running.put(fmt::format("[{}]", *mark), kBold, is_close, blank);
        is_close = false;
      }
      const std::string words = charset_.sentence(
          std::string_view(text.text).substr(sentence.begin, sentence.end - sentence.begin));
      for (const std::string_view word : words_of(words)) {
        running.put(word, style, is_close, blank);
        is_close = false;
        blank = style;
      }
    }
    return running.take();
  }

  const CiteDocument& document_;
  Charset charset_;
  TerminalPalette palette_;
  bool has_color_;
  std::size_t columns_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> ranks_;
  double most_ = 0.0;
};

void add_answer(Page& page, const CiteDocument& document, const Charset& charset,
                std::size_t columns) {
  if (!document.question.empty()) {
    page.add(paragraph(charset.sentence("question: " + document.question), columns));
  }
  const double log_probability = document.log_probability();
  page.add(paragraph(charset.sentence("answer: " + document.answer), columns, kBold));
  page.add(paragraph(
      fmt::format("{}; {}, ln p = {:.2f}: the model holds it {} probable",
                  document.continuation ? "written by the model" : "given",
                  counted(document.tokens.size(), "token"), log_probability,
                  percentage(std::max(static_cast<float>(std::exp(log_probability)), 1e-30f))),
      columns, kDim, 2));
}

}  // namespace

Page cite_page(const CiteDocument& document, std::size_t top, const Colormap& colormap,
               const TerminalOptions& asked) {
  const TerminalOptions options = wide_enough(asked);
  const Charset charset(options.style);
  std::vector<Place> places = document.ranked();
  const std::size_t n_all = places.size();
  Page page;
  page.add(paragraph(charset.sentence(fmt::format("cite: {}, {} of {}", model_title(document.model),
                                                  pieces_of(document, n_all),
                                                  counted(document.documents.size(), "text"))),
                     options.columns, kBold));
  for (const std::string& note : document.notes) {
    page.add(paragraph(charset.sentence(note), options.columns, kDim));
  }
  page.blank();
  add_answer(page, document, charset, options.columns);
  page.blank();
  page.add(
      paragraph(charset.sentence(cite_conclusion(document, charset.is_ascii())), options.columns));
  page.blank();
  places.resize(top == 0 ? n_all : std::min(n_all, top));
  page.add(draw_table(table_of(document, places, options), options.columns, charset));
  if (places.size() < n_all) {
    page.add(fmt::format("{} {}", charset.ellipsis(),
                         counted(n_all - places.size(), fmt::format("more {}", document.piece()))),
             kDim);
  }
  page.add(paragraph(
      fmt::format(
          "change: of ln p(answer), in nats, when no token of the answer can look at the "
          "{0}; if hidden: how much less or more probable that makes the answer; "
          "attention: what the answer's tokens give the {0}, mean over all layers "
          "and heads{1}",
          document.piece(),
          document.retrieval_heads ? "; retrieval: the same over retrieval heads alone" : ""),
      options.columns, kDim));
  page.add(
      paragraph(fmt::format("What later tokens have read from a {} stays with them: others may "
                            "carry what it says.",
                            document.piece()),
                options.columns, kDim));
  if (std::ranges::any_of(places,
                          [&](const Place& place) { return is_never_hidden(document, place); })) {
    page.add(paragraph(fmt::format("{}: nothing of it can be hidden: it is only the token that "
                                   "predicts the answer, and a token always sees itself.",
                                   charset.dash()),
                       options.columns, kDim));
  }
  std::erase_if(places, [&](const Place& place) {
    return !document.matters(document.at(place).effect.log_probability_change);
  });
  if (!places.empty()) {
    page.add(ShadedText(document, places, colormap, options).draw());
  }
  return page;
}

}  // namespace attnviz
