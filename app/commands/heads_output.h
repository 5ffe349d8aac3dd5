// Where scores of heads go, and what they are judged by.
#pragma once

#include <cstddef>
#include <string>

#include "attnviz/document/heads_document.h"
#include "options/options.h"
#include "outputs/outputs.h"

namespace attnviz::app {

/// Before slow work. Throws Error{kUsage} for names that are asked of what earns none.
void check_expected_names(const HeadsOptions& options);

/// "interrupted after line 7".
std::string interrupted_note(std::size_t line);

/// Throws what Outputs::write() throws, Error{kInterrupted} for a document that was interrupted,
/// and Error{kUnexpected} for one that is not as --expect has it: also where nobody reads it to its
/// end.
void write_and_judge(Outputs& outputs, const HeadsOptions& options, const HeadsDocument& document);

}  // namespace attnviz::app
