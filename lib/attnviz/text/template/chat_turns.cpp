#include "attnviz/text/template/chat_turns.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "attnviz/core/error.h"
#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/python.h"

namespace attnviz::templates {

namespace {

// A part of the text that does not belong to a turn yet, and whether it is the last one.
struct Gap {
  std::size_t begin, end;
  bool is_last;
};

class Turns {
 public:
  Turns(const Written& written, const ChatTemplate& with, std::span<const ChatMessage> messages)
      : text_(written.text), messages_(messages) {
    for (const Written::Part& part : written.parts) {
      if (part.message && !turns_.empty() && turns_.back().message == *part.message &&
          turns_.back().end == part.begin) {
        turns_.back().end = part.end;
      } else if (part.message) {
        turns_.push_back({*part.message, part.begin, part.end});
      }
    }
    const std::string_view bos = with.bos_token;
    begin_ = !bos.empty() && text_.starts_with(bos) ? bos.size() : 0;
    try {
      find_others();
    } catch (const Error& error) {
      throw Error(error.kind(),
                  fmt::format("{}: the turn of each message: {}", with.where, error.what()));
    }
  }

  std::vector<ChatTurn> take() && {
    for (ChatTurn& turn : turns_) {
      turn.begin = std::max(turn.begin, begin_);
      turn.role = messages_[turn.message].role;
    }
    std::erase_if(turns_, [](const ChatTurn& turn) { return turn.begin >= turn.end; });
    return std::move(turns_);
  }

 private:
  // Finds the messages without a turn by their text, outside the turns. A turn reaches from the
  // beginning of the template's words before it to that of the words before the next turn. Each
  // message is searched for after the previous ones.
  void find_others() {
    std::vector<bool> is_found(messages_.size());
    for (const ChatTurn& turn : turns_) {
      is_found[turn.message] = true;
    }
    std::vector<Gap> gaps = gaps_between();
    std::size_t first = 0;
    for (std::size_t message = 0; message < messages_.size(); ++message) {
      const std::string_view content = stripped(messages_[message].content, Side::kBoth);
      if (is_found[message] || content.empty()) {
        continue;
      }
      for (std::size_t i = first; i < gaps.size(); ++i) {
        Gap& gap = gaps[i];
        if (const std::optional<std::size_t> end = end_of(content, gap)) {
          turns_.push_back({message, gap.begin, gap.is_last ? *end : gap.end});
          gap.begin = turns_.back().end;
          first = i;
          break;
        }
      }
    }
    std::ranges::sort(turns_, {}, &ChatTurn::begin);
  }

  std::vector<Gap> gaps_between() const {
    std::vector<Gap> gaps;
    std::size_t begin = begin_;
    for (const ChatTurn& turn : turns_) {
      if (begin < turn.begin) {
        gaps.push_back({begin, turn.begin, false});
      }
      begin = std::max(begin_, turn.end);
    }
    gaps.push_back({begin, text_.size(), true});
    return gaps;
  }

  // Where the content ends in the gap; nothing if it is not there.
  std::optional<std::size_t> end_of(std::string_view content, const Gap& gap) {
    const std::string_view in = text_.substr(gap.begin, gap.end - gap.begin);
    const std::size_t found = budget_.find(in, content);
    return found == std::string_view::npos ? std::nullopt
                                           : std::optional(gap.begin + found + content.size());
  }

  std::string_view text_;
  std::span<const ChatMessage> messages_;
  std::size_t begin_ = 0;  // after the token that begins texts
  std::vector<ChatTurn> turns_;
  Budget budget_;
};

}  // namespace

std::vector<ChatTurn> chat_turns(const Written& written, const ChatTemplate& with,
                                 std::span<const ChatMessage> messages) {
  return Turns(written, with, messages).take();
}

}  // namespace attnviz::templates
