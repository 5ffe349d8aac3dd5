// A model that lies on this machine: what of it is read is opened and parsed once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/gguf_files.h"
#include "attnviz/model/hugging_face.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz::app {

enum class ModelForm { kGguf, kHuggingFace, kWeightsJson };

class StoredModel {
 public:
  /// `given`: a path or a name as find_model() takes it. Looks at no more than is needed to tell
  /// the form. Throws what find_model throws.
  explicit StoredModel(std::string given);

  /// As it was asked for.
  const std::string& given() const noexcept { return given_; }
  ModelForm form() const noexcept { return form_; }
  /// What reading it may look at; of a Hugging Face model all that lies in its folder.
  std::vector<std::filesystem::path> files() const;

  /// Throws what load_gguf, load_hugging_face, which takes `copies`, and load_weights_json throw.
  Model load(Copies copies = Copies::kCompared);
  /// The tokenizer that comes with a whole model, in its GGUF file or in its folder; needs no
  /// model. Throws what load_tokenizer throws.
  std::unique_ptr<ModelTokenizer> load_tokenizer();
  /// That of the text which a decoder reads, where it has one of its own: Marian. Else null. Throws
  /// as load_tokenizer does.
  std::unique_ptr<ModelTokenizer> load_target_tokenizer() const;
  /// Whether load_tokenizer() threw `error` since there is none that can be read, while the model
  /// can be.
  bool lacks_tokenizer(const Error& error) const;
  /// The metadata of a GGUF file whose model has been loaded, null of others; lives as long as the
  /// object, or a copy.
  const Gguf* gguf() const noexcept { return gguf_ == nullptr ? nullptr : &gguf_->first(); }

 private:
  std::string given_;
  std::filesystem::path path_;
  OpenFiles files_;
  ModelForm form_;
  std::shared_ptr<const GgufFiles> gguf_;
};

}  // namespace attnviz::app
