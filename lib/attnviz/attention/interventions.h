// What a run leaves out, and what replaces it. Lists of heads as users write them.
#pragma once

#include <compare>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Takes out a head, all heads of a layer, or its MLP, at every position. A head's context (before
/// W_O, so the output's bias stays) or an MLP's output (with its bias) becomes 0, or its mean over
/// all positions of the same text in a run without interventions.
struct Ablation {
  std::size_t layer = 0;
  std::optional<std::size_t> head;  // absent: all
  bool mlp = false;                 // the MLP instead of heads
  bool by_mean = false;

  bool operator==(const Ablation&) const = default;
};

/// [first, end).
struct IndexRange {
  static constexpr std::size_t kNoEnd = std::numeric_limits<std::size_t>::max();

  std::size_t first = 0;
  std::size_t end = kNoEnd;

  auto operator<=>(const IndexRange&) const = default;
  bool is_all() const noexcept { return *this == IndexRange{}; }
  bool has(std::size_t index) const noexcept { return index >= first && index < end; }
};

/// Edges that are cut: as under a mask, they get the weight 0, and the query's attention is
/// redistributed over the keys it still sees. A query that sees no key gets a row of zeros.
///
/// Source  Geva et al. 2023, "Dissecting Recall of Factual Associations": attention knockout.
struct KnockOut {
  IndexRange queries, keys, layers, heads;

  auto operator<=>(const KnockOut&) const = default;
  /// Whether the edges are hidden in a head.
  bool is_in(HeadId head) const noexcept { return layers.has(head.layer) && heads.has(head.head); }
};

struct Interventions {
  std::vector<Ablation> ablations;
  std::vector<KnockOut> knock_outs;

  bool operator==(const Interventions&) const = default;
  bool empty() const noexcept { return ablations.empty() && knock_outs.empty(); }
};

/// Returns the union of the ranges, in rising order, with a gap between each and the next.
std::vector<IndexRange> merged_ranges(std::vector<IndexRange> ranges);

/// Throws Error{kUsage} for a layer, a head or an MLP that the model does not have. Ranges of
/// layers or heads without an end reach to the model's last.
void check_interventions(const Model& model, const Interventions& interventions);

/// Carries out interventions during a run.
class Intervener : public RunObserver {
 public:
  /// For a run over this text; if means are needed, a first run without interventions computes
  /// them. `model` and `interventions` must outlive it. Throws as check_interventions() and run()
  /// do.
  Intervener(const Model& model, const ModelInput& input, const AttentionRequest& request,
             const Interventions& interventions);

  bool wants(std::size_t layer, LayerStep step) const override;
  void contexts(const RunPlace& at, Matrix z) override;
  void mlp(const RunPlace& at, Matrix y) override;
  bool hides(HeadId head) const override;
  void hide(HeadId head, EdgeBlock& edges) const override;

  /// From now on carries out only these ablations, by their index in the list; at first all of
  /// them.
  void make_only(IndexRange ablations) noexcept { made_ = ablations; }

 private:
  // Columns of a layer's contexts, or of its MLP's output.
  struct Replaced {
    std::size_t ablation = 0;  // that the columns belong to
    std::size_t layer = 0;
    LayerStep step = LayerStep::kContexts;
    std::size_t first = 0;
    std::size_t count = 0;
    std::vector<float> by;  // [count]; empty: zeros
  };
  class Means;

  void replace(const RunPlace& at, Matrix values) const;

  const Interventions& interventions_;
  std::vector<Replaced> replaced_;  // by layer, then step
  IndexRange made_;
};

// Parses lists of heads such as "5.1", "L5H1", "5.*", "*.0", "5.0-2", separated by commas, and
// finds the heads in a model.

/// "0.3" (dotted), as in JSON and messages.
std::string head_name(HeadId head);
/// "L0H3", as in titles.
std::string head_title(HeadId head);

/// Returns the head that "0.3" or "L0H3" names; nothing for other words.
std::optional<HeadId> head_named(std::string_view name);

/// The layers and heads that one item of a list names; 0-based.
struct HeadPlaces {
  IndexRange layers;
  std::optional<IndexRange> heads;  // of each of these layers, if the item names any
  bool has_letter = false;          // begins with L; without it, a number alone may be a head

  auto operator<=>(const HeadPlaces&) const = default;
};

/// Parses "3", "3-5", or "*" for all. Returns nothing for other words, and for numbers whose end
/// would be IndexRange::kNoEnd.
std::optional<IndexRange> parse_index_range(std::string_view word);

/// Parses "2.1", "L2H1", "2.0-1", "1-3.*", "L2", "L1-3", "2". Returns nothing for other words.
std::optional<HeadPlaces> parse_head_places(std::string_view word);

/// Returns the heads of `model` that `heads` and `layers` name. `heads` is a comma-separated list
/// of L.H, LxHy, L.*, *.H, where L and H may be ranges "a-b"; a bare H is head H of every chosen
/// layer. `layers` is a comma-separated list of indices, "*", "a-b". An empty string chooses
/// everything. With both given, a head must satisfy both. Ordered by layer, then head, without
/// repeats. Throws Error{kUsage} naming the valid range, or when the selection is empty.
std::vector<HeadId> select_heads(const Model& model, std::string_view heads,
                                 std::string_view layers);

/// The same among `available`, for attention without its model. An item that names none of them is
/// an error that lists them.
std::vector<HeadId> select_heads(std::span<const HeadId> available, std::string_view heads,
                                 std::string_view layers);

/// Whether `heads` contains every combination of its layers and its head indices.
bool is_rectangle(std::span<const HeadId> heads);

}  // namespace attnviz
