#include "attnviz/html/page_file.h"

#include <span>
#include <stdexcept>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// The frame up to a mark; what is behind it stays in `frame`.
std::string_view up_to(std::string_view& frame, std::string_view mark) {
  const std::size_t at = frame.find(mark);
  if (at == std::string_view::npos) {
    throw std::logic_error("the page's frame lacks a mark");
  }
  const std::string_view part = frame.substr(0, at);
  frame.remove_prefix(at + mark.size());
  return part;
}

}  // namespace

std::string browser_label(std::string text) {
  constexpr std::string_view kOfPictures = "␠";
  for (std::size_t at = 0; (at = text.find(kOfPictures, at)) != std::string::npos;) {
    text.replace(at, kOfPictures.size(), "␣");
  }
  return text;
}

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char sign : printable_message(text)) {
    switch (sign) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += sign;
    }
  }
  return safe;
}

void write_page(std::string_view title, std::string_view body,
                const std::function<void(const ByteSink&)>& write_data, const ByteSink& sink) {
  std::string_view frame(reinterpret_cast<const char*>(kPageFrame.data()), kPageFrame.size());
  sink(up_to(frame, "@title@"));
  sink(html_text(title));
  sink(up_to(frame, "@body@"));
  sink(body);
  sink(up_to(frame, "@data@"));
  // JSON has < in strings only.
  write_data([&sink](std::string_view json) {
    while (!json.empty()) {
      const std::size_t at = json.find('<');
      sink(json.substr(0, at));
      if (at == std::string_view::npos) {
        return;
      }
      sink("\\u003c");
      json.remove_prefix(at + 1);
    }
  });
  sink(frame);
}

}  // namespace attnviz
