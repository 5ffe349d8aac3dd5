// Which files a command is going to write.
#pragma once

#include <filesystem>
#include <vector>

#include "options/options.h"

namespace attnviz::app {

/// What stands behind -o and --partial, standard output left out. Of a name with {line} what stands
/// before it, as the folder is the same, and links that are there under such names.
std::vector<std::filesystem::path> written_files(const Command& command);

/// Whether the person wants to hear of everything.
bool is_verbose(const Command& command);

}  // namespace attnviz::app
