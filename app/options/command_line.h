// Parses the command line into a Command; describes the commands for help, man page and shells.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/advice.h"
#include "options/command_options.h"
#include "options/option_parser.h"

namespace attnviz::app {

/// Whether a word names a model, on this machine or among the well-known ones. `beside_sentence`:
/// the word next to it can only be the text, so names that are also everyday words count too.
using NamesModel = std::function<bool(const std::string& word, bool beside_sentence)>;

/// A parsed command line; everything it refers to must outlive it.
struct CommandLineWords {
  std::string command;  // empty: the default one
  const OptionList& options;
  const ParsedWords& parsed;
  const std::vector<std::string>& commands;  // their names
};

/// Throws Error{kUsage} for a line with more than one TEXT and suggests the line to type: a model
/// follows -m, the command comes first, options go before --, diff compares two sentences, and a
/// sentence is quoted.
[[noreturn]] void fail_two_texts(const CommandLineWords& line, const NamesModel& names_model);

/// Throws Error{kUsage} for a line of one word that is a command's name plus "s": "lessons".
void check_lone_word(const CommandLineWords& line);

/// The parsed command and its memory limit.
struct CommandLine {
  Command command;
  std::optional<double> max_memory = {};  // bytes
};

/// `arguments` without the program's name. The command comes first, or after its own options;
/// `help`, alone or before a command, means --help. Throws Error{kUsage}; --help and --version take
/// precedence over every other mistake.
CommandLine parse_command_line(std::vector<std::string> arguments, const NamesModel& names_model);

struct Example {
  std::string_view command;
  std::string_view text;
};

struct CommandDescription {
  std::string_view name;
  std::string_view summary;
  std::string_view usage;
  std::vector<Example> examples;
  std::vector<OptionSpec> options;         // by group, in the order of help; only to be read
  std::vector<OptionSpec> arguments = {};  // positional ones; only to be read
};

/// The default command (show) first.
std::vector<CommandDescription> describe_commands();

/// The commands' names, the default one first.
std::vector<std::string> command_names();

/// The files that a command writes: those of -o and --partial, without standard output. A name with
/// {line} contributes the part before it, which has the same folder, and the existing links whose
/// names begin with that part.
std::vector<std::filesystem::path> output_paths(const Command& command);

/// Whether --verbose was given.
bool is_verbose(const Command& command);

// Help, short help and the manual page.

/// Help of the command `name`, in lines of at most 80 columns, examples first. The first of
/// `commands` also lists the others.
std::string help_text(const std::vector<CommandDescription>& commands, std::string_view name);

/// The command's usage and most common options: at most 24 lines of at most 80 columns.
std::string short_help(const std::vector<CommandDescription>& commands, std::string_view name);

/// attnviz(1) in man(7) markup. `date` is YYYY-MM-DD.
std::string man_page(const std::vector<CommandDescription>& commands, std::string_view version,
                     std::string_view date);

// Shell completion, made from the option definitions: the program prints the candidates, and a
// short script for each shell asks for them.

/// A command line with a word to complete.
struct CompletedLine {
  std::string word = {};
  std::string before = {};  // the word before it
  std::string text = {};    // TEXT, if there is one
  bool is_first = false;    // the word may be a command
};

/// Candidates, one per line, whether or not they match what has been typed of the word. Some are
/// followed by a tab and a description; "<models>" and "<files>" stand for those that the shell
/// looks up.
std::string completion_lines(const std::vector<CommandDescription>& commands,
                             const OptionList& options, const CompletedLine& line);

extern const char* const kBashCompletion;
extern const char* const kZshCompletion;
extern const char* const kFishCompletion;

}  // namespace attnviz::app
