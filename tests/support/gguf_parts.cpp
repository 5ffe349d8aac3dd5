#include "support/gguf_parts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "support/run_program.h"

namespace attnviz::test {

namespace {

class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T number() {
    T value{};
    REQUIRE(at_ + sizeof value <= bytes_.size());
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string take(std::size_t size) {
    REQUIRE(at_ + size <= bytes_.size());
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::string string() { return take(static_cast<std::size_t>(number<std::uint64_t>())); }
  void skip(GgufType type) {
    if (type == GgufType::kString) {
      string();
    } else if (type == GgufType::kArray) {
      const auto element = static_cast<GgufType>(number<std::uint32_t>());
      const auto count = number<std::uint64_t>();
      for (std::uint64_t i = 0; i < count; ++i) {
        skip(element);
      }
    } else {
      take(gguf_type_width(type));
    }
  }
  std::size_t at() const { return at_; }
  void go_to(std::size_t at) { at_ = at; }
  std::string_view since(std::size_t begin) const {
    return std::string_view(bytes_).substr(begin, at_ - begin);
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t number_bytes(const GgufBuilder::Tensor& tensor) {
  constexpr std::uint32_t kF32 = 0;
  return tensor.type == kF32 ? 4 : 2;
}

GgufParts::GgufParts(const std::filesystem::path& path) {
  Bytes file(read_file(path));
  REQUIRE(file.take(4) == "GGUF");
  REQUIRE(file.number<std::uint32_t>() == 3);
  const auto n_tensors = file.number<std::uint64_t>();
  const auto n_keys = file.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < n_keys; ++i) {
    Key key;
    key.name = file.string();
    key.type = static_cast<GgufType>(file.number<std::uint32_t>());
    const std::size_t begin = file.at();
    file.skip(key.type);
    key.value = file.since(begin);
    keys.push_back(key);
  }
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < n_tensors; ++i) {
    GgufBuilder::Tensor tensor;
    tensor.name = file.string();
    tensor.dimensions.resize(file.number<std::uint32_t>());
    for (std::uint64_t& dimension : tensor.dimensions) {
      dimension = file.number<std::uint64_t>();
    }
    tensor.type = file.number<std::uint32_t>();
    REQUIRE((tensor.type == 0 || tensor.type == 1 || tensor.type == 30));
    offsets.push_back(file.number<std::uint64_t>());
    tensors.push_back(tensor);
  }
  constexpr std::size_t kAlignment = 32;
  const std::size_t data = (file.at() + kAlignment - 1) / kAlignment * kAlignment;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::size_t size = number_bytes(tensors[i]);
    for (const std::uint64_t dimension : tensors[i].dimensions) {
      size *= static_cast<std::size_t>(dimension);
    }
    file.go_to(data + static_cast<std::size_t>(offsets[i]));
    tensors[i].bytes = file.take(size);
  }
}

GgufBuilder::Tensor& GgufParts::tensor(std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &GgufBuilder::Tensor::name);
  REQUIRE(found != tensors.end());
  return *found;
}

bool GgufParts::has(std::string_view name) const {
  return std::ranges::find(tensors, name, &GgufBuilder::Tensor::name) != tensors.end();
}

void GgufParts::rename(std::string_view from, std::string_view to) {
  tensor(from).name = to;
}

void GgufParts::set(std::string_view key, GgufType type, std::string value) {
  erase(key);
  keys.push_back({std::string(key), type, std::move(value)});
}

void GgufParts::set_u32(std::string_view key, std::uint32_t value) {
  set(key, GgufType::kU32, GgufBuilder().number(value));
}

void GgufParts::set_flag(std::string_view key, bool value) {
  set(key, GgufType::kBool, std::string(1, value ? '\1' : '\0'));
}

void GgufParts::set_list(std::string_view key, const std::vector<std::uint32_t>& values) {
  const GgufBuilder builder;
  std::string bytes;
  for (const std::uint32_t value : values) {
    bytes += builder.number(value);
  }
  set(key, GgufType::kArray, builder.array(GgufType::kU32, values.size(), bytes));
}

std::uint32_t GgufParts::u32(std::string_view key) const {
  const auto found = std::ranges::find(keys, key, &Key::name);
  REQUIRE(found != keys.end());
  std::uint32_t value = 0;
  REQUIRE(found->value.size() == sizeof value);
  std::memcpy(&value, found->value.data(), sizeof value);
  return value;
}

void GgufParts::erase(std::string_view key) {
  std::erase_if(keys, [key](const Key& one) { return one.name == key; });
}

std::string GgufParts::bytes() const {
  GgufBuilder file;
  for (const Key& key : keys) {
    file.add(key.name, key.type, key.value);
  }
  file.tensors = tensors;
  return file.bytes();
}

}  // namespace attnviz::test
