#include "attnviz/formats/gguf.h"

#include "attnviz/formats/gguf_reader.h"

namespace attnviz {

Gguf::Gguf(std::string_view bytes, std::string_view file) : file_(file) {
  GgufReader(bytes, *this).read();
}

const GgufValue* Gguf::find(std::string_view key) const noexcept {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : &metadata_[found->second].value;
}

bool is_gguf(std::string_view bytes) noexcept {
  return bytes.starts_with("GGUF");
}

}  // namespace attnviz
