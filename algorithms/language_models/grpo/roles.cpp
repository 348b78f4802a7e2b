#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "actors/llm/files/known_models.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tasks/python_problems.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/language_models/grpo/grpo_defaults.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/trainer_role.hpp"
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

namespace {

/// The made-up conversations of a game or a world; null if it has none.
std::function<std::vector<dialogue_turn>(action_random& random)> practice_of(
    const grpo_part& part) {
  if (part.task.game()) return openenv::text_environment_of(*part.task.game(), {}).practise;
  if (part.task.world()->practise) return part.task.world()->practise;
  const bool is_python = names_python_text(part.config.task.world);
  return is_python ? python_practice(part.config.python_world()) : nullptr;
}

/// What the warm start shows of a task; null if that is nothing.
warm_start_sampler warm_start_of(const prompt_format& format, const grpo_part& part,
                                 const llm::problem_set& problems) {
  if (!part.config.warm_start.shows_problems()) return nullptr;
  if (!part.task.is_played()) return answer_problems(format, problems.training);
  auto practise = practice_of(part);
  return practise ? practise_replies(format, std::move(practise)) : nullptr;
}

/// Draws from the tasks by their shares.
warm_start_sampler warm_start_of_all(const prompt_format& format,
                                     const std::vector<grpo_part>& parts,
                                     const std::vector<llm::problem_set>& problems) {
  std::vector<warm_start_sampler> samplers;
  std::vector<double> up_to;  // the sums of shares
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto one = warm_start_of(format, parts[i], problems[i]);
    if (!one) continue;
    samplers.push_back(std::move(one));
    up_to.push_back((up_to.empty() ? 0 : up_to.back()) + parts[i].config.task.share);
  }
  if (samplers.size() < 2) return samplers.empty() ? nullptr : samplers.front();
  return [samplers = std::move(samplers), up_to = std::move(up_to)](action_random& random) {
    const double at = random.uniform() * up_to.back();
    const auto found = std::ranges::upper_bound(up_to, at);
    const auto which = std::min<std::size_t>(found - up_to.begin(), samplers.size() - 1);
    return samplers[which](random);
  };
}

/// The most turns of an episode of each task.
std::vector<int> turns_of(const std::vector<grpo_part>& parts) {
  std::vector<int> turns;
  for (const auto& part : parts)
    turns.push_back(part.task.is_played() ? part.config.world.turns.value_or(1) : 1);
  return turns;
}

/// What helps a model that writes noise.
std::string cure_of_noise(const grpo_part& part) {
  const std::string others = "model.path, or warm_start.data and warm_start.batches=40";
  if (!part.task.is_played())
    return others + ", or warm_start.batches=40 where problems have answers";
  if (names_python_text(part.config.task.world))
    return others + ", or a method practise(seed) of the world and warm_start.batches=40";
  return others;
}

/// Throws config_error if a world has nothing that the warm start could show.
void require_practice(const grpo_part& part) {
  const auto& warm = part.config.warm_start;
  if (!part.task.is_played() || !warm.shows_problems() || practice_of(part)) return;
  throw config_error(
      "/warm_start/batches",
      fmt::format("expected 0 without warm_start.data for {}, which has no conversations to "
                  "practise (a world in Python has the method practise for them), got {}",
                  part.task.name(), *warm.batches));
}

std::vector<llm::problem_set> problems_of_all(const std::vector<grpo_part>& parts) {
  std::vector<llm::problem_set> all;
  for (const auto& part : parts) all.push_back(problems_of(part.task, part.config));
  return all;
}

}  // namespace

grpo::grpo(training_run& in, grpo_config config, std::vector<grpo_part> parts)
    : in(in),
      config_(std::move(config)),
      parts_(std::move(parts)),
      problems_(problems_of_all(parts_)),
      format_(std::make_shared<const prompt_format>(
          prompt_format_of(parts_.front().config, problems_.front().training))) {}

bool grpo::any_played() const {
  return std::ranges::any_of(parts_, [](const grpo_part& part) { return part.task.is_played(); });
}

/// The name of a service of a task. With several tasks it has the task's name.
std::string grpo::name_for(const char* service, std::size_t which) const {
  if (parts_.size() == 1) return service;
  return fmt::format("{}_{}", service, which + 1);
}

task<> grpo::serve(const checkpoint* from) {
  const auto log = in.directory.path() / "samples.jsonl";
  if (from) {
    samples_.emplace(log, state_in<std::int64_t>(*from, "samples.bin"));
  } else {
    samples_.emplace(log);
  }
  begin_recordings(from);
  co_await serve_trainer(from);
  co_await serve_answering(from);
}

void grpo::begin_recordings(const checkpoint* from) {
  std::vector<std::int64_t> sizes(parts_.size());
  if (from) sizes = state_in<std::vector<std::int64_t>>(*from, "recordings.bin");
  recordings_.clear();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& path = parts_[i].config.task.record;
    auto& made = recordings_.emplace_back();
    if (path.empty()) continue;
    made = from ? std::make_shared<recording_file>(path, sizes.at(i))
                : std::make_shared<recording_file>(path);
  }
}

task<evaluation> grpo::evaluate_alone(weights of, std::size_t problems) {
  co_await in.serve_weight_store(nullptr);
  co_await in.store.route<&weight_store::put>(of);
  co_await serve_answering(nullptr);
  auto seen = co_await evaluate_held_out(of, problems);
  co_return seen;
}

warm_start_sampler grpo::warm_start_from() const {
  if (config_.warm_start.shows_data()) {
    std::vector<llm::problem> held_out;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      std::ranges::move(detail::kept_from_training(parts_[i].task, parts_[i].config, problems_[i]),
                        std::back_inserter(held_out));
    return draw_examples(warm_start_examples(config_, *format_, held_out));
  }
  return warm_start_of_all(*format_, parts_, problems_);
}

task<> grpo::serve_trainer(const checkpoint* from) {
  // A reference that stays, and the weights beside adapters, are those that the training began
  // with, also after a resumption.
  const bool begins = !from || config_.trainer.needs_first_weights();
  const auto began = detail::strand::current().now();
  grpo_start start;
  if (begins) {
    start = co_await starting_weights(config_, *format_, warm_start_from(), in.stop_asked);
  } else {
    start.parameters = weights_of(*from).parameters;
  }
  if (!from && config_.model.path.empty() && config_.warm_start.batches.value_or(0) == 0)
    log::warn(
        "the model begins with random weights and without a warm start, so its first answers "
        "are noise, of which none may get a reward",
        {{"try", cure_of_noise(parts_.front())}});
  if (!from) in.progress.start += detail::seconds_between(began, detail::strand::current().now());
  if (!from) {
    weights first{0, start.parameters.clone(), {}};
    co_await in.store.route<&weight_store::put>(std::move(first));
  }

  const grpo_model model{.config = format_->config,
                         .temperature = config_.rollout.temperature,
                         .max_completion_tokens = config_.rollout.max_completion_tokens,
                         .turns = turns_of(parts_),
                         .updates = config_.schedule_steps.value_or(config_.total_steps)};
  const auto seed = derived_seed(config_.seed, "minibatches");
  grpo_trainer::maker make = [=, options = config_.trainer] {
    return std::make_unique<grpo_learner>(model, options, start, seed);
  };
  trainer_ = co_await serve_trainer<grpo_trainer>(in, placement::thread, std::move(make), from);
}

task<> grpo::serve_answering(const checkpoint* from) {
  const auto& r = config_.rollout;
  const auto group = static_cast<std::size_t>(*r.group);
  serve_options writing{.name = "generator",
                        .placement = placement::thread,
                        .max_ongoing = at_once() * (any_played() ? group : 1),
                        .deadline = answer_deadline(config_),
                        .idempotent = {endpoint<&llm::generator::generate_group>}};
  llm::generator_options generating{
      .config = format_->config,
      .engine = {.slots = r.slots,
                 .max_queued = std::int64_t(at_once()) * *r.group + r.slots,
                 .cache_bytes = any_played() ? std::int64_t{r.cache_mib} << 20 : 0},
      .texts = llm::texts_of(format_->tokens),
      .seed = derived_seed(config_.seed, "generator")};
  roles.generators = co_await in.serve<llm::generator>(std::move(writing), std::move(generating),
                                                       in.store, &in.sys.metrics());

  co_await serve_prompts(from);
  roles.tasks.resize(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) co_await serve_task(i);

  co_await serve_replay(from);

  if (config_.mode == training_mode::async && !r.partial)
    roles.gate = std::make_shared<loops::update_gate>();
  roles.metrics = in.metrics;
  roles.format = format_;
  roles.group = *r.group;
  roles.max_completion_tokens = r.max_completion_tokens;
  roles.sampling = r.sampling();
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
  const prompt_source_options drawing{.seed = derived_seed(config_.seed, "prompts")};
  std::vector<prompt_task> tasks;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    tasks.push_back(training_prompts(i));
    if (!parts_[i].task.is_generated()) continue;
    asking.placement = placement::thread;
    asking.deadline = answer_deadline(config_);
  }
  roles.prompts = co_await in.serve<prompt_source>(std::move(asking), std::move(tasks), drawing);
  if (from) co_await roles.prompts.route<&prompt_source::restore>(file_of(*from, "prompts.bin"));

  // Each evaluation rewinds its prompt source to its own seed, so the seed here does not matter.
  evaluation_prompts_.resize(parts_.size());
  final_prompts_.resize(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& [task, config] = parts_[i];
    auto [during, at_the_end] = detail::held_out_problems_of(task, config, problems_[i].held_out);
    if (!during.empty()) {
      serve_options judging{.name = name_for("evaluation_prompts", i)};
      evaluation_prompts_[i] = co_await in.serve<prompt_source>(
          std::move(judging), std::move(during), false, std::uint64_t{0});
    }
    serve_options judging{.name = name_for("final_prompts", i)};
    final_prompts_[i] = co_await in.serve<prompt_source>(std::move(judging), std::move(at_the_end),
                                                         false, std::uint64_t{0});
  }
}

/// The training prompts of a task.
prompt_task grpo::training_prompts(std::size_t which) const {
  const auto& [task, config] = parts_[which];
  prompt_task made{.problems = problems_[which].training, .share = config.task.share};
  if (task.is_generated()) {
    made.problems = generated_prompts{config.python_items(task.problems()->generator),
                                      generated_problems(which)};
  } else if (config.task.curriculum) {
    std::uint64_t last = 0;
    for (const auto& each : problems_[which].training) last = std::max(last, each.level);
    made.curriculum = config.task.curriculum->options(static_cast<std::size_t>(last) + 1);
  }
  return made;
}

/// Makes the training problems of a generator's items and checks each of them.
python_dataset<llm::problem>::maker grpo::generated_problems(std::size_t which) const {
  return
      [make = llm::training_problems(problems_[which].held_out), task = parts_[which].task.name(),
       format = format_](const nlohmann::json& item, std::string_view text) {
        auto made = make(item, text);
        if (made) detail::check_problem(task, *made, *format);
        return made;
      };
}

task<service<code_runner>> grpo::serve_coders(std::size_t which) {
  auto running = detail::coders_of(parts_[which].config);
  if (!recordings_.empty()) running.record = recordings_[which];
  // Only what is not in a sandbox takes a thread for each program.
  const bool blocks = running.allow_unsandboxed && running.replay.empty();
  serve_options coding{.name = name_for("coder", which),
                       .replicas = blocks ? static_cast<std::size_t>(config_.code.coders) : 1,
                       .placement = blocks ? placement::thread : placement::shared,
                       .deadline = answer_deadline(config_),
                       .idempotent = {endpoint<&code_runner::run>}};
  if (blocks)
    log::warn(::geteuid() == 0 ? "the model's programs run without a sandbox, as users of their own"
                               : "the model's programs run without a sandbox, as this user");
  co_return co_await in.serve<code_runner>(std::move(coding), std::move(running),
                                           &in.sys.metrics());
}

/// Serves what judges the answers of a task, or plays its episodes.
task<> grpo::serve_task(std::size_t which) {
  const auto& part = parts_[which];
  auto& made = roles.tasks[which];
  if (part.task.is_played()) {
    co_await serve_worlds(which);
    co_return;
  }
  if (auto python = python_rewards_of(part, problems_[which]); !python.functions.empty()) {
    made.updates = config_.total_steps;
    // As many prompts of each task as its share says.
    double shares = 0;
    for (const auto& each : parts_) shares += each.config.task.share;
    const double prompts = double(*config_.rollout.prompts) * part.config.task.share / shares;
    if (!part.task.is_generated())
      made.epochs_per_update = prompts / double(problems_[which].training.size());
    serve_options judging{.name = name_for("python_rewards", which),
                          .replicas = static_cast<std::size_t>(config_.python.workers),
                          .placement = placement::thread,
                          .deadline = answer_deadline(config_),
                          .idempotent = {endpoint<&python_reward::evaluate>}};
    made.python_rewards =
        co_await in.serve<python_reward>(std::move(judging), std::move(python), &in.sys.metrics());
  }
  if (auto rewards = rewards_of(part); !rewards.empty()) {
    serve_options judging{.name = name_for("rewards", which),
                          .deadline = answer_deadline(config_),
                          .idempotent = {endpoint<&answer_judge::evaluate>}};
    made.rewards =
        co_await in.serve<answer_judge>(std::move(judging), std::move(rewards), &in.sys.metrics());
  }
  if (runs_code(part)) made.coders = co_await serve_coders(which);
}

task<> grpo::serve_worlds(std::size_t which) {
  const auto& part = parts_[which];
  const auto& w = part.config.world;
  auto world = world_of(part, &in.sys.metrics());
  if (!recordings_.empty() && recordings_[which])
    world.make = recorded(std::move(world.make), recordings_[which]);
  text_world_options refusing{.refusal_ends = w.malformed == refusal_rule::automatic
                                                  ? world.refusal_ends
                                                  : w.malformed == refusal_rule::end};
  refusing.refusal_reward = w.malformed_reward.value_or(refusing.refusal_ends ? -1.1 : 0.0);
  serve_options playing{.name = name_for("worlds", which),
                        .replicas = static_cast<std::size_t>(*w.replicas),
                        .placement = world.blocks ? placement::thread : placement::shared,
                        .deadline = answer_deadline(config_)};
  auto& made = roles.tasks[which];
  made.worlds = co_await in.serve<text_world>(std::move(playing), world.make, refusing);
  made.turns = *w.turns;
  made.outcomes = w.outcomes;
  made.history = w.history;
  made.context = w.context;
  made.shared_turns = w.shared_turns;
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
  std::vector<std::int64_t> recorded;
  for (const auto& each : recordings_) recorded.push_back(each ? each->size() : 0);
  state.files["recordings.bin"] = state_bytes(recorded);
}

namespace detail {

code_runner_options coders_of(const grpo_config& config) {
  const auto& c = config.code;
  return {.sandbox = {.limits = {.wall_s = c.wall_s,
                                 .cpu_s = static_cast<int>(std::ceil(c.wall_s)),
                                 .memory_bytes = std::int64_t{c.memory_mib} << 20,
                                 .processes = c.processes},
                      .parallel = c.coders,
                      .first_user = static_cast<std::uint32_t>(c.first_user),
                      .last_user = static_cast<std::uint32_t>(c.last_user)},
          .allow_unsandboxed = config.allow_unsandboxed_code,
          .replay = config.task.replay};
}

namespace {

std::string model_name(const model_section& model) {
  if (model.path.empty()) return model.is_letters() ? "letters" : "bytes";
  return model.path;
}

/// True if the score of a task is its reward and not a share of right answers.
bool is_scored_by_reward(const grpo_part& part) {
  return part.task.is_played() || rewards_of(part).empty();
}

std::string names_of(const std::vector<grpo_part>& parts) {
  std::string names;
  for (const auto& part : parts) names += (names.empty() ? "" : "+") + part.task.name();
  return names;
}

run_labels labels_of(const std::vector<grpo_part>& parts) {
  const bool one_played = parts.size() == 1 && parts.front().task.is_played();
  const auto judges_training = [](const grpo_part& part) {
    return detail::judges_training(part.task, part.config);
  };
  return {.steps = "updates",
          .axis = "updates",
          .episode = "group",
          .score = "reward",
          .judged = one_played                                    ? "deals"
                    : std::ranges::all_of(parts, judges_training) ? "training problems"
                                                                  : "held-out problems",
          .verdict = std::ranges::any_of(parts, is_scored_by_reward) ? "reward " : "share right "};
}

}  // namespace

run_settings settings_of(const grpo_config& c, const std::vector<grpo_part>& parts) {
  const auto& e = c.evaluation;
  return {.algo = c.algo,
          .env = {.id = names_of(parts)},
          .seed = c.seed,
          .mode = c.mode,
          .evaluation = {.every_steps = e.every_updates,
                         .episodes = static_cast<int>(*e.problems),
                         .final_episodes = static_cast<int>(*e.final_problems),
                         .stop_at = e.stop_at},
          .checkpoint = c.checkpoint,
          .deterministic = c.deterministic,
          .faults = fault_plan_of(c.faults),
          .network = {},
          .model = model_name(c.model),
          .without_environment = !(parts.size() == 1 && parts.front().task.is_played()),
          .updates = c.total_steps,
          .total_steps = c.total_steps,
          .schedule_steps = c.schedule_steps.value_or(c.total_steps),
          .labels = labels_of(parts),
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

algorithm grpo_algorithm_with(const grpo_config& asked, std::vector<grpo_part> parts) {
  auto with_path = asked;
  with_path.model.path = llm::path_of_model(asked.model.path).string();
  const auto config = completed(with_path, parts);
  for (const auto& part : parts) check_options(part.task, part.config);
  check_minibatches(config);
  auto settings = settings_of(config, parts);
  if (parts.size() == 1) settings.idle = idle_options_of(asked, config);
  auto check = [parts] {
    for (const auto& part : parts) check_problems(part.task, part.config);
    if (parts.size() == 1) require_practice(parts.front());
  };
  auto made = make_algorithm<grpo>(std::move(settings), std::move(check), config, parts);
  made.check_weights = weights_check_of(config.model);
  return made;
}

}  // namespace detail

bool grpo::scored_by_reward() const {
  return std::ranges::any_of(parts_, detail::is_scored_by_reward);
}

}  // namespace troupe
