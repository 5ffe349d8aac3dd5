// Reads a model's weights by name and shape, as views into its files.
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

/// Whether a family has a tensor: as its config says, or, where the config is silent, if the file
/// contains it.
enum class Presence { kNo, kYes, kOptional };
constexpr Presence present_if(bool is_there) noexcept {
  return is_there ? Presence::kYes : Presence::kNo;
}

/// A tensor that does not affect the computation and is not read.
struct HarmlessTensor {
  std::string name;  // # stands for a layer's number, a final * for anything
  std::string_view why;
};

/// Looks up tensors and checks their shapes. Matrices of f32, f16, bf16 and quantised ones stay in
/// the file, at odd addresses too. Doubles and all vectors become floats.
///
/// All members throw Error{kMalformed} `model.safetensors: h.3.attn.c_attn.weight: expected [768,
/// 2304], found [768, 768]`, and Error{kUnsupported} for integers and 8-bit floats.
class WeightReader {
 public:
  /// Looks names up after the first of `prefixes` with which `probe` is found, and then after
  /// shorter and shorter parts of it, because heads stand outside of the model they are put on.
  WeightReader(TensorFiles files, std::initializer_list<std::string_view> prefixes,
               std::string_view probe);

  /// A PyTorch Linear: stored [d_out, d_in] as `name.weight`, with `name.bias` [d_out] if wanted.
  Projection linear(std::string_view name, std::size_t d_in, std::size_t d_out, Presence bias);
  /// The linear layers of `n` experts, which lie one after another in one tensor: stored [n, d_out,
  /// d_in] as `weight`, or [n, d_in, d_out] if `is_turned`, with `bias` [n, d_out] if wanted.
  std::vector<Projection> linears(std::string_view weight, std::string_view bias, std::size_t n,
                                  std::size_t d_in, std::size_t d_out, bool is_turned,
                                  Presence bias_presence);
  /// GPT-2's Conv1D: stored [d_in, d_out], with a bias.
  Projection conv1d(std::string_view name, std::size_t d_in, std::size_t d_out);
  /// The transposed table, whose rows become columns of logits: x · table^T.
  static StoredMatrix turned(const StoredMatrix& table) noexcept;
  /// Stored [rows, cols].
  StoredMatrix table(std::string_view name, std::size_t rows, std::size_t cols);
  /// A vector [size], under the first of `names` that is present; messages name the first.
  std::span<const float> vector(std::initializer_list<std::string_view> names, std::size_t size) {
    return numbers(names, {size});
  }
  std::span<const float> vector(std::string_view name, std::size_t size) {
    return numbers({name}, {size});
  }
  /// Like vector(), for any shape: all numbers, the last dimension varying fastest.
  std::span<const float> numbers(std::initializer_list<std::string_view> names,
                                 std::initializer_list<std::size_t> shape);
  /// `count` numbers of any shape: a vector may be stored with dimensions of 1, or in groups.
  std::span<const float> numbers_of(std::string_view name, std::size_t count);
  /// [rows, size], or with dimensions of 1 in between, as PyTorch stores a per-channel Conv1d.
  std::span<const float> numbers_in_rows(std::string_view name, std::size_t rows, std::size_t size);
  /// The bytes of a U8 tensor that holds `n_numbers` numbers in MXFP4.
  std::span<const std::uint8_t> bytes(std::string_view name,
                                      std::initializer_list<std::size_t> shape,
                                      std::size_t n_numbers);
  /// Keeps numbers that are not stored in any file.
  std::span<const float> keep(MatrixBuffer numbers);

  bool has(std::string_view name) const;
  /// Whether it is a U8 tensor.
  bool is_bytes(std::string_view name) const;
  /// Whether both tensors exist and differ in some number, regardless of their types; false if the
  /// files skip comparisons.
  bool differ(std::string_view name, std::string_view other) const;
  /// "model.safetensors: cls.predictions.bias: ", the beginning of messages about a tensor.
  std::string where(std::string_view name) const;
  /// Whether a tensor of this presence is to be read.
  bool has(std::string_view name, Presence presence) const {
    return presence == Presence::kYes || (presence == Presence::kOptional && has(name));
  }
  /// The number of rows of a tensor [rows, cols], for sizes that no config states; 1 for a vector.
  /// Throws as the other members do.
  std::size_t rows_of(std::string_view name) const;

  /// Reads tensor `name` under the name `said` in a file that has no tensor `name`.
  void rename(std::string_view name, std::string_view said);
  /// Adds tensors that the files may contain without being read.
  void pass_over(const std::vector<HarmlessTensor>& known);

  /// Which tensors of the files have been looked up so far, and which have not.
  StoredWeights stored() const;

  /// Owns the memory that the views point into.
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
