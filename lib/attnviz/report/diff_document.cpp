#include "attnviz/report/diff_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/report/figures.h"

namespace attnviz {

const Departure* ModelsDiff::first_departure() const noexcept {
  const auto found = std::ranges::find_if(departures, [this](const Departure& one) {
    return one.largest > static_cast<double>(threshold);
  });
  return found == departures.end() ? nullptr : &*found;
}

double ModelsDiff::kl_bits_mean() const noexcept {
  return std::accumulate(kl_bits.begin(), kl_bits.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(kl_bits.size(), 1));
}

std::size_t DiffDocument::n_different() const noexcept {
  return static_cast<std::size_t>(std::ranges::count(alignment.is_same, false));
}

bool DiffDocument::is_same_attention() const noexcept {
  return std::ranges::all_of(
      heads, [](const HeadDifference& head) { return head.largest_change == 0.0f; });
}

std::string diff_title(const DiffDocument& document) {
  const std::string heads = counted(document.heads.size(), "head");
  return document.of_models
             ? fmt::format("2 models on a text of {}, {}",
                           counted(document.texts[0].size(), "token"), heads)
             : fmt::format("2 texts in {}, {}", model_title(document.models[0]), heads);
}

std::string alignment_note(const DiffDocument& document) {
  if (document.of_models) {
    return {};
  }
  if (!document.alignment.by_position) {
    return fmt::format(
        "{} and {}: compared at the {} that both texts share in order; rows and columns of "
        "[others] are left out, and each row is rescaled to sum to 1",
        counted(document.texts[0].size(), "token"), document.texts[1].size(),
        document.alignment.size());
  }
  return fmt::format("compared token by token: {} of {} {} [different]", document.n_different(),
                     counted(document.alignment.size(), "token"),
                     document.n_different() == 1 ? "is" : "are");
}

std::vector<std::size_t> ranked_differences(const DiffDocument& document) {
  std::vector<std::size_t> indices(document.heads.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::ranges::stable_sort(indices, std::greater(), [&document](std::size_t i) {
    return document.heads[i].js_bits.value_or(-1.0);
  });
  return indices;
}

std::string same_attention_sentence(const DiffDocument& document) {
  return fmt::format("A and B are identical: every weight of {} is the same",
                     counted(document.heads.size(), "head"));
}

Heatmap diff_map(const DiffDocument& document, bool fit_unit) {
  const std::size_t best = ranked_differences(document).front();
  const double largest = document.heads[best].js_bits.value_or(0.0);
  constexpr double kSmall = 0.1;  // below this, two decimals of bits would look alike
  const double unit = fit_unit && largest < kSmall ? 1000.0 : 1.0;
  std::vector<HeadId> heads;
  std::vector<std::optional<double>> values;
  for (const HeadDifference& head : document.heads) {
    heads.push_back(head.head);
    values.push_back(head.js_bits ? std::optional(*head.js_bits * unit) : std::nullopt);
  }
  const char* const unit_name = unit > 1.0 ? "0.001 bits" : "bits";
  Heatmap map = head_map(heads, values, fmt::format("mean JS ({})", unit_name));
  map.value_name = fmt::format("mean JS divergence of A and B ({})", unit_name);
  map.masked_name = "none";
  map.scale.high = largest > 0.0 ? static_cast<float>(largest * unit) : 1.0f;
  map.title = "diff: " + diff_title(document);
  const auto name = [&](std::string_view side) {  // cut when long
    return document.of_models ? shown_name(side) : in_quotes(side);
  };
  map.notes.push_back("A: " + name(document.names[0]));
  map.notes.push_back("B: " + name(document.names[1]));
  map.notes.push_back(alignment_note(document));
  map.notes.insert(map.notes.end(), document.notes.begin(), document.notes.end());
  map.notes.push_back(
      document.is_same_attention()
          ? same_attention_sentence(document)
          : fmt::format("the largest: head {} with {:.3g} bits (0: the same, 1: no overlap)",
                        head_name(document.heads[best].head), largest));
  std::erase(map.notes, "");
  return map;
}

std::string departure_name(const Departure& departure) {
  return departure.layer ? fmt::format("after layer {}", *departure.layer) : "before layer 0";
}

}  // namespace attnviz
