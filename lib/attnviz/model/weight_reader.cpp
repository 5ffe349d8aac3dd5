#include "attnviz/model/weight_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

std::string shape_text(std::span<const std::size_t> shape) {
  constexpr std::size_t kMost = 8;
  return fmt::format("[{}{}]", joined_by(shape.first(std::min(shape.size(), kMost)), ", "),
                     shape.size() > kMost ? ", …" : "");
}

bool is_readable(const StoredTensor& tensor) noexcept {
  const StoredType type = tensor.type;
  return tensor.other_type.empty() &&
         (is_quantised(type) || type == StoredType::kF64 || type == StoredType::kF32 ||
          type == StoredType::kF16 || type == StoredType::kBf16);
}

std::string type_text(const StoredTensor& tensor) {
  return tensor.other_type.empty() ? std::string(stored_type_name(tensor.type))
                                   : shown_name(tensor.other_type);
}

// Compares matrices of the same shape and of two types.
bool are_same_numbers(const StoredTensor& a, const StoredTensor& b) {
  if (!is_readable(a) || !is_readable(b) || a.shape.size() != 2) {
    return false;
  }
  const std::size_t cols = a.shape[1];
  const StoredMatrix one(a.bytes.data(), a.shape[0], cols, cols, a.type);
  const StoredMatrix two(b.bytes.data(), a.shape[0], cols, cols, b.type);
  std::vector<float> of_one(cols);
  std::vector<float> of_two(cols);
  for (std::size_t row = 0; row < one.rows; ++row) {
    copy_row(one, row, of_one);
    copy_row(two, row, of_two);
    if (of_one != of_two) {
      return false;
    }
  }
  return true;
}

// The names in the files that share the longest end, and then the longest beginning, with `wanted`.
std::string nearest_names(const TensorFiles& files, std::string_view wanted) {
  constexpr std::size_t kMost = 3;
  struct Near {
    std::size_t end, begin;  // lengths of the shared end and beginning
    std::string_view name;
  };
  std::vector<Near> names;
  for (const FoundTensor& found : files.tensors()) {
    const std::string_view name = found.tensor->name;
    const auto end = std::mismatch(wanted.rbegin(), wanted.rend(), name.rbegin(), name.rend());
    const auto begin = std::mismatch(wanted.begin(), wanted.end(), name.begin(), name.end());
    names.push_back({static_cast<std::size_t>(end.first - wanted.rbegin()),
                     static_cast<std::size_t>(begin.first - wanted.begin()), name});
  }
  const std::size_t n = std::min(names.size(), kMost);
  std::ranges::partial_sort(
      names, names.begin() + static_cast<std::ptrdiff_t>(n), [](const Near& a, const Near& b) {
        return std::tuple(b.end, b.begin, a.name) < std::tuple(a.end, a.begin, b.name);
      });
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < n; ++i) {
    shown.push_back(shown_name(names[i].name));
  }
  return n == 0 ? std::string() : fmt::format(" (the nearest are {})", joined(shown, "and"));
}

bool is_named(std::string_view pattern, std::string_view name) noexcept {
  for (const char one : pattern) {
    if (one == '*') {
      return !name.empty();
    }
    const std::size_t matched = one == '#'
                                    ? std::min(name.find_first_not_of("0123456789"), name.size())
                                    : static_cast<std::size_t>(name.starts_with(one));
    if (matched == 0) {
      return false;
    }
    name.remove_prefix(matched);
  }
  return name.empty();
}

// Whether it is a mask, which old versions of libraries saved beside attention's weights.
bool is_mask(const StoredTensor& tensor) noexcept {
  return tensor.name.ends_with(".masked_bias") ||
         (tensor.shape.size() == 4 &&
          (tensor.name.ends_with("attn.bias") || tensor.name.ends_with("attention.bias")));
}

// Returns "language_model." for "language_model.model."
std::string_view without_last_part(std::string_view prefix) noexcept {
  prefix.remove_suffix(1);
  const std::size_t dot = prefix.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : prefix.substr(0, dot + 1);
}

}  // namespace

WeightReader::WeightReader(TensorFiles files, std::initializer_list<std::string_view> prefixes,
                           std::string_view probe)
    : storage_(std::make_shared<Storage>(std::move(files))) {
  for (const std::string_view prefix : prefixes) {
    if (storage_->files.find(fmt::format("{}{}", prefix, probe))) {
      prefix_ = prefix;
      return;
    }
  }
}

FoundTensor WeightReader::find(std::string_view name) const {
  for (std::string_view prefix = prefix_; !prefix.empty(); prefix = without_last_part(prefix)) {
    if (const FoundTensor found = storage_->files.find(fmt::format("{}{}", prefix, name))) {
      return found;
    }
  }
  if (const FoundTensor found = storage_->files.find(name)) {
    return found;
  }
  const auto other =
      std::ranges::find(storage_->renamed, name, &std::pair<std::string, std::string>::first);
  return storage_->files.find(other == storage_->renamed.end() ? name : other->second);
}

void WeightReader::rename(std::string_view name, std::string_view said) {
  const FoundTensor found = find(said);
  storage_->renamed.emplace_back(name, found ? found.tensor->name : said);
}

std::string_view WeightReader::why_ignorable(std::string_view name) const {
  name.remove_prefix(storage_->files.wrapper().size());
  const auto why = [this](std::string_view rest) {
    const auto found = std::ranges::find_if(storage_->ignorable, [&](const HarmlessTensor& known) {
      return is_named(known.name, rest);
    });
    return found == storage_->ignorable.end() ? std::string_view() : found->why;
  };
  for (std::string_view prefix = prefix_; !prefix.empty(); prefix = without_last_part(prefix)) {
    const bool has_prefix = name.starts_with(prefix);
    if (const auto found = has_prefix ? why(name.substr(prefix.size())) : ""; !found.empty()) {
      return found;
    }
  }
  return why(name);
}

void WeightReader::pass_over(const std::vector<HarmlessTensor>& known) {
  storage_->ignorable.insert(storage_->ignorable.end(), known.begin(), known.end());
}

bool WeightReader::is_bytes(std::string_view name) const {
  const FoundTensor found = find(name);
  return found && found.tensor->type == StoredType::kU8 && found.tensor->other_type.empty();
}

bool WeightReader::has(std::string_view name) const {
  return static_cast<bool>(find(name));
}

bool WeightReader::differ(std::string_view name, std::string_view other) const {
  const FoundTensor one = find(name);
  const FoundTensor two = find(other);
  if (!one || !two || one.tensor == two.tensor || storage_->files.skips_comparisons()) {
    return false;
  }
  const StoredTensor& a = *one.tensor;
  const StoredTensor& b = *two.tensor;
  return !std::ranges::equal(a.shape, b.shape) ||
         (a.type == b.type ? a.bytes != b.bytes : !are_same_numbers(a, b));
}

std::string WeightReader::where(std::string_view name) const {
  const FoundTensor found = find(name);
  return fmt::format("{}: {}: ", found ? found.file : storage_->files.name(),
                     found ? printable(found.tensor->name) : printable(name));
}

FoundTensor WeightReader::get(std::string_view name) const {
  const FoundTensor found = find(name);
  if (!found) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: {}{}: missing tensor{}", storage_->files.name(), prefix_, name,
                            nearest_names(storage_->files, fmt::format("{}{}", prefix_, name))));
  }
  if (!is_readable(*found.tensor)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: {}: expected F32, F16, BF16, F64 or a quantised type of GGUF, "
                            "found {}: scales of other tools are not known",
                            found.file, printable(found.tensor->name), type_text(*found.tensor)));
  }
  storage_->used.insert(found.tensor);
  return found;
}

FoundTensor WeightReader::get(std::string_view name,
                              std::initializer_list<std::size_t> shape) const {
  const FoundTensor found = get(name);
  // GGUF omits outer dimensions of 1: a matrix of one row is a vector.
  const std::span<const std::size_t> stored = found.tensor->shape;
  std::span<const std::size_t> wanted(shape);
  while (wanted.size() > std::max(stored.size(), std::size_t{1}) && wanted.front() == 1) {
    wanted = wanted.subspan(1);
  }
  if (!std::ranges::equal(stored, wanted)) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}: expected {}, found {}", found.file,
                                                   printable(found.tensor->name), shape_text(shape),
                                                   shape_text(found.tensor->shape)));
  }
  return found;
}

std::size_t WeightReader::rows_of(std::string_view name) const {
  const FoundTensor found = get(name);
  if (found.tensor->shape.size() == 1) {
    return 1;
  }
  if (found.tensor->shape.size() != 2) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: {}: expected a matrix, found {}", found.file,
                            printable(found.tensor->name), shape_text(found.tensor->shape)));
  }
  return found.tensor->shape.front();
}

StoredWeights WeightReader::stored() const {
  StoredWeights stored;
  for (const FoundTensor& found : storage_->files.tensors()) {
    const StoredTensor& tensor = *found.tensor;
    if (!storage_->used.contains(&tensor)) {
      stored.unused_tensors.push_back(
          {std::string(tensor.name), std::string(found.file),
           is_mask(tensor) ? "a mask: computed from the config" : why_ignorable(tensor.name)});
      stored.n_unused_bytes += tensor.bytes.size();
      continue;
    }
    const auto in_bytes = storage_->numbers_in_bytes.find(&tensor);
    const bool is_bytes = in_bytes != storage_->numbers_in_bytes.end();
    const StoredType type = is_bytes ? StoredType::kMXFP4 : tensor.type;
    auto numbers = std::ranges::find(stored.used, type, &StoredWeights::Numbers::type);
    if (numbers == stored.used.end()) {
      numbers = stored.used.insert(numbers, {type});
    }
    ++numbers->n_tensors;
    numbers->count += is_bytes ? in_bytes->second : tensor.n_numbers();
  }
  return stored;
}

MatrixBuffer& WeightReader::copy(const FoundTensor& found, std::size_t rows, std::size_t cols) {
  const StoredTensor& tensor = *found.tensor;
  storage_->copies.push_back(
      to_floats(StoredMatrix(tensor.bytes.data(), rows, cols, cols, tensor.type)));
  return storage_->copies.back();
}

StoredMatrix WeightReader::turned(const StoredMatrix& table) noexcept {
  return {table.data, table.cols, table.rows, table.stride, table.type, !table.transposed};
}

StoredMatrix WeightReader::matrix(std::string_view name, std::size_t rows, std::size_t cols) {
  const FoundTensor found = get(name, {rows, cols});
  const StoredTensor& tensor = *found.tensor;
  if (tensor.type == StoredType::kF64) {
    return std::as_const(copy(found, rows, cols)).view();
  }
  return {tensor.bytes.data(), rows, cols, cols, tensor.type};
}

Projection WeightReader::linear(std::string_view name, std::size_t d_in, std::size_t d_out,
                                Presence bias) {
  const StoredMatrix stored = matrix(fmt::format("{}.weight", name), d_out, d_in);
  Projection projection;
  projection.weight = turned(stored);
  if (const std::string bias_name = fmt::format("{}.bias", name); has(bias_name, bias)) {
    projection.bias = vector(bias_name, d_out);
  }
  return projection;
}

std::vector<Projection> WeightReader::linears(std::string_view weight, std::string_view bias,
                                              std::size_t n, std::size_t d_in, std::size_t d_out,
                                              bool is_turned, Presence bias_presence) {
  const std::size_t rows = is_turned ? d_in : d_out;
  const std::size_t cols = is_turned ? d_out : d_in;
  const FoundTensor found = get(weight, {n, rows, cols});
  const StoredTensor& tensor = *found.tensor;
  // Matrix products read quantised numbers only along d_in.
  const bool is_copied =
      tensor.type == StoredType::kF64 || (is_turned && is_quantised(tensor.type));
  const StoredMatrix all =
      is_copied ? StoredMatrix(std::as_const(copy(found, n * rows, cols)).view())
                : StoredMatrix(tensor.bytes.data(), n * rows, cols, cols, tensor.type);
  std::span<const float> biases;
  if (has(bias, bias_presence)) {
    biases = numbers({bias}, {n, d_out});
  }
  std::vector<Projection> each(n);
  for (std::size_t i = 0; i < n; ++i) {
    const StoredMatrix own = all.row_block(i * rows, rows);
    each[i].weight = is_turned ? own : turned(own);
    each[i].bias = biases.empty() ? biases : biases.subspan(i * d_out, d_out);
  }
  return each;
}

Projection WeightReader::conv1d(std::string_view name, std::size_t d_in, std::size_t d_out) {
  return {matrix(fmt::format("{}.weight", name), d_in, d_out),
          vector(fmt::format("{}.bias", name), d_out)};
}

StoredMatrix WeightReader::table(std::string_view name, std::size_t rows, std::size_t cols) {
  return matrix(name, rows, cols);
}

std::span<const float> WeightReader::numbers(std::initializer_list<std::string_view> names,
                                             std::initializer_list<std::size_t> shape) {
  const auto there =
      std::ranges::find_if(names, [this](std::string_view name) { return has(name); });
  const FoundTensor found = get(there == names.end() ? *names.begin() : *there, shape);
  return std::as_const(copy(found, 1, found.tensor->n_numbers())).view().row(0);
}

std::span<const float> WeightReader::numbers_of(std::string_view name, std::size_t count) {
  const FoundTensor found = find(name);
  return found && found.tensor->n_numbers() == count
             ? std::as_const(copy(get(name), 1, count)).view().row(0)
             : numbers({name}, {count});
}

std::span<const float> WeightReader::numbers_in_rows(std::string_view name, std::size_t rows,
                                                     std::size_t size) {
  const FoundTensor found = find(name);
  return found && found.tensor->shape.size() == 3 ? numbers({name}, {rows, 1, size})
                                                  : numbers({name}, {rows, size});
}

std::span<const std::uint8_t> WeightReader::bytes(std::string_view name,
                                                  std::initializer_list<std::size_t> shape,
                                                  std::size_t n_numbers) {
  const FoundTensor found = find(name);
  if (!is_bytes(name) || !std::ranges::equal(found.tensor->shape, shape)) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}expected U8 {}{}", where(name), shape_text(std::vector(shape)),
                            found ? fmt::format(", found {} {}", type_text(*found.tensor),
                                                shape_text(found.tensor->shape))
                                  : ": missing tensor"));
  }
  storage_->used.insert(found.tensor);
  storage_->numbers_in_bytes.emplace(found.tensor, n_numbers);
  const std::span<const char> all(found.tensor->bytes.data(), found.tensor->bytes.size());
  return {reinterpret_cast<const std::uint8_t*>(all.data()), all.size()};
}

std::span<const float> WeightReader::keep(MatrixBuffer numbers) {
  storage_->copies.push_back(std::move(numbers));
  return std::as_const(storage_->copies.back()).view().row(0);
}

}  // namespace attnviz
