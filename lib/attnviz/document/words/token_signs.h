// The signs that labels of tokens carry where these are no plain words of the text.
#pragma once

#include <string>
#include <vector>

#include "attnviz/text/token_marks.h"

namespace attnviz {

/// Puts "*" before the labels of special tokens and "+" before those of generated ones.
void mark_labels(const TokenMarks& marks, std::vector<std::string>& labels);

/// What these signs mean, in one line; empty when no label has one.
std::string marks_note(const TokenMarks& marks);

}  // namespace attnviz
