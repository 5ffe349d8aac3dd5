#include "attnviz/picture/raster/png_encode.h"

#include <doctest/doctest.h>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include "attnviz/core/error.h"
#include "picture/decoded_png.h"
#include "support/sanitized.h"

namespace attnviz {
namespace {

struct Size {
  std::size_t width;
  std::size_t height;
};

std::vector<std::uint8_t> noise(Size size) {
  std::vector<std::uint8_t> rgb(3 * size.width * size.height);
  std::uint32_t state = 7;
  for (std::uint8_t& byte : rgb) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return rgb;
}

constexpr int kWritten = 10;
constexpr int kOutOfMemory = 11;
constexpr int kOther = 12;

// The outcome of encode_png() in a process that may allocate this many more bytes.
int outcome_within(rlim_t bytes, const std::vector<std::uint8_t>& rgb, Size size) {
  const pid_t child = fork();
  if (child == 0) {
    malloc_trim(0);  // memory freed by other tests might suffice for it
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
    const rlimit limits{limit, limit};
    int outcome = setrlimit(RLIMIT_AS, &limits) == 0 ? kWritten : kOther;
    try {
      encode_png(rgb, size.width, size.height);
    } catch (const Error& error) {
      outcome = error.kind() == ErrorKind::kIo ? kOutOfMemory : kOther;
    } catch (const std::bad_alloc&) {
      outcome = kOutOfMemory;
    }
    _exit(outcome);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kOther;
}

}  // namespace

TEST_CASE("encode_png: an independent decoder gets the same pixels back") {
  for (const Size size : {Size{1, 1}, Size{1, 7}, Size{13, 1}, Size{31, 17}, Size{640, 3}}) {
    CAPTURE(size.width);
    CAPTURE(size.height);
    const std::vector<std::uint8_t> rgb = noise(size);
    const std::string bytes = encode_png(rgb, size.width, size.height);
    const test::DecodedPng image = test::decode_png(bytes);
    CHECK(image.width == static_cast<int>(size.width));
    CHECK(image.height == static_cast<int>(size.height));
    CHECK(image.channels == 3);
    CHECK(image.rgb == rgb);
    CHECK(test::has_sound_chunks(bytes));
  }
}

TEST_CASE(
    "encode_png: a picture with few colours gets a palette, one with many colours RGB channels") {
  for (const int n_colors : {2, 256, 300}) {
    CAPTURE(n_colors);
    Canvas canvas(40, 30);
    std::vector<std::uint8_t> rgb;
    for (int i = 0; i < 40 * 30; ++i) {
      const int color = i % (n_colors - 1);
      const Rgb painted{static_cast<std::uint8_t>(color), static_cast<std::uint8_t>(color / 256),
                        static_cast<std::uint8_t>(7)};
      canvas.fill({i % 40, i / 40, 1, 1}, painted);
      rgb.insert(rgb.end(), {painted.r, painted.g, painted.b});
    }
    const std::string bytes = encode_png(canvas);
    const bool has_palette = n_colors <= 256;
    CHECK(bytes.substr(24, 2) == (has_palette ? "\x08\x03" : "\x08\x02"));  // depth, colour type
    CHECK((bytes.find("PLTE") == 37) == has_palette);
    CHECK(test::has_sound_chunks(bytes));
    CHECK(test::decode_png(bytes).rgb == rgb);
  }
}

TEST_CASE("encode_png: colours that were painted over take no entry in the palette") {
  for (const int n_left : {256, 257}) {
    CAPTURE(n_left);
    Canvas canvas(60, 10);
    std::vector<std::uint8_t> rgb;
    const auto color = [](int i) {
      return Rgb{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i / 256), 9};
    };
    for (const int n_colors : {600, n_left}) {
      rgb.clear();
      for (int i = 0; i < 600; ++i) {
        const Rgb painted = color(i % n_colors);
        canvas.fill({i % 60, i / 60, 1, 1}, painted);
        rgb.insert(rgb.end(), {painted.r, painted.g, painted.b});
      }
    }
    REQUIRE_FALSE(canvas.has_palette());
    const std::string bytes = encode_png(canvas);
    CHECK(bytes.substr(24, 2) == (n_left <= 256 ? "\x08\x03" : "\x08\x02"));
    CHECK(test::has_sound_chunks(bytes));
    CHECK(test::decode_png(bytes).rgb == rgb);
  }
}

TEST_CASE("encode_png: running out of memory at any step is an error") {
  if (test::kSanitized) {
    MESSAGE("NOT TESTED: sanitizers allow no limit of memory");
    return;
  }
  // Larger than the freed memory that malloc() keeps.
  constexpr Size kSize{5000, 5000};
  for (const bool is_noise : {false, true}) {
    CAPTURE(is_noise);
    const std::vector<std::uint8_t> rgb =
        is_noise ? noise(kSize) : std::vector<std::uint8_t>(3 * kSize.width * kSize.height);
    // Both are filtered as a whole, into 75 MB.
    for (const rlim_t megabytes : {0U, 50U, 400U}) {
      if (megabytes == 0 && !is_noise) {
        continue;  // little may still be at hand
      }
      CAPTURE(megabytes);
      CHECK(outcome_within(megabytes << 20, rgb, kSize) ==
            (megabytes <= 50U ? kOutOfMemory : kWritten));
    }
  }
}

TEST_CASE("encode_png: data without runs is packed as well as by a general compressor") {
  // Noise of four values: two bits a byte.
  std::vector<std::uint8_t> rgb = noise({300, 300});
  for (std::uint8_t& byte : rgb) {
    byte = static_cast<std::uint8_t>(byte / 64);
  }
  const std::string bytes = encode_png(rgb, 300, 300);
  CHECK(bytes.size() < rgb.size() / 2);
  CHECK(test::decode_png(bytes).rgb == rgb);
}

TEST_CASE("encode_png: pictures packed as runs are read back, with palettes and with channels") {
  constexpr int kSide = 500;
  for (const bool has_palette : {true, false}) {
    CAPTURE(has_palette);
    Canvas canvas(kSide, kSide);
    std::vector<std::uint8_t> rgb;
    for (int i = 0; i < 300; ++i) {
      const auto color = static_cast<std::uint8_t>(has_palette ? i % 200 : i);
      canvas.fill({i % 20 * 25, i / 20 * 25, 25, 25},
                  {color, static_cast<std::uint8_t>(has_palette ? 0 : i / 256), 2});
    }
    for (int i = 0; i < kSide * kSide; ++i) {
      const Rgb color = canvas.at(i % kSide, i / kSide);
      rgb.insert(rgb.end(), {color.r, color.g, color.b});
    }
    REQUIRE(canvas.has_palette() == has_palette);
    const std::string bytes = encode_png(canvas);
    CHECK(bytes.size() < 20'000);
    CHECK(bytes[25] == (has_palette ? '\x03' : '\x02'));
    CHECK(test::has_sound_chunks(bytes));
    CHECK(test::decode_png(bytes).rgb == rgb);
  }
}

TEST_CASE("encode_png: a uniform picture is packed into few bytes") {
  const std::vector<std::uint8_t> white(std::size_t{3} * 1000 * 1000, 255);
  CHECK(encode_png(white, 1000, 1000).size() < 20'000);
}

TEST_CASE("encode_png: the same pixels give the same bytes, from several threads too") {
  const std::vector<std::uint8_t> rgb = noise({64, 64});
  const std::string expected = encode_png(rgb, 64, 64);
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (std::string& result : results) {
    threads.emplace_back([&rgb, &result] { result = encode_png(rgb, 64, 64); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& result : results) {
    CHECK(result == expected);
  }
}

TEST_CASE("encode_png: impossible sizes are errors that name them") {
  const std::vector<std::uint8_t> rgb(12);
  CHECK_THROWS_WITH_AS(encode_png(rgb, 0, 2), "png: a picture of 0 x 2 pixels cannot be written",
                       Error);
  CHECK_THROWS_WITH_AS(encode_png(rgb, 100'000, 100'000),
                       "png: a picture of 100000 x 100000 pixels cannot be written", Error);
  CHECK_THROWS_WITH_AS(encode_png(rgb, 3, 2), "png: expected 18 bytes for 3 x 2 pixels, found 12",
                       Error);
}

}  // namespace attnviz
