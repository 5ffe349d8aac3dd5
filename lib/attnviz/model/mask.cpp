#include "attnviz/model/mask.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

struct MaskName {
  MaskKind kind;
  const char* name;
  bool has_size;
};

constexpr std::array kMaskNames = {
    MaskName{MaskKind::kCausal, "causal", false}, MaskName{MaskKind::kNone, "none", false},
    MaskName{MaskKind::kWindow, "window", true},  MaskName{MaskKind::kStrided, "strided", true},
    MaskName{MaskKind::kBlock, "block", true},    MaskName{MaskKind::kAround, "around", true},
};

const MaskName& entry(MaskKind kind) noexcept {
  return *std::find_if(kMaskNames.begin(), kMaskNames.end(),
                       [kind](const MaskName& mask) { return mask.kind == kind; });
}

}  // namespace

bool Mask::visible(std::size_t query, std::size_t key) const noexcept {
  switch (kind) {
    case MaskKind::kNone:
      return true;
    case MaskKind::kCausal:
      return key <= query;
    case MaskKind::kWindow:
      return key <= query && query - key < size;
    case MaskKind::kStrided:
      return key <= query && (query - key < size || (query - key) % size == 0);
    case MaskKind::kBlock:
      return key <= query && key / size == query / size;
    case MaskKind::kAround:
      return (key < query ? query - key : key - query) <= size;
  }
  return false;
}

std::size_t Mask::n_visible(std::size_t query, std::size_t first_key,
                            std::size_t end_key) const noexcept {
  const std::size_t first = std::max(first_key, this->first_key(query));
  const std::size_t end = std::min(end_key, this->end_key(query, end_key));
  if (first >= end) {
    return 0;
  }
  if (kind != MaskKind::kStrided) {
    return end - first;
  }
  // By distance: the `size` nearest keys, and beyond them the multiples of `size`.
  const std::size_t nearest = query - (end - 1);
  const std::size_t farthest = query - first;
  const std::size_t near = nearest < size ? std::min(farthest + 1, size) - nearest : 0;
  const std::size_t beyond = std::max(nearest, size);
  const std::size_t multiples = farthest >= beyond ? farthest / size - (beyond - 1) / size : 0;
  return near + multiples;
}

std::string Mask::name() const {
  const MaskName& mask = entry(kind);
  return mask.has_size ? fmt::format("{}:{}", mask.name, size) : std::string(mask.name);
}

Mask parse_mask(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  for (const MaskName& mask : kMaskNames) {
    if (kind != mask.name) {
      continue;
    }
    if (!mask.has_size) {
      if (colon != std::string_view::npos) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("mask {}: {} takes no size", in_quotes(name), kind));
      }
      return {mask.kind, 0};
    }
    const auto size = colon == std::string_view::npos
                          ? std::nullopt
                          : parse_number<std::size_t>(name.substr(colon + 1));
    if (size.value_or(0) == 0) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("mask {}: expected {}:N with N at least 1, as in {}:4",
                              in_quotes(name), kind, kind));
    }
    return {mask.kind, *size};
  }
  const std::array<std::string, 6> names = {"causal",  "none",  "window",
                                            "strided", "block", "around"};
  throw Error(
      ErrorKind::kUsage,
      fmt::format("mask {}: expected causal, none, window:N, strided:N, block:N or around:N{}",
                  in_quotes(name), did_you_mean(kind, names)));
}

}  // namespace attnviz
