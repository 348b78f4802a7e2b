#include "algorithms/program/command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/program/completion.hpp"
#include "algorithms/program/description.hpp"
#include "algorithms/program/manual.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::command {

namespace {

/// Suggests a known command for an unknown one, where CLI11 only says that it did not expect the
/// word. Throws std::invalid_argument.
void require_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) return;
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == word) return;
    if (!command->get_group().empty()) known.push_back(command->get_name());
  }
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

/// The two commands about the command line itself. A program that has a command of such a name
/// keeps its own.
class commands_about_commands {
 public:
  commands_about_commands(CLI::App& app, const program_words& words) {
    const auto is_free = [&](const char* name) {
      return app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; })
          .empty();
    };
    if (is_free("completion")) add_completion(app, words);
    if (is_free("describe")) add_describe(app);
  }

  /// Prints the answer and returns true if the command line that was read asks for one of the two.
  bool answered(const CLI::App& app, const program_words& words) const {
    if (completion_ && completion_->parsed()) {
      std::fputs(completion_script(shell_, words.name).c_str(), stdout);
      return true;
    }
    if (!describe_ || !describe_->parsed()) return false;
    const auto description = describe_command_line(app, words);
    if (json_) std::puts(description.dump(2).c_str());
    if (man_) std::fputs(manual_page(description).c_str(), stdout);
    return true;
  }

 private:
  void add_completion(CLI::App& app, const program_words& words) {
    const auto& name = words.name;
    completion_ = app.add_subcommand("completion",
                                     "Print a script that has a shell complete the command line.");
    completion_->footer(
        "In ~/.bashrc: source <(" + name + " completion bash)\nIn ~/.zshrc: source <(" + name +
        " completion zsh)\nIn ~/.config/fish/config.fish: " + name + " completion fish | source\n");
    completion_->add_option("shell", shell_, "The shell.")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->required();
  }

  /// The help does not show this command. Programs that write pages call it.
  void add_describe(CLI::App& app) {
    describe_ = app.add_subcommand("describe", "Print a description of the command line.");
    describe_->group("")->footer("")->require_option(1);
    describe_->add_flag("--json", json_, "Print it as JSON.");
    describe_->add_flag("--man", man_, "Print it as a manual page.");
  }

  CLI::App* completion_ = nullptr;
  CLI::App* describe_ = nullptr;
  std::string shell_;
  bool json_ = false;
  bool man_ = false;
};

/// Answers a shell's script, or another program that asks for names: `__complete WORD...` and
/// `__names KIND ALGORITHM`. Returns false if the words ask for neither.
bool answered_script(const CLI::App& app, const program_words& words, int argc, char** argv) {
  if (argc < 2) return false;
  const std::string asked = argv[1];
  if (asked == "__complete") {
    std::fputs(complete(app, {argv + 2, argv + argc}, words.names).c_str(), stdout);
    return true;
  }
  if (asked != "__names" || argc != 4 || !words.names) return false;
  for (const auto& one : words.names(argv[2], argv[3]))
    std::printf("%s\t%s\n", one.name.c_str(), one.help.c_str());
  return true;
}

/// Returns the exit code, or 1 and a message if what the program has printed could not be written,
/// for example because the disk is full. Who reads a pipe may have read enough, which is an error
/// only for the output of --json.
int checked_output(const std::string& name, int code, bool as_json = false) {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  // The error of an earlier write is forgotten, so one more has to fail.
  const int why = errno != 0 || ::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : 0;
  if (why == EPIPE && !as_json) return code;
  std::fprintf(stderr, "%s: expected to write to the standard output, got an error%s%s\n",
               name.c_str(), why ? ": " : "", why ? std::strerror(why) : "");
  return code == 0 ? 1 : code;
}

}  // namespace

std::vector<std::string> examples_of(const program_words& words) {
  const auto& name = words.name;
  const auto run = "runs/ppo/" + words.environment + "_1";
  return {name + " train --env " + words.environment + " -n 100000 checkpoint.every_updates=10",
          name + " train --resume " + run, name + " eval " + run, name + " config ppo"};
}

std::variant<command_line, int> read_command_line(int argc, char** argv, const program_words& words,
                                                  const std::vector<program_command>& commands) {
  CLI::App app(words.help, words.name);
  app.require_subcommand(1);
  app.set_version_flag("--version", "troupe " TROUPE_VERSION);
  std::string examples = "Examples:\n";
  for (const auto& example : examples_of(words)) examples += "  " + example + '\n';
  app.footer(examples);
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
  const commands_about_commands further(app, words);
  if (answered_script(app, words, argc, argv)) return checked_output(words.name, 0);

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
    print_error(words.name, e.what());
    return 2;
  }
  if (further.answered(app, words)) return checked_output(words.name, 0);
  const auto asked =
      std::ranges::find_if(declared, [](const auto& d) { return d.first->parsed(); });
  const auto* json = asked->first->get_option_no_throw("--json");
  auto run = [name = words.name, command = asked->second, as_json = json && json->count() > 0] {
    return checked_output(name, command(), as_json);
  };
  return command_line{words.name + ' ' + asked->first->get_name(), log_level, std::move(run)};
}

}  // namespace troupe::command
