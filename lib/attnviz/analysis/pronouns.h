// Words that stand for others.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

/// The personal pronoun of English of the third person that a word or a token is, in lower case:
/// "it" for " It" and "it,", "she" for "She's". Empty for all others ("its").
std::string pronoun_of(std::string_view word);

/// Whether a word or a token says something of its own: it has a letter, is none of a list of the
/// commonest function words of English, pronouns among them ("and", "the", "was", "didn't", "she"),
/// and no name of a token ("<s>", "[SEP]", "<0x0A>"). Punctuation around it does not count.
bool is_content_word(std::string_view word);

/// A token without the spaces that it begins with, or a tokenizer's signs for them (▁, Ġ). Of
/// spaces alone the last stays.
std::string_view without_spaces_before(std::string_view token);

}  // namespace attnviz
