#pragma once
// The commands that every program has, as one function each. Each returns the exit code of the
// process (docs/errors.md). troupe::main (main.hpp) calls them.

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
  std::optional<std::string> algo;  ///< The default is the file's algorithm, or else ppo.
  std::optional<std::string> env;
  std::optional<std::string> task;         ///< A language model's task, instead of `env`.
  std::optional<std::string> total_steps;  ///< The text as typed; the configuration checks it.
  std::optional<std::string> seed;         ///< The text as typed; the configuration checks it.
  std::optional<std::string> mode;
  std::string config_file;             ///< Empty means no file.
  std::vector<std::string> overrides;  ///< Options such as "a.b=value".
  std::string runs = "runs";           ///< The folder in which run directories are made.
  bool progress_bar = false;
  bool verbose = false;  ///< Prints Stable-Baselines3's table on stdout.
  bool json = false;     ///< Prints the summary as the last line of stdout.
  metrics_place metrics;
  std::size_t threads = 0;  ///< 0 means one for each core.
  double stop_limit = 10;   ///< In seconds.
  bool deterministic = false;
  std::optional<std::string> faults;  ///< The text of a fault_plan.
  std::string trace;                  ///< The file of the trace. Empty means no trace.
  std::string listen;                 ///< HOST:PORT for nodes to join. Empty means no nodes.
  std::string certs;                  ///< A directory. Empty means no encryption, on loopback only.
  std::string join_secret;  ///< The secret's file without `certs`. Empty means the usual one.
  std::size_t nodes = 0;    ///< The number of nodes to wait for.
  std::string resume;       ///< A run directory. Empty means a new run.
  /// What a resumption with a later end does with schedules: keep or stretch. None means keep.
  std::optional<std::string> schedules;
  std::string init;    ///< The model whose weights a new run begins with. Empty means none.
  bool go_on = false;  ///< Resumes the newest run with the same options (--continue).
  bool trust = false;  ///< Loads the code that the resumed run names; see require_trust.
  bool allow_unsandboxed_code = false;
};
/// Trains an agent and prints the result of its evaluation.
int train(const train_arguments& arguments, const context& of);

struct eval_arguments {
  std::string run_directory;
  std::vector<std::string> overrides;  ///< Options of the environment, such as "env.options={}".
  std::optional<std::string> env;      ///< Another environment than the run's.
  std::size_t episodes = 0;  ///< 0 means 100, or the run's own number for a language model.
  std::uint64_t seed = 0;
  std::string model = "last_model";
  std::string video;               ///< The file of the video. Empty means no video.
  std::size_t video_episodes = 1;  ///< The number of episodes that the video shows.
  bool json = false;
  bool trust = false;  ///< Loads the code that the run names; see require_trust.
  bool allow_unsandboxed_code = false;
};
/// Evaluates the model of a run.
int eval(const eval_arguments& arguments, const context& of);

struct check_env_arguments {
  std::string env;
  std::vector<std::string> overrides;  ///< Options of the environment, such as "env.options={}".
  std::int64_t steps = 1000;           ///< The length of the longest sequence that is played.
  double seconds = 20;                 ///< The longest time for that sequence.
  std::uint64_t seed = 0;
  bool json = false;  ///< Prints the report as one line of JSON.
};
/// Checks an environment and prints all faults. Returns 1 if there are any.
int check_env(const check_env_arguments& arguments, const std::string& program);

struct check_rule_arguments {
  std::optional<std::string> algo;  ///< The default is the file's algorithm, or else ppo.
  std::optional<std::string> env;
  std::string config_file;             ///< Empty means no file.
  std::vector<std::string> overrides;  ///< Options such as "a.b=value".
  std::uint64_t seed = 0;              ///< Of the batch and of the directions.
  bool json = false;                   ///< Prints the report as one line of JSON.
};
/// Holds the gradients of an algorithm's update rule to finite differences, on both engines.
/// Returns 1 if one differs.
int check_rule(const check_rule_arguments& arguments, const context& of);

struct list_arguments {};
/// Prints the algorithms, the environments and the tasks of language models.
int list(const list_arguments& arguments, const context& of);

struct config_arguments {
  std::string algo;
  bool json = false;  ///< Prints the JSON schema instead of a table.
};
/// Prints the options of an algorithm's configuration.
int config_schema(const config_arguments& arguments, const context& of);

struct status_arguments {
  /// As typed. None means this machine: the port that was asked for, or else every program at the
  /// usual port and those that a program takes where it is busy (metrics_place).
  std::vector<std::string> addresses;
  std::uint16_t port = metrics_place::usual_port;  ///< The port of addresses without one.
  bool port_asked = false;                         ///< True if the user named the port.
  bool json = false;
  bool watch = false;  ///< Repeats once a second if stdout is a terminal.
};
/// Prints the services of running programs and their learning progress. Returns 1 if a program does
/// not answer.
int status(const status_arguments& arguments, const std::string& program);

struct node_arguments {
  std::string join;  ///< The controller's address, HOST:PORT.
  std::string name;
  int slots = 0;  ///< The number of replicas it takes. 0 means one for each core.
  std::string certs;
  std::string join_secret;
  bool isolate = false;
  std::size_t threads = 0;
  metrics_place metrics;
};
/// Runs the replicas that a controller places on this machine until SIGINT or SIGTERM.
int node(const node_arguments& arguments);

/// The function behind each command. Null means that the program does not have the command.
struct standard_actions {
  std::function<int(const train_arguments&)> train;
  std::function<int(const eval_arguments&)> eval;
  std::function<int(const check_env_arguments&)> check_env;
  std::function<int(const check_rule_arguments&)> check_rule;
  std::function<int(const config_arguments&)> config;
  std::function<int(const list_arguments&)> list;
  std::function<int(const status_arguments&)> status;
  std::function<int(const node_arguments&)> node;
};
std::vector<program_command> standard_commands(const program_words& words,
                                               const standard_actions& does);

}  // namespace troupe::command
