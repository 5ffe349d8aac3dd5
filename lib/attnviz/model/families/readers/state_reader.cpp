#include "attnviz/model/families/readers/part_readers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

class StateReader {
 public:
  StateReader(const Traits& traits, const LayerNaming& named, WeightReader& weights)
      : traits_(traits),
        names_(traits.names),
        named_(named),
        weights_(weights),
        states_(traits.states.shape) {}

  Recurrence read() {
    check();
    read_inputs();
    const std::size_t n_heads = states_.n_heads;
    const std::string conv = named_(names_.state_conv);
    states_.kernel = weights_.numbers_in_rows(fmt::format("{}.weight", conv), states_.n_channels(),
                                              states_.width);
    if (const std::string bias = fmt::format("{}.bias", conv);
        weights_.has(bias, traits_.states.conv_bias)) {
      states_.bias = weights_.vector(bias, states_.n_channels());
    }
    states_.rate = read_rate();
    if (!std::ranges::all_of(states_.rate,
                             [](float rate) { return rate <= 0.0f && std::isfinite(rate); })) {
      const std::string name =
          named_(names_.state_log_rate.empty() ? names_.state_rate : names_.state_log_rate);
      throw Error(ErrorKind::kMalformed,
                  weights_.where(name) + "expected finite rates of at most 0");
    }
    std::string_view step_bias = names_.state_step_bias;
    const std::string whole = named_(step_bias);
    if (step_bias.ends_with(".bias")) {  // Ollama's files leave out the suffix
      step_bias.remove_suffix(std::string_view(".bias").size());
    }
    states_.step_bias = weights_.vector({whole, named_(step_bias)}, n_heads);
    if (!names_.state_skip.empty()) {
      states_.skip = weights_.numbers_of(named_(names_.state_skip), n_heads);
    }
    if (weights_.has(fmt::format("{}.weight", named_(names_.state_norm)), traits_.states.norm)) {
      states_.norm = {NormKind::kRms, read_norm_weight(), {}, traits_.epsilon, 0.0f};
    }
    states_.out = weights_.linear(named_(names_.state_out), states_.d_inner(), traits_.d_model,
                                  traits_.states.out_bias.value_or(traits_.states.bias));
    return std::move(states_);
  }

 private:
  void check() const {
    const auto fail = [this](const std::string& what) {
      throw Error(ErrorKind::kMalformed, traits_.where + what);
    };
    constexpr std::size_t kMost = std::size_t{1} << 24;
    for (const std::size_t size : {states_.n_heads, states_.n_key_heads, states_.d_key,
                                   states_.d_value, states_.width, states_.n_norm_groups}) {
      if (size == 0 || size > kMost) {
        fail(
            fmt::format("states of {} heads [{}, {}] with keys of {} and a convolution of {}: "
                        "expected sizes from 1 to {}",
                        states_.n_heads, states_.d_key, states_.d_value, states_.n_key_heads,
                        states_.width, kMost));
      }
    }
    // The file only holds sums of these sizes, so that a small file could request any amount of
    // memory.
    constexpr std::size_t kMostNumbers = std::size_t{1} << 26;
    if (checked_product({states_.n_heads, states_.d_key, states_.d_value},
                        "the states of a layer") > kMostNumbers) {
      fail(fmt::format("states of {} heads [{}, {}]: expected at most {} numbers in a layer",
                       states_.n_heads, states_.d_key, states_.d_value, kMostNumbers));
    }
    if (states_.n_heads % states_.n_key_heads != 0) {
      fail(fmt::format("{} heads of states cannot share {} keys evenly", states_.n_heads,
                       states_.n_key_heads));
    }
    if (states_.d_inner() % states_.n_norm_groups != 0) {
      fail(fmt::format("{} values of states cannot be normalised in {} groups", states_.d_inner(),
                       states_.n_norm_groups));
    }
  }

  Projection linear(std::string_view name, std::size_t d_in, std::size_t d_out) {
    return weights_.linear(named_(name), d_in, d_out, traits_.states.bias);
  }

  void place(Projection projection, std::size_t first) {
    states_.in.push_back({projection, first});
  }

  void read_inputs() {
    const std::size_t d = traits_.d_model;
    const std::size_t first_channel = states_.d_inner();
    const std::size_t first_step = first_channel + states_.n_channels();
    if (!names_.state_in.empty()) {
      return place(linear(names_.state_in, d, states_.n_columns()), 0);
    }
    if (!names_.state_qkvz.empty()) {
      place_by_key_head(linear(names_.state_qkvz, d, first_step));
    } else {
      place(linear(names_.state_z, d, states_.d_inner()), 0);
      place(linear(names_.state_qkv, d, states_.n_channels()), first_channel);
    }
    if (!names_.state_ba.empty()) {
      place_steps(linear(names_.state_ba, d, 2 * states_.n_heads), first_step);
    } else {
      place(linear(names_.state_step, d, states_.n_heads), first_step);
      place(linear(names_.state_beta, d, states_.n_heads), first_step + states_.n_heads);
    }
  }

  // For each key head: q, k, the values that use it, and their z.
  void place_by_key_head(const Projection& all) {
    const std::size_t keys = states_.n_key_heads * states_.d_key;
    const std::size_t values = states_.d_inner() / states_.n_key_heads;
    const std::size_t first_channel = states_.d_inner();
    std::size_t from = 0;
    const auto next = [&](std::size_t count, std::size_t to) {
      place(columns(all, from, count), to);
      from += count;
    };
    for (std::size_t head = 0; head < states_.n_key_heads; ++head) {
      next(states_.d_key, first_channel + head * states_.d_key);
      next(states_.d_key, first_channel + keys + head * states_.d_key);
      next(values, first_channel + 2 * keys + head * values);
      next(values, head * values);
    }
  }

  // For each key head: b, then δ.
  void place_steps(const Projection& all, std::size_t first_step) {
    const std::size_t count = states_.n_heads / states_.n_key_heads;
    for (std::size_t head = 0; head < states_.n_key_heads; ++head) {
      place(columns(all, 2 * head * count, count), first_step + states_.n_heads + head * count);
      place(columns(all, (2 * head + 1) * count, count), first_step + head * count);
    }
  }

  std::span<const float> read_rate() {
    if (names_.state_log_rate.empty()) {
      return weights_.numbers_of(named_(names_.state_rate), states_.n_heads);
    }
    const std::span<const float> logs =
        weights_.vector(named_(names_.state_log_rate), states_.n_heads);
    MatrixBuffer rates(1, logs.size());
    std::ranges::transform(logs, rates.view().row_data(0), [](float log) {
      return static_cast<float>(-std::exp(static_cast<double>(log)));
    });
    return weights_.keep(std::move(rates));
  }

  // [all values]; in a gated delta net [d_value], shared by all heads.
  std::span<const float> read_norm_weight() {
    return weights_.numbers_of(fmt::format("{}.weight", named_(names_.state_norm)),
                               states_.is_delta() ? states_.d_value : states_.d_inner());
  }

  const Traits& traits_;
  const TensorNames& names_;
  const LayerNaming& named_;
  WeightReader& weights_;
  Recurrence states_;
};

}  // namespace

Recurrence read_states(const Traits& traits, const LayerNaming& named, WeightReader& weights) {
  return StateReader(traits, named, weights).read();
}

std::optional<std::vector<std::string>> listed_layers(
    const HfConfig& config, std::string_view key, std::size_t n_layers,
    std::initializer_list<std::string_view> known) {
  const auto listed = config.find(key);
  if (!listed) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const JsonNode& node : listed->as_list("a list of layer types")) {
    const std::string_view name = node.as_string();
    if (std::ranges::find(known, name) == known.end()) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected {}, found {}", node.where(),
                              joined(std::vector<std::string>(known.begin(), known.end()), "or"),
                              in_quotes(name)));
    }
    names.emplace_back(name);
  }
  if (names.size() != n_layers) {
    listed->fail(fmt::format("expected a type for each layer, found {}", names.size()));
  }
  return names;
}

void read_step_limit(const HfConfig& config, Recurrence& shape) {
  const auto limit = config.find("time_step_limit");
  if (!limit) {
    return;
  }
  const std::span<const float> ends = limit->as_numbers();
  if (ends.size() != 2 || !(ends[0] >= 0.0f) || !(ends[1] >= ends[0])) {
    limit->fail("expected [least, most]");
  }
  shape.least_step = ends[0];
  shape.most_step = std::min(ends[1], Recurrence::kAnyStep);
}

}  // namespace attnviz
