#pragma once

#include <fmt/format.h>

#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

namespace troupe {

/// One step of an environment.
template <class Obs, class Action>
struct transition {
  Obs obs;
  Action action;
  double reward = 0;
  Obs next_obs;  ///< Of this episode: its last one where it ends, not the next one's first.
  bool terminated = false;
  bool truncated = false;
};

/// Up to n steps as one. The target of the action's value is reward + discount * V(next_obs).
template <class Obs, class Action>
struct n_step_transition {
  Obs obs;
  Action action;
  double reward = 0;    ///< sum over i < k of gamma^i r_{t+i}
  double discount = 0;  ///< gamma^k; 0 where the episode terminated. Truncation keeps it.
  Obs next_obs;         ///< After the k steps.
  bool terminated = false;
  bool truncated = false;
  int steps = 0;  ///< k: n, or fewer where the episode ended before.
};

/// Turns the steps of one environment into n-step transitions: Sutton 1988,
/// https://doi.org/10.1007/BF00115009; as used by Rainbow, Hessel et al. 2018,
/// https://arxiv.org/abs/1710.02298, section 3. Every step begins one of them. No sum crosses the
/// end of an episode: where one terminates or is truncated, so do the sums that it has begun. Who
/// stops in the middle of an episode says `truncated`.
template <class Obs, class Action>
class n_step {
 public:
  using input = transition<Obs, Action>;
  using output = n_step_transition<Obs, Action>;

  /// Throws std::invalid_argument unless n >= 1 and 0 <= gamma <= 1.
  n_step(int n, double gamma) : n_(n), gamma_(gamma) {
    if (n < 1) {
      throw std::invalid_argument(fmt::format("n_step: n: expected a number >= 1, got {}", n));
    }
    if (!(gamma >= 0 && gamma <= 1)) {
      throw std::invalid_argument(
          fmt::format("n_step: gamma: expected a number within 0 .. 1, got {}", gamma));
    }
  }

  /// The transitions that this step completes, oldest first: none while fewer than n steps are
  /// there, then one, and all that are left at the end of an episode.
  std::vector<output> add(input step) {
    open_.push_back({.obs = std::move(step.obs), .action = std::move(step.action), .discount = 1});
    for (auto& sum : open_) {
      sum.reward += sum.discount * step.reward;
      sum.discount *= gamma_;
      ++sum.steps;
    }
    const bool ended = step.terminated || step.truncated;
    std::vector<output> complete;
    while (!open_.empty() && (ended || open_.front().steps == n_)) {
      auto& sum = open_.front();
      sum.next_obs = step.next_obs;
      sum.terminated = step.terminated;
      sum.truncated = step.truncated;
      if (step.terminated) sum.discount = 0;
      complete.push_back(std::move(sum));
      open_.pop_front();
    }
    return complete;
  }

  /// Forgets what has begun: the environment was lost and its episode will not go on.
  void clear() { open_.clear(); }
  /// Steps whose transition is not complete.
  std::size_t pending() const noexcept { return open_.size(); }
  /// Those, oldest first, for checkpoints: nothing is known yet of how they end.
  const std::deque<output>& begun() const noexcept { return open_; }
  void set_begun(std::deque<output> sums) { open_ = std::move(sums); }

 private:
  const int n_;
  const double gamma_;
  std::deque<output> open_;  ///< Oldest first.
};

}  // namespace troupe
