// Documents and arrays that are written while their weights are computed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attnviz/attention/row_stream.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/json/attention_json.h"
#include "outputs/outputs.h"

namespace attnviz::app {

/// What goes into JSON and NumPy files of one text, everywhere where such is written.
class StreamedFiles {
 public:
  /// `document` without weights, and `outputs`, must outlive it. Throws Error{kUsage} when its
  /// heads do not fit a format that is written.
  StreamedFiles(const AttentionDocument& document, Outputs& outputs);

  /// An estimate of the bytes that it takes, where `n_weights` of them are on their way at once.
  double bytes(double n_weights) const;

  /// Writes what stands before the weights, and adds the sinks that write the weights.
  void begin(std::vector<PatternSink*>& sinks);

  /// Precondition: begun, and every row has come.
  void finish();

 private:
  const AttentionDocument& document_;
  Outputs& outputs_;
  std::string npy_header_;
  std::optional<AttentionJsonStream> json_;
  std::optional<RowStream> json_rows_;
  std::optional<RowStream> npy_rows_;
};

}  // namespace attnviz::app
