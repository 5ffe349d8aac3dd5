// The options of attnviz diff.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "options/option_groups.h"
#include "options/option_values.h"

namespace attnviz::app {

void define_diff(OptionList& list, DiffOptions& options) {
  for (const char* name : {kText, kOtherText}) {
    list.add_positional(name,
                        [&options](const std::string& word) { options.texts.push_back(word); });
  }
  list.add_list("Input", "--text", "TEXT", "a text to compare; give it twice, or two TEXTs",
                options.other_texts);
  define_reading(list, options.input);
  define_chat(list, options.input);
  define_cutting(list, options);
  list.add_list("Model", kModelNames, "FILE",
                "given twice: two models to compare on one TEXT, as a base and a fine-tune, or F16 "
                "and Q4_K; else the model of both texts (default: demo, the embedded one)",
                options.models);
  define_strict(list, options.talk);
  define_random(list, options);
  define_attention(list, options, "all; with --head the change of each of these is drawn");
  list.add_flag("Output", "--map", "a map of all heads in place of the table, as pictures have it",
                options.map);
  list.add_value("Output", "--top", "N", "only the first N heads of the table; 0: all (default 12)",
                 options.top, count_between(0, 1'000'000));
  list.add_value("Output", "--threshold", "SHARE",
                 "two models: from where on their residual streams are called apart (default 0.05)",
                 options.threshold, parse_share);
  define_files(list, options.output, Result::kReport);
  define_drawing(list, options.drawing);
  define_run(list, options);
}

namespace {

[[noreturn]] void fail_diff(const std::string& what) {
  throw Error(ErrorKind::kUsage,
              "diff compares two texts in one model, or one text in two models" + what);
}

bool is_blank(const std::string& text) {
  return words_of(text).empty();
}

}  // namespace

void settle_compared(DiffOptions& options) {
  std::vector<std::string>& texts = options.texts;
  std::move(options.other_texts.begin(), options.other_texts.end(), std::back_inserter(texts));
  options.other_texts.clear();
  const std::vector<std::string>& models = options.models;
  const InputOptions& input = options.input;
  if (texts.size() > 2 || models.size() > 2) {
    fail_diff(fmt::format(": found {} and {}", counted(texts.size(), "text"),
                          counted(models.size(), "model")));
  }
  if (models.size() == 2) {
    if (texts.size() == 2) {
      fail_diff(": found two of both; leave out a text or a model");
    }
    if (!texts.empty() && (input.file || input.ids)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--text and {} exclude each other", input.messages ? "--messages"
                                                                  : input.file   ? "--file"
                                                                                 : "--ids"));
    }
    options.second = options.model;
    options.second->model = given_model(models[1]);
  } else if (texts.size() < 2) {
    fail_diff(
        texts.empty() && !input.is_given()
            ? std::string(", as in: attnviz diff --text \"The cat sat\" --text \"The dog sat\", "
                          "or attnviz diff -m A -m B TEXT")
            : std::string(": found one text and one model; give another --text, or another -m"));
  } else if (input.file || input.ids) {
    fail_diff(fmt::format(": {} gives a third text", input.file ? "--file" : "--ids"));
  }
  if (std::ranges::any_of(texts, is_blank)) {
    throw Error(ErrorKind::kUsage, "TEXT: empty or blank: there is nothing to look at");
  }
  if (!models.empty()) {
    options.model.model = given_model(models[0]);
  }
  if (!texts.empty()) {
    options.input.text = texts[0];
  }
}

}  // namespace attnviz::app
