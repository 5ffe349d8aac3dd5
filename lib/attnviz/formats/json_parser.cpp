// Fills a JsonTree.
#include "attnviz/formats/json_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_reader.h"

namespace attnviz {

namespace {

constexpr std::size_t kDeepest = 64;
// Enough for a vocabulary of four million words; a hostile file of any size takes less than half a
// gigabyte.
constexpr std::size_t kMostRecords = std::size_t{1} << 22;

constexpr std::size_t kBlock = std::size_t{1} << 20;

// The document, and the part of it that is still needed.
struct Source {
  std::string_view bytes;
  const JsonTree::Forget& forget;
  std::size_t kept = 0;  // bytes before it are forgotten

  // Forgets the bytes before `offset`, a block at a time.
  void read_up_to(std::size_t offset) {
    if (forget && offset - kept >= kBlock) {
      forget(bytes.substr(kept, offset - kept));
      kept = offset;
    }
  }
};

class Builder {
 public:
  Builder(Source& source, JsonTreeData& data, JsonNulls nulls)
      : source_(source),
        reader_(source.bytes, data.name, [this] { return ending(); }),
        data_(data),
        takes_nulls_(nulls == JsonNulls::kMinusInfinity) {}

  void read();

 private:
  struct Open {
    std::size_t record;
    std::size_t last = kNoRecord;  // the item linked last
    bool is_first = true;          // no item has been read
  };

  JsonRecord& parent() { return data_.records[open_.back().record]; }
  TextRange store(std::string_view text);
  std::string ending() const;
  void read_value();
  void read_plain_value();
  void read_numbers();
  std::size_t add(JsonKind kind);
  void add_null();
  void add_number(std::string_view word);
  void open(JsonKind kind);
  void close();
  void attach(std::size_t child);
  void link(std::size_t child);
  void break_off(std::size_t child);
  void keep_length(const JsonRecord& item);
  void reject_duplicates(std::size_t object) const;

  Source& source_;
  JsonReader reader_;
  std::size_t n_lengths_ = 0;  // lengths kept, also for lists since discarded
  JsonTreeData& data_;
  bool takes_nulls_;
  std::vector<Open> open_;
  TextRange key_;
};

void Builder::read() {
  read_value();
  while (!open_.empty()) {
    const bool is_object = parent().kind == JsonKind::kObject;
    if (!reader_.next_item(is_object ? '}' : ']', open_.back().is_first)) {
      close();
      continue;
    }
    if (is_object) {
      key_ = store(reader_.key());
    }
    read_value();
  }
  reader_.expect_end();
}

void Builder::read_value() {
  switch (reader_.peek()) {
    case '{':
      open(JsonKind::kObject);
      reader_.expect('{');
      break;
    case '[':
      open(JsonKind::kNumbers);
      reader_.expect('[');
      read_numbers();
      break;
    case '"': {
      const std::size_t record = add(JsonKind::kString);
      data_.records[record].text = store(reader_.string());
      attach(record);
      break;
    }
    default:
      read_plain_value();
  }
}

void Builder::read_plain_value() {
  const std::string_view word = reader_.plain_value();
  if (word == "null") {
    add_null();
  } else if (word == "true" || word == "false") {
    const std::size_t record = add(JsonKind::kBool);
    data_.records[record].flag = word == "true";
    attach(record);
  } else {
    add_number(word);
  }
}

// Most of a document consists of lists of numbers, which are read in one go.
void Builder::read_numbers() {
  std::vector<float>& floats = *data_.floats;
  const std::size_t before = floats.size();
  reader_.skip(read_json_numbers(reader_.rest(), floats, takes_nulls_ ? &data_.n_nulls : nullptr));
  parent().cols = floats.size() - before;
  source_.read_up_to(source_.bytes.size() - reader_.rest().size());
}

// The place of an error in the tree.
std::string Builder::ending() const {
  const std::string path = open_.empty() ? std::string() : data_.path(open_.back().record);
  return path.empty() ? path : fmt::format(" (in {})", path);
}

TextRange Builder::store(std::string_view text) {
  const TextRange range{data_.text.size(), text.size()};
  data_.text += text;
  reader_.forget_strings();
  return range;
}

std::size_t Builder::add(JsonKind kind) {
  if (data_.records.size() == kMostRecords) {
    throw Error(
        ErrorKind::kMalformed,
        fmt::format("{}: {}: expected at most {} values besides rows of numbers, found more",
                    data_.name, data_.path(open_.back().record), kMostRecords));
  }
  JsonRecord record;
  record.kind = kind;
  record.begin = data_.floats->size();
  if (!open_.empty()) {
    const JsonRecord& above = parent();
    record.parent = open_.back().record;
    record.position = above.kind == JsonKind::kNumbers ? above.cols : above.count;
    record.key = key_;
  }
  key_ = {};
  data_.records.push_back(record);
  return data_.records.size() - 1;
}

void Builder::add_null() {
  const bool is_among_numbers =
      !open_.empty() && parent().kind == JsonKind::kNumbers && parent().cols > 0;
  if (takes_nulls_ && is_among_numbers) {  // in a list that is read item by item
    ++data_.n_nulls;
    data_.floats->push_back(-std::numeric_limits<float>::infinity());
    ++parent().cols;
    return;
  }
  attach(add(JsonKind::kNull));
}

void Builder::add_number(std::string_view word) {
  float number = 0.0f;
  if (std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc()) {
    number = std::strtof(std::string(word).c_str(), nullptr);  // 0 if too small
  }
  if (!std::isfinite(number)) {
    reader_.fail_at(word, "a number that fits a 32-bit float (up to 3.4e38)");
  }
  if (!open_.empty() && parent().kind == JsonKind::kNumbers) {
    data_.floats->push_back(number);
    ++parent().cols;
    return;
  }
  const auto integer = parse_number<std::uint64_t>(word);
  const std::size_t record = add(JsonKind::kNumber);
  data_.records[record].number = number;
  data_.records[record].integer = integer.value_or(0);
  data_.records[record].flag = integer.has_value();
  attach(record);
}

void Builder::open(JsonKind kind) {
  if (open_.size() == kDeepest) {
    const std::size_t outermost = open_.size() > 1 ? open_[1].record : 0;
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: {}: expected at most {} levels of brackets, found more",
                            data_.name, data_.path(outermost), kDeepest));
  }
  open_.push_back({add(kind)});
}

void Builder::close() {
  const std::size_t record = open_.back().record;
  if (data_.records[record].kind == JsonKind::kObject) {
    reject_duplicates(record);
  }
  open_.pop_back();
  attach(record);
}

void Builder::link(std::size_t child) {
  std::size_t& last = open_.back().last;
  (last == kNoRecord ? parent().first : data_.records[last].next) = child;
  last = child;
  ++parent().count;
}

// Adds a finished value to the list or object around it. Lists of numbers do not keep a record per
// item: lists of equal length become the rows of a matrix.
void Builder::attach(std::size_t child) {
  if (open_.empty()) {
    return;
  }
  const JsonRecord item = data_.records[child];
  JsonRecord& above = parent();
  const bool is_row = item.kind == JsonKind::kNumbers;
  if (above.kind == JsonKind::kObject || above.kind == JsonKind::kList) {
    link(child);
  } else if (above.kind == JsonKind::kNumbers && above.cols == 0) {
    if (is_row) {
      above.kind = JsonKind::kRows;
      above.begin = item.begin;
      above.cols = item.cols;
      above.count = 1;
      data_.records.resize(child);
    } else {
      above.kind = JsonKind::kList;
      link(child);
    }
  } else if (above.kind == JsonKind::kRows && is_row && item.cols == above.cols) {
    ++above.count;
    data_.records.resize(child);
  } else {
    break_off(child);
  }
}

// Lists of numbers of different lengths lie back to back, too, so only their lengths are kept, in
// total at most kMostRecords.
void Builder::keep_length(const JsonRecord& item) {
  const std::size_t list = open_.back().record;
  const JsonRecord& above = data_.records[list];
  if (item.kind != JsonKind::kNumbers) {
    data_.lengths.erase(list);
    return;
  }
  if (above.kind == JsonKind::kRows && above.count < kMostRecords - n_lengths_) {
    data_.lengths[list].assign(above.count, above.cols);
    n_lengths_ += above.count;
  }
  const auto lengths = data_.lengths.find(list);
  if (lengths != data_.lengths.end() && n_lengths_ < kMostRecords) {
    lengths->second.push_back(item.cols);
    ++n_lengths_;
  } else if (lengths != data_.lengths.end()) {
    data_.lengths.erase(lengths);
  }
}

// Marks the list as broken from this item on. The rest is read but not kept, so that a hostile file
// cannot turn each of its numbers into a record.
void Builder::break_off(std::size_t child) {
  const JsonRecord item = data_.records[child];
  keep_length(item);
  data_.lengths.erase(data_.lengths.lower_bound(child), data_.lengths.end());
  JsonRecord& above = parent();
  if (above.kind == JsonKind::kNumbers) {
    above.text = store(fmt::format("expected a number, found {} (item {})",
                                   JsonTreeData::kind_name(item), above.cols));
  } else if (above.kind == JsonKind::kRows && item.kind == JsonKind::kNumbers) {
    above.text = store(fmt::format("expected {}, found {} (row {})", counted(above.cols, "column"),
                                   item.cols, above.count));
  } else if (above.kind == JsonKind::kRows && item.kind == JsonKind::kBroken) {
    above.text = store(fmt::format("{} (row {})", std::string(data_.view(item.text)), above.count));
  } else if (above.kind == JsonKind::kRows) {
    above.text =
        store(fmt::format("expected a row of {}, found {} (row {})", counted(above.cols, "number"),
                          JsonTreeData::kind_name(item), above.count));
  }
  above.kind = JsonKind::kBroken;
  data_.records.resize(child);
}

void Builder::reject_duplicates(std::size_t object) const {
  std::vector<std::string_view> keys;
  keys.reserve(data_.records[object].count);
  for (std::size_t i = data_.records[object].first; i != kNoRecord; i = data_.records[i].next) {
    keys.push_back(data_.view(data_.records[i].key));
  }
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) {
    JsonNode(data_, object).fail("duplicate key " + in_quotes(*twice));
  }
}

// Throws unless the bytes are text. Returns an upper bound for the count of numbers in lists.
std::size_t check_text(Source source, std::string_view name) {
  const std::string_view bytes = source.bytes;
  const auto fail = [&](std::size_t offset, std::string_view problem) {
    refuse_other_kind(bytes, name);
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: {}: {}", name, line_and_column(bytes, offset), problem));
  };
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: expected JSON, found an empty file", name));
  }
  std::size_t valid = 0;
  std::size_t nul = std::string_view::npos;
  std::size_t most_numbers = 0;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kBlock) {
    const std::string_view block = bytes.substr(begin, kBlock);
    valid += valid_utf8_prefix(bytes.substr(valid), begin + block.size() - valid);
    if (valid < begin + block.size()) {
      fail(valid,
           fmt::format("expected UTF-8, found the byte {}", valid_utf8(bytes.substr(valid, 1))));
    }
    const std::size_t found = block.find('\0');
    if (nul == std::string_view::npos && found != std::string_view::npos) {
      nul = begin + found;
    }
    // Every number in a list follows a bracket or a comma.
    most_numbers += static_cast<std::size_t>(
        std::count_if(block.begin(), block.end(), [](char c) { return c == ',' || c == '['; }));
    source.read_up_to(begin + block.size());
  }
  if (nul != std::string_view::npos) {
    fail(nul, "expected text, found a NUL byte");
  }
  return most_numbers;
}

}  // namespace

JsonTree JsonTree::parse(std::string_view bytes, std::string_view name, const Forget& forget,
                         JsonNulls nulls) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kByteOrderMark)) {
    bytes.remove_prefix(kByteOrderMark.size());
  }
  Source source{bytes, forget};
  auto data = std::make_shared<JsonTreeData>();
  data->name = name;
  // With enough capacity the floats never move, and unused capacity is never touched.
  data->floats->reserve(check_text(source, name));
  Builder(source, *data, nulls).read();
  return JsonTree(std::move(data));
}

}  // namespace attnviz
