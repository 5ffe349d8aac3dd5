#include "attnviz/text/files/demo_vocabulary.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "attnviz/text/files/tokenizer_json.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

namespace {

const std::string kFolder = ATTNVIZ_SOURCE_DIR "/assets/demo/model";

}  // namespace

TEST_CASE("the embedded vocabulary: the tables are those that the reader of tokenizer.json makes") {
  const MappedFile file(kFolder + "/tokenizer.json");
  const TokenizerParts parts = read_tokenizer_json(file.bytes(), "tokenizer.json");
  const Vocabulary::Tables& read = parts.model->vocabulary().tables();
  const Vocabulary::Tables& built = kDemoVocabulary;

  CHECK(built.characters == read.characters);
  CHECK(built.longest == read.longest);
  REQUIRE(built.entries.size() == read.entries.size());
  for (std::size_t i = 0; i < read.entries.size(); ++i) {
    REQUIRE(built.entries[i].place.begin == read.entries[i].place.begin);
    REQUIRE(built.entries[i].place.size == read.entries[i].place.size);
    REQUIRE(built.entries[i].id == read.entries[i].id);
  }
  REQUIRE(built.places.size() == read.places.size());
  for (std::size_t i = 0; i < read.places.size(); ++i) {
    REQUIRE(built.places[i].begin == read.places[i].begin);
    REQUIRE(built.places[i].size == read.places[i].size);
  }
  REQUIRE(built.slots.size() == read.slots.size());
  for (std::size_t i = 0; i < read.slots.size(); ++i) {
    REQUIRE(built.slots[i].hash == read.slots[i].hash);
    REQUIRE(built.slots[i].entry == read.slots[i].entry);
  }
}

TEST_CASE(
    "the embedded tokenizer: does what its folder's does, to all pieces and to words it lacks") {
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
