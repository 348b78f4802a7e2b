#include "actors/torch/torch.hpp"

#include "algorithms/language_models/sft/sft.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "actors/llm/files/known_models.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/language_models/rate_limited_log.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/trainer_role.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

sft::sft(training_run& in, sft_config config, std::shared_ptr<shared_sft_setup> setup)
    : in(in),
      config_(std::move(config)),
      setup_(std::move(setup)),
      network_{.config = setup_->get().model.config,
               .options = config_.learner(),
               .adapters = config_.trainer.lora.adapters()} {}

task<sft_batch> sft::generate(sft_roles from) {
  auto examples = co_await from.data.route<&sft_dataset::next_batch>(from.batch_size);
  co_return sft_batch{std::move(examples), from.progress->version};
}

task<bool> sft::begin() {
  if (in.progress.version == 0 && in.progress.evaluated < 0 &&
      config_.evaluation.every_updates.value() > 0) {
    const auto began = detail::strand::current().now();
    co_await in.evaluate_and_decide({});
    in.progress.start +=
        std::chrono::duration<double>(detail::strand::current().now() - began).count();
  }
  co_return !in.progress.over() && !in.is_stop_asked();
}

// ---- roles -----------------------------------------------------------------------------------

task<> sft::serve(const checkpoint* from) {
  co_await serve_trainer(from);
  co_await serve_data(from);
  serve_options judging{.name = "evaluator",
                        .placement = placement::thread,
                        .deadline = long_call,
                        .idempotent = {endpoint<&sft_evaluator::losses>}};
  evaluator_ = co_await in.serve<sft_evaluator>(std::move(judging), network_);
}

task<> sft::serve_trainer(const checkpoint* from) {
  const auto seed = derived_seed(config_.seed, "adapters");
  at::Tensor start;
  if (network_.adapters) {
    network_.base = starting_weights(config_, setup_->get().model);
  } else {
    start = from ? weights_of(*from).parameters : starting_weights(config_, setup_->get().model);
  }
  sft_trainer::maker make = [network = network_, start, seed] {
    const auto& [config, options, adapters, base] = network;
    return adapters ? std::make_unique<sft_learner>(config, options, base, *adapters, seed)
                    : std::make_unique<sft_learner>(config, options, start);
  };
  trainer_ = co_await serve_trainer<sft_trainer>(in, placement::thread, std::move(make), from);
}

task<> sft::serve_data(const checkpoint* from) {
  serve_options drawing{
      .name = "data",
      .idempotent = {endpoint<&sft_dataset::save>, endpoint<&sft_dataset::restore>}};
  const dataset_options order{.seed = derived_seed(config_.seed, "examples")};
  roles.data = co_await in.serve<sft_dataset>(std::move(drawing),
                                              sft_dataset::shared(setup_->get().training), order);
  if (from) co_await roles.data.route<&sft_dataset::restore>(file_of(*from, "data.bin"));

  serve_options queueing{
      .name = "replay", .deadline = long_call, .idempotent = replay_endpoints<sft_batch>()};
  // A trainer that restarts may come back with the version before.
  roles.replay =
      co_await in.serve<sft_queue>(std::move(queueing), replay_options{.max_staleness = 1},
                                   std::make_shared<sft_queue::storage>());
  if (from) {
    auto held = state_in<replay_state<sft_batch>>(*from, "replay.bin");
    co_await roles.replay.route<&sft_queue::restore>(std::move(held));
  }
  roles.batch_size = static_cast<std::size_t>(config_.trainer.batch_size);
  roles.progress = &in.progress;
}

task<> sft::save(checkpoint& state) {
  state.files["trainer.bin"] = co_await trainer_.route<&sft_trainer::save>();
  state.files["data.bin"] = co_await roles.data.route<&sft_dataset::save>();
  const auto held = co_await roles.replay.route<&sft_queue::save>();
  state.files["replay.bin"] = state_bytes(held);
}

// ---- one update ------------------------------------------------------------------------------

namespace {

task<std::int64_t> publish(service<sft_trainer> from) {
  const auto fresh = co_await from.route<&sft_trainer::publish>();
  co_return fresh.version;
}

}  // namespace

task<std::int64_t> sft::update(std::vector<sft_batch> batches) {
  const auto push = [&] { return publish(trainer_); };
  const auto learned =
      co_await make_update<sft_trainer>(in, trainer_, std::move(batches.front().examples), push);
  ++in.progress.steps;
  co_await record(learned);
  co_return in.progress.version;
}

task<> sft::record(const learner_report& learned) {
  in.metrics.updated(figures_of(learned.metrics));
  in.metrics.steps_skipped(learned.skipped_steps);
  const auto step = in.progress.steps;
  // The points of the curve, on which evaluations are minus the loss, too.
  co_await in.records.route<&recorder::episode>(step, -learned["train/loss"], learned.trained_rows);
  const auto epoch = updates_per_epoch(config_, std::ssize(setup_->get().training));
  progress_row row{step, columns_of(learned.metrics)};
  row.values["train/epoch"] = double(step) / double(epoch);
  row.values["train/n_updates"] = double(step);
  co_await in.record(std::move(row));
}

// ---- evaluations and models ------------------------------------------------------------------

task<evaluation> sft::evaluate(weights of, std::size_t examples, std::uint64_t) {
  const auto judged = setup_->get().judged(examples);
  const auto size = std::ptrdiff_t(roles.batch_size);
  std::vector<double> losses;
  rate_limited_log tell;
  for (auto begin = judged.begin(); begin != judged.end();) {
    in.require_no_stop();
    const auto end = begin + std::min(size, judged.end() - begin);
    std::vector<sft_example> some(begin, end);
    const auto found = co_await evaluator_.route<&sft_evaluator::losses>(of, std::move(some));
    losses.insert(losses.end(), found.begin(), found.end());
    begin = end;
    if (tell.due())
      log::info("the evaluation is under way",
                {{"examples", losses.size()}, {"of", judged.size()}});
  }
  auto seen = score_of_losses(judged, losses, of.version);
  progress_row row{in.progress.steps, {{"eval/loss", -seen.mean}}};
  co_await in.records.route<&recorder::record>(std::move(row));
  co_return seen;
}

task<evaluation> sft::evaluate_at_the_end(weights of) {
  co_return co_await evaluate(std::move(of), 0, 0);
}

void sft::write_model(const std::filesystem::path& path, const weights& of,
                      std::optional<double> score) const {
  setup_->get().model.write_model(path, network_.merged(of.parameters), score);
}

std::optional<double> sft::kept_score(const std::filesystem::path& path) const {
  return score_of(path);
}

// ---- the algorithm ---------------------------------------------------------------------------

namespace {

/// The name by which checkpoints recognise the network.
std::string name_of_model(const sft_config& config) {
  const auto& m = config.model;
  const auto name =
      m.path.empty() ? fmt::format("bytes, {} layers of {}", m.layers, m.hidden_size) : m.path;
  const auto& lora = config.trainer.lora;
  if (lora.rank == 0) return name;
  return fmt::format("{} with adapters {}", name, to_json(lora).dump());
}

run_settings settings_of(const sft_config& c) {
  const auto& e = c.evaluation;
  return {.algo = c.algo,
          .env = {.id = std::filesystem::path(c.task.data).stem().string()},
          .seed = c.seed,
          .mode = training_mode::sync,
          .evaluation = {.every_steps = *e.every_updates,
                         .episodes = static_cast<int>(e.examples.value_or(0)),
                         .final_episodes = 0,
                         .stop_at = e.stop_at},
          .checkpoint = c.checkpoint,
          .deterministic = c.deterministic,
          .faults = fault_plan_of(c.faults),
          .network = {},
          .model = name_of_model(c),
          .without_environment = true,
          .updates = *c.total_steps,
          .total_steps = *c.total_steps,
          .schedule_steps = c.schedule_steps.value_or(*c.total_steps),
          .labels = {.steps = "updates",
                     .axis = "updates",
                     .episode = "batch",
                     .score = "minus loss",
                     .judged = judges_training(c) ? "training examples" : "held-out examples",
                     .verdict = "minus loss "},
          .config = to_json(c).dump()};
}

}  // namespace

algorithm algorithm_with(const sft_config& asked) {
  auto config = asked;
  config.model.path = llm::path_of_model(config.model.path).string();
  const auto setup = std::make_shared<shared_sft_setup>(config);
  config = completed(std::move(config), *setup);
  auto settings = settings_of(config);
  settings.idle = idle_options_of(asked);
  auto check = [setup] { setup->get(); };
  auto made = make_algorithm<sft>(std::move(settings), std::move(check), config, setup);
  made.check_weights = weights_check_of(config.model);
  return made;
}

}  // namespace troupe
