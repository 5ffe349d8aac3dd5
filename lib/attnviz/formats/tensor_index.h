// A tensor in a file; an index of the tensors of several files, by name; and tensors as kernels
// read them, regardless of the byte order of file and machine.
#pragma once

#include <bit>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/stored_matrix.h"

namespace attnviz {

/// One tensor in a file; a view.
struct StoredTensor {
  std::string_view name;
  StoredType type = StoredType::kF32;
  std::span<const std::size_t> shape;  // outermost first; empty: a single number
  std::string_view bytes;              // row-major; may lie at any address
  std::string_view other_type = {};    // the name of an unknown type; `type` then means nothing

  /// The product of the shape.
  std::size_t n_numbers() const noexcept {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  }
};

/// A tensor, and the file that messages name.
struct FoundTensor {
  const StoredTensor* tensor = nullptr;  // null: not found
  std::string_view file;

  explicit operator bool() const noexcept { return tensor != nullptr; }
};

/// Views of tensors that are owned elsewhere.
class TensorIndex {
 public:
  /// Throws Error{kMalformed} `file: name: also in …` when the name already exists.
  void add(const StoredTensor& tensor, std::string_view file);

  FoundTensor find(std::string_view name) const noexcept;
  std::size_t size() const noexcept { return tensors_.size(); }
  /// All tensors, sorted by name.
  std::vector<FoundTensor> all() const;

 private:
  std::map<std::string_view, FoundTensor, std::less<>> tensors_;
};

/// Whether numbers of that type have another byte order in a file than in the computation, where
/// single numbers are in the machine's byte order, and blocks of quantised ones are little-endian
/// on every machine.
bool is_turned(StoredType type, std::endian file,
               std::endian machine = std::endian::native) noexcept;

/// Owns the copies of tensors that have to be byte-swapped: those of big-endian files, and all on
/// big-endian machines. Movable; tensors stay in place.
class NativeTensors {
 public:
  /// Returns `tensor` itself, which must outlive the result, or a byte-swapped copy.
  const StoredTensor& of(const StoredTensor& tensor, std::endian file);

 private:
  struct Turned {
    std::vector<char> bytes;
    StoredTensor tensor;
  };
  std::deque<Turned> turned_;
};

// Names of the files that a model was split into.

/// NAME-00002-of-00003.gguf.
struct ShardName {
  std::string_view name;   // NAME
  std::size_t number = 0;  // from 1
  std::size_t count = 0;
};

inline constexpr std::string_view kGgufEnding = ".gguf";

/// Parses a shard's name; nullopt for other names, and for a number that is not from 1 to the
/// count. A view into `file_name`.
std::optional<ShardName> parse_shard_name(std::string_view file_name,
                                          std::string_view ending = kGgufEnding);

std::string shard_name(std::string_view name, std::size_t number, std::size_t count,
                       std::string_view ending = kGgufEnding);

/// The names of all shards, in order.
std::vector<std::string> shard_names(const ShardName& shard, std::string_view ending = kGgufEnding);

/// The files that are missing in the folder, the first few by name: "a, b, c and more"; empty if
/// all exist.
std::string missing_files(const std::filesystem::path& folder, std::span<const std::string> names);

/// Throws Error{kMalformed} naming the missing shards unless all lie in the folder of `file`, which
/// is one of them.
void require_shards(const std::filesystem::path& file, const ShardName& shard,
                    std::string_view ending = kGgufEnding);

/// Returns "model" for model.gguf and for model-00001-of-00002.gguf.
std::string name_of_shards(const std::filesystem::path& file);

}  // namespace attnviz
