#include "attnviz/report/json/document_json.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace attnviz {

TEST_CASE("write_tokens_json: text, tokens, ids, byte ranges and the tokenizer, on one line") {
  const TokenizedText text{"a \xFF", {{7, "a", 0, 1}, {9, "\xFF", 2, 3}}};
  std::string out;
  write_tokens_json(text, "words", [&out](std::string_view bytes) { out += bytes; });
  CHECK(out == R"({"schema": "attnviz.tokens/1", "text": "a <FF>", "tokens": ["a", "<FF>"], )"
               R"("token_ids": [7, 9], "ranges": [[0, 1], [2, 3]], "tokenizer": "words"})"
               "\n");
}

}  // namespace attnviz
