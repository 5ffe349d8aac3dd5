// The attention JSON format `attnviz.attention/1`, written as a stream.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

/// Writes one document on one line, ending in '\n'. Numbers are the shortest decimals that read
/// back to the same float. Heads that are no rectangle of layers × heads are written as `selected`.
/// Of an encoder-decoder with all of its parts: `encoder`, `decoder` and `cross`, each with its own
/// tokens. `line`: as for write_tokens_json().
void write_attention_json(const AttentionDocument& document, const ByteSink& sink,
                          std::size_t line = 0);

/// The patterns of a document: which layers and heads they are of, and their rows, as members of
/// the object that is open.
class PatternItems {
 public:
  /// Writes what stands before the rows. Both must outlive it.
  PatternItems(const AttentionDocument& document, JsonWriter& json);

  /// The next rows of the pattern, or the first ones of the next pattern: `n_rows` rows as
  /// append_json_row() makes them. No rows of two patterns at once.
  void rows(std::size_t n_rows, std::string_view items);

  /// Writes what stands behind them. Precondition: every row has come.
  void finish();

  /// All rows, those of the document, and finish().
  void write_all();

 private:
  void begin_pattern();
  void end_pattern();
  void write_sinks();

  const AttentionDocument& document_;
  JsonWriter& json_;
  bool is_array_;
  std::size_t heads_a_layer_;
  std::size_t pattern_ = 0;
  std::size_t row_ = 0;
};

/// The same document written while its weights come: pattern after pattern as the document lists
/// them, each from its first query on. The document's own weights are not looked at.
class AttentionJsonStream {
 public:
  /// Writes what stands before the weights. `document` must outlive the stream.
  AttentionJsonStream(const AttentionDocument& document, ByteSink sink, std::size_t line = 0);
  AttentionJsonStream(const AttentionJsonStream&) = delete;
  AttentionJsonStream& operator=(const AttentionJsonStream&) = delete;

  /// As PatternItems'.
  void rows(std::size_t n_rows, std::string_view items) { items_.rows(n_rows, items); }

  /// Writes what stands behind the weights: the document's predictions, which may have come after
  /// them. Precondition: every row has come.
  void finish();

 private:
  const AttentionDocument& document_;
  JsonWriter json_;
  PatternItems items_;
};

/// The same document without its weights, as one line without '\n': for a picture's metadata.
std::string attention_facts(const AttentionDocument& document);

}  // namespace attnviz
