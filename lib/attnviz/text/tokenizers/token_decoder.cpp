#include "attnviz/text/tokenizers/token_decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/tokenizers/byte_level.h"

namespace attnviz {

namespace {

using StepKind = DecoderStep::Kind;

// The limit for a decoded piece. Two decoders that each make it ten thousand times as long would
// exceed any memory.
struct MostBytes {
  MostBytes(std::string_view of, std::size_t piece_size) noexcept
      : where(of), count(kTimes * piece_size + kAlways) {}

  std::string_view where;  // prefix of the message
  std::size_t count;

 private:
  static constexpr std::size_t kTimes = 64;
  static constexpr std::size_t kAlways = std::size_t{1} << 12;
};

void replace_all(std::string& text, std::string_view from, std::string_view to,
                 const MostBytes& most) {
  if (from.empty() || text.find(from) == std::string::npos) {
    return;
  }
  std::string out;
  const auto append = [&](std::string_view part) {
    if (part.size() > most.count - std::min(most.count, out.size())) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}makes a piece longer and longer: expected at most {} bytes, found "
                              "more",
                              most.where, most.count));
    }
    out += part;
  };
  std::size_t done = 0;
  for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, done)) {
    append(std::string_view(text).substr(done, i - done));
    append(to);
    done = i + from.size();
  }
  append(std::string_view(text).substr(done));
  text = std::move(out);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "<0x0A>" to the byte.
void replace_byte(std::string& piece) {
  if (piece.size() == 6 && piece.starts_with("<0x") && piece[5] == '>') {
    const int high = hex_value(piece[3]);
    const int low = hex_value(piece[4]);
    if (high >= 0 && low >= 0) {
      piece.assign(1, static_cast<char>(16 * high + low));
    }
  }
}

// Applies a step that changes each piece independently of its position.
void change_piece(const DecoderStep& step, std::string& piece, const MostBytes& most) {
  switch (step.kind) {
    case StepKind::kByteLevel:
      piece = byte_level_decoded(piece);
      break;
    case StepKind::kByteFallback:
      replace_byte(piece);
      break;
    case StepKind::kMetaspace:
      replace_all(piece, step.from, " ", most);
      break;
    case StepKind::kReplace:
      replace_all(piece, step.from, step.to, most);
      break;
    case StepKind::kFuse:
    case StepKind::kStrip:
    case StepKind::kWordPiece:
    case StepKind::kWordEnd:
      break;
  }
}

void strip_front(std::string& text, std::string_view what, std::size_t& count) {
  std::string_view rest = text;
  for (; count > 0 && !what.empty() && rest.starts_with(what); --count) {
    rest.remove_prefix(what.size());
  }
  text.erase(0, text.size() - rest.size());
}

void strip_back(std::string& text, std::string_view what, std::size_t& count) {
  while (count > 0 && !what.empty() && text.ends_with(what)) {
    text.resize(text.size() - what.size());
    --count;
  }
}

void strip(const DecoderStep& step, bool is_fused, std::vector<Decoder::Piece>& pieces) {
  if (!is_fused) {
    for (Decoder::Piece& piece : pieces) {
      std::size_t front = step.count;
      std::size_t back = step.count_end;
      strip_front(piece.text, step.from, front);
      strip_back(piece.text, step.from, back);
    }
    return;
  }
  std::size_t front = step.count;
  for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
    strip_front(piece->text, step.from, front);
    if (!piece->text.empty()) {
      break;
    }
  }
  std::size_t back = step.count_end;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    strip_back(piece->text, step.from, back);
    if (!piece->text.empty()) {
      break;
    }
  }
}

void clean_up(std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kChanges = {{
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" do not", " don't"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  }};
  for (const auto& [from, to] : kChanges) {
    replace_all(text, from, to, {{}, text.size()});  // all of these make it shorter
  }
}

void join_words(const DecoderStep& step, std::vector<Decoder::Piece>& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string& text = pieces[i].text;
    if (i > 0 && !step.from.empty() && text.starts_with(step.from)) {
      text.erase(0, step.from.size());
    } else if (i > 0) {
      text.insert(text.begin(), ' ');
    }
    if (step.cleanup) {
      clean_up(text);
    }
  }
}

void end_words(const DecoderStep& step, std::vector<Decoder::Piece>& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string& text = pieces[i].text;
    replace_all(text, step.from, i + 1 < pieces.size() ? " " : "", {{}, text.size()});
  }
}

}  // namespace

void check_piece_bytes(std::size_t n_bytes, std::size_t n_pieces, std::string_view where) {
  constexpr std::size_t kAlways = std::size_t{1} << 20;
  constexpr std::size_t kPerPiece = 256;
  const std::size_t most = kAlways + kPerPiece * n_pieces;
  if (n_bytes > most) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected at most {} bytes in {} of a text, found more", where, most,
                            counted(n_pieces, "piece")));
  }
}

std::string Decoder::piece_text(std::string_view piece) const {
  std::string text(piece);
  for (const DecoderStep& step : steps_) {
    change_piece(step, text, {where_, piece.size()});
  }
  return text;
}

void Decoder::decode(std::vector<Piece>& pieces) const {
  bool is_fused = false;
  std::vector<MostBytes> most;
  most.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    most.emplace_back(where_, piece.text.size());
  }
  for (const DecoderStep& step : steps_) {
    std::size_t n_bytes = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!pieces[i].is_literal) {
        change_piece(step, pieces[i].text, most[i]);
      }
      n_bytes += pieces[i].text.size();
      check_piece_bytes(n_bytes, pieces.size(), where_);
    }
    if (step.kind == StepKind::kFuse) {
      is_fused = true;
    } else if (step.kind == StepKind::kStrip) {
      strip(step, is_fused, pieces);
    } else if (step.kind == StepKind::kWordPiece) {
      join_words(step, pieces);
    } else if (step.kind == StepKind::kWordEnd) {
      end_words(step, pieces);
    } else if (step.kind == StepKind::kMetaspace && step.count != 0 && !pieces.empty() &&
               !pieces.front().is_literal && pieces.front().text.starts_with(' ')) {
      pieces.front().text.erase(0, 1);
    }
  }
}

}  // namespace attnviz
