#include "attnviz/core/choices.h"

#include <fmt/format.h>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/suggest.h"

namespace attnviz {

void fail_choice(std::string_view parameter, std::string_view word,
                 const std::vector<std::string>& choices) {
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: expected {}, found {}{}", parameter, fmt::join(choices, ", "),
                          quoted(word), did_you_mean(word, choices)));
}

}  // namespace attnviz
