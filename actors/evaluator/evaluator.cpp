#include "actors/torch/torch.hpp"

#include "actors/evaluator/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "actors/evaluator/joint_actions.hpp"
#include "actors/networks/shape_of.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/worlds/scripted_policies.hpp"
#include "runtime/service/progress.hpp"

namespace troupe {

namespace {

/// Counts the joint actions of the environments in which episodes are left.
void count(joint_actions& together, std::span<const float> obs,
           std::span<const std::int64_t> choices, const std::vector<std::size_t>& left) {
  const auto width = obs.size() / left.size(), agents = choices.size() / left.size();
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] == 0) continue;
    together.add(obs.subspan(i * width, width), choices.subspan(i * agents, agents));
  }
}

/// Returns the mean return of each task.
std::vector<double> means_of(const std::vector<evaluated_episode>& episodes, std::size_t tasks) {
  if (tasks == 0) return {};
  std::vector<double> means(tasks);
  std::vector<std::size_t> counts(tasks);
  for (const auto& one : episodes) {
    means.at(one.task) += one.episode_return;
    ++counts[one.task];
  }
  for (std::size_t i = 0; i < tasks; ++i) {
    means[i] /= static_cast<double>(std::max<std::size_t>(counts[i], 1));
  }
  return means;
}

}  // namespace

evaluation summarise(const std::vector<evaluated_episode>& episodes, std::int64_t version,
                     const std::vector<env_task>& tasks) {
  evaluation e;
  e.version = version;
  e.task_means = means_of(episodes, tasks.size());
  const auto n = static_cast<double>(episodes.size());
  for (const auto& one : episodes) {
    e.returns.push_back(tasks.empty() ? one.episode_return
                                      : tasks[one.task].relative(one.episode_return));
    e.mean_length += one.length / n;
    e.agent_means.resize(one.agent_returns.size());
    for (std::size_t i = 0; i < one.agent_returns.size(); ++i) {
      e.agent_means[i] += one.agent_returns[i] / n;
    }
  }
  e.mean = std::accumulate(e.returns.begin(), e.returns.end(), 0.0) / n;
  for (const double r : e.returns) e.std += (r - e.mean) * (r - e.mean);
  e.std = std::sqrt(e.std / n);
  return e;
}

int episodes_of_all_tasks(int episodes, std::size_t tasks) {
  const int each = std::max(static_cast<int>(tasks), 1);
  return (episodes + each - 1) / each * each;
}

int environments_of_evaluation(int episodes, std::size_t tasks) {
  const int each = std::max(static_cast<int>(tasks), 1);
  return std::max(std::min(episodes, 10) / each, 1) * each;
}

evaluator::evaluator(evaluator_options options, std::function<bool()> stop_asked,
                     evaluation_watcher watcher)
    : options_(std::move(options)),
      stop_asked_(std::move(stop_asked)),
      watcher_(std::move(watcher)),
      environments_(options_.environments()) {
  const auto spec = environments_->spec();
  if (const auto needed = shape_of(spec, options_.network.body); !fits(options_.shape, needed)) {
    throw std::invalid_argument("evaluator: environment " + spec.id + " needs a network of " +
                                to_string(needed) + ", got " + to_string(options_.shape));
  }
  const auto script = [this](scripted_policy_request of) {
    of.env_options = options_.env_options;
    return make_scripted_policy(of);
  };
  model_ =
      std::make_unique<acting_model>(options_.shape, options_.network, spec.action_space, script);
}

double score_of(const network_shape& shape, std::span<const double> agent_returns,
                double episode_return) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < shape.agents.size(); ++i) {
    if (!shape.policies[static_cast<std::size_t>(shape.agents[i].policy)].scored) continue;
    sum += agent_returns[i];
    ++count;
  }
  return count > 0 ? sum / count : episode_return;
}

evaluation evaluator::evaluate(weights of, std::size_t episodes, std::uint64_t seed) {
  if (episodes == 0) throw std::invalid_argument("evaluate: expected episodes > 0, got 0");
  model_->load_parameters(of.parameters);
  action_random random(derived_seed(seed, "evaluation's actions"));
  const auto n = environments_->size();
  const auto spec = environments_->spec();
  const auto& tasks = spec.tasks;
  joint_actions together(spec);
  episodes =
      static_cast<std::size_t>(episodes_of_all_tasks(static_cast<int>(episodes), tasks.size()));

  std::vector<std::size_t> left(n);
  for (std::size_t i = 0; i < n; ++i) left[i] = (episodes + i) / n;
  std::vector<evaluated_episode> played;
  std::size_t failed = 0;
  std::int64_t waited = 0;
  auto obs = environments_->reset(environment_seed(seed, "evaluation's environments")).obs;
  if (watcher_) watcher_(*environments_, nullptr);
  while (played.size() < episodes) {
    if (stop_asked_ && stop_asked_()) throw evaluation_error("an evaluation was stopped");
    auto actions = model_->act(obs, random, options_.deterministic);
    if (together.counts()) count(together, obs, actions.discrete, left);
    auto after = environments_->step(std::move(actions));
    note_progress();
    if (watcher_) watcher_(*environments_, &after);
    failed += after.failures.size();
    if (failed > 10 * episodes) {
      throw evaluation_error("an evaluation was given up, environments have failed " +
                             std::to_string(failed) + " times: " + after.failures.front().id +
                             ": " + after.failures.front().message);
    }
    for (const auto& ended : after.finished) {
      if (left[ended.index] == 0) continue;
      --left[ended.index];
      played.push_back({score_of(options_.shape, ended.agent_returns, ended.episode_return),
                        static_cast<double>(ended.length), ended.task, ended.agent_returns});
      waited = 0;
    }
    if (++waited > patience) {
      throw evaluation_error("an evaluation was given up, no episode has ended in " +
                             std::to_string(patience) + " steps");
    }
    obs = std::move(after.obs);
  }
  auto result = summarise(played, of.version, tasks);
  for (const auto& agent : spec.agents) result.agent_names.push_back(agent.name);
  result.joint_actions = together.shares();
  return result;
}

}  // namespace troupe
