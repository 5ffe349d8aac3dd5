// A model's tokenizer from the files that come with it.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

class Gguf;

/// Reads a file, or the first of these in a folder:
///
/// tokenizer.json             Hugging Face's tokenizers library: every stage in one file.
/// tokenizer.model            SentencePiece: BPE or Unigram.
/// spiece.model               The same, of T5.
/// source.spm and vocab.json  Marian: Unigram. target.spm may be given as the file.
/// vocab.json and merges.txt  GPT-2: byte-level BPE. vocab.json may be given as the file.
/// vocab.txt                  BERT: WordPiece.
///
/// A GGUF file, told by its content, holds its tokenizer itself; one of several files stands for
/// the first of them, which does.
///
/// RoBERTa's, BART's and Qwen2's files of vocab.json are told by their tokenizer_class, or by the
/// model_type of a config.json. tokenizer_config.json, special_tokens_map.json and
/// added_tokens.json beside it say what these leave out: names of special tokens, whether BOS and
/// EOS are added, lower case, tokens added later, also to a tokenizer.json.
///
/// The chat template is that of a chat_template.jinja beside it, else of tokenizer_config.json,
/// else of a chat_template.json; in a GGUF file it is under tokenizer.chat_template. There may be
/// several with names: in one of these files, in additional_chat_templates/NAME.jinja, and in a
/// GGUF file under tokenizer.chat_template.NAME. A file with one that cannot be read is an error of
/// chats alone: Tokenizer::check_chat_template().
///
/// Throws Error{kIo} for what cannot be read, also when a folder has none of them (naming them),
/// Error{kMalformed} `file: path: expected …, found …`, and Error{kUnsupported} for stages,
/// patterns, settings and classes that attnviz does not know.
std::unique_ptr<ModelTokenizer> load_tokenizer(const std::filesystem::path& file_or_folder,
                                               OpenFiles files = {});

/// The same of a GGUF file that is open already: of several the first.
std::unique_ptr<ModelTokenizer> load_tokenizer(const Gguf& gguf);

/// The same of a tokenizer.json and a tokenizer_config.json that are in memory.
std::unique_ptr<ModelTokenizer> load_tokenizer(const NamedBytes& tokenizer_json,
                                               const NamedBytes& tokenizer_config);

/// All files that load_tokenizer() may read for this one, with it: what a folder has, what belongs
/// to a file beside it. Not all of them need to be there.
std::vector<std::filesystem::path> tokenizer_files(const std::filesystem::path& file_or_folder);

/// That of the embedded demo model.
std::unique_ptr<ModelTokenizer> demo_tokenizer();

}  // namespace attnviz
