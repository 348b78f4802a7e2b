#include "actors/torch.hpp"

#include "algorithms/ppo/ppo.hpp"

#include <sys/resource.h>

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
  rollout_roles roles;
  run_directory directory = run_directory::open(".");

  std::int64_t version = 0;  ///< Of the weights in use.
  std::int64_t steps = 0;    ///< Trained on.
  double best = -std::numeric_limits<double>::infinity();
};

/// Stops the services of a run when it ends, however it ends: the last one served first.
struct curtain {
  system& sys;
  const production& p;

  ~curtain() {
    fall(p.judge);
    fall(p.roles.environments);
    fall(p.roles.replay);
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

env_observers observers_of(const training_metrics& metrics, const std::string& id) {
  return {
      .stepped = [metrics](std::int64_t n) { metrics.env_stepped(n); },
      .episode_ended =
          [metrics](double episode_return, std::int64_t length, bool truncated) {
            metrics.episode_ended(episode_return, length, truncated);
          },
      .failed =
          [metrics, id](const env_failure& failure) {
            metrics.env_failed(to_string(failure.reason));
            log::warn("an episode was dropped", {{"env", id},
                                                 {"environment", failure.index},
                                                 {"reason", to_string(failure.reason)},
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

  replay_options kept{.batch = c.rollout.batch,
                      .max_staleness = async ? c.rollout.max_staleness : 0};
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
           {"train/n_updates", static_cast<double>(m.n_updates)}}};
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
  co_return p.version;
}

/// Evaluates when another `every_steps` have passed, and keeps the best model.
task<> evaluate_now_and_then(production& p, std::int64_t) {
  const auto every = p.config.evaluation.every_steps;
  const auto before = p.steps - p.config.steps_of_update();
  if (every == 0 || p.steps / every == before / every) co_return;
  auto newest = co_await p.store.route<&weight_store::latest>();
  const auto episodes = static_cast<std::size_t>(p.config.evaluation.episodes);
  const auto result = co_await p.judge.route<&evaluator::evaluate>(newest, episodes);
  co_await p.records.route<&recorder::evaluation>(p.steps, result.mean, result.std);
  if (result.mean <= p.best) co_return;
  p.best = result.mean;
  save_model(p.directory.best_model(), saved_model{p.shape, p.config.policy, newest.parameters,
                                                   static_cast<std::uint64_t>(newest.version)});
}

/// Deterministic episodes on an environment of their own, by the same episode function as training.
task<evaluation> evaluate_at_the_end(system& sys, production& p) {
  auto roles = p.roles;
  roles.deterministic = true;
  roles.environments = co_await sys.serve<hosted_environment>(
      {.name = "evaluation"}, environments_of(p.config, 1), p.config.seed + 20'000);
  const auto wanted = static_cast<std::size_t>(p.config.evaluation.final_episodes);
  std::vector<double> returns;
  std::function<bool(const rollout&)> enough = [&](const rollout& r) {
    for (const auto& e : r.episodes) {
      if (returns.size() < wanted) returns.push_back(e.episode_return);
    }
    return returns.size() == wanted;
  };
  co_await loops::evaluate(roles, generate_rollout, enough);
  sys.stop(roles.environments);
  co_return summarise(std::move(returns), p.version);
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
  co_await serve_cast(sys, p, output);

  const auto done = co_await run_loop(p);
  const auto seen = co_await p.roles.replay.route<&replay_queue<rollout>::counts>();
  const auto final = co_await evaluate_at_the_end(sys, p);
  const auto newest = co_await p.store.route<&weight_store::latest>();
  save_model(p.directory.last_model(), saved_model{p.shape, p.config.policy, newest.parameters,
                                                   static_cast<std::uint64_t>(newest.version)});

  ppo_summary summary{.env = p.config.env.id,
                      .mode = p.config.mode,
                      .seed = p.config.seed,
                      .steps = p.steps,
                      .wall_s = done.wall,
                      .cpu_s = process_cpu_seconds(),
                      .steps_per_s = static_cast<double>(p.steps) / done.wall,
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
