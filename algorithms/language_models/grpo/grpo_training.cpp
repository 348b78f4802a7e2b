#include "actors/torch.hpp"

#include <fmt/format.h>

#include "actors/derived_seed.hpp"
#include "algorithms/language_models/grpo/grpo_cast.hpp"
#include "algorithms/language_models/grpo/now_and_then.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/run/training_loop.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

namespace {

using answer_queue = replay_queue<answer_group>;

double seconds_since(time_point then) {
  return seconds_between(then, std::chrono::steady_clock::now());
}

/// What came with the groups of a batch besides answers.
struct batch_counts {
  std::map<std::string, std::int64_t> dropped;
  std::int64_t flat_before = 0;
  double staleness = 0;  // mean
};

batch_counts count(const std::vector<answer_group>& groups, std::int64_t version) {
  batch_counts counts;
  for (const auto& group : groups) {
    for (const auto& [reason, many] : group.dropped) counts.dropped[reason] += many;
    counts.flat_before += group.flat_before;
    counts.staleness += double(version - group.version) / double(groups.size());
  }
  return counts;
}

progress_row row_of(const grpo_report& m, const batch_counts& counts, const replay_counts& seen,
                    std::int64_t step) {
  std::int64_t dropped = 0;
  for (const auto& [reason, many] : counts.dropped) dropped += many;
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? double(part) / double(whole) : 0.0;
  };
  return {step,
          {{"rollout/reward_mean", m.reward_mean},
           {"rollout/reward_std", m.reward_std},
           {"rollout/frac_reward_zero_std", share(m.flat_groups, m.groups)},
           {"rollout/overlong_reward", m.overlong_reward},
           {"rollout/right_mean", m.right_mean},
           {"rollout/length_mean", m.length_mean},
           {"rollout/truncated_fraction", share(m.truncated, m.answers)},
           {"rollout/flat_groups", double(m.flat_groups)},
           {"rollout/flat_groups_replaced", double(counts.flat_before)},
           {"rollout/dropped_answers", double(dropped)},
           {"rollout/staleness", counts.staleness},
           {"rollout/stale_dropped", double(seen.stale)},
           {"rollout/stale_dropped_length", seen.stale_length_mean()},
           {"train/loss", m.loss.loss},
           {"train/approx_kl", m.loss.approx_kl},
           {"train/clip_fraction", m.loss.clip_low + m.loss.clip_high},
           {"train/clip_fraction_low", m.loss.clip_low},
           {"train/clip_fraction_high", m.loss.clip_high},
           {"train/ratio", m.loss.ratio},
           {"train/importance_weight", m.loss.weight},
           {"train/importance_out_of_range", m.loss.out_of_range},
           {"train/kl_reference", m.loss.kl + m.kl_reward},
           {"train/entropy", m.entropy},
           {"train/grad_norm", m.grad_norm},
           {"train/learning_rate", m.learning_rate},
           {"train/trained_answers", double(m.trained_answers)},
           {"train/trained_tokens", double(m.trained_tokens)},
           {"train/skipped_steps", double(m.skipped_steps)},
           {"train/n_updates", double(step)}}};
}

void tell_metrics(const grpo_cast& p, const batch_counts& counts) {
  for (const auto& [reason, many] : counts.dropped) {
    p.sys.metrics()
        .counter("troupe_answers_dropped_total", "Answers that could not be trained on, by reason.",
                 {{"reason", reason}})
        .increment(double(many));
  }
}

/// Attempts at one update while the trainer dies, and at one evaluation while its problems do.
constexpr int attempts_max = 100;

/// The trainer learns from the batch, and the generators get the new weights. A trainer that dies
/// on the way goes on from the weights before, so it learns from the batch once more.
task<grpo_report> learn(grpo_cast& p, grpo_learner::batch batch) {
  for (int attempt = 1; attempt < attempts_max; ++attempt) {
    const auto began = std::chrono::steady_clock::now();
    auto learned = co_await p.learner.try_route<&grpo_trainer::train_step>(batch);
    if (is_kind(learned.error(), error_kind::replica_lost)) continue;
    p.metrics.trained(learned.value().trained_tokens, seconds_since(began));
    const auto pushing = std::chrono::steady_clock::now();
    const auto version = co_await push_weights(p.learner, p.roles.generators);
    if (version == p.done.version) continue;
    p.metrics.weights_pushed(version, seconds_since(pushing));
    p.done.version = version;
    co_return std::move(learned).value();
  }
  throw call_error(error_kind::replica_lost,
                   fmt::format("trainer: lost in {} attempts at the update of version {}",
                               attempts_max, p.done.version));
}

/// The curve that people watch: each group's mean reward as an episode's return.
task<> record_groups(grpo_cast& p, const std::vector<answer_group>& groups) {
  for (const auto& group : groups) {
    double reward = 0, length = 0;
    for (const auto& a : group.answers) {
      reward += a.reward;
      length += double(a.log_probs.size());
    }
    const double n = double(group.answers.size());
    co_await p.records.route<&recorder::episode>(p.done.steps, reward / n,
                                                 std::int64_t(std::lround(length / n)));
  }
}

void keep_samples(grpo_cast& p, const std::vector<answer_group>& groups,
                  const std::vector<std::vector<double>>& advantages, std::int64_t version) {
  const auto every = p.config.samples.every_updates;
  if (every == 0 || p.done.version % every != 0) return;
  try {
    p.samples->add(p.done.version, version, groups, advantages);
  } catch (const std::exception& e) {
    p.metrics.write_failed();
    log::error("samples were not kept; training goes on", {{"error", e.what()}});
  }
}

/// One update.
task<std::int64_t> train(grpo_cast& p, std::vector<answer_group> groups) {
  const auto before = p.done.version;
  const auto counts = count(groups, before);
  for (const auto& group : groups) p.metrics.batch_sampled(before - group.version);
  tell_metrics(p, counts);

  grpo_learner::batch batch{.groups = groups};
  const auto learned = co_await learn(p, std::move(batch));
  ++p.done.steps;
  co_await record_groups(p, groups);
  p.metrics.updated({.loss = learned.loss.loss,
                     .kl = learned.loss.approx_kl,
                     .entropy = learned.entropy,
                     .grad_norm = learned.grad_norm,
                     .clip_ratio = learned.loss.clip_low + learned.loss.clip_high,
                     .lr = learned.learning_rate});
  p.metrics.steps_skipped(learned.skipped_steps);
  const auto seen = co_await p.roles.replay.route<&answer_queue::counts>();
  p.metrics.replay_holds(seen.held, seen.bytes, seen.repeated, seen.stale);
  co_await p.records.route<&recorder::record>(row_of(learned, counts, seen, p.done.steps));
  keep_samples(p, groups, learned.advantages, before);
  co_return p.done.version;
}

/// What has been answered so far of an evaluation, which tells of that where it takes long.
struct exam_so_far {
  std::size_t problems = 0;  // in all
  std::vector<sampled_answer> answers;
  double right = 0.0;  // of the answers
  now_and_then tell = {};

  void add(const sampled_answer& one) {
    answers.push_back(one);
    right += one.right;
    if (tell.due())
      log::info("evaluation", {{"answered", answers.size()},
                               {"of", problems},
                               {"right", right / double(answers.size())}});
  }
};

/// Asks `count` problems one after the other, and adds the answers.
task<> ask_some(const grpo_cast& p, answer_roles roles, std::size_t count, exam_so_far& seen) {
  std::function<bool(const answer_group&)> enough = [&](const answer_group& group) {
    require_no_stop(p);
    // One that was dropped is not right.
    seen.add(group.answers.empty() ? sampled_answer{} : group.answers.front());
    return --count == 0;
  };
  co_await loops::evaluate(roles, p.episode(), enough);
}

task<> tell_win_rate(const grpo_cast& p, double rate) {
  progress_row row{p.done.steps, {{"eval/win_rate", rate}}};
  co_await p.records.route<&recorder::record>(std::move(row));
}

/// The curve's first point: what the model can do before it learns.
task<> evaluate_start(grpo_cast& p) {
  const auto began = strand::current().now();
  const auto found = co_await evaluate_and_judge(p, {});
  const auto seconds = seconds_between(began, strand::current().now());
  p.done.start += seconds;
  if (!found) co_return;
  log::info("before the first update", {{p.game ? "reward" : "right", found->mean},
                                        {"of", found->returns.size()},
                                        {"seconds", seconds}});
}

}  // namespace

task<> grpo_cast::train_until(std::int64_t version, bool drain) {
  auto& p = *this;
  const bool seen = done.evaluated >= 0;
  if (done.version == 0 && !seen && config.evaluation.every_updates > 0) co_await evaluate_start(p);
  if (done.over() || is_stop_asked(p)) co_return;
  const auto before = done;
  loops::hooks<answer_group> hooks{
      .train = [&p](std::vector<answer_group> groups) { return train(p, std::move(groups)); },
      .called =
          [&p, &before](loops::progress now) {
            now.steps_of_update = 1;
            return after_update(p, before, now);
          },
      .metrics = metrics};
  co_await run_loop(p, roles, episode(), std::move(hooks),
                    {.updates = version - done.version,
                     .batch = static_cast<std::size_t>(*config.rollout.prompts),
                     .rollouts = static_cast<std::size_t>(config.rollout.workers),
                     .drain = drain});
}

task<evaluation> grpo_cast::evaluate(weights of, std::size_t problems, std::uint64_t seed) {
  co_return co_await ask(exam, std::move(of), problems, seed);
}

task<evaluation> grpo_cast::judge(weights of, std::size_t problems) {
  co_return co_await ask(final_exam, std::move(of), problems,
                         derived_seed(config.seed, "final evaluation"));
}

/// Where the list of problems dies on the way, the evaluation begins anew, and asks the same.
task<evaluation> grpo_cast::ask(service<prompt_source> problems, weights of, std::size_t count,
                                std::uint64_t seed) {
  std::exception_ptr error;
  for (int attempt = 1; attempt < attempts_max; ++attempt) {
    try {
      co_return co_await ask_once(problems, of, count, seed);
    } catch (...) {
      error = std::current_exception();
    }
    if (!is_kind(error, error_kind::replica_lost)) break;
  }
  std::rethrow_exception(error);
}

task<evaluation> grpo_cast::ask_once(service<prompt_source> problems, weights of, std::size_t count,
                                     std::uint64_t seed) {
  co_await problems.route<&prompt_source::rewind>(seed);
  auto asking = roles;
  asking.prompts = problems;
  asking.group = 1;
  asking.temperature = 0;
  if (game) {  // and a deal whose world has failed is followed by another
    asking.known_moves = std::make_shared<std::map<std::vector<llm::token_id>, llm::completion>>();
  } else {
    asking.rounds = 1;
    asking.may_be_empty = true;
  }
  asking.refill_flat = false;
  asking.metrics = {};
  // Side by side, so that the generator has many to write at once.
  const auto at_once = std::min(count, static_cast<std::size_t>(config.rollout.slots));
  exam_so_far seen{.problems = count, .answers = {}};
  std::vector<task<>> all_of_them;
  for (std::size_t i = 0; i < at_once; ++i) {
    const auto share = (count + i) / at_once;
    all_of_them.push_back(ask_some(*this, asking, share, seen));
  }
  co_await all(std::move(all_of_them));
  std::vector<evaluated_episode> scores;
  for (const auto& each : seen.answers)
    scores.push_back({game ? each.reward : each.right, double(each.log_probs.size())});
  if (game && records) co_await tell_win_rate(*this, seen.right / double(seen.answers.size()));
  co_return summarise(scores, of.version);
}

task<training_summary> grpo_cast::conclude() {
  const auto seen = co_await roles.replay.route<&answer_queue::counts>();
  const auto last = co_await newest();
  keep_last_model(*this, last);
  const auto final = co_await unless_stopped(
      *this, judge(last, static_cast<std::size_t>(config.evaluation.final_problems)));
  auto summary = summary_of(*this, final, last);
  tell_staleness(summary, seen);
  co_await finish_run(*this, final, last, summary);
  co_return summary;
}

}  // namespace troupe::detail
