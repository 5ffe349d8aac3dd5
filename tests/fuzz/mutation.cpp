#include "fuzz/mutation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>

namespace attnviz::test {

namespace {

class Mutator {
 public:
  Mutator(const std::vector<std::string>& files, std::uint64_t seed)
      : files_(files), random_(seed), bytes_(files[below(files.size())]) {}

  std::string run() {
    for (std::size_t n = 1 + below(4); n > 0 && !bytes_.empty(); --n) {
      mutate();
    }
    return std::move(bytes_);
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  // Headers and metadata are at the beginning.
  std::size_t random_position() {
    return below(below(8) == 0 ? bytes_.size() : std::min<std::size_t>(bytes_.size(), 4096));
  }

  void mutate() {
    switch (below(9)) {
      case 0: {
        char& byte = bytes_[random_position()];
        byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << below(8)));
        break;
      }
      case 1:
        bytes_[random_position()] = static_cast<char>(below(256));
        break;
      case 2:
        write_number<std::uint32_t>(random_position());
        break;
      case 3:
        write_number<std::uint64_t>(random_position());
        break;
      case 4:
      case 5:
        change_small_number();
        break;
      case 6:
        bytes_.resize(below(2) == 0 ? random_position() : below(bytes_.size()));
        break;
      case 7:
        bytes_.erase(random_position(), 1 + below(64));
        break;
      default:
        splice();
        break;
    }
  }

  std::uint64_t odd_number() {
    const std::array<std::uint64_t, 8> numbers = {0,
                                                  1,
                                                  below(16),
                                                  bytes_.size(),
                                                  bytes_.size() - 1 + below(3),
                                                  ~std::uint64_t{0},
                                                  ~std::uint64_t{0} - below(64),
                                                  std::uint64_t{1} << below(64)};
    return numbers[below(numbers.size())];
  }

  template <class T>
  void write_number(std::size_t at) {
    auto number = std::bit_cast<std::array<char, sizeof(T)>>(static_cast<T>(odd_number()));
    if (below(4) == 0) {
      std::reverse(number.begin(), number.end());
    }
    std::memcpy(bytes_.data() + at, number.data(), std::min(number.size(), bytes_.size() - at));
  }

  // A small 64-bit number is probably a length or a count: changes the next one from a random
  // position on.
  void change_small_number() {
    std::size_t zeros = 0;
    for (std::size_t at = random_position(); at < bytes_.size(); ++at) {
      zeros = bytes_[at] == 0 ? zeros + 1 : 0;
      if (zeros == 6) {
        const std::size_t low =
            at >= 7 && bytes_[at - 7] != 0 ? at - 7 : std::min(at + 2, bytes_.size() - 1);
        if (below(2) == 0) {
          bytes_[low] = static_cast<char>(bytes_[low] + (below(2) == 0 ? 1 : -1));
        } else {
          write_number<std::uint64_t>(low);
        }
        return;
      }
    }
  }

  // Replaces a piece by one from another file, or inserts it.
  void splice() {
    const std::string& other = files_[below(files_.size())];
    const std::size_t from = below(std::min<std::size_t>(other.size(), 4096));
    const std::string piece = other.substr(from, 1 + below(200));
    const std::size_t at = random_position();
    bytes_.replace(at, below(2) == 0 ? piece.size() : 0, piece);
  }

  const std::vector<std::string>& files_;
  std::mt19937_64 random_;
  std::string bytes_;
};

}  // namespace

std::string mutated(const std::vector<std::string>& files, std::uint64_t seed) {
  return Mutator(files, seed).run();
}

}  // namespace attnviz::test
