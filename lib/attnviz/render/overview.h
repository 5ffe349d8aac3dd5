// A deep model in one picture: every head as a thumbnail, and the most telling one large.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/analysis/telling_head.h"
#include "attnviz/render/attention_document.h"
#include "attnviz/render/heatmap.h"
#include "attnviz/render/pooling.h"

namespace attnviz {

/// Its parts, as ordinary pictures are made from.
struct Overview {
  Heatmap thumbnails;  // a panel for each head; with what the whole picture says: title, notes
  std::vector<HeadId> heads;  // of its panels, by layer, then head
  Heatmap large;              // the chosen head alone; without title and notes
  HeadId chosen;
  std::string caption;   // "L5H1: the most telling head"
  std::string sentence;  // why it was chosen
};

/// How both parts of a picture are cut into cells; looks at no weight, nor at which head is large.
struct OverviewCells {
  PoolGrid thumbnails;
  PoolGrid large;
};

/// Where each head's thumbnail stands: a row for each layer, a column for each head's number.
struct OverviewGrid {
  std::vector<std::size_t> layers;  // in order, as many as there are rows
  std::vector<std::size_t> heads;   // in order, as many as there are columns

  explicit OverviewGrid(const std::vector<HeadId>& all);

  /// Precondition: `head` is one of those that the grid was made for.
  std::size_t row(HeadId head) const noexcept;
  std::size_t column(HeadId head) const noexcept;
};

/// The overview of a document's patterns, whose facts say which head was chosen and why. `choice`
/// is one of its heads. Throws as attention_heatmap.
Overview overview_of(const AttentionDocument& document, const TellingHead& choice);

/// Scores heads by what the document's tokens are, while their rows come: pronouns and repeated
/// words speak for a head before others do.
class TellingSearch : public PatternSink {
 public:
  /// `heads` by layer, then head, at least one; of a document that need not have weights.
  TellingSearch(const AttentionDocument& document, const std::vector<HeadId>& heads);

  /// What it takes, about, for heads that are computed layer by layer.
  static double bytes(const std::vector<HeadId>& heads, std::size_t n_tokens);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// The head that is before all others, once all rows have come.
  TellingHead best() const;

 private:
  std::vector<std::unique_ptr<TellingHeads>> groups_;  // heads that have one mask
};

/// The most telling of the document's patterns; nothing when these are no attention weights:
/// numbers from 0 to 1, or to what dropout makes of 1.
std::optional<TellingHead> most_telling(const AttentionDocument& document);

/// The document with the pattern of `head` alone.
AttentionDocument document_of_head(AttentionDocument document, HeadId head);

/// "L5H1: the most telling head"; or what else it is when no head is telling.
std::string choice_caption(const TellingHead& choice);

/// Why the choice fell on a head, as a sentence or two: "On average 63 % of a query's weight goes
/// to one earlier token …"
std::string choice_sentence(const AttentionDocument& document, const TellingHead& choice);

}  // namespace attnviz
