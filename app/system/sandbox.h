// What the program gives up before it reads a model or a text.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace attnviz::app {

/// Takes from this process, for good and as far as the system can, what no command needs: sockets,
/// other programs, signals to other processes and a look into them, typing into the terminal, and
/// writing anywhere but into the folders of `outputs`, where files take their names, and into
/// `outputs` themselves, and below `folders`. Permissions of other files it may still change.
/// Reading stays: models, fonts and what they refer to may lie anywhere. Call it before a second
/// thread is there.
///
/// Returns what the system could not do, as a sentence without its end, or nothing.
std::string enter_sandbox(std::span<const std::filesystem::path> outputs,
                          std::span<const std::filesystem::path> folders);

}  // namespace attnviz::app
