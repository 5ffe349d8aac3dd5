// The weights JSON format `attnviz.weights/1`: reading it as a Model, writing a Model as it.
#pragma once

#include <filesystem>
#include <string_view>

#include "attnviz/core/byte_sink.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Throws Error{kIo} when the file cannot be read, Error{kUnsupported} when it says to be another
/// kind of document, and Error{kMalformed} that names file, place, expected and found:
/// `w.json: layers[0].heads[2].W_K: expected 16 columns, found 15 (row 3)`.
Model load_weights_json(const std::filesystem::path& path, OpenFiles files = {});

/// The same from bytes; `name` stands in messages and is the model's name.
Model parse_weights_json(std::string_view bytes, std::string_view name);

/// Writes a model that loads back to the same bits. Throws Error{kUnsupported} for a
/// transformer, and at the first weight that is NaN or infinite, which JSON cannot say.
void write_weights_json(const Model& model, const ByteSink& sink);

}  // namespace attnviz
