#include "attnviz/document/next_tokens.h"

#include <fmt/core.h>

#include "attnviz/core/message.h"

namespace attnviz {

std::string continuation_note(const Continuation& continuation) {
  const std::string count = counted(continuation.ids.size(), "token");
  switch (continuation.end) {
    case ContinuationEnd::kLength:
    case ContinuationEnd::kStop:
      break;
    case ContinuationEnd::kEndOfText:
      return continuation.ids.empty()
                 ? fmt::format("the model ends the text here ({}): nothing was generated",
                               quoted(continuation.end_token))
                 : fmt::format("the model ended the text ({}) after {} of {}",
                               quoted(continuation.end_token), continuation.ids.size(),
                               counted(continuation.asked, "token"));
    case ContinuationEnd::kContext:
      return fmt::format("the model's context is full: {} of {} generated", continuation.ids.size(),
                         counted(continuation.asked, "token"));
  }
  return {};
}

}  // namespace attnviz
