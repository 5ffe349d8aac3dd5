#include "outputs/streamed_files.h"

#include <string_view>

#include "attnviz/formats/json_numbers.h"
#include "attnviz/formats/npy.h"
#include "outputs/show_formats.h"

namespace attnviz::app {

StreamedFiles::StreamedFiles(const AttentionDocument& document, Outputs& outputs)
    : document_(document), outputs_(outputs) {
  if (outputs.writes(OutputFormat::kNpy)) {
    npy_header_ = npy_header_of(document);
  }
}

double StreamedFiles::bytes(double n_weights) const {
  constexpr double kNumberAsText = 14.0;
  double sum = 0.0;
  if (outputs_.writes(OutputFormat::kJson)) {
    sum += 2.0 * n_weights * kNumberAsText;  // made ready, and on the way
  }
  if (outputs_.writes(OutputFormat::kNpy)) {
    sum += n_weights * sizeof(float);
  }
  return sum;
}

void StreamedFiles::begin(std::vector<PatternSink*>& sinks) {
  const std::vector<HeadId> heads = heads_of(document_);
  const std::size_t n_tokens = document_.query_tokens.size();
  if (outputs_.writes(OutputFormat::kJson)) {
    json_.emplace(document_, outputs_.all(OutputFormat::kJson));
    json_rows_.emplace(
        heads, n_tokens, append_json_row,
        [this](std::size_t n_rows, std::string_view rows) { json_->rows(n_rows, rows); });
    sinks.push_back(&*json_rows_);
  }
  if (outputs_.writes(OutputFormat::kNpy)) {
    const ByteSink npy = outputs_.all(OutputFormat::kNpy);
    npy(npy_header_);
    npy_rows_.emplace(heads, n_tokens, append_npy_row,
                      [npy](std::size_t /*n_rows*/, std::string_view rows) { npy(rows); });
    sinks.push_back(&*npy_rows_);
  }
}

void StreamedFiles::finish() {
  if (json_) {
    json_->finish();
  }
}

}  // namespace attnviz::app
