#include "options/option_list.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "attnviz/core/message.h"

namespace attnviz::app {

namespace {

std::vector<std::string> split(const std::string& names) {
  const auto parts = list_parts(names);
  return {parts.begin(), parts.end()};
}

}  // namespace

void OptionList::add_value(const char* group, const std::string& names, const std::string& value,
                           const std::string& text, const Setter& set) {
  std::vector<std::string> all = split(names);
  // "=3" is the token "3", and not the one with this index.
  const bool is_token = value == "TOKEN" || value.starts_with("TOKEN|");
  const auto set_last = [name = all.front(), is_token, set](const std::vector<std::string>& words) {
    if (!is_token) {
      refuse_equals_sign(name, words.back());
    }
    set(words.back());
  };
  options_.push_back({std::move(all), value, text, group, Times::kLastCounts, set_last});
}

void OptionList::add_list(const char* group, const std::string& names, const std::string& value,
                          const std::string& text, const ListSetter& set) {
  options_.push_back({split(names), value, text, group, Times::kMany, set});
}

void OptionList::add_flag(const char* group, const std::string& names, const std::string& text,
                          bool& flag) {
  add_flag(group, names, text, [&flag] { flag = true; });
}

void OptionList::add_flag(const char* group, const std::string& names, const std::string& text,
                          const std::function<void()>& set) {
  options_.push_back({split(names), "", text, group, Times::kLastCounts,
                      [set](const std::vector<std::string>& /*words*/) { set(); }});
}

void OptionList::add_size(const std::string& name, const std::string& text,
                          const std::function<void(std::size_t size)>& set) {
  constexpr std::uint64_t kLargestSize = 1'000'000;
  add_value("Model", name, "N", text, [name, set](const std::string& word) {
    set(count_between(1, kLargestSize)(name, word));
  });
}

void OptionList::add_positional(const std::string& name, const Setter& set) {
  options_.push_back(
      {{name}, name, "", "", Times::kOnce, [set](const auto& words) { set(words.back()); }});
}

const OptionSpec* OptionList::find(std::string_view name) const {
  const auto found = std::ranges::find_if(options_, [name](const OptionSpec& option) {
    return std::ranges::find(option.names, name) != option.names.end();
  });
  return found == options_.end() ? nullptr : &*found;
}

std::string Given::word(std::string_view name) const {
  const auto found = words_.find(name);
  return found == words_.end() ? std::string() : found->second;
}

void Given::add(const OptionSpec& option, const std::string& word) {
  for (const std::string& name : option.names) {
    words_[name] = word;
  }
}

}  // namespace attnviz::app
