// Reads a GGUF file's header, metadata and list of tensors, with checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf.h"
#include "attnviz/formats/gguf_cursor.h"

namespace attnviz {

/// Fills a Gguf; see there for what it throws.
class GgufReader {
 public:
  GgufReader(std::string_view bytes, Gguf& out) noexcept
      : bytes_(bytes), out_(out), in_(bytes, false, out.file_) {}

  void read();

  /// The value at the cursor, which is left behind it. `depth`: of arrays around it.
  static GgufValue value(GgufCursor& in, GgufType type, int depth = 0);
  /// The type at the cursor.
  static GgufType value_type(GgufCursor& in);

 private:
  // A tensor's entry, until the place of the data is known.
  struct Place {
    std::uint64_t offset;
    std::size_t size;
  };

  static void skip_elements(GgufCursor& in, GgufType type, std::uint64_t count, int depth);
  void read_version();
  void read_metadata(std::uint64_t count);
  void read_alignment();
  void read_tensor_infos(std::uint64_t count);
  std::vector<std::size_t> shape();
  std::size_t size_of(const StoredTensor& tensor) const;
  void place_tensors();
  void check_names();
  void check_overlap();

  std::string_view bytes_;
  Gguf& out_;
  GgufCursor in_;
  std::vector<Place> places_;
};

}  // namespace attnviz
