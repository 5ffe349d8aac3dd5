// Models with their tokenizers, from wherever they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "attnviz/model/random_shape.h"
#include "attnviz/text/tokenizer.h"

namespace attnviz {

struct Model;  // weights and how they are used: internal

/// A model and what cuts its texts, shared by copies; neither is null.
///
/// Example:
///     const attnviz::LanguageModel demo = attnviz::demo_language_model();
///     const attnviz::TokenizedText text = demo.tokenizer->tokenize("The cat sat on the mat");
///     if (attnviz::shape_of(demo).n_heads == 0 || text.size() == 0) return 1;
struct LanguageModel {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
};

/// Weights JSON (attnviz.weights/1), a folder or file as Hugging Face's tools write them, or GGUF.
/// Weights of the latter two stay in their files, mapped; a page is read when it is used.
///
/// Throws Error{kIo} for what cannot be read, Error{kMalformed} that says where, what was expected
/// and what was found, and Error{kUnsupported} for an architecture that attnviz does not know.
LanguageModel load_language_model(const std::filesystem::path& path);

/// The small model that is part of the library.
LanguageModel demo_language_model();

/// Random weights, the same from the same seed on every machine; texts are cut into words. Throws
/// Error{kUsage} when the shape makes no sense.
LanguageModel random_language_model(const RandomShape& shape, std::uint64_t seed);

/// Sizes of the model; d_head and d_value are those of its first head.
RandomShape shape_of(const LanguageModel& model);

}  // namespace attnviz
