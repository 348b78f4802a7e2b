#include "actors/torch/torch.hpp"

#include "algorithms/run/environment_algorithm.hpp"

#include "actors/networks/model_file.hpp"
#include "actors/networks/shape_of.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/run/server_sessions.hpp"
#include "algorithms/run/start_notices.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

run_settings settings_of(const run_config& config, std::string resolved) {
  return {.algo = config.algo,
          .env = config.env,
          .seed = config.seed,
          .mode = config.mode,
          .evaluation = config.evaluation,
          .checkpoint = config.checkpoint,
          .deterministic = config.deterministic,
          .faults = config.plan(),
          .config = std::move(resolved)};
}

network_shape shape_for(const run_settings& settings, const env_spec& spec) {
  return settings.shape ? settings.shape(spec) : shape_of(spec, settings.network.body);
}

environment_algorithm::environment_algorithm(training_run& in)
    : in(in),
      spec(spec_of(in.settings.env)),
      shape(shape_for(in.settings, spec)),
      agents_view_(spec, shape) {
  tell_no_images(in.settings, spec);
  // The mean of several agents may be the same in every episode, as in games where one wins what
  // another loses.
  if (spec.agents.empty())
    in.returns_are_equal = [of = spec](double every) { tell_equal_returns(of, every); };
  const bool is_new = in.output.directory.empty();
  if (is_new) tell_large_images(in.settings.env, spec, shape, in.settings.network);
}

evaluator_options environment_algorithm::evaluator_of(int episodes) const {
  return {.environments =
              environments_of(for_evaluation(in.settings.env),
                              evaluation_size(in.settings.env, episodes, spec.tasks.size())),
          .shape = shape,
          .network = in.settings.network,
          .env_options = in.settings.env.options.text};
}

task<> environment_algorithm::serve_evaluator() {
  const auto& s = in.settings;
  serve_options measuring{.name = "evaluator",
                          .placement = place_of_evaluation(s.env),
                          .deadline = long_call,
                          .idempotent = {endpoint<&evaluator::evaluate>},
                          .max_call_time = max_call_time_of(s.env)};
  evaluations = co_await in.serve<evaluator>(std::move(measuring),
                                             evaluator_of(s.evaluation.episodes), in.stop_asked);
}

task<evaluation> environment_algorithm::evaluate(weights of, std::size_t episodes,
                                                 std::uint64_t seed) {
  auto seen = co_await evaluations.route<&evaluator::evaluate>(std::move(of), episodes, seed);
  co_return with_agents(std::move(seen));
}

task<evaluation> environment_algorithm::evaluate_finally(weights of) {
  const int episodes = in.settings.evaluation.final_episodes;
  serve_options measuring{.name = "final_evaluator",
                          .placement = place_of_evaluation(in.settings.env),
                          .deadline = long_call,
                          .idempotent = {endpoint<&evaluator::evaluate>},
                          .max_call_time = max_call_time_of(in.settings.env)};
  const auto judging =
      co_await in.serve<evaluator>(std::move(measuring), evaluator_of(episodes), in.stop_asked);
  auto seen = co_await judging.route<&evaluator::evaluate>(
      std::move(of), static_cast<std::size_t>(episodes),
      derived_seed(in.settings.seed, "final evaluation"));
  co_return with_agents(std::move(seen));
}

void environment_algorithm::show_agents(const std::map<std::string, double>& values) {
  if (!agents_view_.shows()) return;
  agents_view_.note(values);
  auto& metrics = in.sys.metrics();
  for (const auto& [name, mean] : agents_view_.returns()) {
    metrics
        .gauge("troupe_agent_episode_return",
               "Mean return of an agent, or of a policy's agents, over the last 100 episodes.",
               {{"agent", name}})
        .set(mean);
  }
  for (auto& [name, board] : agents_view_.boards()) metrics.show(name, std::move(board));
}

evaluation environment_algorithm::with_agents(evaluation seen) {
  seen.columns = agent_columns(spec, shape, seen);
  agents_view_.note_joint_actions(seen.joint_actions);
  show_agents(seen.columns);
  return seen;
}

void environment_algorithm::write_model(const std::filesystem::path& path, const weights& of,
                                        std::optional<double> score, named_tensors beside) const {
  save_model(path, saved_model{shape, in.settings.network, of.parameters,
                               static_cast<std::uint64_t>(of.version), score, in.progress.steps,
                               std::move(beside), in.settings.algo, spec.action_space});
}

std::optional<double> environment_algorithm::kept_score(const std::filesystem::path& path) const {
  return load_model(path).score;
}

placement place_of_evaluation(const env_section& env) {
  return place_of(env) == placement::thread || blocks(env) ? placement::thread : placement::shared;
}

}  // namespace troupe
