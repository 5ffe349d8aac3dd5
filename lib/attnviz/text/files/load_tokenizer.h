// A model's tokenizer, from the files of the model.
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
/// A GGUF file, recognised by its content, contains its own tokenizer. If a model has several
/// files, any of them stands for the first, which has the tokenizer.
///
/// RoBERTa's, BART's and Qwen2's vocab.json are distinguished by their tokenizer_class, or by the
/// model_type of a config.json. tokenizer_config.json, special_tokens_map.json and
/// added_tokens.json in the same folder supply what these files leave out: names of special tokens,
/// whether BOS and EOS are added, lower case, and tokens added later, also to a tokenizer.json.
///
/// The chat template comes from a chat_template.jinja in the same folder, else from
/// tokenizer_config.json, else from a chat_template.json; in a GGUF file it is under
/// tokenizer.chat_template. A model may have several templates with names: in one of these files,
/// in additional_chat_templates/NAME.jinja, and in a GGUF file under tokenizer.chat_template.NAME.
/// A template that cannot be read is an error only for chats: Tokenizer::check_chat_template().
///
/// Throws Error{kIo} for files that cannot be read, also for a folder without any of these files
/// (naming them), Error{kMalformed} `file: path: expected …, found …`, and Error{kUnsupported} for
/// stages, patterns, settings and classes that attnviz does not know.
std::unique_ptr<ModelTokenizer> load_tokenizer(const std::filesystem::path& file_or_folder,
                                               OpenFiles files = {});

/// The same for a GGUF file that is already open; for a model of several files, the first.
std::unique_ptr<ModelTokenizer> load_tokenizer(const Gguf& gguf);

/// The same for a tokenizer.json and a tokenizer_config.json in memory.
std::unique_ptr<ModelTokenizer> load_tokenizer(const NamedBytes& tokenizer_json,
                                               const NamedBytes& tokenizer_config);

/// All files that load_tokenizer() may read for this path, including itself: those of a folder, or
/// those in the same folder as a file. Some of them may not exist.
std::vector<std::filesystem::path> tokenizer_files(const std::filesystem::path& file_or_folder);

/// The tokenizer of the embedded demo model.
std::unique_ptr<ModelTokenizer> demo_tokenizer();

}  // namespace attnviz
