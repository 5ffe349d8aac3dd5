// The models on a machine: a table for people, and the JSON document `attnviz.models/1`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/core/byte_sink.h"
#include "attnviz/render/terminal.h"

namespace attnviz {

/// A model as a listing tells it; what is not known of it is empty or absent.
struct ListedModel {
  std::string name;   // as --model takes it
  std::string store;  // the program that keeps it; "attnviz": the embedded model
  std::string path;   // its file or folder; empty for the embedded model
  std::string family;
  std::string quantisation;                 // "Q4_K_M", "BF16"
  std::optional<std::uint64_t> parameters;  // numbers of all tensors
  std::optional<std::uint64_t> bytes;       // of its files
  std::optional<std::uint64_t> n_layers;
  std::optional<std::uint64_t> n_heads;  // of a layer
  std::string problem;                   // why it cannot be read
};

struct ModelList {
  std::vector<ListedModel> models;
  struct Place {
    std::string store;
    std::string path;
    bool exists = false;
    bool barred = false;  // this user may not look there
  };
  std::vector<Place> places;  // where was looked
};

/// A line a model, or two where its name is long; then what is wrong with some, and where was
/// looked. Lines end in '\n'; none is wider than options.columns but for names and paths that are
/// (at least 40 are assumed). TerminalStyle::kAscii: 7-bit. With ColorDepth::kNone there is no
/// escape code.
std::string render_model_list(const ModelList& list, const TerminalOptions& options);

/// {schema, models: [{name, store, path, family, quantisation, parameters, bytes, n_layers,
/// n_heads, problem}], stores: [{store, path, exists}]}; what is not known is null.
void write_model_list_json(const ModelList& list, const ByteSink& sink);

}  // namespace attnviz
