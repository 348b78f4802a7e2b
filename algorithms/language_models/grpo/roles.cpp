#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "actors/llm/files/known_models.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tasks/python_problems.hpp"
#include "actors/openenv/server/local_world.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/language_models/grpo/grpo_defaults.hpp"
#include "algorithms/language_models/grpo/grpo_idle_options.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "algorithms/run/run_state.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {
namespace detail {

namespace {

using answer_queue = replay_queue<answer_group>;

duration answer_deadline(const grpo_config& config) {
  return std::chrono::ceil<duration>(
      std::chrono::duration<double>(config.rollout.answer_deadline_s));
}

}  // namespace

}  // namespace detail

using detail::answer_deadline, detail::answer_queue;

grpo::grpo(training_run& in, grpo_config config, grpo_task task)
    : in(in),
      config_(std::move(config)),
      task_(std::move(task)),
      game_(task_.game()),
      problems_(problems_of(task_, config_)),
      format_(
          std::make_shared<const prompt_format>(prompt_format_of(config_, problems_.training))) {}

task<> grpo::serve(const checkpoint* from) {
  const auto log = in.directory.path() / "samples.jsonl";
  if (from) {
    samples_.emplace(log, state_in<std::int64_t>(*from, "samples.bin"));
  } else {
    samples_.emplace(log);
  }
  co_await serve_trainer(from);
  co_await serve_answering(from);
}

task<evaluation> grpo::evaluate_alone(weights of, std::size_t problems) {
  co_await in.serve_weight_store(nullptr);
  co_await in.store.route<&weight_store::put>(of);
  co_await serve_answering(nullptr);
  auto seen = co_await evaluate_held_out(of, problems);
  co_return seen;
}

task<> grpo::serve_trainer(const checkpoint* from) {
  // The reference is the weights that the training began with, also after a resumption.
  const bool begins = !from || config_.trainer.penalty() != 0.0;
  const auto sampler =
      game_ ? practise_moves(*format_, game_->view) : answer_problems(*format_, problems_.training);
  const auto began = detail::strand::current().now();
  grpo_start start;
  if (begins) {
    start = co_await starting_weights(config_, *format_, sampler, in.stop_asked);
  } else {
    start.parameters = weights_of(*from).parameters;
  }
  if (!from) in.progress.start += detail::seconds_between(began, detail::strand::current().now());
  if (!from) {
    weights first{0, start.parameters.clone(), {}};
    co_await in.store.route<&weight_store::put>(std::move(first));
  }

  const grpo_model model{.config = format_->config,
                         .temperature = config_.rollout.temperature,
                         .max_completion_tokens = config_.rollout.max_completion_tokens *
                                                  (game_ ? *config_.game.turns : 1),
                         .updates = config_.total_steps};
  const auto seed = derived_seed(config_.seed, "minibatches");
  std::function<grpo_learner()> make = [=, options = config_.trainer] {
    return grpo_learner(model, options, start, seed);
  };
  serve_options learning{
      .name = "trainer",
      .placement = placement::thread,
      .deadline = long_call,
      .idempotent = {endpoint<&grpo_trainer::publish>, endpoint<&grpo_trainer::save>,
                     endpoint<&grpo_trainer::restore>}};
  trainer_ = co_await in.serve<grpo_trainer>(std::move(learning), std::move(make), in.store);
  if (from) co_await trainer_.route<&grpo_trainer::restore>(file_of(*from, "trainer.bin"));
}

task<> grpo::serve_answering(const checkpoint* from) {
  const auto& r = config_.rollout;
  const auto group = static_cast<std::size_t>(*r.group);
  serve_options writing{.name = "generator",
                        .placement = placement::thread,
                        .max_ongoing = at_once() * (game_ ? group : 1),
                        .deadline = answer_deadline(config_),
                        .idempotent = {endpoint<&llm::generator::generate_group>}};
  llm::generator_options generating{
      .config = format_->config,
      .engine = {.slots = r.slots, .max_queued = std::int64_t(at_once()) * *r.group + r.slots},
      .texts = llm::texts_of(format_->tokens),
      .seed = derived_seed(config_.seed, "generator")};
  roles.generators = co_await in.serve<llm::generator>(std::move(writing), std::move(generating),
                                                       in.store, &in.sys.metrics());

  co_await serve_prompts(from);
  co_await serve_judging();

  if (task_.is_code()) co_await serve_coders();

  co_await serve_replay(from);

  roles.metrics = in.metrics;
  roles.format = format_;
  roles.group = *r.group;
  roles.max_completion_tokens = r.max_completion_tokens;
  roles.temperature = r.temperature;
  roles.rounds = r.rounds;
  roles.refill_zero_variance =
      config_.trainer.zero_variance_rule_used() == zero_variance_rule::refill;
}

std::size_t grpo::at_once() const {
  return static_cast<std::size_t>(std::max(config_.rollout.workers, *config_.rollout.prompts));
}

task<> grpo::serve_replay(const checkpoint* from) {
  const auto& r = config_.rollout;
  const bool async = config_.mode == training_mode::async;
  // Sync mode allows 1, since a generator that restarts while weights are pushed may come back with
  // the version before.
  replay_options kept{.batch = *r.prompts, .max_staleness = async ? r.max_staleness : 1};
  kept.patience = std::max<duration>(kept.patience, answer_deadline(config_) * r.rounds);
  kept.capacity = std::max<std::size_t>(kept.capacity, at_once() * (1 + kept.max_staleness));
  serve_options queueing{
      .name = "replay", .deadline = long_call, .idempotent = replay_endpoints<answer_group>()};
  roles.replay = co_await in.serve<answer_queue>(std::move(queueing), kept,
                                                 std::make_shared<answer_queue::storage>());
  if (from) {
    auto held = state_in<replay_state<answer_group>>(*from, "replay.bin");
    co_await roles.replay.route<&answer_queue::restore>(std::move(held));
  }
}

task<> grpo::serve_prompts(const checkpoint* from) {
  serve_options asking{
      .name = "prompts",
      .idempotent = {endpoint<&prompt_source::save>, endpoint<&prompt_source::restore>}};
  const auto seed = derived_seed(config_.seed, "prompts");
  if (task_.is_generated()) {
    asking.placement = placement::thread;
    asking.deadline = answer_deadline(config_);
    auto items = config_.python_items(task_.problems()->generator);
    roles.prompts = co_await in.serve<prompt_source>(std::move(asking), std::move(items),
                                                     generated_problems(), seed);
  } else {
    roles.prompts =
        co_await in.serve<prompt_source>(std::move(asking), problems_.training, true, seed);
  }
  if (from) co_await roles.prompts.route<&prompt_source::restore>(file_of(*from, "prompts.bin"));

  // Each evaluation rewinds its prompt source to its own seed, so the seed here does not matter.
  auto [during, at_the_end] = detail::held_out_problems_of(task_, config_, problems_.held_out);
  if (!during.empty()) {
    serve_options judging{.name = "evaluation_prompts"};
    evaluation_prompts_ = co_await in.serve<prompt_source>(std::move(judging), std::move(during),
                                                           false, std::uint64_t{0});
  }
  serve_options judging{.name = "final_prompts"};
  final_prompts_ = co_await in.serve<prompt_source>(std::move(judging), std::move(at_the_end),
                                                    false, std::uint64_t{0});
}

/// Makes the training problems of a generator's items and checks each of them.
python_dataset<llm::problem>::maker grpo::generated_problems() const {
  return [make = llm::training_problems(problems_.held_out), task = task_.name(),
          format = format_](const nlohmann::json& item) {
    auto made = make(item);
    if (made) detail::check_problem(task, *made, *format);
    return made;
  };
}

task<> grpo::serve_coders() {
  serve_options coding{.name = "coder",
                       .replicas = static_cast<std::size_t>(config_.code.coders),
                       .placement = placement::thread,
                       .deadline = answer_deadline(config_),
                       .idempotent = {endpoint<&coder::run>}};
  log::warn(::geteuid() == 0 ? "the model's programs run without a sandbox, as users of their own"
                             : "the model's programs run without a sandbox, as this user");
  roles.coders =
      co_await in.serve<coder>(std::move(coding), detail::coders_of(config_), &in.sys.metrics());
}

task<> grpo::serve_judging() {
  if (!config_.reward.empty()) {
    serve_options judging{.name = "rewards",
                          .replicas = static_cast<std::size_t>(config_.python.workers),
                          .placement = placement::thread,
                          .deadline = answer_deadline(config_),
                          .idempotent = {endpoint<&python_reward::evaluate>}};
    roles.python_rewards = co_await in.serve<python_reward>(
        std::move(judging), config_.python_rewards(), &in.sys.metrics());
    co_return;
  }
  if (!game_) {
    serve_options judging{.name = "rewards",
                          .deadline = answer_deadline(config_),
                          .idempotent = {endpoint<&answer_judge::evaluate>}};
    roles.rewards = co_await in.serve<answer_judge>(std::move(judging), task_.problems()->rewards,
                                                    &in.sys.metrics());
    co_return;
  }
  const auto& g = config_.game;
  auto making = g.urls.empty() ? openenv_server::local_worlds(game_->environment)
                               : openenv::worlds_on({.urls = g.urls}, &in.sys.metrics());
  serve_options playing{.name = "worlds",
                        .replicas = static_cast<std::size_t>(g.worlds),
                        .deadline = answer_deadline(config_)};
  roles.worlds = co_await in.serve<openenv::text_world>(std::move(playing), game_->view,
                                                        std::move(making), g.illegal_reward);
  roles.turns = *g.turns;
  roles.rules = game_->view.rules;
}

void grpo::write_model(const std::filesystem::path& path, const weights& of,
                       std::optional<double> score) const {
  format_->write_model(path, of.parameters, score);
}

std::optional<double> grpo::kept_score(const std::filesystem::path& path) const {
  return score_of(path);
}

task<> grpo::save(checkpoint& state) {
  state.files["trainer.bin"] = co_await trainer_.route<&grpo_trainer::save>();
  state.files["prompts.bin"] = co_await roles.prompts.route<&prompt_source::save>();
  const auto held = co_await roles.replay.route<&answer_queue::save>();
  state.files["replay.bin"] = state_bytes(held);
  state.files["samples.bin"] = state_bytes(samples_->size());
}

namespace detail {

coder_options coders_of(const grpo_config& config) {
  const auto& c = config.code;
  return {.allow_unsandboxed = config.allow_unsandboxed_code,
          .limits = {.wall_s = c.wall_s,
                     .cpu_s = static_cast<int>(std::ceil(c.wall_s)),
                     .memory_bytes = std::int64_t{c.memory_mib} << 20,
                     .processes = c.processes},
          .first_user = static_cast<std::uint32_t>(c.first_user),
          .last_user = static_cast<std::uint32_t>(c.last_user)};
}

namespace {

run_labels labels_of(const grpo_task& task, bool by_reward) {
  return {.steps = "updates",
          .axis = "updates",
          .episode = "group",
          .score = "reward",
          .judged = task.game() ? "deals" : "held-out problems",
          .verdict = by_reward ? "reward " : "share right "};
}

}  // namespace

run_settings settings_of(const grpo_config& c, const grpo_task& task) {
  const auto& e = c.evaluation;
  return {.algo = c.algo,
          .env = {.id = c.task.name},
          .seed = c.seed,
          .mode = c.mode,
          .evaluation = {.every_steps = e.every_updates,
                         .episodes = e.problems,
                         .final_episodes = e.final_problems,
                         .stop_at = e.stop_at},
          .checkpoint = c.checkpoint,
          .deterministic = c.deterministic,
          .faults = fault_plan_of(c.faults),
          .network = {},
          .model = c.model.path.empty() ? "letters" : c.model.path,
          .without_environment = !task.game(),
          .updates = c.total_steps,
          .total_steps = c.total_steps,
          .labels = labels_of(task, task.game() || !c.reward.empty()),
          .config = to_json(c).dump()};
}

namespace {

/// Throws config_error if the groups of a batch can't be divided into the minibatches.
void check_minibatches(const grpo_config& config) {
  const int prompts = *config.rollout.prompts, parts = config.trainer.minibatches;
  if (prompts % parts == 0) return;
  throw config_error(
      "/trainer/minibatches",
      fmt::format("expected a divisor of rollout.prompts, {}, got {}", prompts, parts));
}

}  // namespace

algorithm grpo_algorithm_with(const grpo_config& asked, const grpo_task& task) {
  check_options(task, asked);
  auto config = completed(asked, task);
  config.model.path = llm::path_of_model(config.model.path).string();
  check_minibatches(config);
  auto settings = settings_of(config, task);
  settings.idle = grpo_idle_options(asked, task);
  auto check = [config, task] { check_problems(task, config); };
  return make_algorithm<grpo>(std::move(settings), std::move(check), config, task);
}

}  // namespace detail
}  // namespace troupe
