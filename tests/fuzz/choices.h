// Bytes as choices, for inputs that are generated rather than mutated: a fuzzer that changes a byte
// changes one choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace attnviz::test {

class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  /// A number below `limit`, of at most 256; 0 when no bytes are left.
  std::size_t below(std::size_t limit) {
    if (bytes_.empty()) {
      return 0;
    }
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte % limit;
  }
  /// True about once in that many times; false when no bytes are left.
  bool once_in(std::size_t times) { return below(times) == 1; }
  /// The first when no bytes are left.
  template <class Range>
  const auto& of(const Range& range) {
    return range[below(range.size())];
  }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

  /// An index: mostly a small one.
  std::uint64_t index() {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    return of<std::uint64_t>({0, 0, 0, 1, 1, 2, 3, 4, 5, 7, 31, kMost, kMost - 1,
                              std::uint64_t{1} << 63, std::uint64_t{1} << 32});
  }

 private:
  std::string_view bytes_;
};

}  // namespace attnviz::test
