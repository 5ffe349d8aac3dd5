#include "attnviz/core/file_kind.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

using namespace std::string_view_literals;

// The first bytes of a file, or the extension of its name, and the kind that they show.
struct Beginning {
  std::string_view bytes;
  FileKind kind;
};

// From the specifications of the formats. Text written by people never begins like this.
constexpr Beginning kBeginnings[] = {
    {"\x89PNG"sv, FileKind::kPicture},
    {"\xFF\xD8\xFF\xE0"sv, FileKind::kPicture},
    {"\xFF\xD8\xFF\xE1"sv, FileKind::kPicture},
    {"\xFF\xD8\xFF\xDB"sv, FileKind::kPicture},
    {"GIF87a"sv, FileKind::kPicture},
    {"GIF89a"sv, FileKind::kPicture},
    {"%PDF-"sv, FileKind::kPdf},
    {"PK\x03\x04"sv, FileKind::kArchive},
    {"\x1F\x8B\x08"sv, FileKind::kArchive},      // gzip
    {"\x28\xB5\x2F\xFD"sv, FileKind::kArchive},  // zstd
    {"\xFD\x37zXZ"sv, FileKind::kArchive},
    {"7z\xBC\xAF\x27\x1C"sv, FileKind::kArchive},
    {"\x93NUMPY"sv, FileKind::kNumPy},
    {"GGUF"sv, FileKind::kGguf},  // followed by a version
    {"version https://git-lfs.github.com/spec/"sv, FileKind::kLfsPointer},
    {"(dp0\n"sv, FileKind::kPickle},  // dictionaries in protocols 0 and 1
    {"}q\x00("sv, FileKind::kPickle},
    {"\x80\x02"sv, FileKind::kPickle},  // the protocols that PyTorch and Python write
    {"\x80\x03"sv, FileKind::kPickle},
    {"\x80\x04"sv, FileKind::kPickle},
    {"\x80\x05"sv, FileKind::kPickle},
    {"\x89HDF\r\n"sv, FileKind::kHdf5},
    {"lmgg"sv, FileKind::kGgml},  // the numbers 'ggml', 'ggmf', 'ggjt' and 'ggla'
    {"fmgg"sv, FileKind::kGgml},
    {"tjgg"sv, FileKind::kGgml},
    {"algg"sv, FileKind::kGgml},
    {"\xC6\xD7\x34\x01"sv, FileKind::kLlmC},  // 20240326
};

// What servers send instead of a file.
constexpr std::string_view kAnswers[] = {"Entry not found",
                                         "404: Not Found",
                                         "Not Found",
                                         "Access to model ",
                                         "Invalid username or password",
                                         "Repository not found",
                                         "{\"error\":"};

constexpr Beginning kEndings[] = {
    {".png", FileKind::kPicture}, {".jpg", FileKind::kPicture},  {".jpeg", FileKind::kPicture},
    {".gif", FileKind::kPicture}, {".webp", FileKind::kPicture}, {".svg", FileKind::kPage},
    {".html", FileKind::kPage},   {".pdf", FileKind::kPdf},      {".zip", FileKind::kArchive},
    {".npy", FileKind::kNumPy},   {".pt", FileKind::kPickle},    {".pth", FileKind::kPickle},
    {".onnx", FileKind::kOnnx},   {".h5", FileKind::kHdf5},
};

// The name of a kind and advice for files of this kind; `is_of_models`: other programs read them as
// models or tokenizers.
struct Description {
  FileKind kind;
  std::string_view name;
  std::string_view advice = {};
  bool is_of_models = false;
};

constexpr std::string_view kWholeFile = "download the file itself";
constexpr std::string_view kSafeForm =
    "pickles can run code and are not read; save_pretrained() of transformers writes safetensors";
constexpr std::string_view kReadForms =
    "attnviz reads safetensors, GGUF and weights as JSON: use the model in one of these formats";

constexpr Description kDescriptions[] = {
    {FileKind::kPicture, "a picture"},
    {FileKind::kPage, "a page or a drawing"},
    {FileKind::kPdf, "a PDF document"},
    {FileKind::kArchive, "an archive"},
    {FileKind::kNumPy, "a NumPy array"},
    {FileKind::kGguf, "a GGUF model"},
    {FileKind::kLfsPointer, "a Git LFS pointer"},
    {FileKind::kPickle, "a pickle of PyTorch or Python", kSafeForm, true},
    {FileKind::kTorchArchive, "an archive of PyTorch", kSafeForm, true},
    {FileKind::kHdf5, "an HDF5 file, as written by Keras and TensorFlow", kReadForms, true},
    {FileKind::kGgml, "a GGML file, from before GGUF",
     "convert_llama_ggml_to_gguf.py of llama.cpp converts it to GGUF", true},
    {FileKind::kLlmC, "a checkpoint of llm.c", kReadForms, true},
    {FileKind::kLlama2C, "a checkpoint of llama2.c", kReadForms, true},
    {FileKind::kSafetensors, "a safetensors file",
     "it is read if its name ends in .safetensors and config.json is in its folder", true},
    {FileKind::kOnnx, "an ONNX model", kReadForms, true},
    {FileKind::kSentencePiece, "a SentencePiece tokenizer",
     "it is read as tokenizer.model or spiece.model", true},
    {FileKind::kTiktoken, "the ranks of a tiktoken tokenizer",
     "tokenizer.json and SentencePiece's tokenizer.model are read", true},
    {FileKind::kOllamaManifest, "a manifest of Ollama", "give the model's name", true},
    {FileKind::kServerAnswer, "a server's answer that the file does not exist or is not public",
     kWholeFile},
};

const Description* description_of(FileKind kind) noexcept {
  const auto* const found = std::ranges::find(kDescriptions, kind, &Description::kind);
  return found == std::end(kDescriptions) ? nullptr : found;
}

bool is_page(std::string_view first) {
  first.remove_prefix(first.starts_with("\uFEFF") ? 3 : 0);
  const std::size_t begin = first.find_first_not_of(" \t\r\n");
  const std::string text =
      begin == std::string_view::npos ? "" : ascii_lower(first.substr(begin, 16));
  return text.starts_with("<!doctype html") || text.starts_with("<html") ||
         text.starts_with("<?xml");
}

// Whether the four bytes that show this kind are followed by a number that belongs there and not by
// more text: a version, or for GGML possibly a number of tokens.
bool has_number(FileKind kind, std::string_view first) {
  if (kind != FileKind::kGguf && kind != FileKind::kGgml) {
    return true;
  }
  if (first.size() < 8) {
    return false;
  }
  const auto number = load_number<std::uint32_t>(first.data() + 4);
  constexpr std::uint32_t kLastVersion = 3;
  const bool is_big_endian = first.substr(4, 3) == "\0\0\0"sv;
  return is_big_endian             ? first[7] >= 1 && first[7] <= char{kLastVersion}
         : kind == FileKind::kGgml ? number < std::uint32_t{1} << 24
                                   : number >= 1 && number <= kLastVersion;
}

// The number 'ak42' and a version or, in older files, the sizes of a model: d_model, d_ff, layers,
// heads, KV heads, tokens (negative if the output has its own matrix), context.
bool is_llama2_c(std::string_view first) {
  if (first.starts_with("24ka")) {
    const std::int32_t version = first.size() < 8 ? 0 : load_number<std::int32_t>(first.data() + 4);
    return version >= 1 && version <= 16;
  }
  constexpr std::size_t kSizes = 7;
  if (first.size() < kSizes * 4) {
    return false;
  }
  std::array<std::int32_t, kSizes> sizes{};
  for (std::size_t i = 0; i < kSizes; ++i) {
    sizes[i] = load_number<std::int32_t>(first.data() + 4 * i);
  }
  sizes[5] = sizes[5] == INT32_MIN ? 0 : std::abs(sizes[5]);
  return std::ranges::all_of(sizes, [](std::int32_t n) { return n >= 1 && n <= 1 << 20; }) &&
         sizes[0] % sizes[3] == 0 && sizes[3] % sizes[4] == 0 && sizes[2] <= 1000;
}

bool is_safetensors(std::string_view first) {
  constexpr std::uint64_t kLongestHeader = 100'000'000;
  return first.size() > 9 && first[8] == '{' &&
         load_number<std::uint64_t>(first.data()) <= kLongestHeader;
}

// Lines with the Base64 of a token's bytes and its rank. All lines are checked, and there must be
// several: the first line of another list may look the same.
bool is_tiktoken(std::string_view first) {
  constexpr std::string_view kBase64 =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  std::uint32_t n_lines = 0;
  for (std::size_t end = 0; (end = first.find('\n')) != std::string_view::npos; ++n_lines) {
    const std::string_view line = first.substr(0, end);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || space < 4 || space % 4 != 0 ||
        line.find_first_not_of(kBase64) != space ||
        parse_number<std::uint32_t>(line.substr(space + 1)) != n_lines) {
      return false;
    }
    first.remove_prefix(end + 1);
  }
  return n_lines > 1;
}

// An answer is a single line, while lists of pieces, which may begin the same way, have many.
bool is_answer(std::string_view first) {
  return first.find('\n') >= first.size() - 1 &&
         std::ranges::any_of(
             kAnswers, [first](std::string_view answer) { return first.starts_with(answer); });
}

// Protocol buffers: the version of the format, then the producer or the graph.
bool is_onnx(std::string_view first) {
  return first.size() > 3 && first[0] == '\x08' && first[1] > 0 && first[1] < 32 &&
         (first[2] == '\x12' || first[2] == '\x1A' || first[2] == '\x3A');
}

// A list of pieces, the first of which has a text and a score.
bool is_sentence_piece(std::string_view first) {
  if (first.size() < 4 || first[0] != '\x0A' || first[2] != '\x0A') {
    return false;
  }
  const std::size_t score = 4 + static_cast<unsigned char>(first[3]);
  return score < first.size() && first[score] == '\x15';
}

// "267,832,560"
std::string grouped_digits(std::string digits) {
  for (std::size_t end = digits.size(); end > 3;) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

// " (267,832,560 bytes)", the size of the file that a pointer states; empty if it states none.
std::string lfs_size(std::string_view pointer) {
  constexpr std::string_view kSize = "\nsize ";
  const std::size_t at = pointer.find(kSize);
  const std::string_view rest =
      at == std::string_view::npos ? std::string_view() : pointer.substr(at + kSize.size());
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  constexpr std::size_t kMostDigits = 20;
  return digits.empty() || digits.size() > kMostDigits
             ? ""
             : fmt::format(" ({} bytes)", grouped_digits(std::string(digits)));
}

}  // namespace

FileKind kind_of_bytes(std::string_view first) noexcept {
  constexpr std::size_t kLeast = 4;  // shorter texts may begin the same way
  for (const Beginning& beginning : kBeginnings) {
    if (first.size() >= kLeast && first.starts_with(beginning.bytes) &&
        has_number(beginning.kind, first)) {
      const bool is_torch = beginning.kind == FileKind::kArchive &&
                            first.substr(0, 100).find("/data.pkl") != std::string_view::npos;
      return is_torch ? FileKind::kTorchArchive : beginning.kind;
    }
  }
  constexpr std::size_t kTarMagic = 257;
  if (first.size() > kTarMagic && first.substr(kTarMagic).starts_with("ustar")) {
    return FileKind::kArchive;
  }
  const bool is_webp = first.starts_with("RIFF") && first.substr(0, 12).ends_with("WEBP");
  return is_webp ? FileKind::kPicture : FileKind::kOther;
}

FileKind kind_of_model_bytes(std::string_view first) {
  constexpr std::size_t kMost = 1024;
  first = first.substr(0, kMost);
  if (const FileKind kind = kind_of_bytes(first); kind != FileKind::kOther) {
    return kind;
  }
  const std::string_view manifest = first.substr(0, 64);
  return is_answer(first)           ? FileKind::kServerAnswer
         : is_page(first)           ? FileKind::kPage
         : is_onnx(first)           ? FileKind::kOnnx
         : is_sentence_piece(first) ? FileKind::kSentencePiece
         : is_tiktoken(first)       ? FileKind::kTiktoken
         : is_safetensors(first)    ? FileKind::kSafetensors
         : is_llama2_c(first)       ? FileKind::kLlama2C
         : manifest.starts_with('{') && manifest.find("\"schemaVersion\"") != manifest.npos
             ? FileKind::kOllamaManifest
             : FileKind::kOther;
}

FileKind kind_of_name(const std::filesystem::path& path) {
  const std::string extension = ascii_lower(path.extension().string());
  const auto* const found = std::ranges::find(kEndings, extension, &Beginning::bytes);
  return found == std::end(kEndings) ? FileKind::kOther : found->kind;
}

std::string_view name_of(FileKind kind) noexcept {
  const Description* const found = description_of(kind);
  return found == nullptr ? std::string_view() : found->name;
}

std::string described_kind(FileKind kind, std::string_view first) {
  const Description* const found = description_of(kind);
  if (found == nullptr) {
    return {};
  }
  if (kind == FileKind::kLfsPointer) {
    return fmt::format(
        "{}: the file itself{} was not downloaded; run git lfs pull in its folder to "
        "download it",
        found->name, lfs_size(first));
  }
  if (kind == FileKind::kPage && is_page(first)) {
    return fmt::format("a web page, saved instead of a file; {}", kWholeFile);
  }
  return found->advice.empty() ? std::string(found->name)
                               : fmt::format("{}; {}", found->name, found->advice);
}

void refuse_other_kind(std::string_view bytes, std::string_view file, FileKind own) {
  const FileKind kind = kind_of_model_bytes(bytes);
  const Description* const found = description_of(kind);
  if (found != nullptr && kind != own) {
    throw Error(found->is_of_models ? ErrorKind::kUnsupported : ErrorKind::kMalformed,
                fmt::format("{}: {}", file, described_kind(kind, bytes)));
  }
}

}  // namespace attnviz
