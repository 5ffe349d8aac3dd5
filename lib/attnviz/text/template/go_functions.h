// Functions of Go's templates, and those that Ollama adds.
#pragma once

#include <string>
#include <vector>

#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/go_template.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

/// What an action prints: nothing for what is not there.
std::string go_text(const Value& value, Budget& budget);

/// All but "and" and "or", which may not look at all of their arguments. Throws Error{kMalformed}
/// for arguments that a function does not take, and for one that nobody knows.
Value go_call(const std::string& name, const std::vector<Value>& arguments, const GoDates& dates,
              Budget& budget);

}  // namespace attnviz::templates
