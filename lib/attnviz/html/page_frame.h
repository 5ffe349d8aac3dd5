// The HTML around every page's data, joined at build time from assets/page.
#pragma once

#include <span>

namespace attnviz {

extern const std::span<const unsigned char> kPageFrame;

}  // namespace attnviz
