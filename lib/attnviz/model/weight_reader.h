// A model's weights by name and shape, as views into its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/formats/tensor_files.h"
#include "attnviz/model/model.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// Whether a family has a tensor: as its config says, or, where no config says it, as the file has.
enum class Presence { kNo, kYes, kOptional };
constexpr Presence present_if(bool is_there) noexcept {
  return is_there ? Presence::kYes : Presence::kNo;
}

/// Tensors that change nothing of what is computed, although nobody reads them.
struct HarmlessTensor {
  std::string name;  // # stands for a layer's number, a star at its end for anything
  std::string_view why;
};

/// Looks tensors up and checks their shapes. Matrices of f32, f16, bf16 and quantised ones stay in
/// the file, at odd addresses too. Doubles and all vectors become floats.
///
/// All throw Error{kMalformed} `model.safetensors: h.3.attn.c_attn.weight: expected [768, 2304],
/// found [768, 768]`, and Error{kUnsupported} for integers and 8-bit floats.
class WeightReader {
 public:
  /// Names are looked up behind the first of `prefixes` that `probe` is found with; then, for heads
  /// stand outside of what they are put on, behind less and less of it.
  WeightReader(TensorFiles files, std::initializer_list<std::string_view> prefixes,
               std::string_view probe);

  /// A PyTorch Linear: stored [d_out, d_in] as `name.weight`, with `name.bias` [d_out] if wanted.
  Projection linear(std::string_view name, std::size_t d_in, std::size_t d_out, Presence bias);
  /// Of each of `n` experts one, which lie in one tensor behind one another: stored [n, d_out,
  /// d_in] as `weight`, or [n, d_in, d_out] where `is_turned`, with `bias` [n, d_out] if wanted.
  std::vector<Projection> linears(std::string_view weight, std::string_view bias, std::size_t n,
                                  std::size_t d_in, std::size_t d_out, bool is_turned,
                                  Presence bias_presence);
  /// GPT-2's Conv1D: stored [d_in, d_out], with a bias.
  Projection conv1d(std::string_view name, std::size_t d_in, std::size_t d_out);
  /// The rows of a table as columns of logits: x · table^T.
  static StoredMatrix turned(const StoredMatrix& table) noexcept;
  /// Stored [rows, cols].
  StoredMatrix table(std::string_view name, std::size_t rows, std::size_t cols);
  /// [size]. The first of `names` that is there; messages name the first.
  std::span<const float> vector(std::initializer_list<std::string_view> names, std::size_t size) {
    return numbers(names, {size});
  }
  std::span<const float> vector(std::string_view name, std::size_t size) {
    return numbers({name}, {size});
  }
  /// The same of another shape: all numbers, the last dimension's first.
  std::span<const float> numbers(std::initializer_list<std::string_view> names,
                                 std::initializer_list<std::size_t> shape);
  /// `count` numbers of whatever shape: a vector may be stored with dimensions of 1, or in groups.
  std::span<const float> numbers_of(std::string_view name, std::size_t count);
  /// [rows, size], or with dimensions of 1 in between, as PyTorch stores a Conv1d of channels.
  std::span<const float> numbers_in_rows(std::string_view name, std::size_t rows, std::size_t size);
  /// The bytes of a tensor of U8, which hold so many numbers in MXFP4.
  std::span<const std::uint8_t> bytes(std::string_view name,
                                      std::initializer_list<std::size_t> shape,
                                      std::size_t n_numbers);
  /// Keeps numbers that stand in no file.
  std::span<const float> keep(MatrixBuffer numbers);

  bool has(std::string_view name) const;
  /// Whether it is a tensor of U8.
  bool is_bytes(std::string_view name) const;
  /// Whether both exist and differ in some number, regardless of their types; false if the files
  /// skip comparisons.
  bool differ(std::string_view name, std::string_view other) const;
  /// "model.safetensors: cls.predictions.bias: " in front of what a message says about a tensor.
  std::string where(std::string_view name) const;
  /// Whether a tensor of this presence is to be read.
  bool has(std::string_view name, Presence presence) const {
    return presence == Presence::kYes || (presence == Presence::kOptional && has(name));
  }
  /// Of [rows, cols], for what no config says; 1 of a vector. Throws as the others do.
  std::size_t rows_of(std::string_view name) const;

  /// Another name of a tensor, where a file has none of its own name.
  void rename(std::string_view name, std::string_view said);
  /// What may stand in the files beside what is looked up.
  void pass_over(const std::vector<HarmlessTensor>& known);

  /// What of the files has been looked up until now, and what has not.
  StoredWeights stored() const;

  /// Keeps what the views look at.
  std::shared_ptr<const void> storage() const noexcept { return storage_; }

 private:
  struct Storage {
    explicit Storage(TensorFiles given) : files(std::move(given)) {}
    TensorFiles files;
    std::vector<MatrixBuffer> copies;
    std::set<const StoredTensor*> used;
    std::map<const StoredTensor*, std::size_t> numbers_in_bytes;
    std::vector<HarmlessTensor> ignorable;
    std::vector<std::pair<std::string, std::string>> renamed;
  };

  FoundTensor find(std::string_view name) const;
  std::string_view why_ignorable(std::string_view name) const;
  FoundTensor get(std::string_view name) const;
  FoundTensor get(std::string_view name, std::initializer_list<std::size_t> shape) const;
  StoredMatrix matrix(std::string_view name, std::size_t rows, std::size_t cols);
  MatrixBuffer& copy(const FoundTensor& found, std::size_t rows, std::size_t cols);

  std::shared_ptr<Storage> storage_;
  std::string prefix_;
};

}  // namespace attnviz
