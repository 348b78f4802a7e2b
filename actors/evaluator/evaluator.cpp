#include "actors/torch.hpp"

#include "actors/evaluator/evaluator.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "actors/policy/shape_of.hpp"

namespace troupe {

evaluation summarise(std::vector<double> returns, std::int64_t version) {
  evaluation e;
  const auto n = static_cast<double>(returns.size());
  e.mean = std::accumulate(returns.begin(), returns.end(), 0.0) / n;
  for (const double r : returns) e.std += (r - e.mean) * (r - e.mean);
  e.std = std::sqrt(e.std / n);
  e.returns = std::move(returns);
  e.version = version;
  return e;
}

evaluator::evaluator(evaluator_options options)
    : options_(std::move(options)), environments_(options_.environments()) {
  const auto spec = environments_->spec();
  if (const auto needed = shape_of(spec); needed != options_.shape) {
    throw std::invalid_argument("evaluator: environment " + spec.id + " needs a network of " +
                                to_string(needed) + ", got " + to_string(options_.shape));
  }
  network_ =
      make_acting_network(options_.shape, options_.network, spec.action_space, options_.seed);
}

env_actions evaluator::act(std::span<const float> obs, action_random& random) {
  const auto rows = environments_->size();
  const auto width = static_cast<std::size_t>(options_.shape.action_size());
  env_actions actions;
  action_rows_out out;
  if (options_.shape.is_continuous()) {
    actions.continuous.resize(rows * width);
    out.value = actions.continuous.data();
  } else {
    actions.discrete.resize(rows * width);
    out.choice = actions.discrete.data();
  }
  network_->act(obs.data(), static_cast<int>(rows), random, options_.deterministic, out);
  return actions;
}

evaluation evaluator::evaluate(weights of, std::size_t episodes) {
  if (episodes == 0) throw std::invalid_argument("evaluate: expected episodes > 0, got 0");
  network_->load_parameters(of.parameters);
  action_random random(options_.seed);
  const auto n = environments_->size();

  std::vector<std::size_t> left(n);
  for (std::size_t i = 0; i < n; ++i) left[i] = (episodes + i) / n;
  std::vector<double> returns;
  std::size_t failed = 0;
  std::int64_t waited = 0;
  auto obs = environments_->reset(options_.seed).obs;
  while (returns.size() < episodes) {
    auto after = environments_->step(act(obs, random));
    failed += after.failures.size();
    if (failed > 10 * episodes) {
      throw evaluation_error("an evaluation was given up, environments have failed " +
                             std::to_string(failed) + " times: " + after.failures.front().id +
                             ": " + after.failures.front().message);
    }
    for (const auto& ended : after.finished) {
      if (left[ended.index] == 0) continue;
      --left[ended.index];
      returns.push_back(ended.episode_return);
      waited = 0;
    }
    if (++waited > patience) {
      throw evaluation_error("an evaluation was given up, no episode has ended in " +
                             std::to_string(patience) + " steps");
    }
    obs = std::move(after.obs);
  }
  return summarise(std::move(returns), of.version);
}

}  // namespace troupe
