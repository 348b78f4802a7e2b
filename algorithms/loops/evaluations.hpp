#pragma once
// A callback that evaluates between updates and keeps the best weights, and rules that end training
// by the scores. It is for loops of your own; runs evaluate by themselves and use only the rules.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/loops/callback.hpp"
#include "algorithms/loops/loops.hpp"

namespace troupe::loops {

/// The scores of the evaluations so far. Higher scores are better.
struct score_history {
  std::int64_t evaluations = 0;  ///< The number of evaluations.
  double last = 0;               ///< The score of the latest evaluation.
  double best = -std::numeric_limits<double>::infinity();
  std::int64_t since_best = 0;  ///< The number of evaluations after the best one.

  /// Adds the score of an evaluation. Returns true if it is the best so far.
  bool add(double score);
};

/// A rule that is asked after each evaluation; it ends training by returning true.
using stop_rule = std::function<bool(const score_history&)>;

/// A rule that ends training once an evaluation has reached `threshold`.
stop_rule score_reached(double threshold);
/// A rule that ends training once `in_a_row` evaluations in a row were no better than the best one
/// before, but not before `at_least` evaluations in all. Throws std::invalid_argument if in_a_row
/// is below 1.
stop_rule no_improvement(std::int64_t in_a_row, std::int64_t at_least = 0);

struct evaluation_options {
  /// Returns the score of the weights in use, such as a mean return.
  std::function<task<double>(progress)> measure;
  /// Called after an evaluation with a better score than any before, to keep its weights. May be
  /// null.
  std::function<task<>(progress, double score)> best = nullptr;
  std::vector<stop_rule> stop = {};
  /// The scores so far. The caller may share it to read, save or restore it.
  std::shared_ptr<score_history> history = std::make_shared<score_history>();
};

/// Returns a callback that evaluates each time it is called, so it is usually wrapped in
/// every_steps. If `measure` or `best` throws, the error is logged and training goes on. Throws
/// std::invalid_argument if `measure` or `history` is null.
callback evaluate_with(evaluation_options options);

/// mean_score gives up after this many items per wanted episode, plus this many, if too few
/// episodes have ended in them.
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

/// Returns a function for evaluation_options::measure that plays with the episode function of
/// training and returns the mean score of the next `episodes` > 0 that end. `roles` should have
/// environments of their own and a policy that takes its likeliest action. `scores_of` returns the
/// scores of the episodes that ended in an item. The function throws std::runtime_error if too few
/// episodes end.
template <class Roles, class Experience>
std::function<task<double>(progress)> mean_score(
    Roles roles, task<Experience> (*generate)(Roles),
    std::type_identity_t<std::function<std::vector<double>(const Experience&)>> scores_of,
    std::size_t episodes) {
  return [=](progress) { return detail::find_mean_score(roles, generate, scores_of, episodes); };
}

}  // namespace troupe::loops
