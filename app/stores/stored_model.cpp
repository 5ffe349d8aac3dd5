#include "stores/stored_model.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/file_kind.h"
#include "attnviz/formats/shard_name.h"
#include "attnviz/model/gguf_model.h"
#include "attnviz/model/weights_json.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "stores/model_store.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

// Of a file that is there and may be JSON. A pipe is read by who takes it.
void refuse_other_kinds(const fs::path& path, OpenFiles files) {
  if (!is_file(path)) {
    return;
  }
  const MappedFile file = files.open(path);
  const std::string_view bytes = file.bytes();
  const FileKind kind = kind_of_model_bytes(bytes);
  if (described_kind(kind, bytes) != name_of(kind)) {  // there is advice to give
    refuse_other_kind(bytes, path.string());
  }
  if (kind != FileKind::kOther || bytes.starts_with('<')) {
    throw AdviceError(ErrorKind::kMalformed,
                      no_model(kind == FileKind::kOther ? FileKind::kPage : kind, path));
  }
}

ModelForm form_of(const fs::path& path, const OpenFiles& files) {
  if (is_gguf_file(path, files)) {
    return ModelForm::kGguf;
  }
  if (is_hugging_face(path)) {
    return ModelForm::kHuggingFace;
  }
  refuse_other_kinds(path, files);
  return ModelForm::kWeightsJson;
}

}  // namespace

StoredModel::StoredModel(std::string given)
    : given_(std::move(given)), path_(find_model(given_)), form_(form_of(path_, files_)) {}

std::vector<fs::path> StoredModel::files() const {
  std::vector<fs::path> files = {path_};
  if (form_ == ModelForm::kHuggingFace) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(hugging_face_folder(path_), ignored)) {
      files.push_back(entry.path());
    }
  }
  const std::string name = path_.filename().string();
  if (const auto shard = parse_shard_name(name); shard && form_ == ModelForm::kGguf) {
    for (std::size_t number = 1; number <= shard->count; ++number) {
      files.push_back(path_.parent_path() / shard_name(shard->name, number, shard->count));
    }
  }
  return files;
}

Model StoredModel::load(Copies copies) {
  switch (form_) {
    case ModelForm::kHuggingFace:
      return load_hugging_face(path_, files_, copies);
    case ModelForm::kWeightsJson:
      return load_weights_json(path_, files_);
    case ModelForm::kGguf:
      break;
  }
  gguf_ = std::make_shared<const GgufFiles>(path_, files_);
  Model model = load_gguf(gguf_);
  if (path_ != given_) {
    model.set_name(given_, model.config.family);  // stores name files by their digests
  }
  return model;
}

std::unique_ptr<ModelTokenizer> StoredModel::load_tokenizer() {
  if (form_ != ModelForm::kGguf) {
    return attnviz::load_tokenizer(hugging_face_folder(path_));
  }
  auto tokenizer = gguf_ != nullptr ? attnviz::load_tokenizer(gguf_->first())
                                    : attnviz::load_tokenizer(path_, files_);
  if (auto chat = path_ == given_ ? std::nullopt : ollama_chat_template(given_, path_)) {
    if (const auto bos = tokenizer->special_ids().bos) {
      chat->bos_token = tokenizer->piece(*bos);
    }
    tokenizer->set_chat_template(*std::move(chat));
  }
  return tokenizer;
}

std::unique_ptr<ModelTokenizer> StoredModel::load_target_tokenizer() const {
  const fs::path folder =
      form_ == ModelForm::kHuggingFace ? hugging_face_folder(path_) : fs::path();
  const fs::path own = folder / "target.spm";
  const bool is_used = !folder.empty() && is_file(own) && !is_file(folder / "tokenizer.json");
  return is_used ? attnviz::load_tokenizer(own) : nullptr;
}

bool StoredModel::lacks_tokenizer(const Error& error) const {
  return error.kind() == ErrorKind::kIo ||
         (form_ == ModelForm::kGguf && error.kind() == ErrorKind::kUnsupported);
}

}  // namespace attnviz::app
