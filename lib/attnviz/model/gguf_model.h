// A model in GGUF form.
#pragma once

#include <filesystem>
#include <memory>

#include "attnviz/core/mapped_file.h"
#include "attnviz/model/model.h"

namespace attnviz {

class GgufFiles;

/// Whether there is a file at `path` that begins as GGUF does, or is named so.
bool is_gguf_file(const std::filesystem::path& path, OpenFiles files = {});

/// Reads metadata and weights of a file, or of all of several, of which any may be given. The
/// weights stay in their files, mapped, and in their type; a page is read when it is used. What
/// llama.cpp's converter changes is told to the Model: queries and keys of architecture "llama"
/// turn in pairs of neighbours, Gemma's norms hold 1 + w.
///
/// Throws Error{kIo} when a file is missing or cannot be read, Error{kMalformed} when what is in it
/// contradicts itself, and Error{kUnsupported} for another architecture (naming the known ones) and
/// for types of tensors that attnviz does not read.
Model load_gguf(const std::filesystem::path& path);

/// The same of files that are open already, and that others may look at, too.
Model load_gguf(const std::shared_ptr<const GgufFiles>& files);

}  // namespace attnviz
