// The options of the commands that every program has. This file must not link libtorch.

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "algorithms/program/commands.hpp"
#include "runtime/metrics/metrics_options.hpp"

namespace troupe::command {

namespace {

/// Adds the options by which the two ends of a cluster authenticate each other. Returns both.
std::pair<CLI::Option*, CLI::Option*> add_identity_options(CLI::App& command, std::string& certs,
                                                           std::string& join_secret) {
  auto* folder =
      command.add_option("--certs", certs, "The directory of ca.pem, cert.pem and key.pem.")
          ->type_name("DIR");
  auto* file = command.add_option("--join-secret", join_secret,
                                  "The file of the secret that both ends share where there is no "
                                  "--certs. The default is ~/.local/state/troupe/join.secret.");
  file->type_name("FILE")->excludes(folder);
  return {folder, file};
}

void add_code_permission(CLI::App& command, bool& to) {
  command.add_flag(
      "--allow-unsandboxed-code", to,
      "Let the task code run programs that the model writes, without a sandbox. They run as users "
      "of their own if this user is root, and as this user otherwise.");
}

void add_trust(CLI::App& options, bool& to) {
  options.add_flag("--trust", to,
                   "Load the plug-ins and the Python code that the run's config.json names, also "
                   "where they are in the folder of the run, or where another user may have "
                   "written it.");
}

/// Adds the options that say an algorithm's configuration: a file, and what replaces its options.
template <class Arguments>
void add_algorithm_options(CLI::App& options, Arguments& to, const program_words& words,
                           const std::string& overrides_too = "") {
  options
      .add_option("--config", to.config_file,
                  "A JSON or YAML file of options; see `" + words.name + " config ppo`.")
      ->check(CLI::ExistingFile);
  options
      .add_option("overrides", to.overrides,
                  "Options as a.b=value, which replace those of the file." + overrides_too)
      ->type_name("OPTION=VALUE");
}

/// `train`.
void add_train(CLI::App& options, train_arguments& to, const program_words& words) {
  options
      .add_option(
          "--algo", to.algo,
          "The algorithm, or the path of a plug-in with one, such as ./awr.so:awr. The default "
          "is the --config file's, or else ppo.")
      ->type_name("ALGORITHM");
  options.add_option("--env", to.env, "The environment.")->type_name("ENVIRONMENT");
  if (words.has_tasks) {
    options
        .add_option(
            "--task", to.task,
            "The task that a language model learns (--algo grpo); see `" + words.name + " list`.")
        ->type_name("TASK");
    add_code_permission(options, to.allow_unsandboxed_code);
  }
  options.add_option(
      "-n,--steps", to.total_steps,
      std::string("The least number of environment steps to train for.") +
          (words.has_tasks ? " For language models it is the number of updates." : ""));
  options.add_option("--seed", to.seed, "The seed of all random numbers.");
  options
      .add_option("--mode", to.mode, "The composition of generation and training: sync or async.")
      ->type_name("{sync,async}");
  add_algorithm_options(options, to, words);
  options.add_option("--runs", to.runs, "The folder in which run directories are made.")
      ->type_name("DIR")
      ->capture_default_str();
  options.add_flag("-P,--progress", to.progress_bar, "Show a progress bar on stderr.");
  options.add_flag("-v,--verbose", to.verbose, "Print a table of numbers after each update.");
  options.add_flag(
      "--json", to.json,
      "Print the summary as one line of JSON on stdout, and warnings and errors alone on "
      "stderr; with --verbose all else, too.");
  options
      .add_option("--threads", to.threads,
                  "The number of threads in the pool. 0 means one for each core.")
      ->check(CLI::Range(0, 1024));
  options
      .add_option("--stop-limit", to.stop_limit,
                  "The number of seconds from a signal to the end of the program. An update under "
                  "way that needs longer is given up, and last_model gets the weights from before "
                  "it.")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  auto* deterministic = options.add_flag(
      "--deterministic", to.deterministic,
      "Run on one thread, in virtual time and in an order drawn from --seed, so that each run "
      "gives the same weights.");
  options
      .add_option("--faults", to.faults,
                  "The faults to inject: random, or a list such as crash=0.001,delay=0.01:50ms.")
      ->needs(deterministic);
  options
      .add_option("--trace", to.trace,
                  "The file to which a trace of the actors is written, for chrome://tracing or "
                  "ui.perfetto.dev.")
      ->type_name("FILE");
  auto* listen = options.add_option("--listen", to.listen,
                                    "The address HOST:PORT at which nodes (" + words.name +
                                        " node) join. env.placement=node:PATTERN places "
                                        "environments on them.");
  listen->type_name("HOST:PORT")->excludes(deterministic);
  options
      .add_option("--wait-for-nodes", to.nodes, "The number of nodes to wait for before the start.")
      ->needs(listen);
  const auto [certs_option, secret_option] =
      add_identity_options(options, to.certs, to.join_secret);
  certs_option->needs(listen);
  secret_option->needs(listen);
  auto* resume = options.add_option(
      "--resume", to.resume,
      "Resume the run in this directory from its newest complete checkpoint, with the options of "
      "its config.json. --steps gives it a later end, also if it has reached its goal.");
  resume->type_name("RUN");
  add_trust(options, to.trust);
  options
      .add_option(
          "--schedules", to.schedules,
          "What schedules, such as trainer.lr_schedule=linear, do in a run that gets a later "
          "end: keep their last values after the earlier end, which is the default, or "
          "stretch to the later one.")
      ->type_name("{keep,stretch}");
  options
      .add_flag(
          "--continue", to.go_on,
          "Resume the newest run of this algorithm and environment in --runs, which must have "
          "these options, or begin one if there is none. This is for commands that are started "
          "again after they were killed.")
      ->excludes(resume);
  options
      .add_option(
          "--init", to.init,
          std::string("The model file whose weights a new run begins with, or a run directory, "
                      "which means its best_model. Its statistics of observations and its critics "
                      "come along.") +
              (words.has_tasks ? " For language models, model.path says the model instead." : ""))
      ->type_name("RUN");
  for (const auto* name : {"--algo", "--env", "--task", "--seed", "--mode", "--config", "--runs",
                           "--faults", "--init"}) {
    if (auto* other = options.get_option_no_throw(name)) resume->excludes(other);
  }
  resume->excludes(deterministic);
  add_metrics_options(options, to.metrics);
}

/// `eval`.
void add_eval(CLI::App& options, eval_arguments& to, const program_words& words) {
  options.add_option("run_dir", to.run_directory, "The run directory.")
      ->type_name("RUN")
      ->required();
  options
      .add_option("overrides", to.overrides,
                  "Options of the environment as env.a=value, which replace those of the run, such "
                  "as env.reset_options={}.")
      ->type_name("OPTION=VALUE");
  options
      .add_option("--env", to.env,
                  "Another environment than the run's, with the same spaces. The run's env.options "
                  "are not those of this one, so name its own.")
      ->type_name("ENVIRONMENT");
  const char* of_problems =
      words.has_tasks
          ? " For a language model it is the number of held-out problems, by default as many as "
            "in the run's last evaluation."
          : "";
  options
      .add_option("--episodes", to.episodes,
                  std::string("The number of episodes, by default 100.") + of_problems)
      ->check(CLI::Range(1, 1'000'000));
  const char* of_seeds =
      words.has_tasks ? " The problems of a language model come from the run's own seed." : "";
  options.add_option("--seed", to.seed, std::string("The seed of the environments.") + of_seeds)
      ->check(CLI::Range(0.0, 1e18))
      ->capture_default_str();
  options.add_option("--model", to.model, "The model to evaluate: last_model or best_model.")
      ->check(CLI::IsMember({"last_model", "best_model"}))
      ->capture_default_str();
  add_trust(options, to.trust);
  auto* video = options.add_option(
      "--video", to.video,
      "The file of a video of the first episodes: FILE.gif, or FILE.mp4 where the program ffmpeg "
      "is installed.");
  video->type_name("FILE");
  options
      .add_option("--video-episodes", to.video_episodes,
                  "The number of episodes in the video. It has 10000 pictures at most.")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str()
      ->needs(video);
  options.add_flag(
      "--json", to.json,
      "Print the result as one line of JSON on stdout, and warnings and errors alone on "
      "stderr.");
  if (words.has_tasks) add_code_permission(options, to.allow_unsandboxed_code);
}

/// `check-env`.
void add_check_env(CLI::App& options, check_env_arguments& to, const program_words& words) {
  options
      .add_option("env", to.env, "The environment, as `" + words.name + " train --env` takes it.")
      ->type_name("ENVIRONMENT")
      ->required();
  options
      .add_option("overrides", to.overrides,
                  "Options of the environment as env.a=value, such as env.options={} and "
                  "env.wrappers=[]; see `" +
                      words.name + " config ppo`.")
      ->type_name("OPTION=VALUE");
  options
      .add_option("--steps", to.steps,
                  "The number of steps of the longest sequence that is played. The checks repeat "
                  "it, and parts of it.")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  options
      .add_option("--seconds", to.seconds,
                  "That sequence ends after so many seconds, too. The parts that repeat it are "
                  "then as short.")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str();
  options.add_option("--seed", to.seed, "The seed of the environment and of the actions.")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  options.add_flag("--json", to.json, "Print the report as one line of JSON.");
}

/// `check-rule`.
void add_check_rule(CLI::App& options, check_rule_arguments& to, const program_words& words) {
  options
      .add_option(
          "--algo", to.algo,
          "The algorithm, or the path of a plug-in with one, such as ./awr.so:awr. The default "
          "is the --config file's, or else ppo.")
      ->type_name("ALGORITHM");
  options
      .add_option("--env", to.env,
                  "The environment from whose spaces the networks are made. The default is that of "
                  "the algorithm.")
      ->type_name("ENVIRONMENT");
  add_algorithm_options(options, to, words,
                        " policy.backend=fused or =libtorch checks that engine alone.");
  options.add_option("--seed", to.seed, "The seed of the batch and of the directions.")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  options.add_flag("--json", to.json, "Print the report as one line of JSON.");
}

/// `config`.
void add_config(CLI::App& options, config_arguments& to) {
  options.add_option("algo", to.algo, "The algorithm, or the path of a plug-in with one.")
      ->type_name("ALGORITHM")
      ->required();
  options.add_flag("--json", to.json, "Print the JSON schema.");
}

/// `status`.
void add_status(CLI::App& options, status_arguments& to) {
  options.add_option("addresses", to.addresses,
                     "The addresses at which programs serve metrics, such as gpu-1:9464. The "
                     "default is every program of this machine at port 9464 or one of the 100 "
                     "after it.");
  options
      .add_option("--port", to.port,
                  "The port of addresses that have none. Without addresses it is the only port of "
                  "this machine that is asked.")
      ->check(CLI::Range(1, 65535))
      ->each([&to](const std::string&) { to.port_asked = true; })
      ->capture_default_str();
  options.add_flag("--json", to.json, "Print one JSON object; see docs/metrics.md.");
  options.add_flag("--watch", to.watch, "Show the status once a second, until q is typed.");
}

/// `node`.
void add_node(CLI::App& options, node_arguments& to) {
  options.add_option("--join", to.join, "The address HOST:PORT of the controller.")
      ->type_name("HOST:PORT")
      ->required();
  options.add_option("--name", to.name, "The name of this node, which placements refer to.")
      ->required();
  options
      .add_option("--slots", to.slots,
                  "The number of replicas that this node takes. 0 means one for each core.")
      ->check(CLI::Range(0, 65536));
  add_identity_options(options, to.certs, to.join_secret);
  options.add_flag("--isolate", to.isolate, "Run each replica in a process of its own.");
  options
      .add_option("--threads", to.threads,
                  "The number of threads in the pool. 0 means one for each core.")
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
      command_of<check_env_arguments>(
          "check-env", "Check an environment, and report all its faults.",
          [words](CLI::App& options, check_env_arguments& to) {
            add_check_env(options, to, words);
          },
          does.check_env),
      command_of<check_rule_arguments>(
          "check-rule", "Hold the gradients of an update rule to finite differences.",
          [words](CLI::App& options, check_rule_arguments& to) {
            add_check_rule(options, to, words);
          },
          does.check_rule),
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
