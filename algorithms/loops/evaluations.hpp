#pragma once
// Evaluation between updates, the best weights kept, and rules that end training by it.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/loops/callback.hpp"
#include "algorithms/loops/loops.hpp"

namespace troupe::loops {

/// The evaluations so far. Higher scores are better.
struct score_history {
  std::int64_t evaluations = 0;
  double last = 0;  ///< Of the latest.
  double best = -std::numeric_limits<double>::infinity();
  std::int64_t since_best = 0;  ///< Evaluations after the best one.

  /// True if it is the best so far.
  bool add(double score);
};

/// Looks at the history after each evaluation; true ends the loop.
using stop_rule = std::function<bool(const score_history&)>;

/// Stops once an evaluation has reached `threshold`.
stop_rule score_reached(double threshold);
/// Stops at the `in_a_row`-th evaluation in a row that was no better than the best, but not before
/// there have been `at_least`. Throws std::invalid_argument for in_a_row < 1.
stop_rule no_improvement(std::int64_t in_a_row, std::int64_t at_least = 0);

struct evaluation_options {
  /// The score of the weights in use, such as a mean return.
  std::function<task<double>(progress)> measure;
  /// Keeps the weights that were just measured: no evaluation before was better. May be null.
  std::function<task<>(progress, double score)> best = nullptr;
  std::vector<stop_rule> stop = {};
  /// Share it in order to read, save or restore it.
  std::shared_ptr<score_history> history = std::make_shared<score_history>();
};

/// Evaluates each time it is asked, so it belongs into every_steps. An evaluation that throws is
/// logged and training goes on, as with a `best` that throws. Throws std::invalid_argument where
/// there is nothing to measure with.
callback evaluate_with(evaluation_options options);

/// Items without `episodes` ended episodes after which mean_score gives up: this many, and as many
/// more for each episode.
inline constexpr std::size_t patience_of_mean_score = 100;

namespace detail {

[[noreturn]] void refuse_mean(std::size_t items, std::size_t ended, std::size_t wanted);
double mean_of(const std::vector<double>& scores);

template <class Roles, class Experience>
task<double> find_mean_score(Roles roles, task<Experience> (*generate)(Roles),
                             std::function<std::vector<double>(const Experience&)> scores_of,
                             std::size_t episodes) {
  std::vector<double> seen;
  std::size_t items = 0;
  std::function<bool(const Experience&)> enough = [&](const Experience& e) {
    for (const double score : scores_of(e)) {
      if (seen.size() < episodes) seen.push_back(score);
    }
    if (++items > patience_of_mean_score * (episodes + 1)) {
      refuse_mean(items, seen.size(), episodes);
    }
    return seen.size() == episodes;
  };
  co_await evaluate(roles, generate, enough);
  co_return mean_of(seen);
}

}  // namespace detail

/// Measures by the episode function of training: the mean score of the next `episodes` > 0 that
/// end. Give it roles with environments of their own and a policy that takes its likeliest action.
/// `scores_of`: one for each episode that ended in an item. Throws std::runtime_error if none end.
template <class Roles, class Experience>
std::function<task<double>(progress)> mean_score(
    Roles roles, task<Experience> (*generate)(Roles),
    std::type_identity_t<std::function<std::vector<double>(const Experience&)>> scores_of,
    std::size_t episodes) {
  return [=](progress) { return detail::find_mean_score(roles, generate, scores_of, episodes); };
}

}  // namespace troupe::loops
