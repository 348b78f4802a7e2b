// Asynchronous training on real threads: the loops, the replays and the environments of a real run,
// and a learner and a network that are stubs. libtorch, which is built without the thread
// sanitizer, is not linked, so that `./dev sanitize thread` judges all that the actors share.
//
//   episodes ──acts──> policies, a thread each <──────────────┐
//      │  └──steps──> environments, a thread each             │ weights
//      └──insert──> replay ──sample──> trainer, a thread ─────┴──> store
#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "actors/environments/hosted_environment.hpp"
#include "actors/metrics/training_metrics.hpp"
#include "actors/replay/transition_replay.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/loops/warm_up.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

constexpr std::int64_t max_staleness = 2;

// ---- weights

/// Each number is the version, so that weights of two versions in one are seen. Nobody writes to
/// them once they are shared.
struct stub_weights {
  std::int64_t version = -1;
  std::shared_ptr<const std::vector<float>> parameters;

  bool whole() const {
    return std::ranges::all_of(*parameters,
                               [this](float p) { return p == static_cast<float>(version); });
  }
};

struct stub_store {
  void put(stub_weights fresh) {
    if (fresh.version > newest.version) newest = std::move(fresh);
    changed.notify_all();
  }
  task<stub_weights> latest() {
    while (!newest.parameters) co_await changed.wait();
    co_return newest;
  }
  stub_weights newest;
  condition changed;
};

/// What policies and collectors share: the newest weights, swapped in between two calls.
class weights_holder {
 public:
  explicit weights_holder(service<stub_store> store) : store_(std::move(store)) {}

  task<> catch_up() {
    auto newest = co_await store_.route<&stub_store::latest>();
    update(std::move(newest));
  }
  void update(stub_weights fresh) {
    if (fresh.version > held_.version) held_ = std::move(fresh);
  }
  std::int64_t version() const { return held_.version; }

 protected:
  /// Reads every number.
  std::int64_t whole_version() const {
    if (!held_.whole()) throw std::logic_error("weights of two versions in one");
    return held_.version;
  }

 private:
  service<stub_store> store_;
  stub_weights held_;
};

/// The trainer's part that is the same for both loops: an update changes its numbers where they
/// lie, and what it pushes is a copy.
class stub_learner {
 public:
  explicit stub_learner(service<stub_store> store) : store_(std::move(store)) {}

  task<> catch_up() { co_await store_.route<&stub_store::put>(current()); }

 protected:
  void learn() {
    for (auto& p : parameters_) p += 1;
    ++version_;
  }

  template <class Role>
  task<std::int64_t> push_to(service<Role> all) {
    const auto fresh = current();
    const auto store = store_.with({.priority = priority::control});
    co_await store.template route<&stub_store::put>(fresh);
    const auto everyone = all.with({.priority = priority::control});
    const auto settled = co_await everyone.template fanout_settled<&Role::update>(fresh);
    for (const auto& one : settled) {
      if (!one.ok() && !is_kind(one.error(), error_kind::replica_lost)) {
        std::rethrow_exception(one.error());
      }
    }
    co_return fresh.version;
  }

 private:
  stub_weights current() const {
    return {version_, std::make_shared<const std::vector<float>>(parameters_)};
  }

  service<stub_store> store_;
  std::vector<float> parameters_ = std::vector<float>(1000);
  std::int64_t version_ = 0;
};

// ---- what dies

/// A replica of Role that can be killed.
template <class Role>
struct mortal : Role {
  using Role::Role;
  void die() { throw fatal("asked to"); }
};

serve_options restarting(std::string name, placement where, std::size_t replicas = 1) {
  return {.name = std::move(name),
          .replicas = replicas,
          .placement = where,
          .max_restarts = 100'000,
          .backoff = 1ms,
          .backoff_limit = 1ms,
          .max_retries = 1000,
          .poison_limit = 1000};
}

template <class Role>
task<> kill_one(service<Role> of) {
  co_await of.with({.priority = priority::control}).template try_route<&Role::die>();
}

struct steps_observer {
  training_metrics metrics;
  void operator()(std::int64_t steps) const { metrics.env_stepped(steps); }
};
struct episode_observer {
  training_metrics metrics;
  void operator()(double episode_return, std::int64_t length, bool truncated) const {
    metrics.episode_ended(episode_return, length, truncated);
  }
};

env_observers observers_of(const training_metrics& metrics) {
  return {.stepped = steps_observer{metrics}, .episode_ended = episode_observer{metrics}};
}

std::unique_ptr<vector_environment> two_poles() {
  return make_vector_environment("CartPole-v1", 2);
}

// ---- on-policy

struct experience {
  std::vector<float> obs;
  std::vector<double> reward;
  std::int64_t version = 0;  ///< The oldest that acted in it.
  item_id id;
};
using queue = mortal<replay_queue<experience>>;

struct decision {
  recycled_vector<std::int64_t> actions;
  std::int64_t version = 0;
};

class stub_policy : public weights_holder {
 public:
  using weights_holder::weights_holder;

  batch<decision> act(batch<recycled_vector<float>> all) {
    const auto version = whole_version();
    batch<decision> decided;
    for (const auto& obs : all) {
      decision one{.version = version};
      for (std::size_t i = 2; i < obs.size(); i += 4) one.actions.push_back(obs[i] > 0);
      decided.push_back(std::move(one));
    }
    return decided;
  }
};

class on_policy_trainer : public stub_learner {
 public:
  using stub_learner::stub_learner;

  double train_step(std::vector<experience> all) {
    double sum = 0;
    for (const auto& one : all) sum = std::accumulate(one.reward.begin(), one.reward.end(), sum);
    learn();
    return sum;
  }
  task<std::int64_t> push_weights(service<mortal<stub_policy>> policies) {
    return push_to(std::move(policies));
  }
};

struct on_policy_roles {
  service<mortal<hosted_environment>> environments;
  service<mortal<stub_policy>> policies;
  service<on_policy_trainer> trainer;
  service<queue> replay;
};

task<experience> play_steps(on_policy_roles with) {
  const auto where = co_await with.environments.session({.exclusive = true});
  auto seen = co_await where.route<&hosted_environment::observe>();
  auto obs = std::move(seen.rows);
  experience made;
  for (int t = 0; t < 16; ++t) {
    made.obs.insert(made.obs.end(), obs.begin(), obs.end());
    auto decided = co_await with.policies.route<&stub_policy::act>(obs);
    made.version = t == 0 ? decided.version : std::min(made.version, decided.version);
    env_actions actions{.discrete = std::move(decided.actions)};
    auto after = co_await where.route<&hosted_environment::step>(std::move(actions));
    made.reward.insert(made.reward.end(), after.reward.begin(), after.reward.end());
    obs = std::move(after.obs);
  }
  co_return made;
}

/// What one run has seen. The loop's actor alone touches it.
struct witness {
  system& sys;
  on_policy_roles services;
  training_metrics metrics;
  bool kills = false;
  std::int64_t version = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> trained_on = {};
  int evaluated = 0;
};

task<std::int64_t> train(witness& w, std::vector<experience> all) {
  for (const auto& one : all) {
    CHECK(w.version - one.version <= max_staleness);
    const bool fresh = w.trained_on.emplace(one.id.producer, one.id.number).second;
    CHECK(fresh);
    w.metrics.batch_sampled(w.version - one.version);
  }
  const auto rewards =
      co_await w.services.trainer.route<&on_policy_trainer::train_step>(std::move(all));
  CHECK(rewards == 2 * 2 * 16);  // Two items of two poles, which stand a step for 1.
  w.version =
      co_await w.services.trainer.route<&on_policy_trainer::push_weights>(w.services.policies);
  co_return w.version;
}

/// Beside the episodes: an evaluation by the same roles, a look at the metrics, and deaths.
task<> look_on(witness& w, std::int64_t version) {
  if (version % 10 == 0) {
    std::function<bool(const experience&)> enough = [&w](const experience&) {
      return ++w.evaluated % 2 == 0;
    };
    if (!w.kills) co_await loops::evaluate(w.services, play_steps, enough);
    CHECK_THAT(w.sys.metrics().text(), has_text("troupe_env_steps_total"));
  }
  if (!w.kills) co_return;
  if (version % 3 == 0) co_await kill_one(w.services.policies);
  if (version % 4 == 0) co_await kill_one(w.services.environments);
  if (version % 5 == 0) co_await kill_one(w.services.replay);
}

task<on_policy_roles> serve_on_policy(system& sys, const training_metrics& metrics) {
  on_policy_roles services;
  auto store = co_await sys.serve<stub_store>({.name = "weights"});
  services.trainer = co_await sys.serve<on_policy_trainer>(
      {.name = "trainer", .placement = placement::thread}, store);
  services.policies =
      co_await sys.serve<mortal<stub_policy>>(restarting("policies", placement::thread, 2), store);
  services.environments = co_await sys.serve<mortal<hosted_environment>>(
      restarting("environments", placement::thread, 3), two_poles, std::uint64_t{1},
      observers_of(metrics));
  auto keeping = restarting("replay", placement::shared);
  keeping.idempotent = replay_endpoints<experience>();
  const replay_options kept{.batch = 2, .max_staleness = max_staleness, .capacity = 8};
  auto storage = std::make_shared<replay_queue<experience>::storage>();
  services.replay = co_await sys.serve<queue>(std::move(keeping), kept, std::move(storage));
  co_return services;
}

task<> train_on_policy(system& sys, bool kills) {
  const training_metrics metrics(sys.metrics(), "CartPole-v1");
  const auto services = co_await serve_on_policy(sys, metrics);
  witness w{.sys = sys, .services = services, .metrics = metrics, .kills = kills};
  const loops::hooks<experience> hooks{
      .train = [&w](std::vector<experience> all) { return train(w, std::move(all)); },
      .updated = [&w](std::int64_t version) { return look_on(w, version); },
      .metrics = metrics};
  const loops::asynchronous_options options{.rollouts = 6, .updates = 60, .drain = true};
  const auto totals = co_await loops::asynchronous(services, play_steps, hooks, options);
  CHECK(totals.updates == 60);
  CHECK(w.version == 60);
  CHECK(w.trained_on.size() == 120);
  const auto seen = co_await services.replay.route<&queue::counts>();
  CHECK(seen.staleness_max <= max_staleness);
  if (kills) co_return;
  CHECK(totals.failed == 0);
  CHECK(w.evaluated == 12);
  const auto versions = co_await services.policies.fanout<&stub_policy::version>();
  CHECK(versions == std::vector<std::int64_t>{60, 60});
}

// ---- off-policy

constexpr transition_widths widths{.obs = 4, .choices = 1};

class stub_collector : public weights_holder {
 public:
  stub_collector(const replica_info& info, service<stub_store> store, env_observers observers)
      : weights_holder(std::move(store)),
        poles_(info, two_poles, 1, std::move(observers), 0.99),
        first_(static_cast<std::uint32_t>(2 * info.index)),
        random_(info.index + 1) {}

  collected_transitions collect(std::int64_t steps) {
    collected_transitions made;
    made.version = whole_version();
    auto obs = std::move(poles_.observe().rows);
    for (std::int64_t t = 0; t < steps; ++t) {
      env_actions actions;
      for (int i = 0; i < 2; ++i) {
        actions.discrete.push_back(static_cast<std::int64_t>(random_.next() >> 63));
      }
      const auto choice = actions.discrete;
      auto after = poles_.step(std::move(actions));
      append(made.rows, obs, choice, after);
      made.discounted.insert(made.discounted.end(), after.discounted.begin(),
                             after.discounted.end());
      obs = std::move(after.obs);
      made.steps += 2;
    }
    return made;
  }

 private:
  void append(transition_rows& to, const recycled_vector<float>& before,
              const recycled_vector<std::int64_t>& choice, const env_step& after) {
    auto next = after.obs;
    for (const auto& ended : after.finished) {
      std::ranges::copy(ended.final_obs,
                        next.begin() + static_cast<std::ptrdiff_t>(4 * ended.index));
    }
    to.obs.insert(to.obs.end(), before.begin(), before.end());
    to.choice.insert(to.choice.end(), choice.begin(), choice.end());
    to.reward.insert(to.reward.end(), after.reward.begin(), after.reward.end());
    to.next_obs.insert(to.next_obs.end(), next.begin(), next.end());
    to.terminated.insert(to.terminated.end(), after.terminated.begin(), after.terminated.end());
    to.discount.insert(to.discount.end(), 2, 0.99f);
    to.environment.insert(to.environment.end(), {first_, first_ + 1});
    to.episode.insert(to.episode.end(), 2, episode_);
    for (std::size_t i = 0; i < 2; ++i) {
      to.step.push_back(steps_[i]++);
      to.ended.push_back(after.terminated[i] != 0 ? 1 : after.truncated[i] != 0 ? 2 : 0);
      if (to.ended.back() != 0) steps_[i] = 0;
    }
  }

  hosted_environment poles_;
  std::uint32_t first_;  // of the two environments
  const std::uint32_t episode_ = 0;
  std::array<std::uint32_t, 2> steps_{};
  action_random random_;
};

class off_policy_trainer_stub : public stub_learner {
 public:
  off_policy_trainer_stub(service<transition_replay> transitions, service<stub_store> store)
      : stub_learner(std::move(store)), transitions_(std::move(transitions)) {}

  /// Four steps, each on 32 transitions in the memory of those before.
  task<std::int64_t> train(service<mortal<stub_collector>> collectors) {
    for (int step = 0; step < 4; ++step) {
      rows_ = co_await transitions_.route<&transition_replay::draw>(std::move(rows_),
                                                                    std::size_t{32}, 0.5);
      std::vector<float> errors;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (rows_.discount[i] != 0.99f) throw std::logic_error("a transition that nobody made");
        errors.push_back(1 + rows_.weight[i]);
      }
      co_await transitions_.route<&transition_replay::update_priorities>(rows_.number,
                                                                         std::move(errors));
    }
    learn();
    const auto version = co_await push_to(std::move(collectors));
    co_return version;
  }

 private:
  service<transition_replay> transitions_;
  transition_rows rows_;
};

struct off_policy_roles {
  service<mortal<stub_collector>> collectors;
  service<transition_replay> replay;
};

task<collected_transitions> collect_steps(off_policy_roles with) {
  const auto one = co_await with.collectors.session();
  auto made = co_await one.route<&stub_collector::collect>(8);
  co_return made;
}

transition_replay_options keeping_transitions() {
  return {.widths = widths,
          .ring = {.capacity = 500},
          .warm_up = 4,
          .max_staleness = max_staleness,
          .prioritised = priority_options{},
          .normalize_obs = true,
          .normalize_reward = true};
}

task<> kill_now_and_then(off_policy_roles roles, std::int64_t version) {
  if (version % 3 == 0) co_await kill_one(roles.collectors);
}

task<std::int64_t> train_on(service<off_policy_trainer_stub> trainer, off_policy_roles roles) {
  const auto version = co_await trainer.route<&off_policy_trainer_stub::train>(roles.collectors);
  co_return version;
}

task<> train_off_policy(system& sys, bool kills) {
  const training_metrics metrics(sys.metrics(), "CartPole-v1");
  auto store = co_await sys.serve<stub_store>({.name = "weights"});
  off_policy_roles roles;
  roles.replay = co_await sys.serve<transition_replay>({.name = "replay"}, keeping_transitions());
  const auto trainer = co_await sys.serve<off_policy_trainer_stub>(
      {.name = "trainer", .placement = placement::thread}, roles.replay, store);
  roles.collectors = co_await sys.serve<mortal<stub_collector>>(
      restarting("collectors", placement::thread, 3), store, observers_of(metrics));

  const auto warmed = co_await loops::warm_up(roles, collect_steps, {.episodes = 4, .rollouts = 3});
  CHECK(warmed.episodes == 4);
  const loops::hooks<collected_transitions> hooks{
      .train = [&](std::vector<collected_transitions>) { return train_on(trainer, roles); },
      .updated =
          [&](std::int64_t version) { return kill_now_and_then(roles, kills ? version : 1); },
      .metrics = metrics};
  const loops::asynchronous_options options{.rollouts = 4, .updates = 30, .drain = true};
  const auto totals = co_await loops::asynchronous(roles, collect_steps, hooks, options);
  CHECK(totals.updates == 30);
  const auto seen = co_await roles.replay.route<&transition_replay::counts>();
  CHECK(seen.sampled == 30);
  CHECK(seen.held == 500);
  // A collector that is restarted during a push may come back with the weights before.
  if (!kills) CHECK(seen.staleness_max <= max_staleness);
}

}  // namespace

TEST_CASE("loops on threads: asynchronous training keeps its bounds, and weights stay whole") {
  log_off();
  system sys({.threads = 4});
  sys.run(train_on_policy(sys, false));
}

TEST_CASE("loops on threads: asynchronous training goes on while its roles die") {
  log_off();
  system sys({.threads = 4});
  sys.run(train_on_policy(sys, true));
}

TEST_CASE("loops on threads: off-policy collections run ahead of updates by max_staleness") {
  log_off();
  system sys({.threads = 4});
  sys.run(train_off_policy(sys, false));
}

TEST_CASE("loops on threads: off-policy training goes on while its collectors die") {
  log_off();
  system sys({.threads = 4});
  sys.run(train_off_policy(sys, true));
}

}  // namespace troupe
