#include "attnviz/formats/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <string>

#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr std::size_t kSmallestAlignment = 8;
constexpr std::size_t kLargestAlignment = std::size_t{1} << 20;
constexpr std::size_t kLongestName = std::size_t{1} << 16;
constexpr std::uint32_t kMostDimensions = 4;
constexpr int kDeepestArray = 8;
// Far more than any model has; a file of only keys or tensors must not fill the memory.
constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 20;
// The least number of bytes in an entry: lengths, counts and types.
constexpr std::size_t kSmallestKey = 8 + 1 + 4 + 1;
constexpr std::size_t kSmallestTensorInfo = 8 + 4 + 4 + 8;
constexpr std::size_t kSmallestString = 8;
constexpr std::size_t kSmallestArray = 4 + 8;

// A shape as ggml writes it, innermost first.
std::string dimensions_text(std::span<const std::size_t> shape) {
  return fmt::format("[{}]",
                     joined_by(std::vector<std::size_t>(shape.rbegin(), shape.rend()), ", "));
}

void check_bools(const GgufCursor& in, std::string_view bytes) {
  const auto odd =
      std::find_if(bytes.begin(), bytes.end(), [](char c) { return c != 0 && c != 1; });
  if (odd != bytes.end()) {
    in.malformed(fmt::format("expected a bool of 0 or 1, found {}",
                             static_cast<unsigned>(static_cast<unsigned char>(*odd))));
  }
}

void check_name(const GgufCursor& in, std::string_view name) {
  if (name.size() > kLongestName) {
    in.malformed(fmt::format("expected a name of at most {} bytes, found one of {}", kLongestName,
                             name.size()));
  }
}

}  // namespace

// Ollama stores rope_factors_* without numbers where Phi-3's rotation is not scaled.
bool may_be_empty(std::string_view tensor) noexcept {
  return tensor.starts_with("rope_factors_");
}

// Fills a Gguf, whose constructor documents the errors.
class GgufReader {
 public:
  GgufReader(std::string_view bytes, Gguf& out) noexcept
      : bytes_(bytes), out_(out), in_(bytes, false, out.file_) {}

  void read();

 private:
  // A tensor's entry, kept until the position of the data is known.
  struct Place {
    std::uint64_t offset;
    std::size_t size;
  };

  GgufType value_type();
  GgufValue value(GgufType type, int depth = 0);
  void skip_elements(GgufType type, std::uint64_t count, int depth);
  void read_version();
  void read_metadata(std::uint64_t count);
  void read_alignment();
  void read_tensor_infos(std::uint64_t count);
  std::vector<std::size_t> shape(bool may_be_empty);
  std::optional<StoredType> type_of(std::uint32_t number, std::vector<std::size_t>& shape) const;
  std::size_t size_of(const StoredTensor& tensor) const;
  void place_tensors();
  void check_names();
  void check_overlap();

  std::string_view bytes_;
  Gguf& out_;
  GgufCursor in_;
  std::vector<Place> places_;
};

// Reads a value's type at the cursor.
GgufType GgufReader::value_type() {
  const auto number = in_.number<std::uint32_t>("the type of its value");
  if (number > static_cast<std::uint32_t>(GgufType::kF64)) {
    in_.malformed(fmt::format("expected a type of values from 0 to 12, found {}", number));
  }
  return static_cast<GgufType>(number);
}

// Reads a value at the cursor. `depth`: the number of arrays around it.
GgufValue GgufReader::value(GgufType type, int depth) {
  GgufValue value;
  value.type_ = type;
  value.big_endian_ = in_.big_endian();
  if (type == GgufType::kString) {
    value.bytes_ = in_.string("its value");
    return value;
  }
  if (type != GgufType::kArray) {
    value.bytes_ = in_.take(gguf_type_width(type), "its value");
    if (type == GgufType::kBool) {
      check_bools(in_, value.bytes_);
    }
    return value;
  }
  if (depth == kDeepestArray) {
    in_.malformed(fmt::format("arrays inside of arrays, deeper than {}", kDeepestArray));
  }
  value.element_type_ = value_type();
  const auto count = in_.number<std::uint64_t>("the length of its array");
  const std::size_t begin = in_.position();
  skip_elements(value.element_type_, count, depth + 1);
  value.count_ = count;
  value.bytes_ = in_.since(begin);
  return value;
}

void GgufReader::skip_elements(GgufType type, std::uint64_t count, int depth) {
  constexpr std::string_view kWhat = "the elements of its array";
  if (const std::size_t width = gguf_type_width(type); width > 0) {
    in_.expect_room(count, width, kWhat);
    const std::string_view bytes = in_.take(count * width, kWhat);
    if (type == GgufType::kBool) {
      check_bools(in_, bytes);
    }
    return;
  }
  in_.expect_room(count, type == GgufType::kString ? kSmallestString : kSmallestArray, kWhat);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (type == GgufType::kString) {
      in_.string(kWhat);
    } else {
      value(type, depth);
    }
  }
}

void GgufReader::read() {
  if (!is_gguf(bytes_)) {
    refuse_other_kind(bytes_, out_.file_);
    in_.malformed(fmt::format("expected a GGUF file, which begins with \"GGUF\", found {}",
                              bytes_.empty() ? "an empty one" : in_quotes(bytes_.substr(0, 4))));
  }
  read_version();
  in_.set_subject("header", {});
  const auto n_tensors = in_.number<std::uint64_t>("the number of tensors");
  const auto n_keys = in_.number<std::uint64_t>("the number of keys");
  in_.expect_room(n_keys, kSmallestKey, "keys");
  in_.expect_room(n_tensors, kSmallestTensorInfo, "tensors");
  if (n_keys > kMostEntries || n_tensors > kMostEntries) {
    in_.unsupported(fmt::format("expected at most {} keys and as many tensors, found {} and {}",
                                kMostEntries, n_keys, n_tensors));
  }
  read_metadata(n_keys);
  read_alignment();
  read_tensor_infos(n_tensors);
  check_names();
  place_tensors();
  check_overlap();
}

// Versions are small numbers: if the lower half is 0, the file has the other byte order.
void GgufReader::read_version() {
  in_.take(kMagic.size(), "GGUF");
  auto version = in_.number<std::uint32_t>("the version");
  if ((version & 0xFFFFU) == 0 && version != 0) {
    in_ = GgufCursor(bytes_, true, out_.file_);
    in_.take(kMagic.size(), "GGUF");
    version = in_.number<std::uint32_t>("the version");
    out_.big_endian_ = true;
  }
  if (version != 2 && version != 3) {
    in_.unsupported(fmt::format(
        "expected GGUF version 2 or 3, found {}{}", version,
        version == 1 ? "; convert the file with a newer llama.cpp, or from the original model"
                     : ""));
  }
  out_.version_ = version;
}

void GgufReader::read_metadata(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    in_.set_subject("key", i + 1);
    const std::string_view key = in_.string("its name");
    if (key.empty()) {
      in_.malformed("expected a name, found an empty one");
    }
    check_name(in_, key);
    in_.set_subject({}, key);
    if (!out_.keys_.emplace(key, out_.metadata_.size()).second) {
      in_.malformed("expected every key once, found it twice");
    }
    const GgufType type = value_type();
    out_.metadata_.push_back({key, value(type)});
  }
}

void GgufReader::read_alignment() {
  const GgufValue* const value = out_.find(kAlignmentKey);
  if (value == nullptr) {
    return;
  }
  const std::uint64_t alignment = value->as_unsigned().value_or(0);
  if (!std::has_single_bit(alignment) || alignment < kSmallestAlignment ||
      alignment > kLargestAlignment) {
    in_.set_subject({}, kAlignmentKey);
    in_.malformed(fmt::format("expected a power of 2 from {} to {}, found {}", kSmallestAlignment,
                              kLargestAlignment, value->text()));
  }
  out_.alignment_ = alignment;
}

void GgufReader::read_tensor_infos(std::uint64_t count) {
  in_.set_subject("header", {});
  in_.expect_room(count, kSmallestTensorInfo, "tensors");
  out_.shapes_.reserve(count);
  out_.tensors_.reserve(count);
  places_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    in_.set_subject("tensor", i + 1);
    StoredTensor tensor;
    tensor.name = in_.string("its name");
    check_name(in_, tensor.name);
    in_.set_subject("tensor", tensor.name);
    out_.shapes_.push_back(shape(may_be_empty(tensor.name)));
    tensor.shape = out_.shapes_.back();
    const auto number = in_.number<std::uint32_t>("its type");
    const std::optional<StoredType> type = type_of(number, out_.shapes_.back());
    if (!type) {
      const std::string_view name = ggml_type_name(number);
      in_.unsupported(
          fmt::format("type {} is not supported; look for a file in another "
                      "quantisation, such as Q4_K_M or Q8_0",
                      name.empty() ? fmt::format("number {}", number) : name));
    }
    tensor.type = *type;
    const auto offset = in_.number<std::uint64_t>("its offset");
    if (offset % out_.alignment_ != 0) {
      in_.malformed(fmt::format("expected an offset that is a multiple of {}, found {}",
                                out_.alignment_, offset));
    }
    if (std::ranges::find(tensor.shape, 0U) != tensor.shape.end()) {
      out_.shapes_.pop_back();
      continue;
    }
    places_.push_back({offset, size_of(tensor)});
    out_.tensors_.push_back(tensor);
  }
}

// Outermost first. Drops outer dimensions of 1, which writers may add or omit.
std::vector<std::size_t> GgufReader::shape(bool may_be_empty) {
  const auto n_dimensions = in_.number<std::uint32_t>("the number of its dimensions");
  if (n_dimensions > kMostDimensions) {
    in_.malformed(
        fmt::format("expected at most {} dimensions, found {}", kMostDimensions, n_dimensions));
  }
  std::vector<std::size_t> sizes(n_dimensions);
  for (std::size_t& size : sizes) {
    size = in_.number<std::uint64_t>("its dimensions");
    if (size == 0 && !may_be_empty) {
      in_.malformed("expected dimensions of at least 1, found 0");
    }
  }
  while (sizes.size() > 1 && sizes.back() == 1) {
    sizes.pop_back();
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

// Ollama writes MXFP4 with OpenAI's order of numbers under a number that was unused, in files of
// one architecture; they are read as bytes, in rows of whole blocks.
std::optional<StoredType> GgufReader::type_of(std::uint32_t number,
                                              std::vector<std::size_t>& shape) const {
  constexpr std::uint32_t kOllamas = 4;
  const GgufValue* const architecture = out_.find("general.architecture");
  if (number != kOllamas || architecture == nullptr || architecture->as_string() != "gptoss" ||
      shape.empty()) {
    return ggml_stored_type(number);
  }
  const BlockShape block = stored_block(StoredType::kMXFP4);
  if (shape.back() % block.numbers != 0) {
    in_.malformed(fmt::format("expected rows of whole blocks of {} weights, found {}",
                              block.numbers, dimensions_text(shape)));
  }
  shape.back() = shape.back() / block.numbers * block.bytes;
  return StoredType::kU8;
}

// The number of bytes of the tensor at the cursor.
std::size_t GgufReader::size_of(const StoredTensor& tensor) const {
  const BlockShape block = stored_block(tensor.type);
  const std::size_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (row % block.numbers != 0) {
    in_.malformed(fmt::format("expected rows of whole blocks of {} weights, as {} has, found {}",
                              block.numbers, stored_type_name(tensor.type),
                              dimensions_text(tensor.shape)));
  }
  const std::optional<std::size_t> numbers = product_of(tensor.shape);
  const std::optional<std::size_t> bytes =
      numbers ? product_of(std::array{*numbers / block.numbers, block.bytes}) : std::nullopt;
  if (!bytes || *bytes > bytes_.size()) {
    in_.malformed(fmt::format("expected a tensor that fits into the file of {}, found {} of {}{}",
                              counted(bytes_.size(), "byte"), dimensions_text(tensor.shape),
                              stored_type_name(tensor.type),
                              bytes ? fmt::format(", {} bytes", *bytes) : ""));
  }
  return *bytes;
}

void GgufReader::place_tensors() {
  const std::size_t end_of_infos = in_.position();
  const std::size_t alignment = out_.alignment_;
  const std::size_t data_offset = (end_of_infos + alignment - 1) / alignment * alignment;
  const std::size_t n_data = bytes_.size() - std::min(data_offset, bytes_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto [offset, size] = places_[i];
    if (offset > n_data || size > n_data - offset) {
      in_.set_subject("tensor", out_.tensors_[i].name);
      in_.malformed(fmt::format(
          "expected its {} at {} of the data, found the end of the file after {}: it was cut short",
          counted(size, "byte"), offset, counted(n_data, "byte")));
    }
    out_.tensors_[i].bytes = bytes_.substr(data_offset + offset, size);
  }
}

void GgufReader::check_names() {
  std::vector<std::string_view> names;
  names.reserve(out_.tensors_.size());
  for (const StoredTensor& tensor : out_.tensors_) {
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    in_.set_subject("tensor", *twice);
    in_.malformed("expected every tensor once, found it twice");
  }
}

void GgufReader::check_overlap() {
  std::vector<std::size_t> order(places_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [this](std::size_t a, std::size_t b) { return places_[a].offset < places_[b].offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Place& before = places_[order[i - 1]];
    const Place& place = places_[order[i]];
    if (place.offset < before.offset + before.size) {
      in_.set_subject("tensor", out_.tensors_[order[i]].name);
      in_.malformed(fmt::format("begins at {}, inside of {}, which ends at {}", place.offset,
                                shown_name(out_.tensors_[order[i - 1]].name),
                                before.offset + before.size));
    }
  }
}

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
