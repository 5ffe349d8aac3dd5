// The GGUF format: a model's metadata and tensors in one file, read in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/formats/tensor_index.h"

namespace attnviz {

/// The type of a metadata value, by its number in the file.
enum class GgufType : std::uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

/// "u32", "string", "array", …
std::string_view gguf_type_name(GgufType type) noexcept;
/// Bytes of a value; 0 for strings and arrays, which state their length.
std::size_t gguf_type_width(GgufType type) noexcept;

/// One value of the metadata: a view into the file, checked when the file was opened.
class GgufValue {
 public:
  GgufType type() const noexcept { return type_; }
  /// For an array: the type and the number of its elements, which may be arrays.
  GgufType element_type() const noexcept { return element_type_; }
  std::size_t size() const noexcept { return count_; }

  /// A value that is not in a file; `bytes` (little-endian) must outlive it.
  static GgufValue made(GgufType type, std::string_view bytes) noexcept;

  /// The value, if it is a number (a bool is not) and fits; integers of any width and sign.
  std::optional<std::uint64_t> as_unsigned() const noexcept;
  std::optional<std::int64_t> as_signed() const noexcept;
  /// Any number.
  std::optional<double> as_number() const noexcept;
  /// A bool of 0 or 1.
  std::optional<bool> as_bool() const noexcept;
  /// A string's bytes, which need not be UTF-8.
  std::optional<std::string_view> as_string() const noexcept;
  /// The elements of an array of strings, of numbers (of any type), or of bools. Strings are views
  /// that live as long as the file. A part may be requested, if the array has that many strings.
  std::optional<std::vector<std::string_view>> as_strings() const;
  std::optional<std::vector<std::string_view>> as_strings(std::size_t first,
                                                          std::size_t count) const;
  std::optional<std::vector<double>> as_numbers() const;
  std::optional<std::vector<bool>> as_flags() const;

  /// The value for people: `"llama"`, `12`, `[string x 32000]`; at most `most` bytes, printable.
  std::string text(std::size_t most = 60) const;

 private:
  friend class GgufReader;
  GgufType type_ = GgufType::kU8;
  GgufType element_type_ = GgufType::kU8;
  bool big_endian_ = false;
  std::size_t count_ = 1;
  std::string_view bytes_;  // of the value, or of all elements
};

/// The contents of one file. Does not read the numbers of tensors.
///
/// Source  https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
class Gguf {
 public:
  /// `bytes` of a whole file, which must outlive the object; messages begin with `file`.
  ///
  /// Reads versions 2 and 3, little- and big-endian (recognised by the version's bytes). Memory
  /// grows with the keys and tensors that exist, never with a count that the file only claims.
  ///
  /// Throws Error{kMalformed} `file: key: expected …, found …` when a length, count, offset,
  /// alignment (a power of 2 from 8 to 2^20), dimension or product is impossible or reaches beyond
  /// the file, when a key or a tensor occurs twice, when tensors overlap, or when rows do not
  /// consist of whole blocks. Throws Error{kUnsupported} for other versions, for more than 2^20
  /// keys or tensors, and for tensor types that attnviz does not read, naming type and tensor.
  Gguf(std::string_view bytes, std::string_view file);
  Gguf(const Gguf&) = delete;  // tensors point to their own object's shapes
  Gguf& operator=(const Gguf&) = delete;
  Gguf(Gguf&&) = default;
  Gguf& operator=(Gguf&&) = default;

  std::string_view file() const noexcept { return file_; }
  std::uint32_t version() const noexcept { return version_; }
  bool is_big_endian() const noexcept { return big_endian_; }
  std::size_t alignment() const noexcept { return alignment_; }

  /// Null when the key is missing.
  const GgufValue* find(std::string_view key) const noexcept;
  struct Entry {
    std::string_view key;
    GgufValue value;
  };
  /// All of the metadata, in the file's order.
  std::span<const Entry> metadata() const noexcept { return metadata_; }

  /// In the file's order, without rope_factors_* that hold no numbers. Shapes are outermost first:
  /// a matrix that ggml calls ne = [in, out] is [out, in]. ggml does not distinguish a vector from
  /// a matrix of one row, so [1, n] becomes [n]. Bytes are in the file's byte order.
  std::span<const StoredTensor> tensors() const noexcept { return tensors_; }

 private:
  friend class GgufReader;
  std::string file_;
  std::uint32_t version_ = 0;
  bool big_endian_ = false;
  std::size_t alignment_ = 32;
  std::vector<Entry> metadata_;
  std::map<std::string_view, std::size_t, std::less<>> keys_;
  std::vector<std::vector<std::size_t>> shapes_;
  std::vector<StoredTensor> tensors_;
};

/// Whether a file begins as GGUF does.
bool is_gguf(std::string_view bytes) noexcept;

// The types of tensors in GGUF files, by number; and a cursor that reads the bytes of a GGUF file
// forward and checks every step against the bytes that are left.

/// ggml's name for the type with that number, supported by attnviz or not ("Q4_0_4_4"); empty for a
/// number that has never been a type.
std::string_view ggml_type_name(std::uint32_t number) noexcept;

/// The type with that number, if attnviz reads it; otherwise nullopt.
std::optional<StoredType> ggml_stored_type(std::uint32_t number) noexcept;

/// The mix of types that a number in `general.file_type` stands for ("Q4_K_M"); empty for an
/// unassigned number.
std::string_view gguf_file_type_name(std::uint32_t number) noexcept;

/// The bytes of a tensor in the other byte order: halves, scales and separate numbers are swapped,
/// quants stay unchanged.
std::vector<char> turned_bytes(const StoredTensor& tensor);

/// A position in a file, and the subject that messages name there.
class GgufCursor {
 public:
  GgufCursor(std::string_view bytes, bool big_endian, std::string_view file) noexcept
      : bytes_(bytes), big_endian_(big_endian), file_(file) {}

  bool big_endian() const noexcept { return big_endian_; }
  std::size_t position() const noexcept { return position_; }
  std::size_t left() const noexcept { return bytes_.size() - position_; }
  std::string_view since(std::size_t begin) const noexcept {
    return bytes_.substr(begin, position_ - begin);
  }

  /// Messages begin with `file: kind name: ` ("tensor blk.0.attn_q.weight"), or with only the name
  /// if the kind is empty. Both must outlive this use.
  void set_subject(std::string_view kind, std::string_view name) noexcept {
    kind_ = kind;
    name_ = name;
    index_ = 0;
  }
  /// For a subject whose name is not yet known: `file: kind 3: `, counted from 1.
  void set_subject(std::string_view kind, std::uint64_t index) noexcept {
    kind_ = kind;
    name_ = {};
    index_ = index;
  }

  /// The next number. The message names `what` when the file ends before it.
  template <class T>
  T number(std::string_view what) {
    return load_number<T>(take(sizeof(T), what).data(), big_endian_);
  }
  std::string_view take(std::uint64_t size, std::string_view what);
  /// Reads a length of 64 bits, and that number of bytes.
  std::string_view string(std::string_view what);
  /// Throws unless `count` items of at least `size` bytes can follow.
  void expect_room(std::uint64_t count, std::size_t size, std::string_view what) const;

  /// Throws Error{kMalformed} or Error{kUnsupported} `file: subject: message`.
  [[noreturn]] void malformed(std::string_view message) const;
  [[noreturn]] void unsupported(std::string_view message) const;

 private:
  std::string_view bytes_;
  bool big_endian_;
  std::string_view file_;
  std::size_t position_ = 0;
  std::string_view kind_;
  std::string_view name_;
  std::uint64_t index_ = 0;
};

// A model in GGUF: one file, or the shards that it was split into.

/// Owns the files, mapped read-only, and copies of tensors whose bytes have to be swapped. Movable;
/// tensors stay in place.
class GgufFiles {
 public:
  /// `path`: the file, or any of `NAME-00001-of-0000N.gguf`, which lie in one folder. They are the
  /// shards of a model when the file's `split.count` says so.
  ///
  /// Throws what MappedFile and Gguf throw, and Error{kMalformed} when shards are missing (naming
  /// them), when `split.no`, `split.count` or `split.tensors.count` contradict names and contents,
  /// and when two files hold the same tensor.
  explicit GgufFiles(const std::filesystem::path& path, OpenFiles files = {});

  /// The first file, which holds the model's metadata.
  const Gguf& first() const noexcept { return files_.front()->gguf; }

  /// The tensors of all files, as kernels read them.
  const TensorIndex& tensors() const noexcept { return tensors_; }

 private:
  struct File {
    std::string name;
    MappedFile bytes;
    Gguf gguf;
    File(const std::filesystem::path& path, OpenFiles& files);
  };

  void open_shards(const std::filesystem::path& path, std::unique_ptr<File> given,
                   std::size_t n_shards, OpenFiles& files);
  void add_tensors(const File& file);
  void check_shard(std::size_t index, std::size_t n_shards) const;
  void check_n_tensors() const;

  std::vector<std::unique_ptr<File>> files_;
  NativeTensors native_;
  TensorIndex tensors_;
};

}  // namespace attnviz
