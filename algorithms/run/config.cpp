#include "algorithms/run/config.hpp"

#include <algorithm>

#include "actors/evaluator/evaluator.hpp"
#include "actors/worlds/environment_host.hpp"
#include "actors/worlds/task_environment.hpp"
#include "algorithms/run/openenv_environments.hpp"
#include "algorithms/run/server_sessions.hpp"

namespace troupe {

environment_request env_section::request() const {
  return {.id = id,
          .options = options.text,
          .reset_options = reset_options.text,
          .wrappers = {.max_episode_steps = max_episode_steps,
                       .frames = frame_stack,
                       .rescale_actions = rescale_action,
                       .reward_scale = reward_scale,
                       .reward_clip = reward_clip,
                       .difference_rewards = difference_rewards,
                       .channel = channel},
          .python = {.interpreter = python,
                     .wrappers = wrappers,
                     .info = info,
                     .start_timeout = start_timeout,
                     .reset_timeout = reset_timeout,
                     .step_timeout = step_timeout,
                     .memory_limit_mb = memory_limit_mb,
                     .replace_after_episodes = replace_after_episodes,
                     .replace_above_mb = replace_above_mb,
                     .render = render}};
}

namespace {

std::vector<env_task> tasks_of(const env_section& env) {
  std::vector<env_task> tasks;
  if (!env.tasks) return tasks;
  for (const auto& [id, floor, target, weight] : *env.tasks) tasks.push_back({id, floor, target});
  return tasks;
}

/// The ids of all environments of the section.
std::vector<std::string> ids_of(const env_section& env) {
  if (!env.tasks) return {env.id};
  std::vector<std::string> ids;
  for (const auto& task : *env.tasks) ids.push_back(task.id);
  return ids;
}

environment_traits traits(const std::string& id) {
  if (names_openenv(id)) return {.blocks = true, .not_deterministic = "a server plays it"};
  return traits_of(id);
}

registered_environments registered(const env_section& env, int count) {
  return {env.request(), tasks_of(env), static_cast<std::size_t>(count)};
}

}  // namespace

std::string env_section::name() const { return tasks ? name_of(tasks_of(*this)) : id; }

env_spec spec_of(const env_section& env) { return environments_of(env, 1)()->spec(); }

fault_plan fault_plan_of(const std::string& text) {
  return text.empty() ? fault_plan{} : fault_plan::parse(text);
}

fault_plan run_config::plan() const { return fault_plan_of(faults); }

bool is_fault_plan(const std::string& text) {
  try {
    fault_plan_of(text);
    return true;
  } catch (const fault_plan_error&) {
    return false;
  }
}

placement placement_of(const std::string& text) {
  constexpr std::string_view node = "node:";
  if (text == "shared") return placement::shared;
  if (text == "thread") return placement::thread;
  if (text == "process") return placement::process;
  if (text.starts_with(node) && text.size() > node.size()) {
    return placement::node(text.substr(node.size()));
  }
  throw std::invalid_argument(
      "placement: expected shared, thread, process or node:PATTERN, got \"" + text + '"');
}

bool is_placement(const std::string& text) {
  try {
    placement_of(text);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

env_section for_evaluation(env_section env) {
  env.difference_rewards = false;
  return env;
}

hosted_environment::factory environments_of(const env_section& env, int count) {
  if (!env.tasks && names_openenv(env.id))
    return openenv_environments{env.request(), static_cast<std::size_t>(count)};
  return registered(env, count);
}

int evaluation_size(const env_section& env, int episodes, std::size_t tasks) {
  const int wanted = environments_of_evaluation(episodes, tasks);
  return names_openenv(env.id) ? openenv_room(env.request(), wanted) : wanted;
}

void require_sessions(const env_section& env, int training, int evaluations, int episodes) {
  if (env.tasks || !names_openenv(env.id)) return;
  find_openenv_room(env.request(), training, evaluations, environments_of_evaluation(episodes, 0));
}

std::string program_of(const env_section& env) {
  const bool elsewhere = placement_of(env.placement) == placement::process;
  return elsewhere && !names_openenv(env.id) && environment_host_has(registered(env, 1))
             ? environment_host()
             : "";
}

bool blocks(const env_section& env) {
  return std::ranges::any_of(ids_of(env), [](const auto& id) { return traits(id).blocks; });
}

placement place_of(const env_section& env) {
  return env.placement == "shared" && blocks(env) ? placement::thread : placement_of(env.placement);
}

duration max_call_time_of(const env_section& env) {
  if (blocks(env)) return no_limit;
  return max_call_time_of(env.request().python);
}

void require_deterministic(const env_section& env) {
  for (const auto& id : ids_of(env)) {
    const auto why = traits(id).not_deterministic;
    if (!why.empty())
      throw config_error("/deterministic", "expected false with the environment " + id +
                                               ", whose episodes no seed decides, for " + why);
  }
}

void describe(enum_schema<training_mode>& s) {
  s.name("sync", training_mode::sync).name("async", training_mode::async);
}

void describe(enum_schema<activation>& s) {
  for (const auto kind : {activation::tanh, activation::relu, activation::elu,
                          activation::leaky_relu, activation::silu}) {
    s.name(to_string(kind), kind);
  }
}

void describe(enum_schema<annealing>& s) {
  s.name("constant", annealing::constant).name("linear", annealing::linear);
}

void describe(enum_schema<network_body>& s) {
  for (const auto body :
       {network_body::automatic, network_body::mlp, network_body::cnn, network_body::multi_input}) {
    s.name(to_string(body), body);
  }
}

void describe(enum_schema<gradient_backend>& s) {
  s.name("auto", gradient_backend::automatic)
      .name("fused", gradient_backend::fused)
      .name("libtorch", gradient_backend::libtorch);
}

void describe(options_schema<cnn_options>& s) {
  const auto list = [&](const char* name, std::vector<int> cnn_options::* member, int most,
                        const char* example) {
    return s.field(name, member).items(1, 8).example(example).at_least(1).at_most(most);
  };
  list("channels", &cnn_options::channels, 4096, "[32,64,64]")
      .help("The number of channels that each convolution makes (Mnih et al. 2015).");
  list("kernels", &cnn_options::kernels, 256, "[8,4,3]")
      .unit("pixels")
      .help("The height and width of each convolution's kernel.");
  list("strides", &cnn_options::strides, 256, "[4,2,1]")
      .unit("pixels")
      .help("The stride of each convolution.");
  s.field("features", &cnn_options::features)
      .also_known_as({"features_dim"})
      .at_least(1)
      .at_most(16384)
      .help("The width of the fully connected layer after the convolutions.");
  s.rule("channels", "as many as kernels and strides", [](const cnn_options& c) {
    return c.channels.size() == c.kernels.size() && c.channels.size() == c.strides.size();
  });
}

void describe(options_schema<channel_options>& s) {
  s.field("words", &channel_options::words)
      .at_least(0)
      .at_most(1024)
      .help("The number of words of which an agent says one in each step, or none.");
  s.field("numbers", &channel_options::numbers)
      .at_least(0)
      .at_most(1024)
      .help("The number of floats from -1 to 1 that an agent sends in each step.");
  s.field("delay", &channel_options::delay)
      .at_least(1)
      .at_most(1024)
      .unit("steps")
      .help("After so many steps a message is seen; 1 means in the next observation.");
  s.field("loss", &channel_options::loss)
      .at_least(0)
      .at_most(1)
      .help("The probability with which a receiver does not get a message.");
  s.field("bandwidth", &channel_options::bandwidth)
      .at_least(0)
      .at_most(1'000'000)
      .unit("messages")
      .help("The most messages that are sent in one step; 0 means no limit.");
}

void describe(options_schema<env_section>& s) {
  s.field("id", &env_section::id)
      .has_effect_if("env.tasks is null", [](const env_section& e) { return !e.tasks; })
      .help(
          "The environment: a name that `troupe list` prints, gymnasium:ID, pettingzoo:MODULE or "
          "module:Class for one in Python, openenv:URL for a server's, or the path of a plug-in "
          "such "
          "as ./my_env.so.");
  s.field("options", &env_section::options)
      .help(
          "The arguments of the environment, a JSON object: those of gymnasium.make or of the "
          "class in Python, and those of built-in environments that have some.");
  s.field("reset_options", &env_section::reset_options)
      .help(
          "The options of each reset, a JSON object, as the `options` of Gymnasium's reset; for "
          "environments in Python, and for others that take some.");
  s.field("wrappers", &env_section::wrappers)
      .items(0, 32)
      .example("[minigrid.wrappers.FlatObsWrapper]")
      .help(
          "Wrappers of an environment in Python, the innermost first: module.Name, or Name for one "
          "of gymnasium.wrappers. Arguments follow as in Python, such as "
          "FrameStackObservation(stack_size=4).");
  s.field("n_envs", &env_section::n_envs)
      .also_known_as({"num_envs"})
      .at_least(1)
      .at_most(65536)
      .help("The number of environments of one replica; one message steps them all.");
  s.field("replicas", &env_section::replicas)
      .at_least(1)
      .at_most(4096)
      .help(
          "The number of replicas of the environments; async mode starts at least as many as it "
          "has workers.");
  s.field("normalize_obs", &env_section::normalize_obs)
      .help(
          "If true, observations are normalised by their running mean and variance and clipped to "
          "+-10; the statistics are part of the weights.");
  s.field("normalize_reward", &env_section::normalize_reward)
      .help(
          "If true, the trainer sees rewards divided by the standard deviation of discounted "
          "returns and clipped to +-10; reported returns are not scaled.");
  s.field("max_episode_steps", &env_section::max_episode_steps)
      .also_known_as({"time_limit"})
      .at_least(1)
      .unit("steps")
      .help("An episode is truncated after so many steps; null means the environment's own limit.");
  s.field("frame_stack", &env_section::frame_stack)
      .also_known_as({"frames", "n_stack"})
      .at_least(1)
      .at_most(64)
      .unit("observations")
      .help(
          "How many of the newest observations are shown at once, the oldest first; images gain "
          "channels.");
  s.field("rescale_action", &env_section::rescale_action)
      .help(
          "If true, continuous actions are within -1..1 and scaled to the environment's bounds; "
          "actions are clipped to these bounds in any case.");
  s.field("reward_scale", &env_section::reward_scale)
      .help("The factor by which rewards are multiplied; returns are those of the result.");
  s.field("reward_clip", &env_section::reward_clip)
      .above(0)
      .help("Rewards are clipped to +- this, after reward_scale; null does not clip.");
  s.field("difference_rewards", &env_section::difference_rewards)
      .help(
          "If true, each of several agents gets the team's reward less what that would have been "
          "had it taken action 0 (Wolpert and Tumer 2001). Evaluations have the environment's own "
          "rewards.");
  s.field("channel", &env_section::channel)
      .help(
          "The messages that several agents can send each other beside their actions; null means "
          "none.");
  s.field("info", &env_section::info)
      .also_known_as({"info_keywords"})
      .items(0, 64)
      .example("[is_success,keys]")
      .help(
          "The numbers of an episode's last info that become columns rollout/ep_NAME_mean and "
          "metrics; is_success becomes rollout/success_rate.");
  describe_placement(s, "placement", &env_section::placement)
      .help(
          "Where the environment replicas run: shared (on the pool; a thread each for environments "
          "in Python), thread (on a thread each), "
          "process (in a child process each) or node:PATTERN (on machines that have joined under "
          "such a name; '*' stands for any text).");
  describe_python(s, "python", &env_section::python, &env_section::memory_limit_mb, "environments");
  s.field("replace_after_episodes", &env_section::replace_after_episodes)
      .at_least(0)
      .unit("episodes")
      .help(
          "A process of environments in Python is replaced by a new one after so many episodes, "
          "for "
          "environments that leak; 0 means never. Each of its environments ends its episode "
          "before, so none is lost.");
  s.field("replace_above_mb", &env_section::replace_above_mb)
      .at_least(0)
      .at_most(1 << 24)
      .unit("MiB")
      .help(
          "A process of environments in Python is replaced likewise once its private resident "
          "memory is above this at an episode's end; 0 means never.");
  s.rule("replace_above_mb", "a number below memory_limit_mb, where that is not 0",
         [](const env_section& e) {
           return e.memory_limit_mb == 0 || e.replace_above_mb < e.memory_limit_mb;
         });
  describe_timeout(s, "start_timeout", &env_section::start_timeout)
      .help("How long a process of environments in Python may take to import and make them.");
  describe_timeout(s, "reset_timeout", &env_section::reset_timeout)
      .help(
          "How long a reset of all environments of a replica may take, and each reset that a step "
          "makes. Then the process of environments in Python is ended, the episode on an OpenEnv "
          "server is dropped, and a replica of other environments is replaced.");
  describe_timeout(s, "step_timeout", &env_section::step_timeout)
      .help(
          "How long a step of all environments of a replica may take, with the same consequence as "
          "reset_timeout. A reset that a step makes has its own time; then the step's begins "
          "anew.");
  s.field("curriculum", &env_section::curriculum)
      .help(
          "A curriculum over the environment's levels, from the easiest; the next level begins "
          "once enough of a level's episodes succeed. null trains on the last level, on which "
          "evaluations are in any case.");
  s.field("tasks", &env_section::tasks)
      .items(1, 64)
      .example(R"([{"id":"CartPole-v1","floor":10,"target":475}])")
      .help(
          "Environments that one policy learns together, instead of env.id; observations are "
          "padded to the widest and show which task it is. null means env.id alone.");
  s.field("schedule", &env_section::schedule)
      .has_effect_if("env.tasks has a value", [](const env_section& e) { return !!e.tasks; })
      .help("The rule that chooses the next of env.tasks.");
}

void describe(options_schema<evaluation_section>& s) {
  s.field("every_steps", &evaluation_section::every_steps)
      .also_known_as({"eval_freq"})
      .at_least(0)
      .unit("environment steps")
      .help(
          "An evaluation follows every so many environment steps of training; 0 evaluates only at "
          "the end.");
  const auto during_training = [](const evaluation_section& e) { return e.every_steps > 0; };
  s.field("episodes", &evaluation_section::episodes)
      .has_effect_if("evaluation.every_steps is above 0", during_training)
      .also_known_as({"n_eval_episodes"})
      .at_least(1)
      .at_most(1'000'000)
      .help("The number of episodes of an evaluation during training.");
  s.field("final_episodes", &evaluation_section::final_episodes)
      .at_least(1)
      .at_most(1'000'000)
      .help("The number of episodes of the evaluation at the end.");
  s.field("stop_at", &evaluation_section::stop_at)
      .has_effect_if("evaluation.every_steps is above 0", during_training)
      .unit("return")
      .help(
          "Training ends once the mean return of an evaluation reaches this; null trains for "
          "total_steps.");
}

void describe(options_schema<checkpoint_section>& s) {
  s.field("every_updates", &checkpoint_section::every_updates)
      .at_least(0)
      .unit("updates")
      .help(
          "A checkpoint is written every so many updates, when rollouts have come to rest; 0 "
          "writes none. 10 costs a short run little, 1 loses the least.");
  s.field("keep", &checkpoint_section::keep)
      .has_effect_if("checkpoint.every_updates is above 0",
                     [](const checkpoint_section& c) { return c.every_updates > 0; })
      .at_least(1)
      .at_most(1000)
      .help(
          "The number of newest checkpoints that are kept; if the newest is damaged, a run goes on "
          "from the one before.");
}

}  // namespace troupe
