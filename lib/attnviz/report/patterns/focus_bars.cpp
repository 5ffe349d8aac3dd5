#include "attnviz/report/patterns/focus_bars.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "attnviz/color/colormap.h"
#include "attnviz/core/message.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

BarsSubject bars_subject(const AttentionDocument& document, const Heatmap& focus) {
  const Focus& asked = document.drawing.focus.value();
  return {asked.token, focus.first_key, asked.as_key, document.kind};
}

FocusBars::FocusBars(const Heatmap& focus, const BarsSubject& subject)
    : shown(focus.n_keys()), subject_(subject) {
  constexpr std::size_t kAllTokens = 40;  // up to this number, all are shown
  constexpr std::size_t kTopTokens = 20;  // else this number
  const HeatmapPanel& panel = focus.panels.front();
  constexpr float kUnseen = -std::numeric_limits<float>::infinity();
  std::vector<float> largest(focus.n_keys(), kUnseen);  // among the heads that see the token
  for (std::size_t head = 0; head < focus.n_queries(); ++head) {
    for (std::size_t token = 0; token < focus.n_keys(); ++token) {
      if (panel.is_visible(head, token)) {
        const float value = panel.values(head, token);
        largest[token] = std::max(largest[token], std::isfinite(value) ? value : 0.0f);
      }
    }
  }
  std::iota(shown.begin(), shown.end(), 0);
  if (focus.n_keys() > kAllTokens) {
    std::stable_sort(shown.begin(), shown.end(),
                     [&largest](std::size_t a, std::size_t b) { return largest[a] > largest[b]; });
    const auto top = shown.begin() + kTopTokens;
    const auto seen = std::find_if(
        shown.begin(), top, [&largest](std::size_t token) { return largest[token] == kUnseen; });
    for (auto token = seen; token != shown.end(); ++token) {
      if (largest[*token] == kUnseen) {
        ++n_left_out;
      } else {
        others.push_back(*token);
      }
    }
    shown.erase(seen, shown.end());
    std::sort(shown.begin(), shown.end());
  }
  float least = 0.0f;
  float most = 0.0f;
  for (const std::size_t token : shown) {
    most = std::max(most, largest[token]);
    for (std::size_t head = 0; head < focus.n_queries(); ++head) {
      const float value = panel.values(head, token);
      if (std::isfinite(value) && panel.is_visible(head, token)) {
        least = std::min(least, value);
      }
    }
  }
  low = least < 0.0f ? -round_step(-static_cast<double>(least)) : 0.0;
  high = most > 0.0f || least == 0.0f ? round_step(static_cast<double>(most)) : 0.0;
}

std::string FocusBars::number(float value, int decimals) const {
  if (!are_scores()) {
    return percent_cell(value, decimals);
  }
  // Two decimals, or three digits if all are small or large.
  constexpr double kSmall = 0.1;
  constexpr double kLarge = 10'000.0;
  const double full = std::max(high, -low);
  const bool is_usual = full >= kSmall && full <= kLarge;
  return without_zero_sign(is_usual ? fmt::format("{:.2f}", value) : fmt::format("{:.3g}", value));
}

std::string FocusBars::number_of_others(const HeatmapPanel& panel, std::size_t head,
                                        int decimals) const {
  double sum = 0.0;
  std::optional<float> most;
  for (const std::size_t token : others) {
    if (panel.is_visible(head, token)) {
      const float value = panel.values(head, token);
      sum += static_cast<double>(value);
      most = std::max(most.value_or(value), value);
    }
  }
  if (are_scores()) {
    return most ? number(*most, decimals) : std::string();
  }
  return number(subject_.as_key ? most.value_or(0.0f) : static_cast<float>(sum), decimals);
}

std::vector<std::string> FocusBars::legend() const {
  const auto end = [this](double value) {
    return are_scores() ? fmt::format("{:.4g}", value) : fmt::format("{:.4g}%", value * 100.0);
  };
  std::vector<std::string> texts = {low < 0.0
                                        ? fmt::format("bars from {} to {}", end(low), end(high))
                                        : "full bar = " + end(high)};
  if (n_left_out > 0) {
    texts.push_back(counted(n_left_out, "masked token") + " left out");
  }
  if (!others.empty()) {
    texts.emplace_back(are_scores()      ? "others: the largest of one"
                       : subject_.as_key ? "others: the most of one"
                                         : "others: all together");
  }
  return texts;
}

namespace {

constexpr double kNoMean = -std::numeric_limits<double>::infinity();

// The weight of each token, averaged over the heads that see it; kNoMean if none does.
std::vector<double> mean_weights(const Heatmap& focus) {
  const HeatmapPanel& panel = focus.panels.front();
  std::vector<double> means(focus.n_keys(), kNoMean);
  for (std::size_t token = 0; token < focus.n_keys(); ++token) {
    double sum = 0.0;
    std::size_t count = 0;
    for (std::size_t head = 0; head < focus.n_queries(); ++head) {
      if (panel.is_visible(head, token)) {
        sum += static_cast<double>(panel.values(head, token));
        ++count;
      }
    }
    means[token] = count > 0 ? sum / static_cast<double>(count) : kNoMean;
  }
  return means;
}

HeatmapPanel map_of(const Heatmap& focus, std::span<const HeadId> heads, std::size_t token,
                    const BarsSubject& subject, Heatmap& map) {
  const HeatmapPanel& rows = focus.panels.front();
  const bool has_shares = focus.scale.kind == ScaleKind::kRowMax;
  std::vector<float> shares(focus.n_keys());
  std::vector<std::optional<double>> values(heads.size());
  for (std::size_t head = 0; head < heads.size(); ++head) {
    if (!rows.is_visible(head, token)) {
      continue;
    }
    if (has_shares) {
      row_shares(rows, head, shares);
    }
    values[head] = static_cast<double>(has_shares ? shares[token] : rows.values(head, token));
  }
  map = head_map(heads, values, "");
  HeatmapPanel panel = map.panels.front();
  panel.title = subject.first_index.has_sink() && token == 0
                    ? "learned sink"
                    : named_token(focus.key_labels[token], subject.first_index.of(token));
  return panel;
}

// The reason for choosing these tokens: the largest value of any other.
std::string others_note(PatternKind kind, std::size_t n_maps, std::size_t n_tokens, double next) {
  const auto share = static_cast<float>(next);
  if (is_before_softmax(kind)) {
    return fmt::format(
        "{} of {} tokens: those with the largest scores on average over the heads; no other has "
        "more than {}",
        n_maps, n_tokens, without_zero_sign(fmt::format("{:.2f}", share)));
  }
  const bool of_values = kind == PatternKind::kValueShares;
  return fmt::format(
      "{} of {} tokens: those {} on average over the heads; no other {} more than {}", n_maps,
      n_tokens, of_values ? "whose values contribute most" : "with the most attention",
      of_values ? "contributes" : "gets", percentage(share));
}

}  // namespace

std::optional<Heatmap> focus_maps(const Heatmap& focus, std::span<const HeadId> heads,
                                  const BarsSubject& subject) {
  constexpr std::size_t kMostMaps = 6;
  const std::vector<double> means = mean_weights(focus);
  std::vector<std::size_t> order(focus.n_keys());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&means](std::size_t token) { return means[token] == kNoMean; });
  // NaN comes first, so that it is noticed.
  std::ranges::stable_sort(order, std::greater<>(), [&means](std::size_t token) {
    return std::isnan(means[token]) ? std::numeric_limits<double>::infinity() : means[token];
  });
  if (order.empty()) {
    return std::nullopt;
  }
  const std::size_t n_maps = std::min(order.size(), kMostMaps);
  std::vector<std::size_t> shown(order.begin(),
                                 order.begin() + static_cast<std::ptrdiff_t>(n_maps));
  std::ranges::sort(shown);
  Heatmap maps;
  std::vector<HeatmapPanel> panels;
  const auto storage = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  for (const std::size_t token : shown) {
    panels.push_back(map_of(focus, heads, token, subject, maps));
    storage->push_back(maps.storage);
  }
  maps.panels = std::move(panels);
  maps.storage = storage;
  maps.title = focus.title;
  maps.value_name = focus.value_name;
  maps.masked_name = "no head, or masked";
  maps.scale = focus.scale;
  maps.notes = focus.notes;
  if (focus.scale.kind == ScaleKind::kRowMax) {
    maps.scale.kind = ScaleKind::kLinear;
    maps.value_name = "share of the largest weight";
  }
  if (order.size() > n_maps) {
    maps.notes.insert(maps.notes.begin(),
                      others_note(subject.kind, n_maps, order.size(), means[order[n_maps]]));
  }
  return maps;
}

}  // namespace attnviz
