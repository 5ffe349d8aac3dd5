// What the program gives up before it looks at anything that somebody else has made.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace attnviz::app {

/// Takes from this process, for good and as far as the system can, what no command needs: sockets,
/// other programs, a look into other processes, and writing anywhere but into the folders of
/// `outputs`, where files take their names, and into `outputs` themselves. Reading stays: models,
/// fonts and what they refer to may lie anywhere. Call it before a second thread is there.
///
/// Returns what the system could not do, as a sentence without its end, or nothing.
std::string enter_sandbox(std::span<const std::filesystem::path> outputs);

}  // namespace attnviz::app
