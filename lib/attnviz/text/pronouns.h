// Words that stand for others.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

/// The personal pronoun of English of the third person that a word or a token is, in lower case:
/// "it" for " It", "she" for "She's". Empty for all others ("its").
std::string pronoun_of(std::string_view word);

}  // namespace attnviz
