// Words that stand for others.
#pragma once

#include <string_view>

namespace attnviz {

/// Whether a token is a personal pronoun of English of the third person ("it", " She", "them"),
/// spaces before it and capital letters aside.
bool is_pronoun(std::string_view piece) noexcept;

}  // namespace attnviz
