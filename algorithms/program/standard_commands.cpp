// The options of the commands that every program has. Nothing here links libtorch.

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "algorithms/program/commands.hpp"
#include "runtime/metrics/metrics_options.hpp"

namespace troupe::command {

namespace {

/// By what the two ends of a cluster know each other. Returns both options.
std::pair<CLI::Option*, CLI::Option*> add_identity_options(CLI::App& command, std::string& certs,
                                                           std::string& join_secret) {
  auto* folder =
      command.add_option("--certs", certs, "directory with ca.pem, cert.pem and key.pem");
  auto* file = command.add_option("--join-secret", join_secret,
                                  "without --certs: the file whose secret both ends know "
                                  "(~/.local/state/troupe/join.secret)");
  file->excludes(folder);
  return {folder, file};
}

void add_code_permission(CLI::App& command, bool& to) {
  command.add_flag(
      "--allow-unsandboxed-code", to,
      "let the task code run what the model writes, without a sandbox: as users of their own "
      "where this is root, else as this user");
}

/// `train`.
void add_train(CLI::App& options, train_arguments& to, const program_words& words) {
  options.add_option("--algo", to.algo, "the algorithm (the --config file's, else ppo)");
  options.add_option("--env", to.env, "the environment");
  if (words.has_tasks) {
    options.add_option(
        "--task", to.task,
        "what a language model is asked (--algo grpo); see `" + words.name + " list`");
    add_code_permission(options, to.allow_unsandboxed_code);
  }
  options.add_option(
      "-n,--steps", to.total_steps,
      std::string("environment steps, at least") + (words.has_tasks ? "; of grpo, updates" : ""));
  options.add_option("--seed", to.seed, "of everything that is drawn");
  options.add_option("--mode", to.mode, "sync or async");
  options
      .add_option("--config", to.config_file,
                  "a JSON or YAML file; see `" + words.name + " config ppo`")
      ->check(CLI::ExistingFile);
  options.add_option("overrides", to.overrides, "a.b=value, over the file's");
  options.add_option("--runs", to.runs, "where run directories are made")->capture_default_str();
  options.add_flag("-P,--progress", to.progress_bar, "a progress bar on stderr");
  options.add_flag("-v,--verbose", to.verbose, "a table of numbers after each update");
  options.add_flag("--json", to.json, "print the summary as the last line of stdout");
  options.add_option("--threads", to.threads, "threads of the pool; 0: one a core")
      ->check(CLI::Range(0, 1024));
  auto* deterministic = options.add_flag(
      "--deterministic", to.deterministic,
      "one thread, virtual time, an order drawn from --seed: the same weights each time");
  options
      .add_option("--faults", to.faults,
                  "what goes wrong on purpose: random, or such as crash=0.001,delay=0.01:50ms")
      ->needs(deterministic);
  options.add_option(
      "--trace", to.trace,
      "write what the actors do to this file, for chrome://tracing or ui.perfetto.dev");
  auto* listen = options.add_option("--listen", to.listen,
                                    "where nodes (" + words.name +
                                        " node) join, HOST:PORT; env.placement=node:PATTERN puts "
                                        "replicas there");
  listen->excludes(deterministic);
  options.add_option("--wait-for-nodes", to.nodes, "nodes to wait for before it begins")
      ->needs(listen);
  const auto [certs_option, secret_option] =
      add_identity_options(options, to.certs, to.join_secret);
  certs_option->needs(listen);
  secret_option->needs(listen);
  auto* resume = options.add_option(
      "--resume", to.resume,
      "go on with the run in this directory, from its newest whole checkpoint; with --steps to a "
      "later end, past a goal that it has reached, too");
  options
      .add_flag(
          "--continue", to.go_on,
          "resume the newest run of this algorithm and environment in --runs, which must have "
          "these options, and begin one where there is none: for what is started again after "
          "it was killed")
      ->excludes(resume);
  for (const auto* name : {"--algo", "--env", "--task", "--seed", "--mode", "--config", "overrides",
                           "--runs", "--faults"}) {
    if (auto* other = options.get_option_no_throw(name)) resume->excludes(other);
  }
  resume->excludes(deterministic);
  add_metrics_options(options, to.metrics);
}

/// `eval`.
void add_eval(CLI::App& options, eval_arguments& to, const program_words& words) {
  options.add_option("run_dir", to.run_directory, "the run directory")->required();
  const char* of_problems =
      words.has_tasks
          ? "; of a language model: held-out problems (those of the run's last evaluation)"
          : "";
  options.add_option("--episodes", to.episodes, std::string("how many (100)") + of_problems)
      ->check(CLI::Range(1, 1'000'000));
  const char* of_seeds = words.has_tasks ? "; of problems the run's own counts" : "";
  options.add_option("--seed", to.seed, std::string("of the environments") + of_seeds)
      ->check(CLI::Range(0.0, 1e18))
      ->capture_default_str();
  options.add_option("--model", to.model, "last_model or best_model")
      ->check(CLI::IsMember({"last_model", "best_model"}))
      ->capture_default_str();
  options.add_flag("--json", to.json, "print the result as one JSON line");
  if (words.has_tasks) add_code_permission(options, to.allow_unsandboxed_code);
}

/// `config`.
void add_config(CLI::App& options, config_arguments& to) {
  options.add_option("algo", to.algo, "the algorithm")->required();
  options.add_flag("--json", to.json, "print the JSON schema");
}

/// `status`.
void add_status(CLI::App& options, status_arguments& to) {
  options.add_option("addresses", to.addresses,
                     "where they serve metrics, such as gpu-1:9464 (this machine)");
  options.add_option("--port", to.port, "of addresses without one")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  options.add_flag("--json", to.json, "print one JSON object, see docs/metrics.md");
  options.add_flag("--watch", to.watch, "once a second, until q is typed");
}

/// `node`.
void add_node(CLI::App& options, node_arguments& to) {
  options.add_option("--join", to.join, "the controller, HOST:PORT")->required();
  options.add_option("--name", to.name, "of this node: what placements name it by")->required();
  options.add_option("--slots", to.slots, "replicas it takes; 0: one a core")
      ->check(CLI::Range(0, 65536));
  add_identity_options(options, to.certs, to.join_secret);
  options.add_flag("--isolate", to.isolate, "run each replica in a process of its own");
  options.add_option("--threads", to.threads, "threads of the pool; 0: one a core")
      ->check(CLI::Range(0, 1024));
  add_metrics_options(options, to.metrics);
}

}  // namespace

std::vector<program_command> standard_commands(const program_words& words,
                                               const standard_actions& does) {
  return {
      command_of<train_arguments>(
          "train", "Train an agent; see `" + words.name + " list`.",
          [words](CLI::App& options, train_arguments& to) { add_train(options, to, words); },
          does.train),
      command_of<eval_arguments>(
          "eval", "Evaluate the model of a run.",
          [words](CLI::App& options, eval_arguments& to) { add_eval(options, to, words); },
          does.eval),
      command_of<config_arguments>("config", "List the options of an algorithm.", add_config,
                                   does.config),
      command_of<list_arguments>(
          "list", "List algorithms and environments.", [](CLI::App&, list_arguments&) {},
          does.list),
      command_of<status_arguments>(
          "status", "Show the services of running programs: replicas, queues, rates, latencies.",
          add_status, does.status),
      command_of<node_arguments>(
          "node",
          "Run the replicas that a controller (" + words.name + " train --listen) places here.",
          add_node, does.node)};
}

}  // namespace troupe::command
