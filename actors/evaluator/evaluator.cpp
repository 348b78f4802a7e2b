#include "actors/torch.hpp"

#include "actors/evaluator/evaluator.hpp"

#include <cmath>
#include <numeric>

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
    : options_(std::move(options)),
      environments_(options_.environments()),
      network_(options_.shape, options_.network, options_.seed) {}

evaluation evaluator::evaluate(weights of, std::size_t episodes) {
  if (episodes == 0) throw std::invalid_argument("evaluate: expected episodes > 0, got 0");
  network_.load_parameters(of.parameters);
  action_random random(options_.seed);
  const auto n = environments_->size();
  const auto width = static_cast<std::size_t>(options_.shape.action_size());

  std::vector<std::size_t> left(n);
  for (std::size_t i = 0; i < n; ++i) left[i] = (episodes + i) / n;
  std::vector<double> returns;
  std::vector<float> log_prob(n), value(n);
  auto obs = environments_->reset(options_.seed).obs;
  while (returns.size() < episodes) {
    env_actions actions;
    action_rows_out out;
    if (options_.shape.is_continuous()) {
      actions.continuous.resize(n * width);
      out.value = actions.continuous.data();
    } else {
      actions.discrete.resize(n * width);
      out.choice = actions.discrete.data();
    }
    network_.act(obs.data(), static_cast<int>(n), random, options_.deterministic, out,
                 log_prob.data(), value.data());
    auto after = environments_->step(std::move(actions));
    if (!after.failures.empty()) {
      throw std::runtime_error("an evaluation was given up: " + after.failures.front().message);
    }
    for (const auto& ended : after.finished) {
      if (left[ended.index] == 0) continue;
      --left[ended.index];
      returns.push_back(ended.episode_return);
    }
    obs = std::move(after.obs);
  }
  return summarise(std::move(returns), of.version);
}

}  // namespace troupe
