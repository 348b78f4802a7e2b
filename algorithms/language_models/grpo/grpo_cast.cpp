#include "actors/torch.hpp"

#include "algorithms/language_models/grpo/grpo_cast.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "actors/derived_seed.hpp"
#include "actors/env/openenv_server/local_world.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "algorithms/language_models/grpo/grpo_defaults.hpp"
#include "algorithms/language_models/grpo/grpo_idle_options.hpp"
#include "algorithms/run/cast_state.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "runtime/log.hpp"
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

grpo_cast::grpo_cast(system& sys, grpo_config config, grpo_task task, training_output output,
                     training_callbacks callbacks)
    : training_cast(sys, settings_of(config, task), std::move(output), std::move(callbacks)),
      config(std::move(config)),
      what(std::move(task)),
      game(what.game()),
      problems(problems_of(what, this->config)),
      subject(std::make_shared<const grpo_subject>(subject_of(this->config, problems.training))) {}

grpo_cast::~grpo_cast() {
  stop(exam);
  stop(final_exam);
  stop(roles.replay);
  stop(roles.rewards);
  stop(roles.coders);
  stop(roles.worlds);
  stop(roles.prompts);
  stop(roles.generators);
  stop(learner);
  stop(store);
  stop(records);
}

task<> grpo_cast::serve(const checkpoint* from) {
  if (from) begin_from(*this, *from);
  co_await serve_recorder(*this, from);
  const auto log = directory.path() / "samples.jsonl";
  if (from) {
    samples.emplace(log, state_in<std::int64_t>(*from, "samples.bin"));
  } else {
    samples.emplace(log);
  }
  co_await serve_learning(from);
  co_await serve_answering(from);
}

task<evaluation> grpo_cast::examine(weights of, std::size_t problems) {
  co_await serve_store(of);
  co_await serve_answering(nullptr);
  auto seen = co_await judge(of, problems);
  co_return seen;
}

task<> grpo_cast::serve_store(weights first) {
  auto keeping = restartable(sys, {.name = "weights"},
                             {endpoint<&weight_store::put>, endpoint<&weight_store::latest>,
                              endpoint<&weight_store::versions>});
  auto shelf = std::make_shared<weight_store::shelf>();
  store = co_await sys.serve<weight_store>(std::move(keeping), std::size_t{3}, std::move(shelf));
  co_await store.route<&weight_store::put>(std::move(first));
}

task<> grpo_cast::serve_learning(const checkpoint* from) {
  // The reference is what training once began with.
  const bool begins = !from || config.trainer.penalty() != 0.0;
  const auto lesson =
      game ? practise_moves(*subject, game->view) : answer_problems(*subject, problems.training);
  const auto began = strand::current().now();
  grpo_start start;
  if (begins) {
    start = co_await starting_weights(config, *subject, lesson, stop_asked);
  } else {
    start.parameters = weights_of(*from).parameters;
  }
  if (!from) done.start += seconds_between(began, strand::current().now());
  auto first = from ? weights_of(*from) : weights{0, start.parameters.clone(), {}};
  co_await serve_store(std::move(first));

  const grpo_model model{
      .config = subject->config,
      .temperature = config.rollout.temperature,
      .answer_tokens = config.rollout.answer_tokens * (game ? *config.game.turns : 1),
      .updates = config.total_steps};
  const auto seed = derived_seed(config.seed, "minibatches");
  std::function<grpo_learner()> make = [=, options = config.trainer] {
    return grpo_learner(model, options, start, seed);
  };
  auto learning =
      restartable(sys, {.name = "trainer", .placement = placement::thread, .deadline = long_call},
                  {endpoint<&grpo_trainer::publish>, endpoint<&grpo_trainer::save>,
                   endpoint<&grpo_trainer::restore>});
  learner = co_await sys.serve<grpo_trainer>(std::move(learning), std::move(make), store);
  if (from) co_await learner.route<&grpo_trainer::restore>(file_of(*from, "trainer.bin"));
}

task<> grpo_cast::serve_answering(const checkpoint* from) {
  const auto& r = config.rollout;
  const bool async = config.mode == training_mode::async;
  const auto at_once = static_cast<std::size_t>(std::max(r.workers, *r.prompts));
  auto writing =
      restartable(sys,
                  {.name = "generator",
                   .placement = placement::thread,
                   .max_ongoing = at_once * (game ? static_cast<std::size_t>(*r.group) : 1),
                   .deadline = answer_deadline(config)},
                  {endpoint<&llm::generator::generate_group>});
  llm::generator_options generating{
      .config = subject->config,
      .engine = {.slots = r.slots, .max_queued = std::int64_t(at_once) * *r.group + r.slots},
      .texts = llm::texts_of(subject->tokens),
      .seed = derived_seed(config.seed, "generator")};
  roles.generators = co_await sys.serve<llm::generator>(std::move(writing), std::move(generating),
                                                        store, &sys.metrics());

  co_await serve_prompts(from);
  co_await serve_judging();

  if (what.is_code()) co_await serve_coders();

  // In sync mode 1: a generator that is restarted while weights are pushed may come back with those
  // before.
  replay_options kept{.batch = *r.prompts, .max_staleness = async ? r.max_staleness : 1};
  kept.patience = std::max<duration>(kept.patience, answer_deadline(config) * r.rounds);
  kept.capacity = std::max<std::size_t>(kept.capacity, at_once * (1 + kept.max_staleness));
  auto queueing =
      restartable(sys, {.name = "replay", .deadline = long_call}, replay_endpoints<answer_group>());
  roles.replay = co_await sys.serve<answer_queue>(std::move(queueing), kept,
                                                  std::make_shared<answer_queue::shelf>());
  if (from) {
    auto held = state_in<replay_state<answer_group>>(*from, "replay.bin");
    co_await roles.replay.route<&answer_queue::restore>(std::move(held));
  }

  roles.metrics = metrics;
  roles.subject = subject;
  roles.group = *r.group;
  roles.answer_tokens = r.answer_tokens;
  roles.temperature = r.temperature;
  roles.rounds = r.rounds;
  roles.refill_flat = config.trainer.flat_rule() == flat_group_rule::refill;
}

task<> grpo_cast::serve_prompts(const checkpoint* from) {
  auto asking = restartable(sys, {.name = "prompts"},
                            {endpoint<&prompt_source::save>, endpoint<&prompt_source::restore>});
  roles.prompts = co_await sys.serve<prompt_source>(std::move(asking), problems.training, true,
                                                    derived_seed(config.seed, "prompts"));
  if (from) co_await roles.prompts.route<&prompt_source::restore>(file_of(*from, "prompts.bin"));

  // Each evaluation says by which seed.
  auto [during, at_the_end] = exams_of(what, config, problems.held_out);
  if (!during.empty()) {
    exam = co_await sys.serve<prompt_source>(restartable(sys, {.name = "exam"}, {}),
                                             std::move(during), false, std::uint64_t{0});
  }
  final_exam = co_await sys.serve<prompt_source>(restartable(sys, {.name = "final_exam"}, {}),
                                                 std::move(at_the_end), false, std::uint64_t{0});
}

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

task<> grpo_cast::serve_coders() {
  auto coding = restartable(sys,
                            {.name = "coder",
                             .replicas = static_cast<std::size_t>(config.code.coders),
                             .placement = placement::thread,
                             .deadline = answer_deadline(config)},
                            {endpoint<&coder::run>});
  log::warn(::geteuid() == 0 ? "what the model writes is run as users of its own, without a sandbox"
                             : "what the model writes is run as this user, without a sandbox");
  roles.coders = co_await sys.serve<coder>(std::move(coding), coders_of(config), &sys.metrics());
}

task<> grpo_cast::serve_judging() {
  if (!game) {
    auto judging = restartable(sys, {.name = "rewards", .deadline = answer_deadline(config)},
                               {endpoint<&answer_judge::evaluate>});
    roles.rewards = co_await sys.serve<answer_judge>(std::move(judging), what.problems()->rewards,
                                                     &sys.metrics());
    co_return;
  }
  const auto& g = config.game;
  auto making = g.urls.empty() ? openenv_server::local_worlds(game->environment)
                               : openenv::worlds_on({.urls = g.urls}, &sys.metrics());
  auto playing = restartable(sys,
                             {.name = "worlds",
                              .replicas = static_cast<std::size_t>(g.worlds),
                              .deadline = answer_deadline(config)},
                             {});
  roles.worlds = co_await sys.serve<openenv::text_world>(std::move(playing), game->view,
                                                         std::move(making), g.illegal_reward);
  roles.turns = *g.turns;
  roles.rules = game->view.rules;
}

void grpo_cast::write_model(const std::filesystem::path& path, const weights& of,
                            std::optional<double> score) const {
  subject->write_model(path, of.parameters, score);
}

std::optional<double> grpo_cast::kept_score(const std::filesystem::path& path) const {
  return score_of(path);
}

task<checkpoint> grpo_cast::save() {
  auto state = co_await begin_checkpoint(*this);
  state.files["trainer.bin"] = co_await learner.route<&grpo_trainer::save>();
  state.files["prompts.bin"] = co_await roles.prompts.route<&prompt_source::save>();
  const auto held = co_await roles.replay.route<&answer_queue::save>();
  state.files["replay.bin"] = state_bytes(held);
  state.files["samples.bin"] = state_bytes(samples->size());
  co_return state;
}

namespace {

run_words words_of(const grpo_task& task) {
  return {.steps = "updates",
          .axis = "updates",
          .episode = "group",
          .score = "reward",
          .decimals = 3,
          .judged = task.game() ? "deals" : "held-out problems",
          .verdict = task.game() ? "reward " : "share right "};
}

}  // namespace

training_settings settings_of(const grpo_config& c, const grpo_task& task) {
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
          .words = words_of(task),
          .config = to_json(c).dump()};
}

namespace {

/// Throws config_error where a batch can't be trained on in so many parts.
void check_minibatches(const grpo_config& config) {
  const int prompts = *config.rollout.prompts, parts = config.trainer.minibatches;
  if (prompts % parts == 0) return;
  throw config_error(
      "/trainer/minibatches",
      fmt::format("expected a divisor of rollout.prompts, {}, got {}", prompts, parts));
}

}  // namespace

trainable trainable_with(const grpo_config& asked, const grpo_task& task) {
  check_options(task, asked);
  const auto config = completed(asked, task);
  check_minibatches(config);
  auto settings = settings_of(config, task);
  settings.idle = grpo_idle_options(asked, task);
  return {.settings = std::move(settings),
          .make =
              [config, task](system& sys, training_output output, training_callbacks callbacks) {
                return std::make_unique<grpo_cast>(sys, config, task, std::move(output),
                                                   std::move(callbacks));
              },
          .check = [config, task] { check_problems(task, config); }};
}

}  // namespace detail
}  // namespace troupe
