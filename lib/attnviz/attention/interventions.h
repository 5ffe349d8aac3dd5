// What a run is asked to leave out, and what stands in its place.
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

/// A head, all heads of a layer, or its MLP, taken out at every position. What a head mixes (its
/// context, before W_O: the output's bias stays) or what an MLP gives (its bias goes, too) becomes
/// 0, or the mean over all positions of the same text in a run in which nothing is taken out.
struct Ablation {
  std::size_t layer = 0;
  std::optional<std::size_t> head;  // absent: all
  bool mlp = false;                 // in place of heads
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

/// Edges that do not exist: as a mask would, they get the weight 0, and what a query still sees is
/// shared out anew. A query that sees nothing more gets a row of zeros.
///
/// Source  Geva et al. 2023, "Dissecting Recall of Factual Associations": attention knockout.
struct KnockOut {
  IndexRange queries, keys, layers, heads;

  auto operator<=>(const KnockOut&) const = default;
  /// Whether they are hidden in a head.
  bool is_in(HeadId head) const noexcept { return layers.has(head.layer) && heads.has(head.head); }
};

struct Interventions {
  std::vector<Ablation> ablations;
  std::vector<KnockOut> knock_outs;

  bool operator==(const Interventions&) const = default;
  bool empty() const noexcept { return ablations.empty() && knock_outs.empty(); }
};

/// All that is in any of the ranges: rising, with something between each and the next.
std::vector<IndexRange> merged_ranges(std::vector<IndexRange> ranges);

/// Throws Error{kUsage} for a layer, a head or an MLP that the model does not have; where layers or
/// heads of edges have no end, that is the model's.
void check_interventions(const Model& model, const Interventions& interventions);

/// Makes them in a run.
class Intervener : public RunObserver {
 public:
  /// Of a run over this text, whose means are taken first where they are wanted. `model` and
  /// `interventions` must outlive it. Throws as check_interventions() and run() do.
  Intervener(const Model& model, const ModelInput& input, const AttentionRequest& request,
             const Interventions& interventions);

  bool wants(std::size_t layer, LayerStep step) const override;
  void contexts(const RunPlace& at, Matrix z) override;
  void mlp(const RunPlace& at, Matrix y) override;
  bool hides(HeadId head) const override;
  void hide(HeadId head, EdgeBlock& edges) const override;

  /// From now on only these of the ablations are made, by their place in the list; at first all.
  void make_only(IndexRange ablations) noexcept { made_ = ablations; }

 private:
  // Columns of a layer's contexts, or of what its MLP gives.
  struct Replaced {
    std::size_t ablation = 0;  // that it belongs to
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

// Which heads: "5.1", "L5H1", "5.*", "*.0", "5.0-2", lists with commas; turned into ids a model
// has.

/// "0.3" (dotted) as in JSON and messages.
std::string head_name(HeadId head);
/// "L0H3" as in titles.
std::string head_title(HeadId head);

/// The head that "0.3" or "L0H3" names; nothing for other words.
std::optional<HeadId> head_named(std::string_view name);

/// What an item of a list of heads or layers names; 0-based.
struct HeadPlaces {
  IndexRange layers;
  std::optional<IndexRange> heads;  // of each of these layers, where they are said
  bool has_letter = false;          // the L in front, without which a number alone may be a head's

  auto operator<=>(const HeadPlaces&) const = default;
};

/// "3", "3-5", or "*" for all; nothing for other words, and for numbers whose end would be
/// IndexRange::kNoEnd.
std::optional<IndexRange> parse_index_range(std::string_view word);

/// "2.1", "L2H1", "2.0-1", "1-3.*", "L2", "L1-3", "2"; nothing for other words.
std::optional<HeadPlaces> parse_head_places(std::string_view word);

/// The heads of `model` that `heads` (comma list of L.H, LxHy, L.*, *.H, where L and H may be
/// ranges "a-b"; a bare H is head H of every chosen layer) and `layers` (comma list of indices,
/// "*", "a-b") name; empty strings choose everything. Both given: the heads that satisfy both. In
/// order of layer, then head; no repeats. Throws Error{kUsage} naming the valid range, or when
/// nothing is left.
std::vector<HeadId> select_heads(const Model& model, std::string_view heads,
                                 std::string_view layers);

/// The same among `available`, for attention whose model is not there: an item that names none of
/// them is an error that lists them.
std::vector<HeadId> select_heads(std::span<const HeadId> available, std::string_view heads,
                                 std::string_view layers);

/// True when `heads` is every combination of its layers and its head indices.
bool is_rectangle(std::span<const HeadId> heads);

}  // namespace attnviz
