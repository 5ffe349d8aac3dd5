#include "attnviz/text/tokenized_text.h"

#include <utility>

namespace attnviz {

TokenMarks token_marks(const TokenizedText& text) {
  TokenMarks marks;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Token& token = text.tokens[i];
    for (const auto& [is_so, list] : {std::pair{token.special, &marks.special},
                                      {token.added, &marks.added},
                                      {token.generated, &marks.generated},
                                      {token.segment > 0, &marks.second}}) {
      if (is_so) {
        list->push_back(i);
      }
    }
  }
  return marks;
}

}  // namespace attnviz
