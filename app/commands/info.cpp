#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/known_keys.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/report/model_info.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/terminal/views.h"
#include "commands/commands.h"
#include "commands/prepared_text.h"
#include "outputs/formats/formats.h"
#include "stores/model_source.h"
#include "system/diagnostics.h"
#include "system/output_file.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

void describe(const ModelTokenizer& tokenizer, TokenizerInfo& info) {
  info.kind = tokenizer.name();
  info.n_entries = tokenizer.vocabulary_size();
  const SpecialIds& ids = tokenizer.special_ids();
  const std::pair<const char*, std::optional<TokenId>> roles[] = {
      {"bos", ids.bos}, {"eos", ids.eos}, {"pad", ids.pad},  {"unk", ids.unk},
      {"sep", ids.sep}, {"cls", ids.cls}, {"mask", ids.mask}};
  for (const auto& [role, id] : roles) {
    if (id) {
      info.special.push_back({role, tokenizer.piece(*id), *id});
    }
  }
  for (std::size_t id = 0; id < tokenizer.vocabulary_size(); ++id) {
    info.n_special += tokenizer.is_special(static_cast<TokenId>(id)) ? 1U : 0U;
  }
  if (const ChatTemplate* const chat = tokenizer.chat_template()) {
    info.chat_template = chat->language == TemplateLanguage::kGo ? "go" : "jinja";
  }
  info.ignored_keys = tokenizer.ignored_keys();
  info.unknown_keys = tokenizer.unknown_keys();
  TokenizedText text;
  try {
    text = tokenizer.tokenize("a");
  } catch (const Error&) {
    return;  // no piece for "a": its added tokens stay unknown
  }
  bool is_before = true;
  for (const Token& token : text.tokens) {
    if (token.added) {
      (is_before ? info.before : info.after).push_back(token.text);
    }
    is_before = is_before && token.added;
  }
}

TokenizerInfo describe_tokenizer(ModelSource& source) {
  TokenizerInfo info;
  try {
    describe(*own_tokenizer(source), info);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kMalformed) {
      throw;
    }
    info.missing = error.what();
  }
  return info;
}

TokenizerInfo describe_tokenizer(const Model& model) {
  TokenizerInfo info;
  info.kind = model.config.tokenizer;
  info.n_entries = model.vocabulary.size();
  return info;
}

// An opened model, which must outlive its ModelInfo.
struct OpenedModel {
  explicit OpenedModel(const GivenModel& given) : source(model_source(given)) {}

  ModelSource source;
  Model model = open_model(source, {}, Architecture::kEncoderDecoder);
};

ModelInfo described(OpenedModel& opened) {
  const Model& model = opened.model;
  ModelInfo info;
  info.name = model.config.name;
  info.model = &model;
  info.shape = model_shape(model);
  info.tokenizer =
      model.config.is_transformer() ? describe_tokenizer(opened.source) : describe_tokenizer(model);
  if (const StoredModel* const stored = stored_model(opened.source)) {
    info.gguf = stored->gguf();
  }
  return info;
}

ModelInfo described(const DescribedModel& sizes) {
  ModelInfo info;
  info.name = "a model given by its sizes";
  info.shape = model_shape(sizes);
  info.d_ff_hint = "give --d-ff";
  info.n_vocab_hint = "give --vocab";
  return info;
}

void print(const Report& report, const InfoOptions& options) {
  write_report(report, options.json, stdout_drawing(options.style, options.color), write_to_stdout);
}

}  // namespace

void run(const InfoOptions& options) {
  Phases phases(options.verbosity);
  if (options.families) {
    return print(families_report(known_families()), options);
  }
  std::optional<OpenedModel> opened;
  if (const auto* const given = std::get_if<GivenModel>(&options.model)) {
    opened.emplace(*given);
    phases.done("model");
  }
  ModelInfo info = opened ? described(*opened) : described(std::get<DescribedModel>(options.model));
  if (opened) {
    phases.done("tokenizer");
    report_unread_keys(opened->model.config, options.verbosity);
    if (info.tokenizer) {
      report_unread_keys(opened->model.config, info.tokenizer->ignored_keys,
                         info.tokenizer->unknown_keys, options.verbosity);
    }
  }
  info.parameters = count_parameters(info.shape);
  print(info_report(info), options);
  phases.done("print");
}

void run(const WeightsOptions& options) {
  Phases phases(options.verbosity);
  const auto open = [&] {
    ModelSource source = model_source(options.model);
    Model model = open_model(source, options.model);
    phases.done("model");
    return model;
  };
  if (options.output == "-") {
    write_weights_json(open(), write_to_stdout);
    phases.done("write");
    return;
  }
  const std::string extension = std::filesystem::path(options.output).extension().string();
  const Format* const format =
      extension.empty() ? nullptr : find_format(std::string_view(extension).substr(1));
  if (format != nullptr && format->content != Content::kDocument) {
    throw Error(ErrorKind::kUsage, "-o " + options.output + ": weights are written as .json");
  }
  OutputFile file(options.output);
  write_weights_json(open(), [&file](std::string_view bytes) { file.write(bytes); });
  file.commit();
  phases.done("write");
  inform(options.verbosity, "wrote " + options.output);
}

}  // namespace attnviz::app
