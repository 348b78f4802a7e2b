#include "actors/torch.hpp"

#include "algorithms/ppo/ppo_cast.hpp"

#include <atomic>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/sha256.hpp"
#include "actors/env/registry.hpp"
#include "actors/policy/shape_of.hpp"
#include "algorithms/ppo/rollout_state.hpp"
#include "runtime/log.hpp"

namespace troupe::detail {

namespace {

env_observers observers_of(const training_metrics& metrics, const std::string& id) {
  // Of an environment that keeps failing only some are logged; the metric counts all.
  const auto failures = std::make_shared<std::atomic<std::int64_t>>(0);
  const auto begun = std::make_shared<std::atomic_flag>();
  return {
      .stepped =
          [metrics, id, begun](std::int64_t n) {
            metrics.env_stepped(n);
            if (begun->test() || begun->test_and_set()) return;
            log::debug("the first environment step was taken", {{"env", id}});
          },
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

/// The bytes of one file of a checkpoint.
const std::string& file_of(const checkpoint& from, const std::string& name) {
  const auto place = from.files.find(name);
  if (place == from.files.end()) throw state_error("checkpoint: " + name + " is missing");
  return place->second;
}

std::vector<std::string> list_of(const checkpoint& from, const std::string& name) {
  return state_reader(file_of(from, name)).get<std::vector<std::string>>("replicas");
}

std::string list_bytes(const std::vector<std::string>& replicas) {
  state_writer to;
  to.put("replicas", replicas);
  return to.bytes();
}

std::string progress_bytes(const ppo_progress& done) {
  state_writer to;
  to.put("version", done.version);
  to.put("steps", done.steps);
  to.put("episodes", done.episodes);
  to.put("failed", done.failed);
  to.put("scores", done.scores.save());
  to.put("stopped", done.stopped);
  to.put("wall", done.wall);
  to.put("overlapped", done.overlapped);
  return to.bytes();
}

weights weights_of(const checkpoint& from) {
  const state_reader state(file_of(from, "weights.cbor"));
  auto values = state.get<std::vector<float>>("parameters");
  const auto n = static_cast<std::int64_t>(values.size());
  return {state.get<std::int64_t>("version"),
          at::from_blob(values.data(), {n}, at::kFloat).clone(),
          {}};
}

std::string weights_bytes(const weights& of) {
  const auto* first = of.parameters.data_ptr<float>();
  state_writer to;
  to.put("version", of.version);
  to.put("parameters", std::vector<float>(first, first + of.parameters.numel()));
  return to.bytes();
}

/// Attempts at giving replicas their states, or at getting them, while some of them die.
constexpr int attempts_max = 1000;

/// Once; false if a replica died meanwhile.
template <auto Restore, class Role>
task<bool> try_restore_each(service<Role> which, const std::vector<std::string>& states) {
  constexpr session_options alone{.exclusive = true};  // each with another replica
  std::vector<session<Role>> held;
  while (held.size() < states.size()) {
    auto another = co_await which.session(alone);
    held.push_back(std::move(another));
  }
  try {
    for (const auto& one : held) {
      co_await one.template route<Restore>(states.at(one.replica()));
    }
  } catch (const call_error& e) {
    if (e.kind() != error_kind::session_lost) throw;
    co_return false;
  }
  co_return true;
}

/// Gives each replica its own state.
template <auto Restore, class Role>
task<> restore_each(service<Role> which, std::vector<std::string> states) {
  for (int attempt = 1;; ++attempt) {
    const bool restored = co_await try_restore_each<Restore>(which, states);
    if (restored) co_return;
    if (attempt == attempts_max) {
      throw call_error(error_kind::replica_lost, which.name() + ": replicas die while restored");
    }
    co_await sleep_for(std::chrono::milliseconds(20));
  }
}

/// The state of each replica, by its index; waits for one that is being restarted.
template <auto Save, class Role>
task<std::vector<std::string>> save_each(service<Role> which, std::size_t replicas) {
  for (int attempt = 1;; ++attempt) {
    auto settled = co_await which.template fanout_settled<Save>();
    std::vector<std::string> states;
    for (auto& one : settled) {
      if (one.ok() || !is_kind(one.error(), error_kind::replica_lost) || attempt == attempts_max) {
        states.push_back(std::move(one).value());
      }
    }
    if (states.size() == replicas) co_return states;
    co_await sleep_for(std::chrono::milliseconds(20));
  }
}

task<> serve_recorder(production& p, const checkpoint* from) {
  const auto& c = p.config;
  run_options run{.root = p.output.root,
                  .directory = p.output.directory,
                  .saved = from ? file_of(*from, "recorder.cbor") : std::string(),
                  .algo = c.algo,
                  .env = c.env.id,
                  .config = c.stored(),
                  .total_steps = c.updates() * c.steps_of_update(),
                  .threshold = p.spec.reward_threshold,
                  .table = p.output.table,
                  .progress_bar = p.output.progress_bar,
                  .on_failure = [](const std::string& what) { log::error(what); },
                  .write_failed = [metrics = p.metrics] { metrics.write_failed(); }};
  // It stands for the disk.
  serve_options options{.name = "recorder", .max_restarts = 0, .faults = false};
  p.records = co_await p.sys.serve<recorder>(std::move(options), std::move(run));
  const auto directory = co_await p.records.route<&recorder::directory>();
  p.directory = run_directory::open(directory);
  if (p.output.directory.empty()) {
    log::info("a run begins", {{"env", c.env.id}, {"directory", directory}});
  } else if (p.output.resumed_from_step == p.done.steps) {
    log::info("a run goes on", {{"directory", directory}, {"step", p.done.steps}});
  }
}

/// The store first: trainer and policies take the newest weights from it.
task<> serve_learning(production& p, const checkpoint* from) {
  const auto& c = p.config;
  auto keeping = restartable(p, {.name = "weights"},
                             {endpoint<&weight_store::put>, endpoint<&weight_store::latest>,
                              endpoint<&weight_store::versions>});
  auto shelf = std::make_shared<weight_store::shelf>();
  p.store =
      co_await p.sys.serve<weight_store>(std::move(keeping), std::size_t{3}, std::move(shelf));
  if (from) co_await p.store.route<&weight_store::put>(weights_of(*from));

  std::function<rollout_learner()> make_learner = [shape = p.shape, options = c.learner(),
                                                   seed = c.seed] {
    return rollout_learner(shape, options, seed);
  };
  const bool async = c.mode == training_mode::async;
  auto learning = restartable(
      p, {.name = "trainer", .placement = async ? placement::thread : placement::shared},
      {endpoint<&ppo_trainer::push_weights>, endpoint<&ppo_trainer::save>,
       endpoint<&ppo_trainer::restore>});
  p.learner =
      co_await p.sys.serve<ppo_trainer>(std::move(learning), std::move(make_learner), p.store);
  if (from) co_await p.learner.route<&ppo_trainer::restore>(file_of(*from, "trainer.cbor"));

  policy_options acting{.shape = p.shape, .network = c.network(), .seed = c.seed};
  auto deciding =
      restartable(p, {.name = "policy"}, {endpoint<&policy::act>, endpoint<&policy::values>});
  p.roles.policies = co_await p.sys.serve<policy>(std::move(deciding), std::move(acting), p.store);
  if (!from) co_return;
  auto saved = list_of(*from, "policies.cbor");
  co_await restore_each<&policy::restore>(p.roles.policies, std::move(saved));
}

std::size_t environment_replicas(const ppo_config& c) {
  const int rollouts = c.mode == training_mode::async ? c.rollout.workers : c.rollout.batch;
  return static_cast<std::size_t>(std::max(c.env.replicas, rollouts));
}

/// The seed of environments that can't be saved: another one after each checkpoint.
std::uint64_t environment_seed(const production& p) {
  if (p.done.version == 0) return p.config.seed;
  return action_random(p.config.seed ^ action_random(p.done.version).next()).next();
}

task<> serve_experience(production& p, const checkpoint* from) {
  const auto& c = p.config;
  const bool async = c.mode == training_mode::async;
  const auto replicas = environment_replicas(c);
  auto hosting = restartable(p, {.name = "environments", .replicas = replicas}, {});
  p.roles.environments = co_await p.sys.serve<hosted_environment>(
      std::move(hosting), environments_of(c, c.env.n_envs), environment_seed(p),
      observers_of(p.metrics, c.env.id),
      c.env.normalize_reward ? std::optional(c.trainer.gamma) : std::nullopt);
  if (from) {
    auto saved = list_of(*from, "environments.cbor");
    if (saved.size() != replicas) {
      throw state_error("checkpoint: expected " + std::to_string(replicas) +
                        " replicas of environments, got " + std::to_string(saved.size()));
    }
    co_await restore_each<&hosted_environment::restore>(p.roles.environments, std::move(saved));
  }

  // In sync mode 1, because a policy that is restarted while weights are pushed may come back with
  // those before: its rollout is corrected for. It would be waited for in vain if it were dropped.
  replay_options kept{.batch = c.rollout.batch,
                      .max_staleness = async ? c.rollout.max_staleness : 1};
  kept.capacity = std::max(kept.capacity, static_cast<std::size_t>(c.rollout.batch));
  using queue = replay_queue<rollout>;
  auto queueing =
      restartable(p, {.name = "replay"},
                  {endpoint<&queue::admit>, endpoint<&queue::insert>, endpoint<&queue::sample>,
                   endpoint<&queue::take>, endpoint<&queue::missing>, endpoint<&queue::sample_size>,
                   endpoint<&queue::trained>, endpoint<&queue::close>, endpoint<&queue::counts>,
                   endpoint<&queue::save>, endpoint<&queue::restore>});
  p.roles.replay = co_await p.sys.serve<queue>(std::move(queueing), kept);
  p.roles.n_steps = c.rollout.n_steps;
  if (!from) co_return;
  auto held = replay_state_of(file_of(*from, "replay.cbor"));
  co_await p.roles.replay.route<&replay_queue<rollout>::restore>(std::move(held));
}

}  // namespace

ppo_progress progress_of(const checkpoint& from) {
  const state_reader state(file_of(from, "run.cbor"));
  ppo_progress done{.version = state.get<std::int64_t>("version"),
                    .steps = state.get<std::int64_t>("steps"),
                    .episodes = state.get<std::int64_t>("episodes"),
                    .failed = state.get<std::int64_t>("failed"),
                    .scores = {},
                    .stopped = state.get<bool>("stopped"),
                    .wall = state.get<double>("wall"),
                    .overlapped = state.get<double>("overlapped")};
  done.scores.restore(state.get<std::string>("scores"));
  return done;
}

production::production(system& sys, ppo_config config, ppo_output output, ppo_callbacks callbacks)
    : sys(sys),
      config(std::move(config)),
      output(std::move(output)),
      callbacks(std::move(callbacks)),
      spec(make_vector_environment(this->config.env.id, 1)->spec()),
      shape(shape_of(spec)),
      metrics(sys.metrics(), this->config.env.id) {}

production::~production() {
  const auto stop = [this](const auto& which) {
    if (which) sys.stop(which);
  };
  stop(exam);
  stop(judge);
  stop(roles.replay);
  stop(roles.environments);
  stop(roles.policies);
  stop(learner);
  stop(store);
  stop(records);
}

serve_options restartable(const production& p, serve_options options,
                          std::vector<const endpoint_info*> idempotent) {
  options.idempotent = std::move(idempotent);
  if (!p.sys.options().faults.any()) return options;
  options.max_restarts = options.max_retries = options.poison_limit = 1'000'000;
  options.backoff_limit = std::chrono::milliseconds(100);
  return options;
}

hosted_environment::factory environments_of(const ppo_config& config, int count) {
  return [id = config.env.id, count] {
    return make_vector_environment(id, static_cast<std::size_t>(count));
  };
}

task<> serve_cast(production& p, const checkpoint* from) {
  if (from) p.done = progress_of(*from);
  if (from && p.callbacks.restore) p.callbacks.restore(file_of(*from, "callbacks"));
  co_await serve_recorder(p, from);
  co_await serve_learning(p, from);
  co_await serve_experience(p, from);
  // An evaluation begins anew from its own seed each time, so there is nothing to restore.
  const auto& c = p.config;
  evaluator_options judging{.environments = environments_of(c, std::min(c.evaluation.episodes, 10)),
                            .shape = p.shape,
                            .network = c.network(),
                            .seed = c.seed + 10'000};
  auto measuring = restartable(p, {.name = "evaluator"}, {endpoint<&evaluator::evaluate>});
  p.judge = co_await p.sys.serve<evaluator>(std::move(measuring), std::move(judging));
}

task<checkpoint> save_cast(production& p) {
  checkpoint state{.kind = kind_of(p.config),
                   .step = p.done.steps,
                   .config_sha256 = sha256(p.config.stored()),
                   .files = {}};
  state.files["run.cbor"] = progress_bytes(p.done);
  if (p.callbacks.save) state.files["callbacks"] = p.callbacks.save();
  const auto newest = co_await p.store.route<&weight_store::latest>();
  state.files["weights.cbor"] = weights_bytes(newest);
  state.files["trainer.cbor"] = co_await p.learner.route<&ppo_trainer::save>();
  const auto policies = co_await save_each<&policy::save>(p.roles.policies, 1);
  state.files["policies.cbor"] = list_bytes(policies);
  const auto environments = co_await save_each<&hosted_environment::save>(
      p.roles.environments, environment_replicas(p.config));
  state.files["environments.cbor"] = list_bytes(environments);
  const auto held = co_await p.roles.replay.route<&replay_queue<rollout>::save>();
  state.files["replay.cbor"] = to_bytes(held);
  state.files["recorder.cbor"] = co_await p.records.route<&recorder::save>();
  co_return state;
}

checkpoint_kind kind_of(const ppo_config& config) {
  const auto spec = make_vector_environment(config.env.id, 1)->spec();
  return {.algorithm = config.algo,
          .environment = config.env.id,
          .network = to_string(shape_of(spec), config.network())};
}

}  // namespace troupe::detail
