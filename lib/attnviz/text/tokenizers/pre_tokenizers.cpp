#include "attnviz/text/tokenizers/pre_tokenizers.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/byte_level.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

struct Part {
  ByteRange range;
  bool is_place;
};

// The lists that are made for a word of any length.
constexpr std::uint64_t kWorkOfWord = 32;

// Finds the matches in a word, as ranges of the word.
using FindPlaces = std::function<std::vector<ByteRange>(std::string_view word)>;

std::vector<Part> parts_of(std::string_view word, const std::vector<ByteRange>& places,
                           bool invert) {
  std::vector<Part> parts;
  parts.reserve(2 * places.size() + 1);
  std::size_t done = 0;
  const auto add_between = [&](std::size_t end) {
    if (done < end) {
      parts.push_back({{done, end}, invert});
    }
  };
  for (const ByteRange& place : places) {
    add_between(place.begin);
    parts.push_back({place, !invert});
    done = place.end;
  }
  add_between(word.size());
  return parts;
}

// Appends the words made from the parts of a word that begins at `offset`.
void append_words(const std::vector<Part>& parts, CutBehavior behavior, std::size_t offset,
                  std::vector<ByteRange>& words) {
  const std::size_t first = words.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const bool after_place = i > 0 && parts[i - 1].is_place;
    bool joins_previous = false;
    switch (behavior) {
      case CutBehavior::kRemoved:
        if (part.is_place) {
          continue;
        }
        break;
      case CutBehavior::kIsolated:
        break;
      case CutBehavior::kMergedWithPrevious:
        joins_previous = part.is_place && !after_place;
        break;
      case CutBehavior::kMergedWithNext:
        joins_previous = !part.is_place && after_place;
        break;
      case CutBehavior::kContiguous:
        joins_previous = i > 0 && part.is_place == after_place;
        break;
    }
    const ByteRange range{offset + part.range.begin, offset + part.range.end};
    if (joins_previous && words.size() > first) {
      words.back().end = range.end;
    } else {
      words.push_back(range);
    }
  }
  // Matches may be empty, such as ends of words: they cut, but are not words.
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first);
  words.erase(std::remove_if(begin, words.end(), [](ByteRange range) { return range.size() == 0; }),
              words.end());
}

template <class Find>
void cut_words(WordCut& cut, const Find& find, CutBehavior behavior, bool invert) {
  std::vector<ByteRange> words;
  words.reserve(cut.words.size());
  cut.text.work(kWorkOfWord * cut.words.size());
  for (const ByteRange& word : cut.words) {
    const std::string_view text = cut.text.text(word);
    append_words(parts_of(text, find(text), invert), behavior, word.begin, words);
  }
  cut.words = std::move(words);
}

PreTokenizer cut_at(FindPlaces find, CutBehavior behavior, bool invert) {
  return [find = std::move(find), behavior, invert](WordCut& cut) {
    cut_words(cut, find, behavior, invert);
  };
}

std::vector<ByteRange> find_string(std::string_view text, std::string_view pattern) {
  std::vector<ByteRange> places;
  std::size_t i = pattern.empty() ? std::string_view::npos : text.find(pattern);
  while (i != std::string_view::npos) {
    places.push_back({i, i + pattern.size()});
    i = text.find(pattern, i + pattern.size());
  }
  return places;
}

// Rebuilds the text word by word: `rewrite(builder, word)` returns the number of bytes that it
// made.
template <class Rewrite>
void rewrite_words(WordCut& cut, const Rewrite& rewrite) {
  AlignedBuilder builder(cut.text);
  std::vector<ByteRange> words;
  words.reserve(cut.words.size());
  std::size_t size = 0;
  for (const ByteRange& word : cut.words) {
    const std::size_t begin = size;
    size += rewrite(builder, word);
    words.push_back({begin, size});
  }
  cut.text = builder.finish();
  cut.words = std::move(words);
}

std::size_t put(AlignedBuilder& builder, std::string_view text, ByteRange range) {
  builder.put(text, range);
  return text.size();
}

}  // namespace

PreTokenizer regex_cut(Regex pattern, CutBehavior behavior, bool invert) {
  return [pattern = std::move(pattern), behavior, invert](WordCut& cut) {
    RegexSearch search(pattern, cut.text.size(), cut.text.steps());
    const auto find = [&](std::string_view word) { return search.find_all(word); };
    cut_words(cut, find, behavior, invert);
  };
}

PreTokenizer string_cut(std::string pattern, CutBehavior behavior, bool invert) {
  return cut_at(
      [pattern = std::move(pattern)](std::string_view text) { return find_string(text, pattern); },
      behavior, invert);
}

PreTokenizer character_cut(bool (*is_place)(char32_t), CutBehavior behavior) {
  const auto find = [is_place](std::string_view text) {
    std::vector<ByteRange> places;
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint point = decode_utf8(text, i);
      if (point.valid && is_place(point.value)) {
        places.push_back({i, i + point.length});
      }
      i += point.length;
    }
    return places;
  };
  return cut_at(find, behavior, /*invert=*/false);
}

PreTokenizer bert_cut() {
  std::vector<PreTokenizer> stages;
  stages.push_back(character_cut(is_white_space, CutBehavior::kRemoved));
  stages.push_back(character_cut(is_punctuation, CutBehavior::kIsolated));
  return sequence_cut(std::move(stages));
}

PreTokenizer class_cut(int (*class_of)(char32_t)) {
  const auto find_runs = [class_of](std::string_view text) {
    std::vector<ByteRange> runs;
    int last = 0;
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint point = decode_utf8(text, i);
      const int found = point.valid ? class_of(point.value) : 0;
      if (found != 0 && found == last) {
        runs.back().end = i + point.length;
      } else if (found != 0) {
        runs.push_back({i, i + point.length});
      }
      last = found;
      i += point.length;
    }
    return runs;
  };
  return cut_at(find_runs, CutBehavior::kRemoved, /*invert=*/true);
}

PreTokenizer script_cut() {
  const auto find_words = [](std::string_view text) {
    std::vector<ByteRange> words;
    const char* last = nullptr;
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint point = decode_utf8(text, i);
      const char* const script =
          point.valid && point.value != U' ' ? joined_script(point.value) : nullptr;
      if (script != nullptr && script != last) {
        words.push_back({i, i});
        last = script;
      }
      i += point.length;
      if (!words.empty()) {
        words.back().end = i;
      }
    }
    return words;
  };
  return cut_at(find_words, CutBehavior::kRemoved, /*invert=*/true);
}

PreTokenizer byte_level(bool add_prefix_space, bool use_regex) {
  std::optional<Regex> pattern;
  if (use_regex) {
    pattern.emplace(kGpt2Pattern, "");
  }
  return [add_prefix_space, pattern](WordCut& cut) {
    if (add_prefix_space) {
      rewrite_words(cut, [&](AlignedBuilder& builder, ByteRange word) {
        std::size_t size = word.size();
        if (!cut.text.text(word).starts_with(' ')) {
          size += put(builder, " ", {word.begin, word.begin});
        }
        builder.keep(word);
        return size;
      });
    }
    if (pattern) {
      regex_cut(*pattern, CutBehavior::kIsolated, /*invert=*/false)(cut);
    }
    rewrite_words(cut, [&](AlignedBuilder& builder, ByteRange word) {
      std::size_t size = 0;
      for (std::size_t i = word.begin; i < word.end; ++i) {
        const auto byte = static_cast<unsigned char>(cut.text.text()[i]);
        size += put(builder, byte_level_character(byte), {i, i + 1});
      }
      return size;
    });
  };
}

PreTokenizer metaspace(std::string replacement, PrependScheme scheme, bool split) {
  return [replacement = std::move(replacement), scheme, split](WordCut& cut) {
    rewrite_words(cut, [&](AlignedBuilder& builder, ByteRange word) {
      const std::string_view text = cut.text.text(word);
      const bool is_wanted = scheme == PrependScheme::kAlways ||
                             (scheme == PrependScheme::kFirst && cut.text.source(word).begin == 0);
      std::size_t size = 0;
      if (is_wanted && !text.starts_with(' ') && !text.starts_with(replacement)) {
        size += put(builder, replacement, {word.begin, word.begin});
      }
      for (std::size_t i = word.begin; i < word.end;) {
        std::size_t end = cut.text.text().substr(0, word.end).find(' ', i);
        end = end == std::string_view::npos ? word.end : end;
        builder.keep({i, end});
        size += end - i;
        if (end < word.end) {
          size += put(builder, replacement, {end, end + 1});
          ++end;
        }
        i = end;
      }
      return size;
    });
    if (split) {
      string_cut(replacement, CutBehavior::kMergedWithNext, /*invert=*/false)(cut);
    }
  };
}

PreTokenizer mark_cut(std::string mark) {
  const auto find_words = [mark = std::move(mark)](std::string_view text) {
    std::vector<ByteRange> words;
    std::size_t begin = 0;
    for (std::size_t i = text.find(mark); i != std::string_view::npos;) {
      if (i > begin) {
        words.push_back({begin, i});
      }
      begin = i;
      while (text.substr(i).starts_with(mark)) {
        i += mark.size();
      }
      i = text.find(mark, i);
    }
    words.push_back({begin, text.size()});
    return words;
  };
  return cut_at(find_words, CutBehavior::kIsolated, /*invert=*/false);
}

PreTokenizer sequence_cut(std::vector<PreTokenizer> stages) {
  return [stages = std::move(stages)](WordCut& cut) {
    for (const PreTokenizer& stage : stages) {
      if (stage) {
        cut.text.pass();
        stage(cut);
      }
    }
  };
}

}  // namespace attnviz
