// Words to options: the only source that knows the parsing library.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "options/advice.h"
#include "options/option_list.h"

namespace attnviz::app {

/// What became of the words of a command line. With an error some setters have not run.
struct ParsedWords {
  Given given;
  /// Options and the words for each, in the order of the list.
  std::vector<std::pair<const OptionSpec*, std::vector<std::string>>> options;
  std::vector<std::string> extras;    // words that nothing takes, without the "--"
  std::size_t n_extras_in_front = 0;  // of that: only these may be options
  std::optional<AdviceError> error;   // the first mistake that is not an extra word
};

ParsedWords parse_words(const OptionList& list, std::vector<std::string> words);

/// The first of the words that is neither an option of the list nor the value of one.
std::size_t options_end(const OptionList& list, std::span<const std::string> words);

}  // namespace attnviz::app
