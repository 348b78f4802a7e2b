#include "actors/torch.hpp"

#include "algorithms/grpo/grpo_cast.hpp"

#include <nlohmann/json.hpp>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "algorithms/training/cast_state.hpp"
#include "algorithms/training/replay_endpoints.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe {
namespace detail {

namespace {

using answer_queue = replay_queue<answer_group>;

std::string bytes_of(const replay_state<answer_group>& state) {
  const auto encoded = encode(state);
  const auto bytes = encoded.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Throws state_error.
replay_state<answer_group> replay_state_of(const std::string& bytes) {
  try {
    return decode<replay_state<answer_group>>(std::as_bytes(std::span(bytes)));
  } catch (const std::exception& e) {
    throw state_error(std::string("checkpoint: replay.bin: ") + e.what());
  }
}

}  // namespace

grpo_cast::grpo_cast(system& sys, grpo_config config, training_output output,
                     training_callbacks callbacks)
    : training_cast(sys, settings_of(config), std::move(output), std::move(callbacks)),
      config(std::move(config)),
      subject(std::make_shared<const grpo_subject>(subject_of(this->config))) {}

grpo_cast::~grpo_cast() {
  stop(exam);
  stop(roles.replay);
  stop(roles.rewards);
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
    samples.emplace(log, state_reader(file_of(*from, "samples.cbor")).get<std::int64_t>("size"));
  } else {
    samples.emplace(log);
  }
  auto problems = problems_of(config);
  co_await serve_learning(from, problems.training);
  co_await serve_answering(from, std::move(problems));
}

task<> grpo_cast::serve_learning(const checkpoint* from, std::vector<llm::problem> problems) {
  auto keeping = restartable(sys, {.name = "weights"},
                             {endpoint<&weight_store::put>, endpoint<&weight_store::latest>,
                              endpoint<&weight_store::versions>});
  auto shelf = std::make_shared<weight_store::shelf>();
  store = co_await sys.serve<weight_store>(std::move(keeping), std::size_t{3}, std::move(shelf));

  // The reference is what training once began with.
  const bool begins = !from || config.trainer.kl_coef != 0.0;
  const auto start =
      begins ? starting_weights(config, *subject, problems) : weights_of(*from).parameters;
  const auto first = from ? weights_of(*from) : weights{0, start.clone(), {}};
  co_await store.route<&weight_store::put>(first);

  const grpo_model model{.config = subject->config,
                         .temperature = config.rollout.temperature,
                         .answer_tokens = config.rollout.answer_tokens,
                         .lr = subject->lr(),
                         .updates = config.total_steps};
  std::function<grpo_learner()> make = [=, options = config.trainer, seed = config.seed] {
    return grpo_learner(model, options, start, seed);
  };
  auto learning = restartable(sys, {.name = "trainer", .placement = placement::thread},
                              {endpoint<&grpo_trainer::publish>, endpoint<&grpo_trainer::save>,
                               endpoint<&grpo_trainer::restore>});
  learner = co_await sys.serve<grpo_trainer>(std::move(learning), std::move(make), store);
  if (from) co_await learner.route<&grpo_trainer::restore>(file_of(*from, "trainer.cbor"));
}

task<> grpo_cast::serve_answering(const checkpoint* from, llm::problem_set problems) {
  const auto& r = config.rollout;
  const bool async = config.mode == training_mode::async;
  const auto at_once = static_cast<std::size_t>(std::max(r.workers, r.prompts));
  auto writing = restartable(
      sys, {.name = "generator", .placement = placement::thread, .max_ongoing = at_once},
      {endpoint<&llm::generator::generate_group>});
  llm::generator_options generating{
      .config = subject->config,
      .engine = {.slots = r.slots, .max_queued = std::int64_t(at_once) * r.group},
      .texts = llm::texts_of(subject->tokens),
      .seed = config.seed};
  roles.generators = co_await sys.serve<llm::generator>(std::move(writing), std::move(generating),
                                                        store, &sys.metrics());

  auto asking = restartable(sys, {.name = "prompts"},
                            {endpoint<&prompt_source::save>, endpoint<&prompt_source::restore>});
  roles.prompts = co_await sys.serve<prompt_source>(std::move(asking), std::move(problems.training),
                                                    true, config.seed);
  if (from) co_await roles.prompts.route<&prompt_source::restore>(file_of(*from, "prompts.cbor"));
  exam = co_await sys.serve<prompt_source>(restartable(sys, {.name = "exam"}, {}),
                                           std::move(problems.held_out), false, config.seed);

  auto judging = restartable(sys, {.name = "rewards"}, {endpoint<&answer_judge::evaluate>});
  roles.rewards = co_await sys.serve<answer_judge>(
      std::move(judging), llm::find_problem_task(config.task.name).rewards, &sys.metrics());

  // In sync mode 1: a generator that is restarted while weights are pushed may come back with those
  // before.
  replay_options kept{.batch = r.prompts, .max_staleness = async ? r.max_staleness : 1};
  kept.capacity = std::max<std::size_t>(kept.capacity, at_once * (1 + kept.max_staleness));
  auto queueing = restartable(sys, {.name = "replay"}, replay_endpoints<answer_group>());
  roles.replay = co_await sys.serve<answer_queue>(std::move(queueing), kept,
                                                  std::make_shared<answer_queue::shelf>());
  if (from) {
    auto held = replay_state_of(file_of(*from, "replay.bin"));
    co_await roles.replay.route<&answer_queue::restore>(std::move(held));
  }

  roles.subject = subject;
  roles.group = r.group;
  roles.answer_tokens = r.answer_tokens;
  roles.temperature = r.temperature;
  roles.rounds = r.rounds;
  roles.refill_flat = config.trainer.flat_groups == flat_group_rule::refill &&
                      config.trainer.advantages() != advantage_kind::reward;
}

void grpo_cast::write_model(const std::filesystem::path& path, const weights& of) const {
  llm::write_model(path, subject->config, llm::weights_in(subject->config, of.parameters));
}

task<checkpoint> grpo_cast::save() {
  auto state = co_await begin_checkpoint(*this);
  state.files["trainer.cbor"] = co_await learner.route<&grpo_trainer::save>();
  state.files["prompts.cbor"] = co_await roles.prompts.route<&prompt_source::save>();
  const auto held = co_await roles.replay.route<&answer_queue::save>();
  state.files["replay.bin"] = bytes_of(held);
  state_writer log;
  log.put("size", samples->size());
  state.files["samples.cbor"] = log.bytes();
  co_return state;
}

training_settings settings_of(const grpo_config& c) {
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
          .updates = c.total_steps,
          .total_steps = c.total_steps,
          .config = to_json(c).dump()};
}

}  // namespace detail

trainable trainable_of(const grpo_config& config) {
  return {.settings = detail::settings_of(config),
          .make =
              [config](system& sys, training_output output, training_callbacks callbacks) {
                return std::make_unique<detail::grpo_cast>(sys, config, std::move(output),
                                                           std::move(callbacks));
              },
          .check = [config] { problems_of(config), subject_of(config); }};
}

}  // namespace troupe
