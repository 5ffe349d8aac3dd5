// What a file is, by its first bytes or its name, where another kind was expected.
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
  // Models and tokenizers of other programs, or of other readers.
  kPickle,
  kTorchArchive,
  kHdf5,
  kGgml,  // of llama.cpp before GGUF
  kLlmC,
  kLlama2C,
  kSafetensors,
  kOnnx,
  kSentencePiece,
  kTiktoken,
  kOllamaManifest,
  kServerAnswer  // "Entry not found", saved under the name of the file that was asked for
};

/// Of the first bytes of a file; kOther for what is none of the others, for fewer than four, and
/// for what may be a text: a page, an answer, and the kinds from kLlama2C on.
FileKind kind_of_bytes(std::string_view first) noexcept;

/// The same where a text is not expected: every kind.
FileKind kind_of_model_bytes(std::string_view first);

/// What the ending of a name says.
FileKind kind_of_name(const std::filesystem::path& path);

/// "a picture", "a NumPy array"; empty of kOther.
std::string_view name_of(FileKind kind) noexcept;

/// What it is and what to do: "an ONNX model; safetensors, GGUF and weights as JSON are read: …".
/// Empty of kOther. `first`: the bytes that said the kind.
std::string described_kind(FileKind kind, std::string_view first);

/// For readers that have found a file broken: throws an Error that says what the file is, where
/// its first bytes do and it is not of the reader's `own` kind. kUnsupported for models and
/// tokenizers of other programs, else kMalformed. `file` stands in front of the message.
void refuse_other_kind(std::string_view bytes, std::string_view file,
                       FileKind own = FileKind::kOther);

}  // namespace attnviz
