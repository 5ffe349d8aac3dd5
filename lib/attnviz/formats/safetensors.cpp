#include "attnviz/formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/float16.h"
#include "attnviz/core/message.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostHeader = 32'000'000;
constexpr int kDeepestHeader =
    4;  // {"name": {"shape": [1]}}, and one more for what is not looked at

// Says of one file what is wrong with it.
class Complaint {
 public:
  explicit Complaint(std::string_view file) : file_(file) {}

  [[noreturn]] void malformed(const std::string& what) const {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}", file_, what));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}: {}", file_, what));
  }
  // Throws when its first bytes are those of another kind of file.
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

// Refuses what the tree of a header would not show: keys that an object has twice, and depth. A
// pass of its own: nlohmann_json's callback, which sees these while the tree is made, walks all
// siblings of each object, which takes quadratic time.
class HeaderCheck : public nlohmann::json_sax<json> {
 public:
  explicit HeaderCheck(const Complaint& complaint) : complaint_(complaint) {}

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override {
    keys_.emplace_back();
    return go_deeper();
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      complaint_.malformed(fmt::format("the header names {} twice", attnviz::quoted(name)));
    }
    return true;
  }
  bool end_object() override {
    --depth_;
    keys_.pop_back();
    return true;
  }
  bool start_array(std::size_t /*size*/) override { return go_deeper(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const json::exception& error) override {
    complaint_.malformed(fmt::format("the header is no JSON: {}", error.what()));
  }

 private:
  bool go_deeper() {
    if (++depth_ > kDeepestHeader) {
      complaint_.malformed(
          fmt::format("the header is nested deeper than {} levels", kDeepestHeader));
    }
    return true;
  }

  const Complaint& complaint_;
  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

json parse_header(std::string_view header, const Complaint& complaint) {
  HeaderCheck check(complaint);
  json::sax_parse(header.begin(), header.end(), &check);
  return json::parse(header.begin(), header.end());
}

// One member of the header.
class TensorReader {
 public:
  TensorReader(const std::string& name, const json& value, const Complaint& complaint)
      : name_(name), value_(value), complaint_(complaint) {
    if (!value.is_object()) {
      malformed("expected an object");
    }
  }

  const std::string& type_word() const {
    const json& type = member("dtype");
    if (!type.is_string()) {
      malformed("dtype: expected a string");
    }
    return type.get_ref<const std::string&>();
  }

  // Nothing for unknown types.
  std::optional<StoredType> type() const {
    const std::optional<StoredType> found = stored_type_named(type_word());
    return found && !is_quantised(*found) ? found : std::nullopt;  // those belong to GGUF
  }

  std::vector<std::size_t> shape() const { return sizes("shape"); }

  // Where its bytes begin and end in those of all tensors.
  std::pair<std::size_t, std::size_t> range(std::size_t n_bytes) const {
    const std::vector<std::size_t> ends = sizes("data_offsets");
    if (ends.size() != 2 || ends[0] > ends[1]) {
      malformed("data_offsets: expected [begin, end]");
    }
    if (ends[1] > n_bytes) {
      malformed(
          fmt::format("its bytes end at {}, those of the file at {}; the download "
                      "is not complete",
                      ends[1], n_bytes));
    }
    return {ends[0], ends[1]};
  }

  // Bytes of such a tensor; nothing when they are more than a machine could address.
  static std::optional<std::size_t> bytes_of(const std::vector<std::size_t>& shape,
                                             StoredType type) {
    const std::optional<std::size_t> numbers = product_of(shape);
    return numbers ? product_of(std::array{*numbers, stored_block(type).bytes}) : std::nullopt;
  }

  [[noreturn]] void malformed(const std::string& what) const {
    complaint_.malformed(fmt::format("tensor {}: {}", attnviz::quoted(name_), what));
  }

 private:
  const json& member(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) {
      malformed(fmt::format("{} is missing", key));
    }
    return *found;
  }

  std::vector<std::size_t> sizes(const char* key) const {
    const json& list = member(key);
    if (!list.is_array()) {
      malformed(fmt::format("{}: expected a list", key));
    }
    std::vector<std::size_t> sizes;
    sizes.reserve(list.size());
    for (const json& item : list) {
      if (!item.is_number_unsigned()) {
        malformed(fmt::format("{}: expected whole numbers of at least 0", key));
      }
      sizes.push_back(item.get<std::size_t>());
    }
    return sizes;
  }

  const std::string& name_;
  const json& value_;
  const Complaint& complaint_;
};

// For numbers of an unknown type, each of which takes at least one bit.
bool may_hold(std::optional<std::size_t> n_numbers, std::size_t n_bytes) noexcept {
  return n_numbers && *n_numbers / 8 + (*n_numbers % 8 > 0 ? 1 : 0) <= n_bytes;
}

// The free-form notes of whoever wrote the file ("format": "pt").
void check_notes(const json& value, const Complaint& complaint) {
  if (!value.is_object()) {
    complaint.malformed("__metadata__: expected an object of strings");
  }
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      complaint.malformed(fmt::format("__metadata__: {}: expected a string", attnviz::quoted(key)));
    }
  }
}

// Tensors by where they begin must follow each other from the first byte to the last.
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
      complaint.malformed(
          fmt::format("tensor {}: begins at byte {}, {} the one before it ends at {}",
                      attnviz::quoted(tensor->name), at,
                      at < end ? "inside another one:" : "after a gap:", end));
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
  const json tree = parse_header(header, complaint);
  for (const auto& [name, value] : tree.items()) {
    if (name == "__metadata__") {
      check_notes(value, complaint);
      continue;
    }
    const TensorReader reader(name, value, complaint);
    const std::optional<StoredType> type = reader.type();
    std::vector<std::size_t> shape = reader.shape();
    const auto [begin, end] = reader.range(data.size());
    const bool fits = type ? TensorReader::bytes_of(shape, *type) == end - begin
                           : may_hold(product_of(shape), end - begin);
    if (!fits) {
      reader.malformed(fmt::format("[{}] numbers of type {} do not take {} bytes",
                                   fmt::join(shape, ", "), shown_name(reader.type_word()),
                                   end - begin));
    }
    const auto [entry, is_new] = entries_.try_emplace(
        name, Entry{std::move(shape), type ? std::string() : reader.type_word(), {}});
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
