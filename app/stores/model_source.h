// Where a command's model comes from: model, tokenizer, the files read and the name in messages.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/model/model.h"
#include "attnviz/model/random_model.h"
#include "attnviz/text/tokenizer.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "options/options.h"
#include "stores/store.h"

namespace attnviz::app {

/// Made once of what the command line says; whatever is read of a file is kept with it.
using ModelSource = std::variant<EmbeddedModel, StoredModel, RandomShape>;

/// Throws what StoredModel throws.
ModelSource model_source(const GivenModel& given);
/// The same of a choice that may be RandomShape, too.
ModelSource model_source(const ModelOptions& options);

inline bool is_embedded(const ModelSource& source) noexcept {
  return std::holds_alternative<EmbeddedModel>(source);
}

/// What is read from this machine; null of other models.
inline const StoredModel* stored_model(const ModelSource& source) noexcept {
  return std::get_if<StoredModel>(&source);
}

/// The files that must not be written over.
std::vector<std::filesystem::path> files_of(const ModelSource& source);

/// Whether a command has a place for a decoder and the encoder of the text that it looks at.
enum class Architecture { kDecoderOnly, kEncoderDecoder };

/// The model, with what the options change of it. Throws what StoredModel::load and random_model
/// throw, Error{kUsage} when random weights do not fit in memory or --positions or --seed
/// contradict the file, and Error{kUnsupported} for an encoder-decoder where there is no place for
/// two stacks.
Model open_model(ModelSource& source, const ModelOptions& options,
                 Architecture architecture = Architecture::kDecoderOnly);

/// The tokenizer that comes with a whole model; random weights have none: null. Throws what
/// StoredModel::load_tokenizer throws.
std::unique_ptr<ModelTokenizer> own_tokenizer(ModelSource& source);

/// Whether it is "words", "chars" or "bytes", and no path.
bool is_tokenizer_name(const std::string& name);

/// `asked` is such a name, or the path of a file or a folder that load_tokenizer() takes. Without
/// it: the model's own; where there is none that can be read, one that takes ids.
///
/// Throws what load_tokenizer throws, and Error{kUsage} for a name when the model's ids are those
/// of a tokenizer of its own.
std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          ModelSource& source, const Model& model);

/// The same of a model of which only the tokenizer is wanted: of a whole model only its files are
/// looked at. Without a model: "words" by default.
std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          const std::optional<GivenModel>& model);

// The samples that come with the program: models made by hand, and attention to draw.

/// What stands before a sample's name: "sample:four-heads".
inline constexpr std::string_view kSamplePrefix = "sample:";
inline constexpr const char* kSampleStore = "samples";

/// Where they lie: installed beside the program, or in the sources that it was built from; empty
/// where neither is.
std::filesystem::path samples_folder();

/// The names of all, with their prefix, in order: files of weights and of attention.
std::vector<std::string> sample_names();

/// The file that "sample:NAME" means; nothing for other words, and for a file of that name. Throws
/// Error{kIo} that lists the names there are.
std::optional<std::filesystem::path> sample_path(const std::filesystem::path& given);

/// Whether that is a sample that render draws, and no model.
bool is_sample_of_attention(const std::string& word);

/// The samples that are models.
Store sample_store();

}  // namespace attnviz::app
