#pragma once
// n-step returns for the off-policy algorithms: transitions of n steps from the single steps of an
// environment.

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
  /// The observation after the step. At the end of an episode it is the last one of that episode,
  /// not the first of the next.
  Obs next_obs;
  bool terminated = false;
  bool truncated = false;
};

/// Up to n steps as one transition. The target of the action's value is reward + discount *
/// V(next_obs).
template <class Obs, class Action>
struct n_step_transition {
  Obs obs;
  Action action;
  double reward = 0;    ///< The sum over i < k of gamma^i r_{t+i}.
  double discount = 0;  ///< gamma^k; 0 if the episode terminated, but not if it was truncated.
  Obs next_obs;         ///< The observation after the k steps.
  bool terminated = false;
  bool truncated = false;
  int steps = 0;  ///< The number k of steps: n, or fewer if the episode ended earlier.
};

/// Turns the steps of one environment into n-step transitions (Sutton 1988,
/// https://doi.org/10.1007/BF00115009), as Rainbow uses them (Hessel et al. 2018,
/// https://arxiv.org/abs/1710.02298, section 3). Every step begins one transition. No sum crosses
/// the end of an episode: when an episode terminates or is truncated, all its open sums are
/// completed. A caller that stops in the middle of an episode must mark the last step as
/// `truncated`.
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

  /// Adds a step and returns the transitions that it completes, oldest first: none during the first
  /// n - 1 steps of an episode, then one, and all open ones at the end of the episode.
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

  /// Drops the open transitions, because the environment was lost and its episode won't continue.
  void clear() { open_.clear(); }
  /// The number of open transitions.
  std::size_t pending() const noexcept { return open_.size(); }
  /// The open transitions, oldest first, for checkpoints. Their `next_obs` and flags are not set
  /// yet.
  const std::deque<output>& begun() const noexcept { return open_; }
  void set_begun(std::deque<output> sums) { open_ = std::move(sums); }

 private:
  const int n_;
  const double gamma_;
  std::deque<output> open_;  ///< The open transitions, oldest first.
};

}  // namespace troupe
