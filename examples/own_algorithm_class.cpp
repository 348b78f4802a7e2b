// An algorithm whose roles, episode and update are its own, behind troupe's commands: the
// cross-entropy method (de Boer et al. 2005, https://doi.org/10.1007/s10479-005-5724-z). It draws
// policies from a normal distribution, plays an episode with each, and fits the distribution to the
// best ones.
//
// The roles:
//   search    draws the parameters of policies, and learns from their returns (search.hpp)
//   players   play one episode with the parameters that they are given; evaluators do this
//   replay    hands each trial to the update once
//
//   ./own_algorithm_class config cem
//   ./own_algorithm_class train --algo cem checkpoint.every_updates=5
//   ./own_algorithm_class train --algo cem --mode async --env Acrobot-v1 -n 40 population=64
//
// The policies are linear. The second command ends in seconds with a return near 500.

#include "actors/torch/torch.hpp"

#include <nlohmann/json.hpp>

#include "actors/random/derived_seed.hpp"
#include "algorithms/program/main.hpp"
#include "algorithms/run/algorithm.hpp"
#include "algorithms/run/environment_algorithm.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/train.hpp"
#include "examples/own_algorithm_class/config.hpp"
#include "examples/own_algorithm_class/search.hpp"

using troupe::task;

class cem : public troupe::environment_algorithm {
 public:
  using experience = trial;
  using queue = troupe::replay_queue<trial>;
  struct cem_roles {
    troupe::service<search> searches;
    troupe::service<troupe::evaluator> players;
    troupe::service<queue> replay;
  };

  cem(troupe::training_run& in, cem_config config) : environment_algorithm(in), config_(config) {}

  cem_roles roles;

  // readme: cem_episode
  /// Plays one episode. In both modes many run at once.
  static task<trial> generate(cem_roles r) {
    auto drawn = co_await r.searches.route<&search::draw>();
    const troupe::weights played{drawn.version, torch::tensor(drawn.parameters), {}};
    const auto seen =
        co_await r.players.route<&troupe::evaluator::evaluate>(played, std::size_t{1}, drawn.seed);
    drawn.episode_return = seen.mean;
    drawn.length = seen.mean_length;
    co_return drawn;
  }

  /// Learns from a population of trials and publishes the new weights.
  task<std::int64_t> update(std::vector<trial> trials) {
    ++in.progress.steps;
    for (const auto& one : trials) {
      const auto length = static_cast<std::int64_t>(one.length);
      in.metrics.env_stepped(length);
      co_await in.records.route<&troupe::recorder::episode>(in.progress.steps, one.episode_return,
                                                            length);
    }
    const auto fresh = co_await roles.searches.route<&search::fit>(std::move(trials));
    co_await in.store.route<&troupe::weight_store::put>(fresh);
    in.progress.version = fresh.version;
    co_await in.record(
        {in.progress.steps, {{"train/norm", fresh.parameters.norm().item<double>()}}});
    co_return fresh.version;
  }
  // readme: end

  troupe::loop_sizes sizes() const {
    const auto population = static_cast<std::size_t>(config_.population);
    return {.batch = population, .rollouts = population};
  }

  /// Serves the roles, which go on from a checkpoint unless `from` is null.
  task<> serve(const troupe::checkpoint* from) {
    const auto parameters = troupe::layout_of(shape, in.settings.network).count;
    roles.searches =
        co_await in.serve<search>({.name = "search", .max_restarts = 0}, parameters, config_.seed);
    const troupe::weights first{0, torch::zeros(parameters), {}};
    if (from) {
      co_await roles.searches.route<&search::restore>(troupe::file_of(*from, "search.bin"));
    } else {
      co_await in.store.route<&troupe::weight_store::put>(first);
    }
    roles.players = co_await in.serve<troupe::evaluator>(
        {.name = "players",
         .replicas = static_cast<std::size_t>(config_.env.players),
         .placement = troupe::placement_of(config_.env.placement),
         .idempotent = {troupe::endpoint<&troupe::evaluator::evaluate>}},
        evaluator_of(1));
    roles.replay = co_await in.serve<queue>(
        {.name = "replay", .deadline = troupe::long_call},
        troupe::replay_options{.batch = config_.population, .max_staleness = 2});
    if (from) {
      auto held = troupe::state_in<troupe::replay_state<trial>>(*from, "replay.bin");
      co_await roles.replay.route<&queue::restore>(std::move(held));
    }
    co_await serve_evaluator();
  }
  task<> save(troupe::checkpoint& to) {
    to.files["search.bin"] = co_await roles.searches.route<&search::save>();
    const auto held = co_await roles.replay.route<&queue::save>();
    to.files["replay.bin"] = troupe::state_bytes(held);
  }
  task<troupe::evaluation> evaluate_at_the_end(troupe::weights of) {
    return evaluate(std::move(of), 100, troupe::derived_seed(config_.seed, "final evaluation"));
  }

 private:
  const cem_config config_;
};

// readme: cem_program
troupe::algorithm algorithm_with(const cem_config& config) {
  troupe::run_settings settings{.algo = config.algo,
                                .env = {.id = config.env.id},
                                .seed = config.seed,
                                .mode = config.mode,
                                .evaluation = {.every_steps = 5},
                                .checkpoint = config.checkpoint,
                                .deterministic = config.deterministic,
                                .faults = {},
                                .network = {.hidden = {}},
                                .updates = config.total_steps,
                                .total_steps = config.total_steps,
                                .labels = {.steps = "updates", .axis = "updates"},
                                .config = troupe::to_json(config).dump()};
  auto check = [settings] { troupe::require_network(settings); };
  return troupe::make_algorithm<cem>(std::move(settings), check, config);
}

int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.help = "Trains by the cross-entropy method.",
                       .algorithms = {troupe::algorithm_of<cem_config>(
                           "cem", "the cross-entropy method on linear policies")}});
}
// readme: end
