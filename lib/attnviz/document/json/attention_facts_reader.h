// What attention JSON says of tokens, model, run and drawing, read back. Everything throws
// Error{kMalformed} at the place where something else stands than expected.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/run_facts.h"
#include "attnviz/formats/json_tree.h"

namespace attnviz {

/// Errors of our parsers for words say what is wrong; the file's place goes in front.
template <class Parse>
auto parsed(const JsonNode& node, const Parse& parse) {
  try {
    return parse(node.as_string());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUsage) {
      node.fail(error.what());
    }
    throw;
  }
}

/// A list of strings; `what` it is of, for the message.
std::vector<std::string> read_strings(const JsonNode& node, std::string_view what);

/// Whole numbers from 0.
std::vector<std::size_t> read_indices(const JsonNode& node);

/// A whole number; 0 when the object has none.
std::size_t read_size(const JsonNode& object, std::string_view key);

ModelFacts read_model(const JsonNode& node);
/// From the members of the document itself.
RunFacts read_run(const JsonNode& root);
Drawing read_drawing(const JsonNode& node);

}  // namespace attnviz
