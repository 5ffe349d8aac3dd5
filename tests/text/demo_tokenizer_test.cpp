#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "attnviz/text/files/load_tokenizer.h"

namespace attnviz {

namespace {

const std::string kFolder = ATTNVIZ_SOURCE_DIR "/assets/demo/model";

}  // namespace

TEST_CASE("the embedded tokenizer: equals its folder's, for all pieces and for unknown words") {
  const auto embedded = demo_tokenizer();
  const auto loaded = load_tokenizer(kFolder);
  REQUIRE(embedded->vocabulary_size() == loaded->vocabulary_size());
  CHECK(embedded->name() == loaded->name());
  std::string text = "It's 12 o'clock, said Zyxwvut; \xF0\x9F\x98\x80 \xFF caf\xC3\xA9\n\n  end.";
  for (TokenId id = 0; id < loaded->vocabulary_size(); ++id) {
    REQUIRE(embedded->piece(id) == loaded->piece(id));
    REQUIRE(embedded->is_special(id) == loaded->is_special(id));
    text += loaded->piece(id);
  }
  CHECK(embedded->id_of("<|bos|>") == loaded->id_of("<|bos|>"));
  CHECK_FALSE(embedded->id_of("no such piece").has_value());
  CHECK(embedded->special_ids().bos == loaded->special_ids().bos);
  CHECK(embedded->special_ids().eos == loaded->special_ids().eos);
  CHECK(embedded->special_ids().unk == loaded->special_ids().unk);
  const TokenizedText ours = embedded->tokenize(text);
  const TokenizedText theirs = loaded->tokenize(text);
  CHECK(ours.size() > loaded->vocabulary_size() / 2);
  CHECK(ours.ids() == theirs.ids());
}

}  // namespace attnviz
