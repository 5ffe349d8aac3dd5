// The tokenizer that the options name, or the model's own.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "attnviz/model/model.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz::app {

/// `asked` is "words", "chars", "bytes", or the path of a file or a folder that load_tokenizer()
/// takes. Without it: the model's own, which for one with a family lies beside its weights at
/// `model_path`.
///
/// Throws what load_tokenizer throws, and Error{kUsage} for a name when the model's ids are those
/// of a tokenizer of its own.
std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          const Model& model,
                                          const std::optional<std::filesystem::path>& model_path);

/// The same without any model: "words" by default.
std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked);

/// The tokenizer that comes with a whole model: with the embedded one, in a GGUF file, or in a
/// folder. `model_path` as find_model() gives it. Throws what load_tokenizer throws.
std::unique_ptr<ModelTokenizer> load_own_tokenizer(const std::filesystem::path& model_path);

/// Throws the Error{kUsage} of a rule's name beside a whole model's name.
[[noreturn]] void refuse_other_tokenizer(const std::string& asked, const std::string& model);

/// Whether `name` is one of make_tokenizer()'s.
bool is_tokenizer_name(const std::string& name);

}  // namespace attnviz::app
