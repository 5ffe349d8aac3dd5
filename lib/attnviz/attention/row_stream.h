// Weights written row by row while they are computed.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/pattern_sink.h"

namespace attnviz {

/// Hands on the patterns of heads in the order of layers, heads and queries, in a form that threads
/// make ready beside each other. Keeps nothing but the rows under way.
class RowStream : public PatternSink {
 public:
  /// Appends a row [n_keys] in the form it has; called from several threads.
  using Append = std::function<void(std::string& out, std::span<const float> row)>;
  /// Takes the next `n_rows` rows; one call at a time.
  using Take = std::function<void(std::size_t n_rows, std::string_view rows)>;

  RowStream(const std::vector<HeadId>& heads, std::size_t n_keys, Append append, Take take);

  bool wants(HeadId head) const override { return heads_.contains(head); }
  /// Not for this sink: rows that come in any order are refused. Throws std::logic_error.
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  bool ordered() const override { return true; }
  OrderedStep ordered_rows(HeadId head, std::size_t first_query, std::size_t first_key,
                           ConstMatrix weights) override;

 private:
  std::set<HeadId> heads_;
  std::size_t n_keys_;
  Append append_;
  Take take_;
};

}  // namespace attnviz
