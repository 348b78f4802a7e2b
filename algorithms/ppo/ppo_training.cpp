#include "actors/torch.hpp"

#include "algorithms/ppo/ppo_training.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "actors/policy/model_file.hpp"
#include "algorithms/loops/loops.hpp"
#include "runtime/log.hpp"

namespace troupe::detail {

namespace {

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

progress_row row_of(const ppo_metrics& m, std::int64_t step) {
  return {step,
          {{"train/loss", m.loss.loss},
           {"train/policy_gradient_loss", m.loss.policy_gradient_loss},
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

/// Attempts at one update while the trainer dies.
constexpr int attempts_max = 100;

/// The trainer learns from the batch, and every policy gets the new weights. A trainer that dies on
/// the way goes on from the weights before, so it learns from the batch once more.
task<ppo_metrics> learn(production& p, rollout_learner::batch batch) {
  for (int attempt = 1; attempt < attempts_max; ++attempt) {
    const auto began = std::chrono::steady_clock::now();
    auto learned = co_await p.learner.try_route<&ppo_trainer::train_step>(batch);
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
  batch.rollouts = std::move(rollouts);
  batch.progress_remaining =
      1.0 - static_cast<double>(p.done.version) / static_cast<double>(p.config.updates());

  const auto learned = co_await learn(p, std::move(batch));
  p.metrics.loss(learned.loss.loss, learned.loss.approx_kl, -learned.loss.entropy_loss,
                 learned.grad_norm, learned.loss.clip_fraction, learned.learning_rate);
  p.metrics.steps_skipped(learned.skipped_steps);
  const bool logged = p.done.version % p.config.log.every_updates == 0;
  if (logged) co_await p.records.route<&recorder::record>(row_of(learned, p.done.steps));
  const auto seen = co_await p.roles.replay.route<&replay_queue<rollout>::counts>();
  p.metrics.replay_holds(seen.held);
  co_return p.done.version;
}

/// A disk that is full or gone does not end training.
void keep_model(const production& p, const std::filesystem::path& path, const weights& newest) {
  try {
    save_model(path, saved_model{p.shape, p.config.network(), newest.parameters,
                                 static_cast<std::uint64_t>(newest.version)});
  } catch (const model_file_error& e) {
    p.metrics.write_failed();
    log::error("a model was not saved; training goes on", {{"error", e.what()}});
  }
}

/// What a callback is told: of the whole run, of which this loop may be a part.
loops::progress whole_progress(const production& p, const ppo_progress& before,
                               loops::progress now) {
  now.updates = p.done.version;
  now.steps = p.done.steps;
  now.episodes += before.episodes;
  now.seconds += before.wall;
  return now;
}

/// Whether a rule says that training is over.
bool has_enough(const production& p) {
  const auto& stop_at = p.config.evaluation.stop_at;
  if (stop_at && p.done.scores.last >= *stop_at) return true;
  return std::ranges::any_of(p.callbacks.stop,
                             [&](const auto& rule) { return rule(p.done.scores); });
}

/// Evaluates when another `every_steps` have passed, keeps the best model and asks the rules.
task<> evaluate_now_and_then(production& p, loops::progress now) {
  const auto every = p.config.evaluation.every_steps;
  const auto before = p.done.steps - now.steps_of_update;
  if (every == 0 || p.done.steps / every == before / every) co_return;
  auto newest = co_await p.store.route<&weight_store::latest>();
  const auto episodes = static_cast<std::size_t>(p.config.evaluation.episodes);
  auto outcome = co_await p.judge.try_route<&evaluator::evaluate>(newest, episodes);
  if (!outcome) {
    log::warn("training goes on without an evaluation",
              {{"env", p.config.env.id}, {"error", describe(outcome.error())}});
    co_return;
  }
  const auto& result = outcome.value();
  co_await p.records.route<&recorder::evaluation>(p.done.steps, result.mean, result.std);
  const bool best = p.done.scores.add(result.mean);
  if (best) keep_model(p, p.directory.best_model(), newest);
  if (p.callbacks.evaluated) co_await p.callbacks.evaluated(now, result);
  p.done.stopped = p.done.stopped || has_enough(p);
}

/// After each update, on the loop's actor.
task<loops::verdict> after_update(production& p, const ppo_progress& before, loops::progress now) {
  now = whole_progress(p, before, now);
  co_await evaluate_now_and_then(p, now);
  if (p.callbacks.called) {
    const auto said = co_await p.callbacks.called(now);
    p.done.stopped = p.done.stopped || said == loops::verdict::stop;
  }
  const bool stop = p.done.stopped || (p.stop_asked && p.stop_asked());
  co_return stop ? loops::verdict::stop : loops::verdict::go_on;
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
      returns.push_back(e.episode_return);
      waited = 0;
    }
    return returns.size() == wanted;
  }

  std::size_t wanted;
  std::vector<std::size_t> left;  ///< Episodes that each environment still owes.
  std::vector<double> returns;
  std::int64_t waited = 0;  ///< Steps since an episode that counts ended.
  bool lost = false;        ///< Environments died: long episodes would be missing from the mean.
};

/// Deterministic episodes on environments of their own, by the same episode function as training.
task<evaluation> evaluate_at_the_end(production& p) {
  const auto wanted = p.config.evaluation.final_episodes;
  const auto environments = std::min(wanted, 10);
  auto roles = p.roles;
  roles.deterministic = true;
  roles.n_steps = 250;  // little is played in vain when the last episode ends
  p.exam = co_await p.sys.serve<hosted_environment>(restartable(p, {.name = "evaluation"}, {}),
                                                    environments_of(p.config, environments),
                                                    p.config.seed + 20'000);
  roles.environments = p.exam;
  final_returns seen(static_cast<std::size_t>(wanted), static_cast<std::size_t>(environments));
  std::function<bool(const rollout&)> enough = [&](const rollout& r) {
    if (p.stop_asked && p.stop_asked()) {
      throw call_error(error_kind::cancelled, "the evaluation at the end was stopped");
    }
    return seen.add(r);
  };
  co_await loops::evaluate(roles, generate_rollout, enough);
  if (!seen.lost) co_return summarise(std::move(seen.returns), p.done.version);
  const auto newest = co_await p.store.route<&weight_store::latest>();
  auto whole = co_await p.judge.route<&evaluator::evaluate>(newest, seen.wanted);
  co_return whole;
}

}  // namespace

task<> train_until(production& p, std::int64_t version, bool drain) {
  const auto before = p.done;
  loops::hooks<rollout> hooks{
      .train = [&p](std::vector<rollout> rollouts) { return train(p, std::move(rollouts)); },
      .called = [&p, &before](loops::progress now) { return after_update(p, before, now); },
      .steps = [](const rollout& r) { return r.steps * r.environments; },
      .metrics = p.metrics};
  const auto& c = p.config;
  const auto updates = version - p.done.version;
  loops::report done;
  if (c.mode == training_mode::sync) {
    done = co_await loops::synchronous(
        p.roles, generate_rollout, std::move(hooks),
        {.batch = static_cast<std::size_t>(c.rollout.batch), .updates = updates});
  } else {
    done = co_await loops::asynchronous(p.roles, generate_rollout, std::move(hooks),
                                        {.rollouts = static_cast<std::size_t>(c.rollout.workers),
                                         .updates = updates,
                                         .drain = drain});
  }
  p.done.episodes += done.episodes;
  p.done.failed += done.failed;
  p.done.wall += done.wall;
  p.done.overlapped += done.overlap_fraction * done.wall;
}

task<> keep_last_model(production& p) {
  const auto newest = co_await p.store.route<&weight_store::latest>();
  keep_model(p, p.directory.last_model(), newest);
}

task<ppo_summary> conclude(production& p) {
  const auto seen = co_await p.roles.replay.route<&replay_queue<rollout>::counts>();
  const auto newest = co_await p.store.route<&weight_store::latest>();
  keep_model(p, p.directory.last_model(), newest);
  const auto final = co_await evaluate_at_the_end(p);
  if (final.mean > p.done.scores.best) keep_model(p, p.directory.best_model(), newest);

  const auto& done = p.done;
  ppo_summary summary{
      .algo = p.config.algo,
      .env = p.config.env.id,
      .mode = p.config.mode,
      .seed = p.config.seed,
      .steps = done.steps,
      .wall_s = done.wall,
      .cpu_s = process_cpu_seconds(),
      .steps_per_s = done.wall > 0 ? static_cast<double>(done.steps) / done.wall : 0,
      .eval_mean = final.mean,
      .eval_std = final.std,
      .eval_episodes = static_cast<std::int64_t>(final.returns.size()),
      .solved = p.spec.reward_threshold && final.mean >= *p.spec.reward_threshold,
      .reward_threshold = p.spec.reward_threshold,
      .stopped = p.done.stopped,
      .rollouts_failed = p.done.failed,
      .staleness_mean = seen.staleness_mean(),
      .staleness_max = seen.staleness_max,
      .overlap_fraction = done.wall > 0 ? done.overlapped / done.wall : 0,
      .metrics_port = p.output.metrics_port,
      .resumed_from_step = p.output.resumed_from_step,
      .weights_sha256 = newest.sha256,
      .run_directory = p.directory.path().string()};
  co_await p.records.route<&recorder::evaluation>(done.steps, final.mean, final.std);
  co_await p.records.route<&recorder::finish>(summary.to_json());
  co_return summary;
}

task<ppo_summary> run_from_the_start(production& p) {
  co_await serve_cast(p, nullptr);
  co_await train_until(p, p.config.updates(), false);
  if (p.done.version < p.config.updates() && !p.done.stopped) {
    throw call_error(error_kind::cancelled, "training was stopped");
  }
  co_return co_await conclude(p);
}

}  // namespace troupe::detail
