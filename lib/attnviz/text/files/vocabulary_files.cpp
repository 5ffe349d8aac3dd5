#include "attnviz/text/files/tokenizer_files.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_reader.h"
#include "attnviz/text/files/token_model_json.h"
#include "attnviz/text/tokenizers/word_models.h"

namespace attnviz {

namespace {

// Calls `use(line, number)` for each line, numbered from 1, without its end.
template <class Use>
void each_line(const NamedBytes& file, const Use& use) {
  refuse_other_kind(file.bytes, file.name);  // a web page also consists of lines
  std::string_view left = file.bytes;
  for (std::size_t number = 1; !left.empty(); ++number) {
    const std::size_t end = left.find('\n');
    std::string_view line = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (!is_utf8(line)) {
      throw Error(ErrorKind::kMalformed, fmt::format("{}: line {}: expected UTF-8, found {}",
                                                     file.name, number, quoted(line)));
    }
    use(line, number);
  }
}

std::vector<Merge> read_merges(const NamedBytes& file) {
  std::vector<Merge> merges;
  each_line(file, [&](std::string_view line, std::size_t number) {
    if (line.empty() || (number == 1 && line.starts_with("#version"))) {
      return;
    }
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      throw Error(
          ErrorKind::kMalformed,
          fmt::format("{}: line {}: expected two pieces with a space between them, found {}",
                      file.name, number, quoted(line)));
    }
    merges.push_back({line.substr(0, space), line.substr(space + 1)});
  });
  return merges;
}

void add_special(TokenizerParts& parts, std::string_view name) {
  if (const auto id = parts.model->vocabulary().find(name)) {
    AddedToken token;
    token.id = *id;
    token.content = name;
    token.special = true;
    parts.added.push_back(std::move(token));
  }
}

}  // namespace

TokenizerParts read_gpt2_files(const NamedBytes& vocabulary, const NamedBytes& merges,
                               bool add_prefix_space) {
  JsonReader reader(vocabulary.bytes, vocabulary.name);
  if (reader.peek() != '{') {
    reader.fail("an object of pieces and ids");
  }
  const PieceList pieces = scan_pieces(reader);
  reader.expect_end();
  BpeOptions options;
  options.kind = "byte-level BPE";
  TokenizerParts parts;
  parts.model = make_bpe(pieces.vocabulary(fmt::format("{}: ", vocabulary.name)),
                         read_merges(merges), options, fmt::format("{}: ", merges.name));
  use_byte_level_words(parts, *find_split_pattern("gpt-2"));
  if (add_prefix_space) {
    parts.pre_tokenizer = byte_level(/*add_prefix_space=*/true, /*use_regex=*/true);
  }
  for (const char* name : {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>", "<mask>"}) {
    add_special(parts, name);
  }
  return parts;
}

void use_byte_level_words(TokenizerParts& parts, const SplitPattern& pattern) {
  parts.pre_tokenizer = byte_level_words(pattern);
  parts.decoder = Decoder({{DecoderStep::Kind::kByteLevel, "", ""}});
  parts.takes_any_byte = true;
}

void use_bert_words(TokenizerParts& parts, const BertNormalization& normalization) {
  parts.normalizer = bert_normalizer(normalization);
  parts.pre_tokenizer = bert_cut();
}

void use_qwen2_words(TokenizerParts& parts) {
  parts.normalizer = unicode_normalizer(UnicodeForm::kNfc);
  parts.pre_tokenizer = byte_level_words(*find_split_pattern("qwen2"));
}

TokenizerParts read_bert_vocabulary(const NamedBytes& vocabulary,
                                    const BertNormalization& normalization,
                                    std::string_view unknown) {
  Vocabulary pieces;
  each_line(vocabulary, [&](std::string_view line, std::size_t number) {
    // An empty line counts, so that the pieces after it keep their ids.
    pieces.add(line, static_cast<TokenId>(number - 1));
  });
  TokenizerParts parts;
  WordPieceOptions options;
  options.unknown = unknown;
  parts.model = make_word_piece(std::move(pieces), options, fmt::format("{}: ", vocabulary.name));
  use_bert_words(parts, normalization);
  DecoderStep join{DecoderStep::Kind::kWordPiece, "##", ""};
  join.cleanup = true;
  parts.decoder = Decoder({join});
  for (const char* name : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    add_special(parts, name);
  }
  const auto cls = parts.model->vocabulary().find("[CLS]");
  const auto sep = parts.model->vocabulary().find("[SEP]");
  if (cls && sep) {
    parts.post = bert_post_processor(*cls, *sep);
  }
  return parts;
}

}  // namespace attnviz
