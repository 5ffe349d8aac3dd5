// The kind of a file, by its first bytes or its name, when another kind was expected.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace attnviz {

enum class FileKind {
  kOther,
  kPicture,
  kPage,
  kPdf,
  kArchive,
  kNumPy,
  kGguf,
  kLfsPointer,  // stands for a large file in a Git repository until that is downloaded
  // Models and tokenizers of other programs, or for other readers.
  kPickle,
  kTorchArchive,
  kHdf5,
  kGgml,  // llama.cpp before GGUF
  kLlmC,
  kLlama2C,
  kSafetensors,
  kOnnx,
  kSentencePiece,
  kTiktoken,
  kOllamaManifest,
  kServerAnswer  // "Entry not found", saved under the name of the requested file
};

/// The kind of a file by its first bytes. kOther for unknown kinds, for fewer than four bytes, and
/// for kinds that may be text: a page, a server's answer, and the kinds from kLlama2C on.
FileKind kind_of_bytes(std::string_view first) noexcept;

/// Like kind_of_bytes(), but recognises every kind: for files that should not be text.
FileKind kind_of_model_bytes(std::string_view first);

/// The kind by the extension of the name.
FileKind kind_of_name(const std::filesystem::path& path);

/// "a picture", "a NumPy array"; empty for kOther.
std::string_view name_of(FileKind kind) noexcept;

/// The name and advice: "an ONNX model; attnviz reads safetensors, GGUF and weights as JSON: …".
/// Empty for kOther. `first`: the bytes that showed the kind.
std::string described_kind(FileKind kind, std::string_view first);

/// For readers that have found a file broken: throws an Error that names the kind of the file if
/// its first bytes show one other than the reader's `own`. kUnsupported for models and tokenizers
/// of other programs, otherwise kMalformed. The message begins with `file`.
void refuse_other_kind(std::string_view bytes, std::string_view file,
                       FileKind own = FileKind::kOther);

}  // namespace attnviz
