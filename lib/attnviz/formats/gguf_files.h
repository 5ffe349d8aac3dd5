// A model in GGUF: one file, or the shards that it was split into.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/tensor_index.h"

namespace attnviz {

/// Owns the files, mapped read-only, and copies of tensors whose bytes have to be turned. Movable;
/// tensors stay in place.
class GgufFiles {
 public:
  /// `path`: the file, or any of `NAME-00001-of-0000N.gguf`, which lie in one folder. Those are the
  /// shards of a model when the file's `split.count` says so.
  ///
  /// Throws what MappedFile and Gguf throw, and Error{kMalformed} when shards are missing (naming
  /// them), when `split.no`, `split.count` or `split.tensors.count` say something else than names
  /// and contents, and when two files hold one tensor.
  explicit GgufFiles(const std::filesystem::path& path, OpenFiles files = {});

  /// The first file, which has the metadata of the model.
  const Gguf& first() const noexcept { return files_.front()->gguf; }

  /// Those of all files, as kernels read them.
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
