#include "commands/focus.h"

#include "attnviz/text/token_choice.h"
#include "system/talk.h"

namespace attnviz::app {

std::optional<Focus> chosen_focus(const PatternOptions& options, const TokenizedText& text,
                                  const TalkOptions& talk) {
  if (!options.focus) {
    return std::nullopt;
  }
  const TokenChoice choice = choose_token(text, *options.focus, "--focus");
  tell(talk, choice.note);
  return Focus{choice.index, options.as_key};
}

}  // namespace attnviz::app
