// The tokenizer that the options name, or the model's own.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "attnviz/model/model.h"
#include "attnviz/text/tokenizer.h"

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

/// Where the tokenizer of a whole model lies: in its GGUF file, or in its folder.
std::filesystem::path tokenizer_place(const std::filesystem::path& model_path);

/// Whether `name` is one of make_tokenizer()'s.
bool is_tokenizer_name(const std::string& name);

}  // namespace attnviz::app
