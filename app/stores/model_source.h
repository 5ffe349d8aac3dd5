// Where a command's model comes from: model, tokenizer, the files read and the name in messages.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/model/model.h"
#include "attnviz/model/random_model.h"
#include "attnviz/text/tokenizer.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "options/options.h"
#include "stores/stored_model.h"

namespace attnviz::app {

/// The model in the box.
struct Embedded {};

/// Made once of what the command line says; whatever is read of a file is kept with it.
using ModelSource = std::variant<RandomShape, Embedded, StoredModel>;

/// Of the name that -m takes. Throws what StoredModel throws.
ModelSource model_source(const std::filesystem::path& given);
/// The same, or random weights where no name is given.
ModelSource model_source(const ModelOptions& options);

inline bool is_embedded(const ModelSource& source) noexcept {
  return std::holds_alternative<Embedded>(source);
}

/// The files that must not be written over.
std::vector<std::filesystem::path> files_of(const ModelSource& source);

/// The model, with what the options change of it. Throws what StoredModel::load and random_model
/// throw, and Error{kUsage} when random weights do not fit in memory or --positions or --seed
/// contradict the file.
Model open_model(ModelSource& source, const ModelOptions& options);

/// The tokenizer that comes with a whole model. Throws what StoredModel::load_tokenizer throws.
std::unique_ptr<ModelTokenizer> own_tokenizer(ModelSource& source);

/// `asked` is "words", "chars", "bytes", or the path of a file or a folder that load_tokenizer()
/// takes. Without it: the model's own; where there is none that can be read, one that takes ids.
///
/// Throws what load_tokenizer throws, and Error{kUsage} for a name when the model's ids are those
/// of a tokenizer of its own.
std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          ModelSource& source, const Model& model);

/// The same of a model of which only the tokenizer is wanted: of a whole model only its files are
/// looked at. Without a source: "words" by default.
std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          const std::optional<std::filesystem::path>& model);

}  // namespace attnviz::app
