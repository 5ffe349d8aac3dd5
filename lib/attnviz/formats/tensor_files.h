// The tensors of one model, which may lie in several files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/safetensors.h"
#include "attnviz/formats/tensor_index.h"

namespace attnviz {

/// Owns the files, mapped read-only: a page is read when a number on it is used; on big-endian
/// machines, all numbers are read and byte-swapped. Movable; tensors stay in place.
class TensorFiles {
 public:
  /// A safetensors file.
  static TensorFiles open(const std::filesystem::path& file, OpenFiles files = {});

  /// Several files, at least one. Throws Error{kMalformed} when two hold the same tensor.
  static TensorFiles open_all(const std::vector<std::filesystem::path>& shards,
                              OpenFiles files = {});

  /// A safetensors file that is already in memory; its bytes must outlive the object.
  static TensorFiles in_memory(const NamedBytes& file);

  /// The files named by `model.safetensors.index.json`, {"weight_map": {tensor: file}}, in its
  /// folder. Throws Error{kMalformed} when the index is not an object of that form, names a file
  /// outside of its folder or a tensor that is not in the file it names, or when two files hold the
  /// same tensor; Error{kIo} naming the missing files; and what Safetensors throws.
  static TensorFiles open_index(const std::filesystem::path& index, OpenFiles files = {});

  /// The tensors of GGUF files, which may be shared with other readers.
  static TensorFiles of_gguf(std::shared_ptr<const GgufFiles> files);

  /// Finds a tensor by its name after wrapper().
  FoundTensor find(std::string_view name) const;
  /// The prefix of all tensor names if the model was saved inside a wrapper, which changes no
  /// number: "_orig_mod." of torch.compile, "module." of nn.DataParallel, "base_model.model." of
  /// PEFT. Empty if some names lack it.
  const std::string& wrapper() const noexcept { return wrapper_; }

  /// Asks readers not to compare the numbers of tensors, which would read all of them.
  void skip_comparisons() noexcept { skips_comparisons_ = true; }
  bool skips_comparisons() const noexcept { return skips_comparisons_; }

  std::size_t size() const noexcept { return tensors_.size(); }
  /// All tensors, sorted by name.
  std::vector<FoundTensor> tensors() const { return tensors_.all(); }

  /// The name of the file, or of the index: for errors that concern all of it.
  const std::string& name() const noexcept { return name_; }

 private:
  struct File {
    std::string name;
    std::optional<MappedFile> mapped;  // absent if the bytes are owned elsewhere
    Safetensors tensors;
    File(const std::filesystem::path& path, OpenFiles& files);
    explicit File(const NamedBytes& file);
  };

  void add(std::unique_ptr<const File> file);
  void find_wrapper();

  std::string name_;
  std::string wrapper_;
  std::vector<std::unique_ptr<const File>> files_;
  std::shared_ptr<const GgufFiles> gguf_;
  NativeTensors native_;
  TensorIndex tensors_;
  bool skips_comparisons_ = false;
};

}  // namespace attnviz
