#include "actors/torch/torch.hpp"

#include <algorithm>

#include "actors/random/derived_seed.hpp"
#include "algorithms/language_models/grpo/grpo.hpp"
#include "algorithms/language_models/rate_limited_log.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe {

namespace {

/// The largest number of attempts at one evaluation, each of which the loss of the replica with the
/// problems has ended.
constexpr int evaluation_attempts_max = 100;

/// The answers so far in an evaluation. A long evaluation logs its progress every few seconds.
struct evaluation_progress {
  std::size_t problems = 0;  // the number of problems in the whole evaluation
  std::vector<sampled_answer> answers;
  double right = 0.0;  // the sum of `right` over the answers
  rate_limited_log tell = {};

  void add(const sampled_answer& one) {
    answers.push_back(one);
    right += one.right;
    if (tell.due())
      log::info("the evaluation is under way", {{"answered", answers.size()},
                                                {"of", problems},
                                                {"right", right / double(answers.size())}});
  }
};

/// Asks `count` problems one after the other, and adds the answers.
task<> ask_some(const training_run& in, answer_roles roles, std::size_t count,
                evaluation_progress& seen) {
  std::function<bool(const answer_group&)> enough = [&](const answer_group& group) {
    in.require_no_stop();
    // An answer that was dropped counts as wrong.
    seen.add(group.answers.empty() ? sampled_answer{} : group.answers.front());
    return --count == 0;
  };
  co_await loops::evaluate(roles, &grpo::generate, enough);
}

}  // namespace

task<evaluation> grpo::evaluate(weights of, std::size_t problems, std::uint64_t seed) {
  co_return co_await evaluate_all(evaluation_prompts_, std::move(of), problems, seed);
}

task<evaluation> grpo::evaluate_at_the_end(weights of) {
  co_return co_await evaluate_held_out(
      std::move(of), static_cast<std::size_t>(*config_.evaluation.final_problems));
}

task<evaluation> grpo::evaluate_held_out(weights of, std::size_t problems) {
  co_return co_await evaluate_all(final_prompts_, std::move(of), problems,
                                  derived_seed(config_.seed, "final evaluation"));
}

task<> grpo::record_evaluation(const std::string& name, double value) {
  progress_row row{in.progress.steps, {{"eval/" + name, value}}};
  co_await in.records.route<&recorder::record>(std::move(row));
}

/// Evaluates the tasks one after the other. The score is the mean over all of their problems.
task<evaluation> grpo::evaluate_all(const prompt_sources& sources, weights of, std::size_t problems,
                                    std::uint64_t seed) {
  std::vector<evaluated_episode> scores;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto answers = co_await ask(i, sources[i], of, problems, seed);
    const bool played = parts_[i].task.is_played();
    double right = 0, score = 0;
    for (const auto& each : answers) {
      scores.push_back({played ? each.reward : each.right, double(each.sampled_tokens())});
      right += each.right / double(answers.size());
      score += scores.back().episode_return / double(answers.size());
    }
    if (!in.records) continue;
    const auto prefix = parts_.size() == 1 ? "" : parts_[i].task.name() + "/";
    if (played) co_await record_evaluation(prefix + "win_rate", right);
    if (parts_.size() > 1) co_await record_evaluation(prefix + "mean_reward", score);
  }
  co_return summarise(scores, of.version);
}

/// If the replica with the problems is lost on the way, the evaluation begins anew with the same
/// problems.
task<std::vector<sampled_answer>> grpo::ask(std::size_t which, service<prompt_source> problems,
                                            weights of, std::size_t count, std::uint64_t seed) {
  std::exception_ptr error;
  for (int attempt = 1; attempt < evaluation_attempts_max; ++attempt) {
    try {
      co_return co_await ask_once(which, problems, of, count, seed);
    } catch (...) {
      error = std::current_exception();
    }
    if (!is_kind(error, error_kind::replica_lost)) break;
  }
  std::rethrow_exception(error);
}

task<std::vector<sampled_answer>> grpo::ask_once(std::size_t which, service<prompt_source> problems,
                                                 weights of, std::size_t count,
                                                 std::uint64_t seed) {
  co_await problems.route<&prompt_source::rewind>(seed);
  auto asking = roles;
  asking.prompts = problems;
  asking.tasks = {roles.tasks[which]};
  asking.tasks.front().shared_turns = 0;
  asking.group = 1;
  asking.sampling = {.temperature = 0};
  if (parts_[which].task.is_played()) {
    // A deal whose world has failed is followed by another, up to rollout.rounds.
    asking.known_replies =
        std::make_shared<std::map<std::vector<llm::token_id>, llm::completion>>();
  } else {
    asking.rounds = 1;
    asking.may_be_empty = true;
  }
  asking.refill_zero_variance = false;
  asking.metrics = {};
  asking.gate = nullptr;
  // Problems are asked concurrently, so that the generator writes many answers at once.
  const auto at_once = std::min(count, static_cast<std::size_t>(config_.rollout.slots));
  evaluation_progress seen{.problems = count, .answers = {}};
  std::vector<task<>> all_of_them;
  for (std::size_t i = 0; i < at_once; ++i) {
    const auto share = (count + i) / at_once;
    all_of_them.push_back(ask_some(in, asking, share, seen));
  }
  co_await all(std::move(all_of_them));
  co_return std::move(seen.answers);
}

}  // namespace troupe
