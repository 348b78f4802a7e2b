#include "actors/torch.hpp"

#include "algorithms/ppo/ppo.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/env/registry.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/policy/model_file.hpp"
#include "actors/policy/shape_of.hpp"
#include "actors/trainer/trainer.hpp"
#include "actors/training_metrics.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/ppo/rollout_learner.hpp"
#include "runtime/log.hpp"

namespace troupe {

namespace {

using ppo_trainer = trainer<rollout_learner>;

/// The cast of a run, and what its coroutines share. Held by train_ppo, which outlives them all.
struct production {
  ppo_config config;
  env_spec spec;
  network_shape shape;
  training_metrics metrics;

  service<weight_store> store;
  service<ppo_trainer> learner;
  service<evaluator> judge;
  service<recorder> records;
  service<hosted_environment> exam;  ///< The environments of the evaluation at the end.
  rollout_roles roles;
  run_directory directory = run_directory::open(".");

  std::int64_t version = 0;  ///< Of the weights in use.
  std::int64_t steps = 0;    ///< Trained on.
  double best = -std::numeric_limits<double>::infinity();
};

/// Stops the services of a run when it ends, however it ends: those that call others first.
struct curtain {
  system& sys;
  const production& p;

  ~curtain() {
    fall(p.exam);
    fall(p.judge);
    fall(p.roles.replay);
    fall(p.roles.environments);
    fall(p.roles.policies);
    fall(p.learner);
    fall(p.store);
    fall(p.records);
  }
  template <class Role>
  void fall(const service<Role>& which) const {
    if (which) sys.stop(which);
  }
};

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

hosted_environment::factory environments_of(const ppo_config& config, int count) {
  return [id = config.env.id, count] {
    return make_vector_environment(id, static_cast<std::size_t>(count));
  };
}

/// A run would else fail only later, in the recorder's replica, without saying why here.
void require_folder(const std::filesystem::path& root) {
  const auto folder = root / "ppo";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) {
    error.assign(errno, std::generic_category());
  }
  if (error) {
    throw run_directory_error("cannot create a run directory in " + folder.string() + ": " +
                              error.message() + "; expected a folder that can be written to");
  }
}

env_observers observers_of(const training_metrics& metrics, const std::string& id) {
  // Of an environment that keeps failing only some are logged; the metric counts all.
  const auto failures = std::make_shared<std::atomic<std::int64_t>>(0);
  return {
      .stepped = [metrics](std::int64_t n) { metrics.env_stepped(n); },
      .episode_ended =
          [metrics](double episode_return, std::int64_t length, bool truncated) {
            metrics.episode_ended(episode_return, length, truncated);
          },
      .failed =
          [metrics, id, failures](const env_failure& failure) {
            metrics.env_failed(to_string(failure.reason));
            const auto count = ++*failures;
            if (count > 20 && count % 1000 != 0) return;
            log::warn("an episode was dropped", {{"env", id},
                                                 {"environment", failure.index},
                                                 {"reason", to_string(failure.reason)},
                                                 {"failures", count},
                                                 {"error", failure.message}});
          },
  };
}

task<> serve_cast(system& sys, production& p, const ppo_output& output) {
  const auto& c = p.config;
  const bool async = c.mode == training_mode::async;
  const auto seed = c.seed;

  run_options run{.root = output.root,
                  .algo = "ppo",
                  .env = c.env.id,
                  .config = to_json(c).dump(),
                  .total_steps = c.updates() * c.steps_of_update(),
                  .threshold = p.spec.reward_threshold,
                  .table = output.table,
                  .progress_bar = output.progress_bar};
  p.records = co_await sys.serve<recorder>({.name = "recorder", .max_restarts = 0}, std::move(run));
  const auto directory = co_await p.records.route<&recorder::directory>();
  p.directory = run_directory::open(directory);

  p.store = co_await sys.serve<weight_store>({.name = "weights"});

  std::function<rollout_learner()> make_learner = [shape = p.shape, options = c.learner(), seed] {
    return rollout_learner(shape, options, seed);
  };
  p.learner = co_await sys.serve<ppo_trainer>(
      {.name = "trainer", .placement = async ? placement::thread : placement::shared},
      std::move(make_learner), p.store);

  policy_options acting{.shape = p.shape, .network = c.policy, .seed = seed};
  p.roles.policies = co_await sys.serve<policy>({.name = "policy"}, std::move(acting), p.store);

  const std::size_t replicas = static_cast<std::size_t>(
      std::max(c.env.replicas, async ? c.rollout.workers : c.rollout.batch));
  p.roles.environments = co_await sys.serve<hosted_environment>(
      {.name = "environments", .replicas = replicas}, environments_of(c, c.env.n_envs), seed,
      observers_of(p.metrics, c.env.id));

  // In sync mode 1, because a policy that is restarted while weights are pushed may come back with
  // those before: its rollout is corrected for. It would be waited for in vain if it were dropped.
  replay_options kept{.batch = c.rollout.batch,
                      .max_staleness = async ? c.rollout.max_staleness : 1};
  kept.capacity = std::max(kept.capacity, static_cast<std::size_t>(c.rollout.batch));
  p.roles.replay = co_await sys.serve<replay_queue<rollout>>({.name = "replay"}, kept);
  p.roles.n_steps = c.rollout.n_steps;

  evaluator_options judging{.environments = environments_of(c, std::min(c.evaluation.episodes, 10)),
                            .shape = p.shape,
                            .network = c.policy,
                            .seed = seed + 10'000};
  p.judge = co_await sys.serve<evaluator>({.name = "evaluator"}, std::move(judging));
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

/// Tells the recorder of the episodes that ended in these rollouts, which come after `p.steps`.
task<> record_episodes(production& p, const std::vector<rollout>& rollouts) {
  std::int64_t before = p.steps;
  for (const auto& r : rollouts) {
    for (const auto& e : r.episodes) {
      const std::int64_t step = before + (e.step + 1) * r.environments;
      co_await p.records.route<&recorder::episode>(step, e.episode_return, e.length);
    }
    before += r.steps * r.environments;
  }
  p.steps = before;
}

/// One update: the trainer learns from the rollouts, and every policy gets the new weights.
task<std::int64_t> train(production& p, std::vector<rollout> rollouts) {
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point t) {
    return std::chrono::duration<double>(clock::now() - t).count();
  };
  co_await record_episodes(p, rollouts);

  rollout_learner::batch batch;
  for (const auto& r : rollouts) {
    batch.stale = batch.stale || r.version != p.version;
    p.metrics.batch_sampled(p.version - r.version);
  }
  batch.rollouts = std::move(rollouts);
  batch.progress_remaining =
      1.0 - static_cast<double>(p.version) / static_cast<double>(p.config.updates());

  const auto began = clock::now();
  const auto learned = co_await p.learner.route<&ppo_trainer::train_step>(std::move(batch));
  p.metrics.trained(learned.trained_rows, seconds_since(began));
  const auto pushing = clock::now();
  p.version = co_await p.learner.route<&ppo_trainer::push_weights>(p.roles.policies);
  p.metrics.weights_pushed(p.version, seconds_since(pushing));

  p.metrics.loss(learned.loss.loss, learned.loss.approx_kl, -learned.loss.entropy_loss,
                 learned.grad_norm, learned.loss.clip_fraction, learned.learning_rate);
  p.metrics.steps_skipped(learned.skipped_steps);
  co_await p.records.route<&recorder::record>(row_of(learned, p.steps));
  const auto seen = co_await p.roles.replay.route<&replay_queue<rollout>::counts>();
  p.metrics.replay_holds(seen.held);
  co_return p.version;
}

/// A disk that is full or gone does not end training.
void keep_model(const production& p, const std::filesystem::path& path, const weights& newest) {
  try {
    save_model(path, saved_model{p.shape, p.config.policy, newest.parameters,
                                 static_cast<std::uint64_t>(newest.version)});
  } catch (const model_file_error& e) {
    log::error("a model was not saved", {{"error", e.what()}});
  }
}

/// Keeps the model if no evaluation before was better.
void keep_if_best(production& p, double mean, const weights& newest) {
  if (mean <= p.best) return;
  p.best = mean;
  keep_model(p, p.directory.best_model(), newest);
}

/// Evaluates when another `every_steps` have passed, and keeps the best model.
task<> evaluate_now_and_then(production& p, std::int64_t) {
  const auto every = p.config.evaluation.every_steps;
  const auto before = p.steps - p.config.steps_of_update();
  if (every == 0 || p.steps / every == before / every) co_return;
  auto newest = co_await p.store.route<&weight_store::latest>();
  const auto episodes = static_cast<std::size_t>(p.config.evaluation.episodes);
  auto outcome = co_await p.judge.try_route<&evaluator::evaluate>(newest, episodes);
  if (!outcome) {
    log::warn("training goes on without an evaluation",
              {{"env", p.config.env.id}, {"error", describe(outcome.error())}});
    co_return;
  }
  const auto& result = outcome.value();
  co_await p.records.route<&recorder::evaluation>(p.steps, result.mean, result.std);
  keep_if_best(p, result.mean, newest);
}

/// What the evaluation at the end gathers from rollouts.
struct final_returns {
  explicit final_returns(std::size_t wanted) : wanted(wanted) {}

  /// True once there are enough. Throws evaluation_error if no episode ends.
  bool add(const rollout& r) {
    waited = r.episodes.empty() ? waited + r.steps : 0;
    if (waited > evaluator::patience) {
      throw evaluation_error("the evaluation at the end was given up, no episode has ended in " +
                             std::to_string(waited) + " steps");
    }
    for (const auto& e : r.episodes) {
      if (returns.size() < wanted) returns.push_back(e.episode_return);
    }
    return returns.size() == wanted;
  }

  std::size_t wanted;
  std::vector<double> returns;
  std::int64_t waited = 0;  ///< Steps since an episode ended.
};

/// Deterministic episodes on an environment of their own, by the same episode function as training.
task<evaluation> evaluate_at_the_end(system& sys, production& p) {
  auto roles = p.roles;
  roles.deterministic = true;
  p.exam = co_await sys.serve<hosted_environment>(
      {.name = "evaluation"}, environments_of(p.config, 1), p.config.seed + 20'000);
  roles.environments = p.exam;
  final_returns seen(static_cast<std::size_t>(p.config.evaluation.final_episodes));
  std::function<bool(const rollout&)> enough = [&](const rollout& r) { return seen.add(r); };
  co_await loops::evaluate(roles, generate_rollout, enough);
  co_return summarise(std::move(seen.returns), p.version);
}

task<loops::report> run_loop(production& p) {
  loops::hooks<rollout> hooks{
      .train = [&p](std::vector<rollout> rollouts) { return train(p, std::move(rollouts)); },
      .updated = [&p](std::int64_t version) { return evaluate_now_and_then(p, version); }};
  const auto& c = p.config;
  if (c.mode == training_mode::sync) {
    return loops::synchronous(
        p.roles, generate_rollout, std::move(hooks),
        {.batch = static_cast<std::size_t>(c.rollout.batch), .updates = c.updates()});
  }
  return loops::asynchronous(
      p.roles, generate_rollout, std::move(hooks),
      {.rollouts = static_cast<std::size_t>(c.rollout.workers), .updates = c.updates()});
}

}  // namespace

task<ppo_summary> train_ppo(system& sys, ppo_config config, ppo_output output) {
  production p;
  const curtain at_the_end{sys, p};
  p.config = std::move(config);
  p.spec = make_vector_environment(p.config.env.id, 1)->spec();
  p.shape = shape_of(p.spec);
  p.metrics = training_metrics(sys.metrics(), p.config.env.id);
  require_folder(output.root);
  co_await serve_cast(sys, p, output);

  const auto done = co_await run_loop(p);
  const auto seen = co_await p.roles.replay.route<&replay_queue<rollout>::counts>();
  const auto newest = co_await p.store.route<&weight_store::latest>();
  keep_model(p, p.directory.last_model(), newest);
  const auto final = co_await evaluate_at_the_end(sys, p);
  keep_if_best(p, final.mean, newest);

  ppo_summary summary{.env = p.config.env.id,
                      .mode = p.config.mode,
                      .seed = p.config.seed,
                      .steps = p.steps,
                      .wall_s = done.wall,
                      .cpu_s = process_cpu_seconds(),
                      .steps_per_s = done.wall > 0 ? static_cast<double>(p.steps) / done.wall : 0,
                      .eval_mean = final.mean,
                      .eval_std = final.std,
                      .eval_episodes = static_cast<std::int64_t>(final.returns.size()),
                      .solved = p.spec.reward_threshold && final.mean >= *p.spec.reward_threshold,
                      .staleness_mean = seen.staleness_mean(),
                      .staleness_max = seen.staleness_max,
                      .overlap_fraction = done.overlap_fraction,
                      .metrics_port = output.metrics_port,
                      .weights_sha256 = newest.sha256,
                      .run_directory = p.directory.path().string()};
  co_await p.records.route<&recorder::evaluation>(p.steps, final.mean, final.std);
  co_await p.records.route<&recorder::finish>(summary.to_json());
  co_return summary;
}

std::string ppo_summary::to_json() const {
  return nlohmann::ordered_json{{"algo", "ppo"},
                                {"env", env},
                                {"mode", mode == training_mode::sync ? "sync" : "async"},
                                {"seed", seed},
                                {"steps", steps},
                                {"wall_s", wall_s},
                                {"cpu_s", cpu_s},
                                {"steps_per_s", steps_per_s},
                                {"eval_mean", eval_mean},
                                {"eval_std", eval_std},
                                {"eval_episodes", eval_episodes},
                                {"solved", solved},
                                {"staleness_mean", staleness_mean},
                                {"staleness_max", staleness_max},
                                {"overlap_fraction", overlap_fraction},
                                {"metrics_port", metrics_port},
                                {"weights_sha256", weights_sha256},
                                {"run_directory", run_directory}}
      .dump();
}

}  // namespace troupe
