#include "attnviz/analysis/heads/head_names.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

bool is_judged(const HeadName& name, std::span<const TokenizedText> probes,
               const ScoreValues& uniform) {
  return uniform[name.score].value_or(0.0) < name.largest_random &&
         std::ranges::all_of(probes, [](const TokenizedText& probe) {
           return probe.size() >= kShortestNamedProbe;
         });
}

std::vector<std::string_view> earned_names(const ScoreValues& scores,
                                           std::span<const TokenizedText> probes,
                                           const ScoreValues& uniform) {
  std::vector<std::string_view> names;
  for (const HeadName& name : kHeadNames) {
    if (is_judged(name, probes, uniform) && name.is_earned_by(scores)) {
      names.push_back(name.name);
    }
  }
  return names;
}

std::vector<NamedHead> measured_names(const Model& model, const ModelTokenizer* tokenizer,
                                      const AttentionRequest& request) {
  AttentionRequest silent = request;
  silent.report = nullptr;
  const ProbeShape shape;
  const std::vector<TokenizedText> probes = make_probes(model, tokenizer, shape);
  const std::vector<HeadId> heads = select_heads(model, "", "");
  ScoreMeans means(heads.size());
  ScoreMeans uniform(1);
  double n_done = 0.0;
  for (const TokenizedText& probe : probes) {
    const ScoredTokens tokens = probe_tokens(probe, shape, kUsualBand);
    means.add(
        score_heads(model, probe, tokens, heads, {.attention = silent, .weighted = false}).raw);
    const ScoreValues alike =
        uniform_scores(tokens, shared_visibility(model, heads, request, tokens.size()));
    uniform.add(std::span(&alike, 1));
    if (request.report) {
      request.report(++n_done / static_cast<double>(probes.size()));
    }
  }
  const ScoreValues alike = uniform.means(0);
  std::vector<NamedHead> named;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    for (const std::string_view name : earned_names(means.means(i), probes, alike)) {
      named.push_back({heads[i].layer, heads[i].head, std::string(name)});
    }
  }
  return named;
}

namespace {

struct KnownHead {
  HeadId head;
  std::string_view name;
};

constexpr KnownHead kGpt2Heads[] = {{{2, 2}, "previous-token"},
                                    {{4, 11}, "previous-token"},
                                    {{0, 1}, "duplicate-token"},
                                    {{0, 10}, "duplicate-token"},
                                    {{3, 0}, "duplicate-token"},
                                    {{5, 5}, "induction"},
                                    {{5, 8}, "induction"},
                                    {{5, 9}, "induction"},
                                    {{6, 9}, "induction"},
                                    {{7, 3}, "S-inhibition"},
                                    {{7, 9}, "S-inhibition"},
                                    {{8, 6}, "S-inhibition"},
                                    {{8, 10}, "S-inhibition"},
                                    {{9, 6}, "name mover"},
                                    {{9, 9}, "name mover"},
                                    {{10, 0}, "name mover"},
                                    {{10, 7}, "negative name mover"},
                                    {{11, 10}, "negative name mover"},
                                    {{9, 0}, "backup name mover"},
                                    {{9, 7}, "backup name mover"},
                                    {{10, 1}, "backup name mover"},
                                    {{10, 2}, "backup name mover"},
                                    {{10, 6}, "backup name mover"},
                                    {{10, 10}, "backup name mover"},
                                    {{11, 2}, "backup name mover"},
                                    {{11, 9}, "backup name mover"}};

}  // namespace

void require_known(const Model& model, KnownModel /*known*/) {
  constexpr std::size_t kLayers = 12, kHeads = 12, kWidth = 768;
  const auto has_heads = [](const LayerWeights& layer) { return layer.heads.size() == kHeads; };
  if (model.config.family != "gpt2" || model.config.d_model != kWidth ||
      model.n_layers() != kLayers || !std::ranges::all_of(model.layers, has_heads)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("known gpt2: expected GPT-2 small (family gpt2, {} layers of "
                            "{} heads, width {}), found {}{} with {} layers of {} heads, "
                            "width {}",
                            kLayers, kHeads, kWidth, model.config.name,
                            model.config.family.empty() ? "" : " (" + model.config.family + ")",
                            model.n_layers(), model.n_heads(), model.config.d_model),
                "known");
  }
}

std::optional<std::string_view> known_name(KnownModel /*known*/, HeadId head) noexcept {
  const auto* const found = std::ranges::find(kGpt2Heads, head, &KnownHead::head);
  return found == std::end(kGpt2Heads) ? std::nullopt : std::optional(found->name);
}

std::string_view known_source(KnownModel /*known*/) noexcept {
  return "known heads: Wang et al. 2022, \"Interpretability in the Wild\"";
}

std::vector<HeadId> retrieval_heads(const Model& model, const ModelTokenizer* tokenizer,
                                    const AttentionRequest& request) {
  AttentionRequest silent = request;
  silent.report = nullptr;
  ProbeShape shape;
  shape.repeats = 2;
  const std::vector<TokenizedText> probes = make_probes(model, tokenizer, shape);
  const std::vector<HeadId> heads = select_heads(model, "", "");
  ScoreMeans means(heads.size());
  double n_done = 0.0;
  for (const TokenizedText& probe : probes) {
    means.add(score_heads(model, probe, probe_tokens(probe, shape, kUsualBand), heads,
                          {.attention = silent, .weighted = false})
                  .raw);
    if (request.report) {
      request.report(++n_done / static_cast<double>(probes.size()));
    }
  }
  std::vector<HeadId> found;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (means.means(i)[Score::kRetrieval].value_or(0.0) >= kLeastRetrieval) {
      found.push_back(heads[i]);
    }
  }
  return found;
}

namespace {

constexpr std::string_view kComparisons[] = {">=", "<=", ">", "<"};

[[noreturn]] void fail(std::string_view text, std::string_view what) {
  throw Error(ErrorKind::kUsage,
              fmt::format("expect: \"{}\": {}; it looks like \"5.5 induction>0.8\", \"any "
                          "induction>0.8\", \"count 3 previous>=0.4\" or \"5.5 induction\"",
                          text, what),
              "expect");
}

std::string_view first_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.find_first_not_of(' ', end), rest.size()));
  return word;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  names.reserve(kHeadNames.size());
  for (const HeadName& name : kHeadNames) {
    names.emplace_back(name.name);
  }
  return names;
}

std::string_view trimmed(std::string_view word) {
  const std::size_t begin = std::min(word.find_first_not_of(' '), word.size());
  return word.substr(begin, word.find_last_not_of(' ') + 1 - begin);
}

std::string value_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "none";
}

}  // namespace

Expectation::Expectation(std::string_view text) : text_(text) {
  std::string_view rest = text;
  const std::string_view who = first_word(rest);
  if (who == "any") {
    who_ = Any();
  } else if (who == "count") {
    const auto n = parse_number<std::size_t>(first_word(rest));
    if (!n) {
      fail(text, "expected a number after count");
    }
    who_ = Count{*n};
  } else {
    const std::optional<HeadId> head = head_named(who);
    if (!head) {
      fail(text, "expected a head, any or count N");
    }
    who_ = *head;
  }
  const auto* const comparison = std::ranges::find_if(
      kComparisons, [rest](std::string_view sign) { return rest.find(sign) != rest.npos; });
  if (comparison == std::end(kComparisons)) {
    const HeadName* const name = head_name_called(rest);
    if (name == nullptr) {
      const std::vector<std::string> names = all_names();
      fail(text, fmt::format("expected a score with > >= < or <= and a number, or one of the names "
                             "{}{}",
                             joined_by(names, ", "), did_you_mean(rest, names)));
    }
    name_ = name;
    score_ = name->score;
    comparison_ = ">=";
    bound_ = name->at_least;
    return;
  }
  const std::size_t at = rest.find(*comparison);
  const std::string_view word = trimmed(rest.substr(0, at));
  if (const auto score = choice_named(kScoreNames, word)) {
    score_ = *score;
  } else if (const HeadName* const name = head_name_called(word)) {
    score_ = name->score;
  } else {
    std::vector<std::string> known = choice_words(kScoreNames);
    std::ranges::move(all_names(), std::back_inserter(known));
    fail(text, fmt::format("unknown score {}{}", in_quotes(word), did_you_mean(word, known)));
  }
  comparison_ = *comparison;
  const std::string_view number = trimmed(rest.substr(at + comparison->size()));
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), bound_);
  if (number.empty() || parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() ||
      !std::isfinite(bound_)) {
    fail(text, "expected a number after " + comparison_);
  }
}

bool Expectation::holds(const ScoreValues& scores) const {
  const std::optional<double>& value = scores[score_];
  if (!value) {
    return false;
  }
  return comparison_ == ">"    ? *value > bound_
         : comparison_ == ">=" ? *value >= bound_
         : comparison_ == "<"  ? *value < bound_
                               : *value <= bound_;
}

std::string Expectation::failure(const std::vector<HeadId>& heads,
                                 const std::vector<ScoreValues>& scores) const {
  const auto found = [&](std::size_t i) {
    return fmt::format("{} has {}{}", head_name(heads[i]), value_text(scores[i][score_]),
                       name_ != nullptr ? fmt::format(" of {}", bound_) : "");
  };
  if (const auto* const head = std::get_if<HeadId>(&who_)) {
    const auto at = std::ranges::find(heads, *head);
    if (at == heads.end()) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("expect: \"{}\": head {} is not among the scored heads", text_,
                              head_name(*head)),
                  "expect");
    }
    const auto index = static_cast<std::size_t>(at - heads.begin());
    return holds(scores[index]) ? "" : fmt::format("expected {}: {}", text_, found(index));
  }
  std::vector<std::string> holding;
  const bool wants_more = comparison_.front() == '>';
  std::size_t nearest = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (holds(scores[i])) {
      holding.push_back(head_name(heads[i]));
    }
    const std::optional<double>& score = scores[i][score_];
    const std::optional<double>& so_far = scores[nearest][score_];
    if (score && (!so_far || (wants_more ? *score > *so_far : *score < *so_far))) {
      nearest = i;
    }
  }
  if (const auto* const count = std::get_if<Count>(&who_)) {
    return holding.size() == count->n
               ? ""
               : fmt::format("expected {}: {} found{}{}", text_, holding.size(),
                             holding.empty() ? "" : ": ", joined_by(holding, " "));
  }
  if (!holding.empty()) {
    return "";
  }
  return heads.empty() ? fmt::format("expected {}: no heads were scored", text_)
                       : fmt::format("expected {}: none; {}, the {}", text_, found(nearest),
                                     wants_more ? "largest" : "smallest");
}

}  // namespace attnviz
