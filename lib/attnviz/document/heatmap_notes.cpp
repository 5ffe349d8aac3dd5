#include "attnviz/document/heatmap_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/document/words/intervention_words.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

bool draws_sinks(const AttentionDocument& document) {
  return document.has_sinks() && !document.patterns.front().weights.empty();
}

namespace {

// Those that are drawn, in order, each once; of a mean all that went into it.
std::vector<std::size_t> layers_of(const AttentionDocument& document) {
  std::set<std::size_t> layers;
  for (const HeadId head : document.average ? document.average->heads : heads_of(document)) {
    layers.insert(head.layer);
  }
  return {layers.begin(), layers.end()};
}

// "rollout through layers 0, 1 (8 heads): each 0.5 the residual stream, 0.5 the mean of its heads".
std::string rollout_note(const AttentionDocument& document) {
  const RolloutRequest& rollout = *document.average->rollout;
  const std::vector<std::size_t> layers = layers_of(document);
  const bool in_a_row = layers.size() > 2 && layers.back() - layers.front() + 1 == layers.size();
  const std::string through =
      in_a_row ? fmt::format("layers {} to {}", layers.front(), layers.back())
               : fmt::format("layer{} {}", layers.size() == 1 ? "" : "s", fmt::join(layers, ", "));
  const std::string heads =
      fmt::format("the {} of its heads{}", rollout.over == RolloutOver::kMean ? "mean" : "largest",
                  rollout.weighted ? ", weighted by value norms" : "");
  return fmt::format(
      "rollout through {} ({}): each {}", through, counted(document.average->heads.size(), "head"),
      rollout.residual == 0.0f ? heads + ", without the residual stream"
                               : fmt::format("{:.3g} the residual stream, {:.3g} {}",
                                             rollout.residual, 1.0f - rollout.residual, heads));
}

// What stays of the marks where tokens that the tokenizer added, or the first one, are left out.
TokenMarks shown_marks(const AttentionDocument& document) {
  TokenMarks marks = document.marks;
  if (document.drawing.no_special) {
    std::erase_if(marks.special, [&document](std::size_t token) {
      return std::ranges::binary_search(document.marks.added, token);
    });
    marks.added.clear();
  }
  // Where it sees others, too, it stays as a query.
  if (document.drawing.drop_sink && !draws_sinks(document) && document.run.mask &&
      !document.run.mask->visible(0, 1) && document.key_tokens == document.query_tokens) {
    for (std::vector<std::size_t>* const some : {&marks.special, &marks.added, &marks.generated}) {
      std::erase(*some, 0);
    }
  }
  return marks;
}

// Each once, in order.
std::vector<std::string> added_tokens(const AttentionDocument& document) {
  std::vector<std::string> tokens;
  for (const std::size_t token : document.marks.added) {
    const std::string name = quoted_token(document.query_tokens[token]);
    if (std::ranges::find(tokens, name) == tokens.end()) {
      tokens.push_back(name);
    }
  }
  return tokens;
}

std::vector<std::string> notes(const AttentionDocument& document) {
  std::vector<std::string> lines;
  const auto append = [&lines](std::vector<std::string> more) {
    std::move(more.begin(), more.end(), std::back_inserter(lines));
  };
  if (document.model) {
    append(model_notes(*document.model));
  }
  if (document.model && !document.average) {
    lines.push_back(names_note(*document.model, heads_of(document)));
    std::erase(lines, "");
  }
  if (document.difference) {
    const auto& name = document.difference->of_models ? shown_name : quoted;  // cut when long
    lines.push_back("A: " + name(document.difference->a));
    lines.push_back("B: " + name(document.difference->b));
  }
  if (document.is_rollout()) {
    lines.push_back(rollout_note(document));
  }
  if (document.run.mask) {
    lines.push_back((is_before_mask(document.kind) ? "not masked yet: mask " : "mask ") +
                    document.run.mask->name());
  }
  append(layer_notes(document.run, layers_of(document)));
  append(run_notes(document.run));
  if (document.words) {
    lines.push_back(fmt::format("tokens merged to {}: sums over keys, means over queries",
                                word_for(kFolds, document.words->fold)));
    if (document.words->mask) {
      lines.push_back(fmt::format("mask {} between tokens", document.words->mask->name()));
    }
  }
  append(document.notes);
  const bool leaves_out = document.drawing.no_special && !document.marks.added.empty();
  if (std::string note = marks_note(shown_marks(document)); !note.empty()) {
    lines.push_back(std::move(note));
  }
  if (leaves_out) {
    lines.push_back(fmt::format("left out, rows as they are: {} ({})",
                                counted(document.marks.added.size(), "token"),
                                fmt::join(added_tokens(document), ", ")));
  }
  if (draws_sinks(document)) {
    lines.emplace_back(document.drawing.drop_sink
                           ? "learned sink left out, what is left of each row scaled to sum to 1"
                           : "sink: a learned logit of each head, whose weight goes to no token");
  } else if (document.drawing.drop_sink) {
    lines.push_back(
        fmt::format("first token ({}) left out, what is left of each row scaled to sum to 1",
                    document.key_tokens.front()));
  }
  return lines;
}

}  // namespace

std::vector<std::string> shared_notes(std::span<const AttentionDocument> documents) {
  std::vector<std::string> shared = notes(documents.front());
  for (const AttentionDocument& document : documents.subspan(1)) {
    const std::vector<std::string> others = notes(document);
    std::erase_if(shared, [&others](const std::string& line) {
      return std::find(others.begin(), others.end(), line) == others.end();
    });
  }
  if (documents.size() > 1 &&
      documents.front().run.interventions != documents.back().run.interventions) {
    const std::vector<std::string>& names = documents.front().drawing.side_by_side;
    const std::string changes =
        fmt::format("{}", fmt::join(left_out_notes(documents.back().run), "; "));
    shared.push_back(
        names.back().starts_with("without")
            ? fmt::format("side by side: {}, {}", names.front(), changes)
            : fmt::format("side by side: {}, {}: {}", names.front(), names.back(), changes));
  } else if (documents.size() > 1) {
    const bool temperatures = std::any_of(
        documents.begin(), documents.end(),
        [](const AttentionDocument& document) { return document.run.temperature != 1.0f; });
    shared.push_back(
        fmt::format("side by side: {}{}", fmt::join(documents.front().drawing.side_by_side, ", "),
                    temperatures ? " (T: temperature, which divides the scores)" : " (masks)"));
  }
  return shared;
}

}  // namespace attnviz
