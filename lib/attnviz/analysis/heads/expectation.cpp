#include "attnviz/analysis/heads/expectation.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

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
      fail(text, "expected a number behind count");
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
                             fmt::join(names, ", "), did_you_mean(rest, names)));
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
    fail(text, fmt::format("there is no score {}{}", quoted(word), did_you_mean(word, known)));
  }
  comparison_ = *comparison;
  const std::string_view number = trimmed(rest.substr(at + comparison->size()));
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), bound_);
  if (number.empty() || parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() ||
      !std::isfinite(bound_)) {
    fail(text, "expected a number behind " + comparison_);
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
                  fmt::format("expect: \"{}\": head {} is none of those that are scored", text_,
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
                             holding.empty() ? "" : ": ", fmt::join(holding, " "));
  }
  if (!holding.empty()) {
    return "";
  }
  return heads.empty() ? fmt::format("expected {}: there are no heads", text_)
                       : fmt::format("expected {}: none; {}, the {}", text_, found(nearest),
                                     wants_more ? "largest" : "smallest");
}

}  // namespace attnviz
