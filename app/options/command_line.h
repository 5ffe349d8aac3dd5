// From the words of the command line to a Command, and what the commands say of themselves.
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

/// Whether a word names a model, on this machine or among those that many people know.
/// `beside_sentence`: what stands next to it can only be the text, so that names that are words of
/// a language, too, count.
using NamesModel = std::function<bool(const std::string& word, bool beside_sentence)>;

/// What was typed, taken apart; all of it must outlive this.
struct TypedLine {
  std::string command;  // empty: none, which is the default one
  const OptionList& options;
  const ParsedWords& parsed;
  const std::vector<std::string>& commands;  // their names
};

/// Throws Error{kUsage} for a line with more than one TEXT, with the line to type: a model goes
/// behind -m, the command comes first, options go before --, two sentences are compared by diff,
/// and a sentence is quoted.
[[noreturn]] void fail_two_texts(const TypedLine& line, const NamesModel& names_model);

/// Throws Error{kUsage} for a line of one word that is a command's name and an s: "lessons".
void check_lone_word(const TypedLine& line);

/// What a line asks for, and how much memory that may take.
struct CommandLine {
  Command command;
  std::optional<double> max_memory = {};  // bytes
};

/// `arguments` without the program's name. The command comes first, or behind options of its own;
/// `help`, alone or before a command, is --help. Throws Error{kUsage}; --help and --version win
/// over every other mistake.
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
  std::vector<OptionSpec> arguments = {};  // words without an option before them; only to be read
};

/// The default command (show) first.
std::vector<CommandDescription> describe_commands();

/// The commands' names, the default one first.
std::vector<std::string> command_names();

/// The files that a command writes: those of -o and --partial, without standard output. Of a name
/// with {line} the part before it, as the folder is the same, and links with such names.
std::vector<std::filesystem::path> output_paths(const Command& command);

/// Whether the person wants to hear of everything.
bool is_verbose(const Command& command);

// What is said of the commands: by --help, and in the manual page.

/// Help of the command `name`, lines of at most 80 columns, examples first. The first of `commands`
/// also lists the others.
std::string help_text(const std::vector<CommandDescription>& commands, std::string_view name);

/// At most 24 lines of at most 80 columns: how the command is used, and its most used options.
std::string short_help(const std::vector<CommandDescription>& commands, std::string_view name);

/// attnviz(1) in man(7) markup. `date` is YYYY-MM-DD.
std::string man_page(const std::vector<CommandDescription>& commands, std::string_view version,
                     std::string_view date);

// What a shell can propose, made from the option definitions: the program says it, and a few lines
// in each shell's language ask for it.

/// A line with a word to complete.
struct CompletedLine {
  std::string word = {};
  std::string before = {};  // the word before it
  std::string text = {};    // TEXT, if there is one
  bool is_first = false;    // of the line: it may be a command
};

/// Candidates, a line each, whether or not they fit what was typed of the word: some with a
/// tabulator and a description; "<models>" and "<files>" stand for those that the shell looks for.
std::string completion_lines(const std::vector<CommandDescription>& commands,
                             const OptionList& options, const CompletedLine& line);

extern const char* const kBashCompletion;
extern const char* const kZshCompletion;
extern const char* const kFishCompletion;

}  // namespace attnviz::app
