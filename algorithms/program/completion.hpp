#pragma once
// Completion of a command line in a shell. The shell's script calls the program with the hidden
// word
// `__complete` and the words that were typed, the last of which is the one to complete:
//
//   troupe __complete train --algo p
//
// The program prints each word that fits as one line, followed by a tab and a few words of help. If
// none fits and a path may stand there, it prints the line :files or :directories.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "algorithms/program/command_line.hpp"

namespace troupe::command {

/// Returns the lines for the shell. The values of an option depend on the name of its argument:
///
/// - `{a,b}`: these words, also of a CLI::IsMember
/// - ALGORITHM, ENVIRONMENT, TASK and OPTION=VALUE: what `names` returns
/// - RUN: the run directories below --runs, or else a path
/// - FILE and DIR: a path
///
/// A program's own command has values completed by `option->type_name("FILE")`.
std::string complete(const CLI::App& app, const std::vector<std::string>& words,
                     const name_source& names);

/// Returns the script that has a shell (bash, zsh or fish) complete the program's command lines.
std::string completion_script(const std::string& shell, const std::string& program);

}  // namespace troupe::command
