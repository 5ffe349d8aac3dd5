#include "attnviz/text/tokenizers/pre_tokenizers.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/byte_level.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

// Rebuilds a text character by character: `change(builder, value, range)` replaces or keeps it.
template <class Change>
void each_character(AlignedText& text, const Change& change) {
  AlignedBuilder builder(text);
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text.text(), i);
    const ByteRange range{i, i + point.length};
    if (point.valid) {
      change(builder, point.value, range);
    } else {
      builder.keep(range);
    }
    i = range.end;
  }
  text = builder.finish();
}

template <class Drop>
void leave_out(AlignedText& text, const Drop& drop) {
  each_character(text, [&](AlignedBuilder& builder, char32_t point, ByteRange range) {
    if (!drop(point)) {
      builder.keep(range);
    }
  });
}

bool is_jamo_that_continues(char32_t point) noexcept {
  return (point >= 0x1160 && point <= 0x11FF) || (point >= 0xD7B0 && point <= 0xD7FF);
}

// Whether a character may change, or be changed by, the one before it: marks and parts of Hangul
// syllables, which include all characters that compose in pairs. Compatibility jamo count if
// `options` turn them into other jamo.
bool continues(char32_t point, utf8proc_option_t options) noexcept {
  if (point < 0x300) {
    return false;
  }
  if (point >= 0x3131 && point <= 0x318E && (options & UTF8PROC_COMPAT) != 0) {
    utf8proc_int32_t jamo = 0;
    int boundary_class = 0;
    return utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point), &jamo, 1, options,
                                   &boundary_class) == 1 &&
           is_jamo_that_continues(static_cast<char32_t>(jamo));
  }
  return is_mark(point) || is_jamo_that_continues(point) || (point >= 0xFF9E && point <= 0xFFDC);
}

struct Cluster {
  ByteRange range;
  std::vector<utf8proc_int32_t> points;
};

// Reads a character at `begin` with those that continue it. The limit is needed because utf8proc
// orders marks by insertion, in quadratic time.
void read_cluster(std::string_view text, std::size_t begin, utf8proc_option_t options,
                  Cluster& cluster) {
  constexpr std::size_t kLongest = 256;
  cluster.range = {begin, begin};
  cluster.points.clear();
  while (cluster.range.end < text.size() && cluster.points.size() < kLongest) {
    const CodePoint point = decode_utf8(text, cluster.range.end);
    if (!cluster.points.empty() && (!point.valid || !continues(point.value, options))) {
      return;
    }
    cluster.range.end += point.length;
    if (!point.valid) {
      return;
    }
    cluster.points.push_back(static_cast<utf8proc_int32_t>(point.value));
  }
}

utf8proc_option_t options_of(UnicodeForm form) {
  int options = UTF8PROC_STABLE;
  if (form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc) {
    options |= UTF8PROC_COMPOSE;
  } else {
    options |= UTF8PROC_DECOMPOSE;
  }
  if (form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd) {
    options |= UTF8PROC_COMPAT;
  }
  return static_cast<utf8proc_option_t>(options);
}

std::string normalized(const Cluster& cluster, std::string_view text, utf8proc_option_t options) {
  const std::string_view bytes =
      text.substr(cluster.range.begin, cluster.range.end - cluster.range.begin);
  // A character decomposes into at most 18 others.
  std::vector<utf8proc_int32_t> points(18 * cluster.points.size());
  const utf8proc_ssize_t n_points =
      utf8proc_decompose(reinterpret_cast<const utf8proc_uint8_t*>(bytes.data()),
                         static_cast<utf8proc_ssize_t>(bytes.size()), points.data(),
                         static_cast<utf8proc_ssize_t>(points.size()), options);
  if (n_points < 0 || static_cast<std::size_t>(n_points) > points.size()) {
    return std::string(bytes);
  }
  const utf8proc_ssize_t n_left = utf8proc_normalize_utf32(points.data(), n_points, options);
  std::string out;
  for (utf8proc_ssize_t i = 0; i < n_left; ++i) {
    append_utf8(out, static_cast<char32_t>(points[static_cast<std::size_t>(i)]));
  }
  return out;
}

void normalize(AlignedText& text, UnicodeForm form) {
  if (is_ascii(text.text())) {
    return;
  }
  constexpr std::uint64_t kPerByte = 27;
  text.pass(kPerByte);
  const utf8proc_option_t options = options_of(form);
  AlignedBuilder builder(text);
  Cluster cluster;
  for (std::size_t i = 0; i < text.size(); i = cluster.range.end) {
    read_cluster(text.text(), i, options, cluster);
    const bool is_plain =
        cluster.points.empty() || (cluster.points.size() == 1 && cluster.points[0] < 0x80);
    const std::string out = is_plain ? std::string() : normalized(cluster, text.text(), options);
    if (is_plain || out == text.text(cluster.range)) {
      builder.keep(cluster.range);
    } else {
      builder.put(out, cluster.range);
    }
  }
  text = builder.finish();
}

void replace_ranges(AlignedText& text, const std::vector<ByteRange>& ranges, std::string_view to) {
  if (ranges.empty()) {
    return;
  }
  constexpr std::uint64_t kWorkOfRange = 24;  // an item in a list, and two pieces of text
  text.work(kWorkOfRange * ranges.size());
  AlignedBuilder builder(text);
  std::size_t done = 0;
  for (const ByteRange& range : ranges) {
    builder.keep({done, range.begin});
    builder.put(to, range);
    done = range.end;
  }
  builder.keep({done, text.size()});
  text = builder.finish();
}

void lower(AlignedText& text) {
  std::string buffer;
  each_character(text, [&](AlignedBuilder& builder, char32_t point, ByteRange range) {
    buffer.clear();
    append_lower(buffer, point);
    if (buffer == text.text(range)) {
      builder.keep(range);
    } else {
      builder.put(buffer, range);
    }
  });
}

void clean_for_bert(AlignedText& text) {
  each_character(text, [](AlignedBuilder& builder, char32_t point, ByteRange range) {
    // White space that is also a control character, such as a vertical tab, is treated as a
    // control.
    if (point == '\t' || point == '\n' || point == '\r' ||
        (is_white_space(point) && !is_control(point))) {
      builder.put(" ", range);
    } else if (point != 0xFFFD && !is_control(point)) {
      builder.keep(range);
    }
  });
}

void space_out_han(AlignedText& text) {
  each_character(text, [](AlignedBuilder& builder, char32_t point, ByteRange range) {
    if (is_han(point)) {
      builder.put(" ", {range.begin, range.begin});
      builder.keep(range);
      builder.put(" ", {range.end, range.end});
    } else {
      builder.keep(range);
    }
  });
}

}  // namespace

Normalizer unicode_normalizer(UnicodeForm form) {
  return [form](AlignedText& text) { normalize(text, form); };
}

Normalizer lowercase_normalizer() {
  return lower;
}

Normalizer strip_accents_normalizer() {
  return [](AlignedText& text) { leave_out(text, is_mark); };
}

Normalizer strip_normalizer(bool left, bool right) {
  return [left, right](AlignedText& text) {
    ByteRange kept{text.size(), 0};
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint point = decode_utf8(text.text(), i);
      if (!point.valid || !is_white_space(point.value)) {
        kept = {std::min(kept.begin, i), i + point.length};
      }
      i += point.length;
    }
    if (kept.end == 0) {  // all white space
      kept = left || right ? ByteRange{} : ByteRange{0, text.size()};
    }
    kept = {left ? kept.begin : 0, right ? kept.end : text.size()};
    if (kept.begin > 0 || kept.end < text.size()) {
      AlignedBuilder builder(text);
      builder.keep({kept.begin, std::max(kept.begin, kept.end)});
      text = builder.finish();
    }
  };
}

Normalizer prepend_normalizer(std::string prefix) {
  return [prefix = std::move(prefix)](AlignedText& text) {
    if (text.size() > 0) {
      replace_ranges(text, {{0, 0}}, prefix);
    }
  };
}

Normalizer replace_normalizer(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](AlignedText& text) {
    std::vector<ByteRange> found;
    for (std::size_t i = 0; !from.empty();) {
      const std::size_t begin = text.text().find(from, i);
      if (begin == std::string_view::npos) {
        break;
      }
      i = begin + from.size();
      found.push_back({begin, i});
    }
    replace_ranges(text, found, to);
  };
}

Normalizer replace_normalizer(Regex from, std::string to) {
  return [from = std::move(from), to = std::move(to)](AlignedText& text) {
    RegexSearch search(from, text.size(), text.steps());
    replace_ranges(text, search.find_all(text.text()), to);
  };
}

Normalizer space_normalizer(SpaceNormalization options) {
  return [options = std::move(options)](AlignedText& text) {
    const std::string_view in = text.text();
    const auto next = [&](std::size_t i) {
      return options.removes_extra ? std::min(in.find_first_not_of(' ', i), in.size()) : i;
    };
    AlignedBuilder builder(text);
    std::size_t i = next(0);
    if (i < in.size() && options.adds_prefix &&
        (!options.only_at_beginning || text.begins_source())) {
      builder.put(options.space, {i, i});
    }
    const bool is_empty = i == in.size();
    while (i < in.size()) {
      const std::size_t end = std::min(in.find(' ', i), in.size());
      builder.keep({i, end});
      i = end;
      if (end < in.size()) {
        builder.put(options.space, {end, end + 1});
        i = next(end + 1);
      }
    }
    text = builder.finish();
    if (is_empty || !(options.removes_extra || options.adds_suffix)) {
      return;
    }
    std::size_t end = text.size();
    while (options.removes_extra && text.text().substr(0, end).ends_with(options.space)) {
      end -= options.space.size();
    }
    AlignedBuilder ending(text);
    ending.keep({0, end});
    if (options.adds_suffix) {
      ending.put(options.space, {end, end});
    }
    text = ending.finish();
  };
}

Normalizer bert_normalizer(const BertNormalization& options) {
  return [options](AlignedText& text) {
    if (options.clean_text) {
      clean_for_bert(text);
    }
    if (options.handle_chinese_chars && !is_ascii(text.text())) {
      space_out_han(text);
    }
    if (options.strip_accents && !is_ascii(text.text())) {
      normalize(text, UnicodeForm::kNfd);
      leave_out(text, is_spacing_free_mark);
    }
    if (options.lowercase) {
      lower(text);
    }
  };
}

Normalizer nmt_normalizer() {
  return [](AlignedText& text) {
    each_character(text, [](AlignedBuilder& builder, char32_t point, ByteRange range) {
      const bool is_control = (point >= 0x01 && point <= 0x08) || point == 0x0B ||
                              (point >= 0x0E && point <= 0x1F) || point == 0x7F || point == 0x8F ||
                              point == 0x9F;
      const bool is_space = point == 0x09 || point == 0x0A || point == 0x0C || point == 0x0D ||
                            point == 0x1680 || (point >= 0x200B && point <= 0x200F) ||
                            point == 0x2028 || point == 0x2029 || point == 0x2581 ||
                            point == 0xFEFF || point == 0xFFFD;
      if (is_space) {
        builder.put(" ", range);
      } else if (!is_control) {
        builder.keep(range);
      }
    });
  };
}

Normalizer byte_level_normalizer() {
  return [](AlignedText& text) {
    AlignedBuilder builder(text);
    for (std::size_t i = 0; i < text.size(); ++i) {
      builder.put(byte_level_character(static_cast<unsigned char>(text.text()[i])), {i, i + 1});
    }
    text = builder.finish();
  };
}

Normalizer sequence_normalizer(std::vector<Normalizer> stages) {
  return [stages = std::move(stages)](AlignedText& text) {
    for (const Normalizer& stage : stages) {
      if (stage) {
        text.pass();
        stage(text);
      }
    }
  };
}

}  // namespace attnviz
