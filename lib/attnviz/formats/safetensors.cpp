#include "attnviz/formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_reader.h"

namespace attnviz {

namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostHeader = 32'000'000;
constexpr int kDeepestHeader = 4;  // {"name": {"shape": [1]}}, and one more for skipped values

// Throws the errors of one file.
class Complaint {
 public:
  explicit Complaint(std::string_view file) : file_(file) {}

  [[noreturn]] void malformed(const std::string& what) const {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}", file_, what));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}: {}", file_, what));
  }
  [[noreturn]] void of_tensor(std::string_view name, std::string_view what) const {
    malformed(fmt::format("tensor {}: {}", in_quotes(name), what));
  }
  // Throws when the first bytes are those of another kind of file.
  void check_kind(std::string_view bytes) const {
    refuse_other_kind(bytes, file_, FileKind::kSafetensors);
  }

 private:
  std::string_view file_;
};

std::string_view header_of(std::string_view bytes, const Complaint& complaint) {
  if (bytes.size() < kLengthBytes) {
    complaint.check_kind(bytes);
    complaint.malformed(
        bytes.empty()
            ? std::string("an empty file: too short for a safetensors file; the download is not "
                          "complete")
            : fmt::format("{} bytes: too short for a safetensors file", bytes.size()));
  }
  const auto length = load_number<std::uint64_t>(bytes.data());
  if (length > bytes.size() - kLengthBytes) {
    complaint.check_kind(bytes);
    complaint.malformed(
        fmt::format("a header of {} bytes was announced, but only {} follow; no safetensors file, "
                    "or one cut short",
                    length, bytes.size() - kLengthBytes));
  }
  if (length > kMostHeader) {
    complaint.unsupported(
        fmt::format("a header of {} bytes; at most {} are read", length, kMostHeader));
  }
  const std::string_view header = bytes.substr(kLengthBytes, static_cast<std::size_t>(length));
  if (!header.starts_with('{')) {
    complaint.check_kind(bytes);
    complaint.malformed("the header does not begin with {: no safetensors file");
  }
  return header;
}

// A tensor's entry in the header.
struct TensorMember {
  std::optional<std::string> type_word;
  std::optional<std::vector<std::size_t>> shape;
  std::optional<std::vector<std::size_t>> range;  // of its bytes, among those of all tensors
};

class HeaderReader {
 public:
  HeaderReader(std::string_view header, std::string_view file, const Complaint& complaint)
      : reader_(header, fmt::format("{}: the header is not JSON", file)), complaint_(complaint) {
    if (const std::size_t valid = valid_utf8_prefix(header); valid < header.size()) {
      reader_.fail_at(header.substr(valid, 1), "UTF-8");
    }
  }

  std::map<std::string, TensorMember> read() {
    std::map<std::string, TensorMember> tensors;
    read_object([&](const std::string& name) {
      if (name == "__metadata__") {
        read_notes();
      } else {
        tensors.emplace(name, read_tensor(name));
      }
    });
    reader_.expect_end();
    return tensors;
  }

 private:
  // Calls `read_member` with each key; it reads the value.
  template <class ReadMember>
  void read_object(const ReadMember& read_member) {
    std::set<std::string> keys;
    bool is_first = true;
    go_deeper();
    reader_.expect('{');
    while (reader_.next_item('}', is_first)) {
      const auto [key, is_new] = keys.emplace(reader_.key());
      if (!is_new) {
        complaint_.malformed(fmt::format("the header names {} twice", in_quotes(*key)));
      }
      read_member(*key);
    }
    --depth_;
  }

  template <class ReadItem>
  void read_list(const ReadItem& read_item) {
    bool is_first = true;
    go_deeper();
    reader_.expect('[');
    while (reader_.next_item(']', is_first)) {
      read_item();
    }
    --depth_;
  }

  void go_deeper() {
    if (++depth_ > kDeepestHeader) {
      complaint_.malformed(
          fmt::format("the header is nested deeper than {} levels", kDeepestHeader));
    }
  }

  // Free-form notes by the file's author ("format": "pt").
  void read_notes() {
    if (reader_.peek() != '{') {
      complaint_.malformed("__metadata__: expected an object of strings");
    }
    read_object([&](const std::string& key) {
      if (reader_.peek() != '"') {
        complaint_.malformed(fmt::format("__metadata__: {}: expected a string", in_quotes(key)));
      }
      reader_.string();
    });
  }

  TensorMember read_tensor(const std::string& name) {
    if (reader_.peek() != '{') {
      complaint_.of_tensor(name, "expected an object");
    }
    TensorMember tensor;
    read_object([&](const std::string& key) {
      if (key == "dtype") {
        if (reader_.peek() != '"') {
          complaint_.of_tensor(name, "dtype: expected a string");
        }
        tensor.type_word = reader_.string();
      } else if (key == "shape") {
        tensor.shape = read_sizes(name, key);
      } else if (key == "data_offsets") {
        tensor.range = read_sizes(name, key);
      } else {
        pass_over();
      }
    });
    return tensor;
  }

  std::vector<std::size_t> read_sizes(const std::string& name, const std::string& key) {
    if (reader_.peek() != '[') {
      complaint_.of_tensor(name, key + ": expected a list");
    }
    std::vector<std::size_t> sizes;
    read_list([&] {
      const bool is_plain = std::string_view("[{\"").find(reader_.peek()) == std::string_view::npos;
      const auto size = is_plain ? parse_number<std::size_t>(reader_.plain_value()) : std::nullopt;
      if (!size) {
        complaint_.of_tensor(name, key + ": expected whole numbers of at least 0");
      }
      sizes.push_back(*size);
    });
    return sizes;
  }

  void pass_over() {
    switch (reader_.peek()) {
      case '{':
        return read_object([&](const std::string&) { pass_over(); });
      case '[':
        return read_list([&] { pass_over(); });
      case '"':
        reader_.string();
        return;
      default:
        reader_.plain_value();
    }
  }

  JsonReader reader_;
  const Complaint& complaint_;
  int depth_ = 0;
};

// Nullopt for unknown types.
std::optional<StoredType> type_of(std::string_view word) {
  const std::optional<StoredType> found = stored_type_named(word);
  return found && !is_quantised(*found) ? found : std::nullopt;  // quantised types belong to GGUF
}

// The number of bytes of a tensor; nullopt if more than a machine can address.
std::optional<std::size_t> bytes_of(const std::vector<std::size_t>& shape, StoredType type) {
  const std::optional<std::size_t> numbers = product_of(shape);
  return numbers ? product_of(std::array{*numbers, stored_block(type).bytes}) : std::nullopt;
}

// Whether the bytes suffice for numbers of an unknown type, which take at least one bit each.
bool may_hold(std::optional<std::size_t> n_numbers, std::size_t n_bytes) noexcept {
  return n_numbers && *n_numbers / 8 + (*n_numbers % 8 > 0 ? 1 : 0) <= n_bytes;
}

// Tensors, sorted by their first byte, must follow one another from the first byte to the last.
void check_cover(std::vector<const StoredTensor*> tensors, std::string_view data,
                 const Complaint& complaint) {
  const auto begin = [data](const StoredTensor& tensor) {
    return static_cast<std::size_t>(tensor.bytes.data() - data.data());
  };
  std::sort(tensors.begin(), tensors.end(), [&](const StoredTensor* a, const StoredTensor* b) {
    return std::pair(begin(*a), a->bytes.size()) < std::pair(begin(*b), b->bytes.size());
  });
  std::size_t end = 0;
  for (const StoredTensor* tensor : tensors) {
    const std::size_t at = begin(*tensor);
    if (at != end) {
      complaint.malformed(fmt::format(
          "tensor {}: begins at byte {}, {} the one before it ends at {}", in_quotes(tensor->name),
          at, at < end ? "inside another one:" : "after a gap:", end));
    }
    end = at + tensor->bytes.size();
  }
  if (end != data.size()) {
    complaint.malformed(fmt::format("tensors end at byte {}, the file at {}", end, data.size()));
  }
}

}  // namespace

Safetensors::Safetensors(std::string_view bytes, std::string_view file) {
  const Complaint complaint(file);
  const std::string_view header = header_of(bytes, complaint);
  const std::string_view data = bytes.substr(kLengthBytes + header.size());
  for (auto& [name, member] : HeaderReader(header, file, complaint).read()) {
    const auto fail = [&, &name = name](std::string_view what) { complaint.of_tensor(name, what); };
    if (!member.type_word || !member.shape || !member.range) {
      fail(fmt::format("{} is missing", !member.type_word ? "dtype"
                                        : !member.shape   ? "shape"
                                                          : "data_offsets"));
    }
    const std::optional<StoredType> type = type_of(*member.type_word);
    std::vector<std::size_t>& shape = *member.shape;
    if (member.range->size() != 2 || member.range->front() > member.range->back()) {
      fail("data_offsets: expected [begin, end]");
    }
    const std::size_t begin = member.range->front();
    const std::size_t end = member.range->back();
    if (end > data.size()) {
      fail(
          fmt::format("its bytes end at {}, those of the file at {}; the download "
                      "is not complete",
                      end, data.size()));
    }
    const bool fits =
        type ? bytes_of(shape, *type) == end - begin : may_hold(product_of(shape), end - begin);
    if (!fits) {
      fail(fmt::format("[{}] numbers of type {} do not take {} bytes", joined_by(shape, ", "),
                       shown_name(*member.type_word), end - begin));
    }
    const auto [entry, is_new] = entries_.try_emplace(
        name, Entry{std::move(shape), type ? std::string() : *member.type_word, {}});
    Entry& kept = entry->second;
    kept.tensor.type = type.value_or(StoredType::kU8);
    kept.tensor.other_type = kept.other_type;
    kept.tensor.name = entry->first;
    kept.tensor.shape = kept.shape;
    kept.tensor.bytes = data.substr(begin, end - begin);
  }
  check_cover(tensors(), data, complaint);
}

const StoredTensor* Safetensors::find(std::string_view name) const noexcept {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second.tensor;
}

std::vector<const StoredTensor*> Safetensors::tensors() const {
  std::vector<const StoredTensor*> all;
  all.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) {
    all.push_back(&entry.tensor);
  }
  return all;
}

}  // namespace attnviz
