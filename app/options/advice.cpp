#include "options/advice.h"

#include <algorithm>
#include <string_view>

#include "options/shell_words.h"

namespace attnviz::app {

namespace {

constexpr std::string_view kModelOptions[] = {"-m", "--model", "-w", "--weights"};

bool takes_model(std::string_view word) {
  return std::ranges::find(kModelOptions, word) != std::end(kModelOptions);
}

// How many characters stand before a model's name in a word: 8 of "--model=out", 2 of "-mout".
std::size_t size_of_option(std::string_view word, std::string_view name) {
  const std::size_t size = word.size() - std::min(word.size(), name.size());
  const std::string_view option = word.substr(0, size);
  return word.ends_with(name) && (takes_model(option) || (option.ends_with('=') &&
                                                          takes_model(option.substr(0, size - 1))))
             ? size
             : 0;
}

}  // namespace

std::vector<std::string> OtherModelsError::lines(const std::vector<std::string>& words) const {
  std::vector<std::size_t> places;
  std::vector<std::size_t> texts;  // the same word elsewhere: `attnviz info out`
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word_) {
      (i > 0 && takes_model(words[i - 1]) ? places : texts).push_back(i);
    } else if (size_of_option(words[i], word_) > 0) {
      places.push_back(i);
    }
  }
  if (places.empty() && !texts.empty()) {
    places.push_back(texts.front());
  }
  std::vector<std::string> lines;
  for (const std::string& other : others_) {
    std::string line = "attnviz";
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_replaced = std::ranges::find(places, i) != places.end();
      const std::size_t size = size_of_option(words[i], word_);
      line += ' ' + typed_word(is_replaced ? words[i].substr(0, size) + other : words[i]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

namespace {

// What the library says of a parameter, and what stands for it: each once a message, in order.
struct Translation {
  std::string_view parameter;
  std::string_view words;
  std::string_view said;
};

constexpr Translation kTranslations[] = {
    {"average", "average", "--average"},
    {"average", "choose a rectangle of layers and heads, or all",
     "choose a rectangle with --layer and --head, or --average all"},
    {"d_model", "d_model", "--d-model"},
    {"d_model", "n_heads", "--heads"},
    {"d_model", "d_head", "--d-head"},
    {"drop_sink", "drop_sink", "--drop-sink"},
    {"expect", "expect", "--expect"},
    {"focus", "focus", "--focus"},
    {"focus", "drop_sink", "--drop-sink"},
    {"key_tokens", "key_tokens", "--key-tokens"},
    {"heads", "choose by layer", "choose it with --layer"},
    {"known", "known heads of gpt2", "--known gpt2"},
    {"n_ctx", "shorten it or take a model with a longer context",
     "shorten it, let --truncate left or right do it, or take a model with a longer context (-m)"},
    {"n_heads", "n_heads", "--heads"},
    {"n_kv_heads", "n_kv_heads", "--kv-heads"},
    {"n_kv_heads", "n_heads", "--heads"},
    {"n_layers", "n_layers", "--layers"},
    {"picture", "leave out the notes below it", "leave out the notes below it (--no-footer)"},
    {"picture", "a smaller width", "a smaller width (--width)"},
    {"picture", "smaller cells", "smaller cells (--cell)"},
    {"picture", "a lower resolution", "a lower resolution (--dpi)"},
    {"chat", "the model's own template renders a chat",
     "--chat renders one by the model's own template"},
    {"chat", "without the tokenizer's: bos false", "--no-bos leaves the tokenizer's out"},
    {"family", "families that are read", "families that attnviz info --families lists"},
    {"fold", "turns: the text", "--fold turns goes with --chat: the text"},
    {"focus", "no_special", "--no-special"},
    {"no_special", "no_special", "--no-special"},
    {"no_special", "drop_sink", "--drop-sink"},
    {"probe length", "take a shorter one", "take a shorter one (--probe-length, --probe-repeats)"},
    {"punctuation", "punctuation", "--punctuation"},
    {"picture", "larger cells", "larger cells (--cell)"},
    {"scale", "scale: scores", "--scale: scores"},
    {"scale", "the scale log or row-max", "--scale log or --scale row-max"},
    {"schema", "these are a model's weights", "weights are for attnviz -m FILE TEXT"},
    {"score", "score", "--score"},
    {"tokenizer", "the tokenizer \"bytes\"", "--tokenizer bytes"},
    {"tokens", "tokens", "--tokens"},
    {"width", "width", "--width"},
};

}  // namespace

std::string in_program_words(std::string message, std::string_view parameter) {
  for (const Translation& translation : kTranslations) {
    if (translation.parameter != parameter) {
      continue;
    }
    if (const std::size_t at = message.find(translation.words); at != std::string::npos) {
      message.replace(at, translation.words.size(), translation.said);
    }
  }
  return message;
}

}  // namespace attnviz::app
