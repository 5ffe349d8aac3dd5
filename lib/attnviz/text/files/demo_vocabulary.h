// The embedded tokenizer's vocabulary as tables that the build makes: to read it from its file
// would take a third of a small run.
#pragma once

#include "attnviz/text/tokenizers/aligned_text.h"
#include "attnviz/text/tokenizers/vocabulary.h"

namespace attnviz {

extern const Vocabulary::Tables kDemoVocabulary;

/// Where it lies in the bytes of kDemoTokenizer.
extern const ByteRange kDemoVocabularyText;

}  // namespace attnviz
