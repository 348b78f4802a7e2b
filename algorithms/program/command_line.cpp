#include "algorithms/program/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/config/nearest_name.hpp"

namespace troupe::command {

namespace {

/// Suggests a known command for an unknown one, where CLI11 only says that it did not expect the
/// word. Throws std::invalid_argument.
void require_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) return;
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
  if (std::ranges::find(known, word) != known.end()) return;
  const auto nearest = nearest_name(word, known);
  std::string message = "unknown command \"" + word + "\";";
  if (!nearest.empty()) message += " did you mean \"" + nearest + "\"?";
  message += " known:";
  for (const auto& name : known) message += ' ' + name;
  throw std::invalid_argument(message);
}

/// The names that other programs give to options of `train`, each with ours.
constexpr std::pair<const char*, const char*> other_names[] = {
    {"--total-timesteps", "--steps"}, {"--n-timesteps", "--steps"}, {"--timesteps", "--steps"},
    {"--total-steps", "--steps"},     {"--environment", "--env"},   {"--env-id", "--env"},
    {"--algorithm", "--algo"}};

/// Suggests a known option for an unknown one, where CLI11 only says that it did not expect it.
/// Throws std::invalid_argument for the first option that the command does not have.
void refuse_unknown_options(const std::string& program, CLI::App& app) {
  const auto words = app.remaining(true);
  const auto unknown =
      std::ranges::find_if(words, [](const auto& w) { return w.starts_with('-'); });
  if (unknown == words.end()) return;
  const CLI::App* asked = &app;
  std::string name;
  while (!asked->get_subcommands().empty()) {
    asked = asked->get_subcommands().front();
    name += ' ' + asked->get_name();
  }
  std::vector<std::string> known;
  for (const CLI::App* of : {static_cast<const CLI::App*>(&app), asked}) {
    for (const auto* option : of->get_options()) {
      for (const auto& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  const auto wanted = unknown->substr(0, unknown->find('='));
  auto meant = nearest_name(wanted, known);
  const auto* other = std::ranges::find(other_names, wanted, [](const auto& n) { return n.first; });
  if (other != std::end(other_names)) meant = other->second;
  std::string message = "unknown option \"" + wanted + "\";";
  if (!meant.empty()) message += " did you mean " + meant + "?";
  message += " `" + program + name + " --help` lists them";
  if (name == " train") {
    const auto algo = asked->get_option("--algo")->results();
    message += "; options of the algorithm are given as trainer.lr=3e-4, see `" + program +
               " config " + (algo.empty() ? "ppo" : algo.back()) + '`';
  }
  throw std::invalid_argument(message);
}

std::string examples_of(const program_words& words) {
  const auto& name = words.name;
  return "Examples:\n  " + name + " train --env " + words.environment +
         " -n 100000 checkpoint.every_updates=10\n  " + name + " train --resume runs/ppo/" +
         words.environment + "_1\n  " + name + " eval runs/ppo/" + words.environment + "_1\n  " +
         name + " config ppo\n";
}

}  // namespace

std::variant<command_line, int> read_command_line(int argc, char** argv, const program_words& words,
                                                  const std::vector<program_command>& commands) {
  CLI::App app(words.help, words.name);
  app.require_subcommand(1);
  app.set_version_flag("--version", "troupe " TROUPE_VERSION);
  app.footer(examples_of(words));
  app.fallthrough();
  std::string log_level = "info";
  app.add_option("--log-level", log_level,
                 "The least severe log lines to write: debug, info, warn, error or off.")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  std::vector<std::pair<CLI::App*, std::function<int()>>> declared;
  for (const auto& command : commands) {
    if (!command.declare) continue;
    auto* options = app.add_subcommand(command.name, command.help)->footer("");
    declared.emplace_back(options, command.declare(*options));
  }

  if (argc <= 1) {
    std::fputs(app.help().c_str(), stderr);
    return 2;
  }
  try {
    require_command(app, argv[1]);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() != 0) refuse_unknown_options(words.name, app);
      return app.exit(e) == 0 ? 0 : 2;
    }
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "%s: %s\n", words.name.c_str(), e.what());
    return 2;
  }
  const auto asked =
      std::ranges::find_if(declared, [](const auto& d) { return d.first->parsed(); });
  return command_line{log_level, asked->second};
}

}  // namespace troupe::command
