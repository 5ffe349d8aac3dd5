#include "support/gguf_builder.h"

namespace attnviz::test {

namespace {

std::size_t padded(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

std::string GgufBuilder::string(std::string_view text) const {
  return number(std::uint64_t{text.size()}).append(text);
}

std::string GgufBuilder::strings(std::initializer_list<std::string_view> texts) const {
  std::string bytes;
  for (const std::string_view text : texts) {
    bytes += string(text);
  }
  return bytes;
}

std::string GgufBuilder::array(GgufType type, std::uint64_t count,
                               std::string_view elements) const {
  return number(static_cast<std::uint32_t>(type)).append(number(count)).append(elements);
}

GgufBuilder& GgufBuilder::add(std::string_view key, GgufType type, std::string_view value) {
  return add_raw_key(string(key).append(number(static_cast<std::uint32_t>(type))).append(value));
}

GgufBuilder& GgufBuilder::add_raw_key(std::string_view bytes) {
  ++keys_there_;
  keys_ += bytes;
  return *this;
}

std::string GgufBuilder::bytes() const {
  std::string file = magic + number(version) +
                     number(n_tensors.value_or(std::uint64_t{tensors.size()})) +
                     number(n_keys.value_or(keys_there_)) + keys_;
  std::string data;
  for (const Tensor& tensor : tensors) {
    data.resize(padded(data.size(), alignment), '\0');
    file += string(tensor.name) + number(static_cast<std::uint32_t>(tensor.dimensions.size()));
    for (const std::uint64_t size : tensor.dimensions) {
      file += number(size);
    }
    file += number(tensor.type) + number(tensor.offset.value_or(std::uint64_t{data.size()}));
    data += tensor.bytes;
  }
  if (!tensors.empty()) {
    file.resize(padded(file.size(), alignment), '\0');
  }
  return file + data + tail;
}

}  // namespace attnviz::test
