// The source of a command's model: model, tokenizer, the files read and the name in messages.
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

/// Made once from the command line; keeps the data that is read from its files.
using ModelSource = std::variant<EmbeddedModel, StoredModel, RandomShape>;

/// Throws what StoredModel throws.
ModelSource model_source(const GivenModel& given);
/// As above, for a choice that may also be RandomShape.
ModelSource model_source(const ModelOptions& options);

inline bool is_embedded(const ModelSource& source) noexcept {
  return std::holds_alternative<EmbeddedModel>(source);
}

/// The model on this machine; null for other sources.
inline const StoredModel* stored_model(const ModelSource& source) noexcept {
  return std::get_if<StoredModel>(&source);
}

/// The files that must not be overwritten.
std::vector<std::filesystem::path> files_of(const ModelSource& source);

/// Whether a command can handle an encoder-decoder.
enum class Architecture { kDecoderOnly, kEncoderDecoder };

/// Opens the model and applies the options that change it. Throws what StoredModel::load and
/// random_model throw, Error{kUsage} if random weights do not fit in memory or --positions or
/// --seed contradict the file, and Error{kUnsupported} for an encoder-decoder if the command
/// handles only decoders.
Model open_model(ModelSource& source, const ModelOptions& options,
                 Architecture architecture = Architecture::kDecoderOnly);

/// The tokenizer of a whole model; null for random weights, which have none. Throws what
/// StoredModel::load_tokenizer throws.
std::unique_ptr<ModelTokenizer> own_tokenizer(ModelSource& source);

/// Whether it is "words", "chars" or "bytes" rather than a path.
bool is_tokenizer_name(const std::string& name);

/// Opens the tokenizer `asked`, one of these names or the path of a file or folder that
/// load_tokenizer() takes. Without it: the model's own, or, if it cannot be read, one that takes
/// only ids.
///
/// Throws what load_tokenizer() throws, and Error{kUsage} for a name if the model has its own
/// tokenizer, whose ids it was trained on.
std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          ModelSource& source, const Model& model);

/// As above, if only the tokenizer is needed: for a whole model, only its tokenizer's files are
/// read. Without a model: "words" by default.
std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          const std::optional<GivenModel>& model);

// The samples that come with the program: handmade models, and attention to draw.

/// The prefix of sample names: "sample:four-heads".
inline constexpr std::string_view kSamplePrefix = "sample:";
inline constexpr const char* kSampleStore = "samples";

/// The samples' folder, installed with the program or in the sources that it was built from; empty
/// if neither exists.
std::filesystem::path samples_folder();

/// All names with their prefix, in order: files of weights and of attention.
std::vector<std::string> sample_names();

/// The file that "sample:NAME" means; nothing for other words and for names of existing files.
/// Throws Error{kIo} that lists the available names.
std::optional<std::filesystem::path> sample_path(const std::filesystem::path& given);

/// Whether the word is a sample that render draws rather than a model.
bool is_sample_of_attention(const std::string& word);

/// The samples that are models.
Store sample_store();

}  // namespace attnviz::app
