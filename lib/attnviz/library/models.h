// Models with their tokenizers, from files or built in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "attnviz/model/random_shape.h"
#include "attnviz/text/tokenizer.h"

namespace attnviz {

struct Model;  // weights and how they are used: internal

/// A model and its tokenizer, shared by copies; neither is null.
///
/// Example:
///     const attnviz::LanguageModel demo = attnviz::demo_language_model();
///     const attnviz::TokenizedText text = demo.tokenizer->tokenize("The cat sat on the mat");
///     if (attnviz::shape_of(demo).n_heads == 0 || text.size() == 0) return 1;
struct LanguageModel {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
};

/// Loads weights JSON (attnviz.weights/1), a folder or file in the form of Hugging Face's tools, or
/// GGUF. The weights of the latter two stay in their memory-mapped files; a page is read when it is
/// first used.
///
/// Throws Error{kIo} for files that cannot be read, Error{kMalformed} naming the place and the
/// expected and found values, and Error{kUnsupported} for an architecture that attnviz does not
/// know.
LanguageModel load_language_model(const std::filesystem::path& path);

/// The small demo model that is part of the library.
LanguageModel demo_language_model();

/// A model with random weights, the same from the same seed on every machine; texts are split into
/// words. Throws Error{kUsage} when the shape is invalid.
LanguageModel random_language_model(const RandomShape& shape, std::uint64_t seed);

/// Sizes of the model; d_head and d_value are those of its first head.
RandomShape shape_of(const LanguageModel& model);

}  // namespace attnviz
