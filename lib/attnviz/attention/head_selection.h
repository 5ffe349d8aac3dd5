// Which heads: "5.1", "L5H1", "5.*", "*.0", "5.0-2", lists with commas; turned into ids a model
// has.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/model.h"

namespace attnviz {

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
