#include "attnviz/formats/gguf.h"

#include <fmt/core.h>

#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/tensor_index.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kShardNumber = "split.no";
constexpr std::string_view kShardCount = "split.count";
constexpr std::string_view kTensorCount = "split.tensors.count";

}  // namespace

GgufFiles::File::File(const fs::path& path, OpenFiles& files)
    : name(path.string()), bytes(files.open(path)), gguf(bytes.bytes(), name) {}

GgufFiles::GgufFiles(const fs::path& path, OpenFiles files) {
  auto given = std::make_unique<File>(path, files);
  const std::size_t n_shards = GgufMetadata(given->gguf).id(kShardCount).value_or(0);
  if (n_shards <= 1) {
    files_.push_back(std::move(given));
  } else {
    open_shards(path, std::move(given), n_shards, files);
  }
  for (const std::unique_ptr<File>& file : files_) {
    add_tensors(*file);
  }
  check_n_tensors();
}

void GgufFiles::open_shards(const fs::path& path, std::unique_ptr<File> given, std::size_t n_shards,
                            OpenFiles& files) {
  const std::string file_name = path.filename().string();
  const std::optional<ShardName> shard = parse_shard_name(file_name);
  if (!shard || shard->count != n_shards) {
    GgufMetadata(given->gguf)
        .fail(kShardCount,
              fmt::format("one of {} shards of a model: expected a name like {}, as the other "
                          "shards are found by name",
                          n_shards, shard_name("NAME", 1, n_shards)));
  }
  require_shards(path, *shard);
  files_.reserve(n_shards);
  for (std::size_t i = 0; i < n_shards; ++i) {
    if (i + 1 == shard->number) {
      files_.push_back(std::move(given));
    } else {
      files_.push_back(std::make_unique<File>(
          path.parent_path() / shard_name(shard->name, i + 1, n_shards), files));
    }
    check_shard(i, n_shards);
  }
}

void GgufFiles::add_tensors(const File& file) {
  const std::endian order = file.gguf.is_big_endian() ? std::endian::big : std::endian::little;
  for (const StoredTensor& tensor : file.gguf.tensors()) {
    const StoredTensor& native = native_.of(tensor, order);
    if (&native != &tensor) {
      file.bytes.forget(tensor.bytes);
    }
    tensors_.add(native, file.name);
  }
}

void GgufFiles::check_shard(std::size_t index, std::size_t n_shards) const {
  const GgufMetadata metadata(files_[index]->gguf);
  const auto expect = [&metadata](std::string_view key, std::size_t expected) {
    const std::optional<std::uint32_t> found = metadata.id(key);
    if (found != expected) {
      metadata.fail(key, fmt::format("expected {}, as the file's name says, found {}", expected,
                                     found ? std::to_string(*found) : "no such key"));
    }
  };
  expect(kShardNumber, index);
  expect(kShardCount, n_shards);
}

void GgufFiles::check_n_tensors() const {
  const GgufMetadata metadata(first());
  const std::optional<std::uint32_t> expected = metadata.id(kTensorCount);
  if (files_.size() > 1 && expected && *expected != tensors_.size()) {
    metadata.fail(kTensorCount,
                  fmt::format("expected {} in {} files, found {}", counted(*expected, "tensor"),
                              files_.size(), tensors_.size()));
  }
}

}  // namespace attnviz
