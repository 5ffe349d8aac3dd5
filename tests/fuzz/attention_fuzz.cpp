// Any bytes as attention computed by some tool: it is drawn, and written in one of the formats, or
// refused with an Error; by itself, and with given tokens.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/report/json/attention_reader.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"
#include "outputs/formats/formats.h"
#include "outputs/formats/shown_attention.h"

namespace attnviz {

namespace {

// The time of larger pictures grows with their size.
constexpr std::size_t kMostCells = 4096;

std::size_t n_cells(const AttentionDocument& document) {
  return document.patterns.size() * document.query_tokens.size() * document.key_tokens.size();
}

// Errors that blame the caller are allowed, because a file may choose how it is drawn.
void show(const AttentionDocument& document, const app::Format& format, std::size_t choice) {
  const FigureStyle figure;
  const TerminalOptions terminal = {.style = static_cast<TerminalStyle>(choice % 7),
                                    .color = static_cast<ColorDepth>(choice / 7 % 4)};
  const app::Look look{figure, terminal};
  try {
    std::string out;
    const app::ShownAttention shown({&document, 1});
    format.attention(shown, look, [&out](std::string_view bytes) { out += bytes; });
    test::require(!out.empty());
  } catch (const Error& error) {
    test::require(error.kind() == ErrorKind::kUsage || error.kind() == ErrorKind::kUnsupported);
  }
}

void show_all(std::string_view bytes, const GivenTokens& tokens) {
  std::size_t choice = 0;
  for (const char byte : bytes) {
    choice = choice * 31 + static_cast<unsigned char>(byte);
  }
  choice /= 256;
  std::vector<app::Format> formats;
  std::ranges::copy_if(app::all_formats(), std::back_inserter(formats),
                       [](const app::Format& one) { return one.attention != nullptr; });
  for (const ReadDocument& one : read_attention(bytes, "fuzz", tokens)) {
    if (n_cells(one.document) <= kMostCells) {
      show(one.document, formats[choice % formats.size()], choice / formats.size());
    }
  }
}

void read(std::string_view bytes) {
  test::refused_or_done([&] { show_all(bytes, {}); });
  const GivenTokens two{std::vector<std::string>{"a", "b"}, {}};
  test::refused_or_done([&] {
    try {
      show_all(bytes, two);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUsage) {  // which it is that there are not two
        throw;
      }
    }
  });
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  return files_below("/tests/fuzz/seeds/attention", ".json");
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
