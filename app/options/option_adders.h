// How options are added to a command: one way for each kind.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <functional>
#include <string>

#include "options/option_values.h"

namespace attnviz::app {

using Setter = std::function<void(const std::string& word)>;

/// An option with one value; given twice, the last counts.
void add_value(CLI::App& app, const char* group, const std::string& names, const std::string& value,
               const std::string& description, const Setter& set);

void add_flag(CLI::App& app, const char* group, const std::string& names,
              const std::string& description, bool& flag);

/// A flag without a place of its own: the parser is asked whether it was given.
void add_counted_flag(CLI::App& app, const char* group, const char* names,
                      const std::string& description);

/// A size of a model; what fits in memory is checked later, with the other sizes.
void add_size(CLI::App& app, const char* name, const std::string& description, std::size_t& size);

/// An enumeration whose values stand in the order of `choices`.
template <class Enum>
void add_choice(CLI::App& app, const char* group, const char* name, const std::string& choices,
                const std::string& description, Enum& choice) {
  add_value(app, group, name, choices, description,
            [name, choices, &choice](const std::string& word) {
              choice = static_cast<Enum>(parse_choice(name, word, split_choices(choices)));
            });
}

}  // namespace attnviz::app
