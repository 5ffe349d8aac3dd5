#include "attnviz/model/known_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/gguf/gguf_families.h"

namespace attnviz {

namespace {

// The text part of a model of several has a name of its own.
constexpr std::string_view kText = "_text";

std::string_view without_text(std::string_view name) {
  return name.ends_with(kText) ? name.substr(0, name.size() - kText.size()) : name;
}

// Letters and digits, small: spellings differ in the rest.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char one : name) {
    if ((one >= 'a' && one <= 'z') || (one >= '0' && one <= '9')) {
      letters += one;
    } else if (one >= 'A' && one <= 'Z') {
      letters += static_cast<char>(one - 'A' + 'a');
    }
  }
  return letters;
}

// By their plain spelling: names of families, and those of GGUF files that are others.
std::map<std::string, std::string> all_names() {
  std::map<std::string, std::string> names;
  for (const Family& family : families()) {
    names.emplace(plain(without_text(family.model_type)), without_text(family.model_type));
  }
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    names.emplace(plain(architecture.name), architecture.name);
  }
  return names;
}

// Names that begin alike, those that do so longest first; at most four.
std::vector<std::string> near_names(std::string_view name) {
  constexpr std::size_t kLeastAlike = 3;
  constexpr std::size_t kMostNear = 4;
  const std::string asked = plain(name);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& [spelling, known] : all_names()) {
    const auto apart = std::ranges::mismatch(asked, spelling);
    const auto alike = static_cast<std::size_t>(apart.in1 - asked.begin());
    if (alike >= kLeastAlike) {
      near.emplace_back(alike, known);
    }
  }
  std::ranges::stable_sort(near, std::greater(), &std::pair<std::size_t, std::string>::first);
  near.resize(std::min(near.size(), kMostNear));
  std::vector<std::string> names;
  names.reserve(near.size());
  for (auto& [alike, one] : near) {
    names.push_back(std::move(one));
  }
  return names;
}

}  // namespace

std::vector<KnownFamily> known_families() {
  std::vector<KnownFamily> all;
  const auto at = [&all](std::string_view name) -> KnownFamily& {
    const auto found = std::ranges::find(all, name, &KnownFamily::name);
    return found != all.end() ? *found : all.emplace_back(KnownFamily{name, false, {}, {}});
  };
  for (const Family& family : families()) {
    KnownFamily& known = at(without_text(family.model_type));
    known.hugging_face = true;
    if (!family.gguf.empty()) {
      known.gguf.push_back(family.gguf);
    }
    known.left_out = known.left_out.empty() ? family.left_out : known.left_out;
  }
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    at(without_text(architecture.family)).gguf.push_back(architecture.name);
  }
  std::ranges::sort(all, {}, &KnownFamily::name);
  return all;
}

bool reads_gguf_architecture(std::string_view name) {
  const auto all = gguf_architectures();
  return std::ranges::find(all, name, &GgufArchitecture::name) != all.end();
}

bool reads_model_type(std::string_view name) {
  const auto all = families();
  return std::ranges::find(all, name, &Family::model_type) != all.end();
}

std::string unknown_family(std::string_view key, std::string_view name) {
  const std::vector<std::string> near = near_names(name);
  return fmt::format("{} {}: not one of the families that are read{}{}", key, quoted(name),
                     near.empty() ? "" : "; near it: ", fmt::join(near, ", "));
}

}  // namespace attnviz
