#include "options/option_adders.h"

#include <cstdint>

namespace attnviz::app {

void add_value(CLI::App& app, const char* group, const std::string& names, const std::string& value,
               const std::string& description, const Setter& set) {
  const auto set_word = [name = names.substr(0, names.find(',')), set](const std::string& word) {
    refuse_equals_sign(name, word);
    set(word);
  };
  app.add_option_function<std::string>(names, set_word, description)
      ->type_name(value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(group);
}

void add_flag(CLI::App& app, const char* group, const std::string& names,
              const std::string& description, bool& flag) {
  app.add_flag(names, flag, description)->group(group);
}

void add_counted_flag(CLI::App& app, const char* group, const char* names,
                      const std::string& description) {
  app.add_flag_callback(
         names, [] {}, description)
      ->group(group);
}

void add_size(CLI::App& app, const char* name, const std::string& description, std::size_t& size) {
  constexpr std::uint64_t kLargestSize = 1'000'000;
  add_value(app, "Model", name, "N", description, [name, &size](const std::string& word) {
    size = parse_count(name, word, 1, kLargestSize);
  });
}

}  // namespace attnviz::app
