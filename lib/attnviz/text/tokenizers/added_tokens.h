// Tokens that stand beside the vocabulary of the model: found in a text before anything is cut.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/aligned_text.h"
#include "attnviz/text/tokenizers/prefix_index.h"

namespace attnviz {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  // How it stands in a normalized text; nullopt: as it is normalized.
  std::optional<std::string> as_normalized = {};
  bool single_word = false;  // not inside a word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // … behind it
  bool normalized = false;   // looked for in the normalized text, not in the source
  bool special = false;
};

/// Finds tokens, the longest where several begin. Not copyable: it points into its own tokens.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  /// Throws Error{kUnsupported} for one that is longer than PrefixIndex::kLongestPiece.
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);
  AddedTokenFinder(const AddedTokenFinder&) = delete;
  AddedTokenFinder& operator=(const AddedTokenFinder&) = delete;
  AddedTokenFinder(AddedTokenFinder&&) = default;
  AddedTokenFinder& operator=(AddedTokenFinder&&) = default;

  struct Part {
    ByteRange range;
    std::optional<TokenId> id;  // nullopt: text between tokens
  };
  /// The whole text as parts, none of them empty.
  std::vector<Part> split(std::string_view text) const;

 private:
  std::vector<AddedToken> tokens_;
  PrefixIndex index_;
};

}  // namespace attnviz
