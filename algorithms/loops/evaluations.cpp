#include "algorithms/loops/evaluations.hpp"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

#include "runtime/base/log.hpp"

namespace troupe::loops {

bool score_history::add(double score) {
  ++evaluations;
  last = score;
  const bool better = score > best;
  if (better) best = score;
  since_best = better ? 0 : since_best + 1;
  return better;
}

stop_rule score_reached(double threshold) {
  return [threshold](const score_history& seen) { return seen.last >= threshold; };
}

stop_rule no_improvement(std::int64_t in_a_row, std::int64_t at_least) {
  if (in_a_row < 1) {
    throw std::invalid_argument(
        fmt::format("no_improvement: in_a_row: expected a number > 0, got {}", in_a_row));
  }
  return [=](const score_history& seen) {
    return seen.evaluations >= at_least && seen.since_best >= in_a_row;
  };
}

namespace {

task<> measure(const evaluation_options& with, progress now) {
  try {
    const double score = co_await with.measure(now);
    const bool best = with.history->add(score);
    if (best && with.best) co_await with.best(now, score);
  } catch (...) {
    log::warn("training goes on after an evaluation that failed",
              {{"error", describe(std::current_exception())}, {"step", now.steps}});
  }
}

task<verdict> evaluate_and_decide(std::shared_ptr<const evaluation_options> with, progress now) {
  const auto before = with->history->evaluations;
  co_await measure(*with, now);
  if (with->history->evaluations == before) co_return verdict::go_on;  // the evaluation failed
  for (const auto& rule : with->stop) {
    if (rule(*with->history)) co_return verdict::stop;
  }
  co_return verdict::go_on;
}

}  // namespace

callback evaluate_with(evaluation_options options) {
  if (!options.measure || !options.history) {
    throw std::invalid_argument("evaluate_with: expected `measure` and `history`, got none");
  }
  for (const auto& rule : options.stop) {
    if (!rule) throw std::invalid_argument("evaluate_with: stop: expected a rule, got none");
  }
  const auto kept = std::make_shared<const evaluation_options>(std::move(options));
  return [kept](progress now) { return evaluate_and_decide(kept, now); };
}

void detail::refuse_mean(std::size_t items, std::size_t ended, std::size_t wanted) {
  throw std::runtime_error(fmt::format(
      "mean_score: given up after {} items: {} of {} episodes have ended", items, ended, wanted));
}

double detail::mean_of(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

}  // namespace troupe::loops
