#include "attnviz/text/tokenizers/token_decoder.h"

#include <array>
#include <utility>

#include "attnviz/text/tokenizers/byte_level.h"

namespace attnviz {

namespace {

using StepKind = DecoderStep::Kind;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty() || text.find(from) == std::string::npos) {
    return;
  }
  std::string out;
  std::size_t done = 0;
  for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, done)) {
    out.append(text, done, i - done);
    out += to;
    done = i + from.size();
  }
  out.append(text, done);
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

// What a step does to each piece, wherever it stands.
void change_piece(const DecoderStep& step, std::string& piece) {
  switch (step.kind) {
    case StepKind::kByteLevel:
      piece = byte_level_decoded(piece);
      break;
    case StepKind::kByteFallback:
      replace_byte(piece);
      break;
    case StepKind::kMetaspace:
      replace_all(piece, step.from, " ");
      break;
    case StepKind::kReplace:
      replace_all(piece, step.from, step.to);
      break;
    case StepKind::kFuse:
    case StepKind::kStrip:
    case StepKind::kWordPiece:
    case StepKind::kWordEnd:
      break;
  }
}

void strip_front(std::string& text, std::string_view what, std::size_t& count) {
  while (count > 0 && !what.empty() && text.starts_with(what)) {
    text.erase(0, what.size());
    --count;
  }
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
    replace_all(text, from, to);
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
    replace_all(pieces[i].text, step.from, i + 1 < pieces.size() ? " " : "");
  }
}

}  // namespace

std::string Decoder::piece_text(std::string_view piece) const {
  std::string text(piece);
  for (const DecoderStep& step : steps_) {
    change_piece(step, text);
  }
  return text;
}

void Decoder::decode(std::vector<Piece>& pieces) const {
  bool is_fused = false;
  for (const DecoderStep& step : steps_) {
    for (Piece& piece : pieces) {
      if (!piece.is_literal) {
        change_piece(step, piece.text);
      }
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
