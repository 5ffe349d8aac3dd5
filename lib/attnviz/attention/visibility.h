// Who sees whom in the pattern of one head: its mask and the edges that are hidden, together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/hidden_edges.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What a mask lets through, less edges that do not exist. Without such edges it is as fast as the
/// mask; a copy shares them.
class Visibility {
 public:
  /// All that `mask` lets through: a mask is taken wherever a visibility is.
  Visibility(Mask mask = {}) noexcept : mask_(mask) {}
  /// Without the queries' edges to the keys of `edges`, whatever their layers and heads, in a
  /// pattern of [n_queries, n_keys].
  Visibility(Mask mask, const std::vector<KnockOut>& edges, std::size_t n_queries,
             std::size_t n_keys);

  /// Whether the same edges are hidden by the same mask.
  bool operator==(const Visibility& other) const;

  /// The same edges hidden by another mask.
  Visibility under(Mask mask) const {
    Visibility other = *this;
    other.mask_ = mask;
    return other;
  }

  const Mask& mask() const noexcept { return mask_; }
  /// Null where there are none; the same for those that share them.
  const HiddenEdges* hidden_edges() const noexcept { return hidden_.get(); }
  bool hides_edges() const noexcept { return hidden_ != nullptr; }

  bool visible(std::size_t query, std::size_t key) const noexcept;

  /// The mask's: every visible key of `query` lies in [first_key, end_key).
  std::size_t first_key(std::size_t query) const noexcept { return mask_.first_key(query); }
  std::size_t end_key(std::size_t query, std::size_t n_keys) const noexcept {
    return mask_.end_key(query, n_keys);
  }

  /// How many of the keys [first_key, end_key) `query` sees; takes no longer for more of them.
  std::size_t n_visible(std::size_t query, std::size_t first_key,
                        std::size_t end_key) const noexcept;

  /// take(begin, end) for each range of keys that holds what `query` sees, rising; inside of one
  /// only a mask with gaps hides keys.
  template <class Take>
  void each_range(std::size_t query, std::size_t n_keys, const Take& take) const {
    std::size_t begin = first_key(query);
    const std::size_t end = end_key(query, n_keys);
    if (hidden_ != nullptr) {
      HiddenKeys keys = hidden_->from(query, begin);
      for (auto range = keys.next(); range && begin < end; range = keys.next()) {
        if (const std::size_t stop = std::min(range->first, end); begin < stop) {
          take(begin, stop);
        }
        begin = std::max(begin, range->end);
      }
    }
    if (begin < end) {
      take(begin, end);
    }
  }

 private:
  Mask mask_;
  std::shared_ptr<const HiddenEdges> hidden_;  // null: no edges
};

/// Makes what sees without the same edges once, for as many heads as miss these.
class VisibilityCache {
 public:
  using Change = std::function<std::vector<KnockOut>(std::vector<KnockOut>)>;

  /// Of patterns of [n_queries, n_keys]; `change`, where there is one, makes their edges of those
  /// that are asked for.
  VisibilityCache(std::size_t n_queries, std::size_t n_keys, Change change = {})
      : n_queries_(n_queries), n_keys_(n_keys), change_(std::move(change)) {}

  Visibility of(Mask mask, std::vector<KnockOut> edges);

 private:
  std::size_t n_queries_, n_keys_;
  Change change_;
  std::map<std::vector<KnockOut>, Visibility> known_;  // by edges without their heads
};

/// In the pattern that a run over `n_tokens` has for `head`.
Visibility visibility_of(const Model& model, HeadId head, const AttentionRequest& request,
                         std::size_t n_tokens);

/// The same for one head after another; heads that miss the same edges share them. `model` and
/// `request` must outlive it.
std::function<Visibility(HeadId)> visibilities(const Model& model, const AttentionRequest& request,
                                               std::size_t n_tokens);

/// What all of `heads`, at least one, have in common: the mask of the first and the edges that are
/// hidden in every one of them.
Visibility shared_visibility(const Model& model, std::span<const HeadId> heads,
                             const AttentionRequest& request, std::size_t n_tokens);

}  // namespace attnviz
