// The frame of every page: head, style, script, and where its data stand. The HTML around every
// page's data, joined at build time from assets/page.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/core/byte_sink.h"

namespace attnviz {

/// A label that pictures have, with a sign for spaces that fonts of browsers have: pictures draw
/// theirs themselves.
std::string browser_label(std::string text);

/// `text` where HTML has text or an attribute in double quotes, as printable_message() makes it.
std::string html_text(std::string_view text);

/// Writes one HTML document: its title, `body` as it is (HTML), and what `write_data` writes (JSON)
/// as data for the script, in which no < is left as it is. Its policy allows no script and no style
/// but the frame's, and nothing from elsewhere.
void write_page(std::string_view title, std::string_view body,
                const std::function<void(const ByteSink&)>& write_data, const ByteSink& sink);

extern const std::span<const unsigned char> kPageFrame;

}  // namespace attnviz
