#pragma once
// The commands that every program has, a function each. Each returns the process's exit code, see
// docs/errors.md.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program/command_line.hpp"
#include "runtime/metrics/metrics_place.hpp"

namespace troupe::command {

struct context;

struct train_arguments {
  std::optional<std::string> algo;  ///< Else what the file says, else ppo.
  std::optional<std::string> env;
  std::optional<std::string> task;         ///< Of a language model, in place of `env`.
  std::optional<std::string> total_steps;  ///< As typed: the configuration's reader judges it.
  std::optional<std::string> seed;         ///< The same.
  std::optional<std::string> mode;
  std::string config_file;             ///< Empty: none.
  std::vector<std::string> overrides;  ///< "a.b=value"
  std::string runs = "runs";
  bool progress_bar = false;
  bool verbose = false;  ///< Stable-Baselines3's table on stdout.
  bool json = false;     ///< The summary as the last line of stdout.
  metrics_place metrics;
  std::size_t threads = 0;
  bool deterministic = false;
  std::optional<std::string> faults;  ///< A fault_plan as text.
  std::string trace;                  ///< A file for the trace; empty: none.
  std::string listen;                 ///< Where nodes join; empty: nowhere.
  std::string certs;                  ///< A directory; empty: plain text, on loopback alone.
  std::string join_secret;            ///< A file, for plain text; empty: the usual one.
  std::size_t nodes = 0;              ///< To wait for.
  std::string resume;                 ///< A run directory; empty: a new run.
  bool go_on = false;  ///< Resume the newest run of its kind, which must be as asked.
  bool allow_unsandboxed_code = false;
};
/// Trains an agent, and prints how good it is.
int train(const train_arguments& arguments, const context& of);

struct eval_arguments {
  std::string run_directory;
  std::size_t episodes = 0;  ///< 0: as many as are usual
  std::uint64_t seed = 0;
  std::string model = "last_model";
  bool json = false;
  bool allow_unsandboxed_code = false;
};
/// Evaluates the model of a run.
int eval(const eval_arguments& arguments, const context& of);

struct list_arguments {};
/// Prints the algorithms and environments.
int list(const list_arguments& arguments, const context& of);

struct config_arguments {
  std::string algo;
  bool json = false;  ///< The JSON schema.
};
/// Prints the options of an algorithm's configuration.
int config_schema(const config_arguments& arguments, const context& of);

struct status_arguments {
  std::vector<std::string> addresses;              ///< As typed; none: this machine's `port`.
  std::uint16_t port = metrics_place::usual_port;  ///< Where an address says none.
  bool json = false;
  bool watch = false;  ///< Once a second, where stdout is a terminal.
};
/// Prints the services of running programs, and how learning goes: 1 where one does not answer.
int status(const status_arguments& arguments, const std::string& program);

struct node_arguments {
  std::string join;  ///< HOST:PORT
  std::string name;
  int slots = 0;  ///< 0: one a core.
  std::string certs;
  std::string join_secret;
  bool isolate = false;
  std::size_t threads = 0;
  metrics_place metrics;
};
/// Runs what a controller places here, until it is told to end.
int node(const node_arguments& arguments);

/// What does each of them; null: the program does not have that command.
struct standard_actions {
  std::function<int(const train_arguments&)> train;
  std::function<int(const eval_arguments&)> eval;
  std::function<int(const config_arguments&)> config;
  std::function<int(const list_arguments&)> list;
  std::function<int(const status_arguments&)> status;
  std::function<int(const node_arguments&)> node;
};
std::vector<program_command> standard_commands(const program_words& words,
                                               const standard_actions& does);

}  // namespace troupe::command
