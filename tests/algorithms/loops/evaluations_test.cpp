#include "actors/torch/torch.hpp"

#include "algorithms/loops/evaluations.hpp"

#include <cmath>

#include "actors/checkpoint/state_codec.hpp"
#include "algorithms/loops/callbacks.hpp"
#include "tests/algorithms/loops/toy.hpp"

namespace troupe {
namespace {

using namespace testing;
using numbers = std::vector<std::int64_t>;

/// A script of scores, one an evaluation; NaN: the evaluation fails.
struct script {
  std::vector<double> scores;
  std::size_t next = 0;
  numbers kept = {};  ///< Updates at which the best was kept.
  bool full_disk = false;
};

task<double> measure(script& s) {
  const double score = s.scores.at(s.next++);
  if (std::isnan(score)) throw std::runtime_error("the evaluation was given up");
  co_return score;
}

task<> keep_best(script& s, loops::progress now) {
  s.kept.push_back(now.updates);
  if (s.full_disk) throw std::runtime_error("no space left on device");
  co_return;
}

loops::evaluation_options options_of(script& s, std::vector<loops::stop_rule> stop) {
  return {.measure = [&s](loops::progress) { return measure(s); },
          .best = [&s](loops::progress now, double) { return keep_best(s, now); },
          .stop = std::move(stop)};
}

task<> best_is_kept(system&) {
  script s{.scores = {1, 3, 2, 3, 7}};
  auto options = options_of(s, {});
  const auto history = options.history;
  const auto stopped = co_await drive(loops::evaluate_with(options), 5);
  CHECK(stopped == 0);
  CHECK(s.kept == numbers{1, 2, 5});  // an equal score is no better
  CHECK(history->evaluations == 5);
  CHECK(history->best == 7);
  CHECK(history->since_best == 0);
}

task<> threshold(system&) {
  script s{.scores = {100, 474.9, 300, 475, 500}};
  const auto stopped =
      co_await drive(loops::evaluate_with(options_of(s, {loops::score_reached(475)})), 5);
  CHECK(stopped == 4);
  CHECK(s.kept == numbers{1, 2, 4});  // the best is kept before the loop ends
}

task<> no_better(system&) {
  script s{.scores = {5, 4, 6, 6, 5, 1, 9, 9}};
  const auto stopped =
      co_await drive(loops::evaluate_with(options_of(s, {loops::no_improvement(3)})), 8);
  CHECK(stopped == 6);

  script patient{.scores = {5, 4, 4, 4, 4, 4, 4, 4}};
  const auto later =
      co_await drive(loops::evaluate_with(options_of(patient, {loops::no_improvement(2, 6)})), 8);
  CHECK(later == 6);
}

task<> failures(system&) {
  script s{.scores = {3, std::nan(""), 1, 4}, .full_disk = true};
  auto options = options_of(s, {loops::no_improvement(2)});
  const auto history = options.history;
  const auto stopped = co_await drive(loops::evaluate_with(options), 4);
  CHECK(stopped == 0);  // the one that failed is no evaluation without improvement
  CHECK(history->evaluations == 3);
  CHECK(s.kept == numbers{1, 4});
}

std::vector<double> scores_of(const toy_episode& e) { return e.scores; }
std::vector<double> no_scores(const toy_episode&) { return {}; }

/// Evaluation between the updates of a loop, by the episode function of training.
template <bool async>
task<> interleaved(system& sys) {
  toy_state training, evaluation;
  const auto roles = co_await serve_toys(sys, training, {.batch = 1, .max_staleness = 1});
  const toy_roles examined{roles.replay, &evaluation};
  loops::evaluation_options options{.measure = loops::mean_score(examined, play_toy, scores_of, 4)};
  const auto history = options.history;
  auto hooks = toy_hooks(training, loops::every_updates(2, loops::evaluate_with(options)));
  if (async) {
    co_await loops::asynchronous(roles, play_toy, hooks, {.rollouts = 2, .updates = 6});
  } else {
    co_await loops::synchronous(roles, play_toy, hooks, {.updates = 6});
  }
  CHECK(evaluation.begun == 12);
  CHECK(history->evaluations == 3);
  CHECK(history->last == 10.5);  // of episodes 9 to 12
  const auto counts = co_await roles.replay.route<&toy_queue::counts>();
  CHECK(counts.inserted <= training.begun);  // the evaluation's episodes are not in the replay
  CHECK(counts.sampled == 6);
}

task<> endless(system& sys) {
  toy_state s;
  const auto roles = co_await serve_toys(sys, s, {});
  const auto score = loops::mean_score(roles, play_toy, no_scores, 3);
  const auto error = co_await error_of(score(loops::progress{}));
  CHECK(error == "mean_score: given up after 401 items: 0 of 3 episodes have ended");
}

}  // namespace

TEST_CASE("evaluate_with: keeps the weights whenever an evaluation is the best so far") {
  play(best_is_kept);
}

TEST_CASE("score_reached: stops at the first evaluation that reaches the threshold") {
  play(threshold);
}

TEST_CASE("no_improvement: stops after so many evaluations in a row that are no better") {
  play(no_better);
}

TEST_CASE("evaluate_with: an evaluation or a disk that fails does not end training") {
  play(failures);
}

TEST_CASE("mean_score: evaluates between updates by the episode function of training") {
  play(interleaved<false>);
  play(interleaved<true>);
}

TEST_CASE("mean_score: gives up where no episode ends, and says how many there were") {
  play(endless);
}

TEST_CASE("score_history: goes on from its saved state as if nothing had happened") {
  loops::score_history through, before, after;
  const auto rule = loops::no_improvement(3);
  for (const double score : {1.0, 0.1 + 0.2, 0.9}) {
    through.add(score);
    before.add(score);
  }
  after = state_of<loops::score_history>(state_bytes(before));
  CHECK(after.best == through.best);
  CHECK(after.last == through.last);
  CHECK(!rule(after));
  CHECK(!after.add(0.5));
  CHECK(after.evaluations == 4);
  CHECK(rule(after));
  CHECK_THROWS_AS(state_of<loops::score_history>("no state"), state_error);
}

TEST_CASE("evaluations: what can't be asked is refused") {
  CHECK_THROWS_WITH(loops::evaluate_with({.measure = nullptr}),
                    "evaluate_with: expected `measure` and `history`, got none");
  CHECK_THROWS_WITH(loops::no_improvement(0),
                    "no_improvement: in_a_row: expected a number > 0, got 0");
  script s;
  CHECK_THROWS_AS(loops::evaluate_with(options_of(s, {nullptr})), std::invalid_argument);
}

}  // namespace troupe
