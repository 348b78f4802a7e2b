#include "actors/torch.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "actors/collective/collective.hpp"
#include "actors/derived_seed.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/on_policy/ppo/ppo_cast.hpp"
#include "algorithms/run/training_loop.hpp"

namespace troupe::detail {

namespace {

/// What Stable-Baselines3's PPO calls policy_gradient_loss is policy_loss in its A2C.
const char* policy_loss_of(const production& p) {
  return p.config.algo == "ppo" ? "train/policy_gradient_loss" : "train/policy_loss";
}

progress_row row_of(const production& p, const ppo_metrics& m, const replay_counts& seen) {
  progress_row row{p.done.steps,
                   {{"rollout/stale_dropped", static_cast<double>(seen.stale)},
                    {"time/iterations", static_cast<double>(p.done.version)},
                    {"train/loss", m.loss.loss},
                    {policy_loss_of(p), m.loss.policy_gradient_loss},
                    {"train/value_loss", m.loss.value_loss},
                    {"train/entropy_loss", m.loss.entropy_loss},
                    {"train/approx_kl", m.loss.approx_kl},
                    {"train/clip_fraction", m.loss.clip_fraction},
                    {"train/importance_weight", m.loss.importance_weight},
                    {"train/explained_variance", m.explained_variance},
                    {"train/grad_norm", m.grad_norm},
                    {"train/learning_rate", m.learning_rate},
                    {"train/clip_range", m.clip_range},
                    {"train/n_updates", static_cast<double>(m.n_updates)},
                    {"train/dropped_rows", static_cast<double>(m.dropped_rows)}}};
  if (p.shape.is_continuous()) row.values["train/std"] = m.std;
  return row;
}

/// Tells the recorder of the episodes that ended in these rollouts, which come after
/// `p.done.steps`.
task<> record_episodes(production& p, const std::vector<rollout>& rollouts) {
  std::int64_t before = p.done.steps;
  for (const auto& r : rollouts) {
    for (const auto& e : r.episodes) {
      const std::int64_t step = before + (e.step + 1) * r.environments;
      co_await p.records.route<&recorder::episode>(step, e.episode_return, e.length);
    }
    before += r.steps * r.environments;
  }
  p.done.steps = before;
}

double seconds_since(time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

bool is_loss_of_a_rank(const std::exception_ptr& error) {
  if (is_kind(error, error_kind::replica_lost)) return true;
  try {
    std::rethrow_exception(error);
  } catch (const role_error& e) {
    try {
      std::rethrow_exception(e.cause());
    } catch (const collective_error&) {
      return true;
    } catch (...) {
      return false;
    }
  } catch (...) {
    return false;
  }
}

/// All ranks' part in one update, of which they report the same. Throws collective_error where one
/// is lost: those that stayed are in the middle of the update.
task<outcome<ppo_metrics>> train_ranks(production& p, const rollout_learner::batch& batch) {
  const auto world = static_cast<std::size_t>(p.config.trainer.replicas);
  auto reports = co_await p.learner.fanout_settled<&ppo_trainer::train_step>(batch);
  std::string lost;
  for (const auto& one : reports) {
    if (!one.ok() && is_loss_of_a_rank(one.error())) lost += "; " + describe(one.error());
  }
  if (!lost.empty() || reports.size() < world) {
    throw collective_error(fmt::format("the trainer has lost a rank: {} of {} took part{}",
                                       reports.size(), world, lost));
  }
  co_return std::move(reports.front());
}

/// Attempts at one update while the trainer dies.
constexpr int attempts_max = 100;

/// The trainer learns from the batch, and every policy gets the new weights. A trainer that dies on
/// the way goes on from the weights before, so it learns from the batch once more.
task<ppo_metrics> learn(production& p, rollout_learner::batch batch) {
  for (int attempt = 1; attempt < attempts_max; ++attempt) {
    const auto began = std::chrono::steady_clock::now();
    auto training = p.config.trainer.replicas > 1
                        ? train_ranks(p, batch)
                        : p.learner.try_route<&ppo_trainer::train_step>(batch);
    auto learned = co_await std::move(training);
    if (is_kind(learned.error(), error_kind::replica_lost)) continue;
    p.metrics.trained(learned.value().trained_rows, seconds_since(began));
    const auto pushing = std::chrono::steady_clock::now();
    const auto version = co_await p.learner.route<&ppo_trainer::push_weights>(p.roles.policies);
    if (version == p.done.version) continue;
    p.metrics.weights_pushed(version, seconds_since(pushing));
    p.done.version = version;
    co_return std::move(learned).value();
  }
  throw call_error(error_kind::replica_lost, "trainer: lost in " + std::to_string(attempts_max) +
                                                 " attempts at the update of version " +
                                                 std::to_string(p.done.version));
}

/// One update.
task<std::int64_t> train(production& p, std::vector<rollout> rollouts) {
  co_await record_episodes(p, rollouts);

  rollout_learner::batch batch;
  for (const auto& r : rollouts) {
    batch.stale = batch.stale || r.version != p.done.version;
    p.metrics.batch_sampled(p.done.version - r.version);
  }
  if (p.roles.normalizer) {
    std::vector<seen_statistics> seen;
    for (auto& r : rollouts) seen.push_back(std::move(r.seen));
    p.roles.normalizer->take_in(std::move(seen));
    batch.obs_statistics = p.roles.normalizer->obs();
  }
  batch.rollouts = std::move(rollouts);
  batch.progress_remaining = progress_remaining(p);

  const auto learned = co_await learn(p, std::move(batch));
  update_figures figures{.loss = learned.loss.loss,
                         .kl = learned.loss.approx_kl,
                         .entropy = -learned.loss.entropy_loss,
                         .grad_norm = learned.grad_norm,
                         .clip_ratio = {},
                         .lr = learned.learning_rate};
  const bool clips = std::isfinite(p.config.trainer.clip_range);  // A2C doesn't
  if (clips) figures.clip_ratio = learned.loss.clip_fraction;
  p.metrics.updated(figures);
  p.metrics.steps_skipped(learned.skipped_steps);
  const auto seen = co_await p.roles.replay.route<&replay_queue<rollout>::counts>();
  p.metrics.replay_holds(seen.held, seen.bytes, seen.repeated, seen.stale);
  const bool logged = p.done.version % p.config.log.every_updates == 0;
  if (logged) co_await p.records.route<&recorder::record>(row_of(p, learned, seen));
  co_return p.done.version;
}

/// What the evaluation at the end gathers from rollouts: as many episodes of each environment, so
/// that short ones don't weigh more.
struct final_returns {
  final_returns(std::size_t wanted, std::size_t environments) : wanted(wanted) {
    for (std::size_t i = 0; i < environments; ++i) {
      left.push_back((wanted + i) / environments);
    }
  }

  /// True once there are enough, or none will come. Throws evaluation_error if no episode ends.
  bool add(const rollout& r) {
    lost = lost || r.losses > 0;
    if (lost) return true;
    // Where episodes are dropped, each environment's steps are waited for in vain.
    waited += r.failure.empty() ? r.steps : r.steps * r.environments;
    if (waited > evaluator::patience) {
      throw evaluation_error("the evaluation at the end was given up, no episode has ended in " +
                             std::to_string(waited) + " steps" +
                             (r.failure.empty() ? "" : "; each was dropped: " + r.failure));
    }
    for (const auto& e : r.episodes) {
      auto& owed = left[static_cast<std::size_t>(e.environment)];
      if (owed == 0) continue;
      --owed;
      played.push_back({e.episode_return, static_cast<double>(e.length)});
      waited = 0;
    }
    return played.size() == wanted;
  }

  std::size_t wanted;
  std::vector<std::size_t> left;  ///< Episodes that each environment still owes.
  std::vector<evaluated_episode> played;
  std::int64_t waited = 0;  ///< Steps since an episode that counts ended.
  bool lost = false;        ///< Environments died: long episodes would be missing from the mean.
};

/// Deterministic episodes on environments of their own, by the same episode function as training.
task<evaluation> evaluate_at_the_end(production& p) {
  const auto wanted = p.config.evaluation.final_episodes;
  const auto environments = std::min(wanted, 10);
  auto roles = p.roles;
  roles.deterministic = true;
  roles.groups = 1;
  roles.normalizer = nullptr;  // the statistics are those in the weights
  roles.n_steps = 250;         // little is played in vain when the last episode ends
  const auto where = place_of_evaluation(p.config.env);
  auto hosting = restartable(p.sys, {.name = "evaluation", .placement = where}, {});
  p.exam = co_await p.sys.serve<hosted_environment>(
      std::move(hosting), environments_of(p.config.env, environments),
      derived_seed(p.config.seed, "final evaluation"));
  roles.environments = p.exam;
  final_returns seen(static_cast<std::size_t>(wanted), static_cast<std::size_t>(environments));
  std::function<bool(const rollout&)> enough = [&](const rollout& r) {
    require_no_stop(p);
    return seen.add(r);
  };
  co_await loops::evaluate(roles, generate_rollout, enough);
  if (!seen.lost) co_return summarise(seen.played, p.done.version);
  const auto newest = co_await p.store.route<&weight_store::latest>();
  auto whole = co_await p.judge.route<&evaluator::evaluate>(
      newest, seen.wanted, derived_seed(p.config.seed, "final evaluation"));
  co_return whole;
}

}  // namespace

task<> production::train_until(std::int64_t version, bool drain) {
  auto& p = *this;
  const auto before = done;
  loops::hooks<rollout> hooks{
      .train = [&p](std::vector<rollout> rollouts) { return train(p, std::move(rollouts)); },
      .called = [&p, &before](loops::progress now) { return after_update(p, before, now); },
      .steps = [](const rollout& r) { return r.steps * r.environments; },
      .metrics = metrics};
  co_await run_loop(p, roles, generate_rollout, std::move(hooks),
                    {.updates = version - done.version,
                     .batch = static_cast<std::size_t>(config.rollout.batch),
                     .rollouts = static_cast<std::size_t>(config.rollout.workers),
                     .drain = drain});
}

task<training_summary> production::conclude() {
  const auto seen = co_await roles.replay.route<&replay_queue<rollout>::counts>();
  const auto last = co_await newest();
  keep_last_model(*this, last);
  const auto final = co_await unless_stopped(*this, evaluate_at_the_end(*this));
  auto summary = summary_of(*this, final, last);
  tell_staleness(summary, seen);
  co_await finish_run(*this, final, last, summary);
  co_return summary;
}

}  // namespace troupe::detail
