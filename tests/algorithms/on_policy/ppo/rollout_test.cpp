#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/episode.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using bytes = std::vector<std::uint8_t>;
using floats = std::vector<float>;

constexpr std::size_t B = 2;
const network_shape one_number{.obs_size = 1, .discrete_actions = 2};

/// What the policy answers in row t: everything is told apart by t and b.
act_reply acted(std::int64_t t, std::int64_t version) {
  const auto x = static_cast<float>(t);
  return {.discrete = {0, 1},
          .continuous = {},
          .log_prob = {-x, -x - 0.5f},
          .value = {x, x + 0.5f},
          .version = version};
}

env_step quiet_step(float obs = 0) {
  return {.obs = {obs, obs + 0.5f},
          .reward = {1.0, 2.0},
          .terminated = {0, 0},
          .truncated = {0, 0},
          .finished = {},
          .failures = {}};
}

void end(env_step& step, std::size_t index, bool terminated, bool truncated, float last) {
  step.terminated[index] = terminated;
  step.truncated[index] = truncated;
  step.finished.push_back(
      {.index = index, .episode_return = 10.0 + last, .length = 5, .final_obs = {last}});
}

void fail(env_step& step, std::size_t index, bool at_reset = false) {
  step.reward[index] = 0;
  step.failures.push_back({.index = index,
                           .id = "X",
                           .reason = env_failure_reason::threw,
                           .message = "it broke down",
                           .at_reset = at_reset});
}

const agent_rows rows_of_one(one_number);

policy_rows rows(float first, float second) { return {rows_of_one, {first, second}}; }

/// Adds step t of both environments, whose observations before it are t and t + 0.5.
void add(rollout_writer& to, std::int64_t t, const env_step& step, std::int64_t version = 0) {
  const auto x = static_cast<float>(t);
  const auto answer = acted(t, version);
  to.add(t, 0, rows(x, x + 0.5f), {&answer, 1}, step, rows(x + 1, x + 1.5f));
}

rollout add_all(const std::vector<env_step>& steps, std::vector<std::int64_t> versions = {}) {
  versions.resize(steps.size());
  rollout_writer writer(rows_of_one, std::ssize(steps), B);
  for (std::size_t t = 0; t < steps.size(); ++t) {
    add(writer, static_cast<std::int64_t>(t), steps[t], versions[t]);
  }
  const auto last = rows(100, 200);
  auto made = writer.finish({&last, 1});
  auto& of = made.policies[0];
  of.final_value = of.final_obs;  // V(x) = x
  of.bootstrap_value = {100, 200};
  return made;
}

/// Counts its steps since it was made, in episodes of 3; fails at one step if told to.
class counting : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Counting-v0",
            .observation_space = spaces::box(0.0f, 1000.0f, {1}),
            .action_space = spaces::discrete(2),
            .max_episode_steps = 3};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = steps_; }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = ++steps_;
    if (steps_ == fail_at) throw std::runtime_error("it broke down");
    return {.reward = 1.0};
  }
  static inline float fail_at = 0;

 private:
  float steps_ = 0;
};

/// What is seen never changes.
class still : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Still-v0",
            .observation_space = spaces::box(0.0f, 1.0f, {1}),
            .action_space = spaces::box(-1.0f, 1.0f, {1})};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = 1; }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 1;
    return {.reward = 1.0};
  }
};

template <class Environment>
std::unique_ptr<vector_environment> make_vector() {
  return std::make_unique<vector_env<Environment>>(B);
}

/// Of a fault plan only the environments see anything.
task<rollout_roles> serve_roles(system& sys, std::int64_t n_steps, std::size_t replicas = 1,
                                hosted_environment::factory make = make_vector<counting>,
                                policy_options acting = {.shape = one_number, .seed = 1}) {
  rollout_roles roles;
  auto store = co_await sys.serve<weight_store>({.name = "weights", .faults = false});
  const actor_critic network(acting.shape, acting.network, 1);
  weights first{4, network.parameters().clone(), {}};
  co_await store.route<&weight_store::put>(first);
  auto acts = co_await sys.serve<policy>({.name = "policy", .faults = false}, acting, store);
  roles.policies = {std::move(acts)};
  roles.rows = std::make_shared<const agent_rows>(acting.shape);
  serve_options hosting{.name = "environments", .replicas = replicas, .max_restarts = 1000};
  roles.environments =
      co_await sys.serve<hosted_environment>(std::move(hosting), make, std::uint64_t{0});
  roles.n_steps = n_steps;
  co_return roles;
}

constexpr std::size_t poles = 6;
const network_shape pole{.obs_size = 4, .discrete_actions = 2};

/// CartPole in so many groups. Of a fault plan, again, only the environments see anything.
task<rollout_roles> serve_poles(system& sys, std::size_t groups, std::int64_t n_steps) {
  rollout_roles roles;
  auto store = co_await sys.serve<weight_store>({.name = "weights", .faults = false});
  const actor_critic network(pole, {}, 1);
  weights first{4, network.parameters().clone(), {}};
  co_await store.route<&weight_store::put>(first);
  policy_options acting{.shape = pole, .network = {}, .seed = 1};
  auto acts =
      co_await sys.serve<policy>({.name = "policy", .faults = false}, std::move(acting), store);
  roles.policies = {std::move(acts)};
  roles.rows = std::make_shared<const agent_rows>(pole);
  hosted_environment::factory make = [groups] {
    return make_vector_environment("CartPole-v1", poles / groups);
  };
  roles.environments = co_await sys.serve<hosted_environment>(
      {.name = "environments", .replicas = groups, .max_restarts = 1000}, std::move(make),
      std::uint64_t{7}, env_observers{}, std::optional<double>(), groups);
  roles.n_steps = n_steps;
  roles.groups = groups;
  co_return roles;
}

task<rollout> generate_grouped(system& sys, std::size_t groups) {
  const auto roles = co_await serve_poles(sys, groups, 100);
  co_await generate_rollout(roles);
  co_return co_await generate_rollout(roles);
}

task<duration> time_of_rollout(system& sys, std::size_t groups) {
  const auto roles = co_await serve_poles(sys, groups, 100);
  const auto began = detail::strand::current().now();
  co_await generate_rollout(roles);
  co_return detail::strand::current().now() - began;
}

/// Rows of which the one before is of another time, or of other environments: `counting` counts on.
std::int64_t breaks_in(const rollout& r) {
  std::int64_t breaks = 0;
  for (std::size_t row = B; row < r.policies[0].obs.size(); row += B) {
    if (r.policies[0].obs[row] == r.policies[0].obs[row - B] + 1) continue;
    ++breaks;
    for (std::size_t b = 0; b < B; ++b)
      CHECK(r.policies[0].terminated[row - B + b] + r.policies[0].truncated[row - B + b] > 0);
  }
  return breaks;
}

task<> generate_side_by_side(system& sys) {
  counting::fail_at = 0;
  const auto roles = co_await serve_roles(sys, 40, 2);
  std::int64_t losses = 0;
  for (int round = 0; round < 4; ++round) {
    std::vector<task<rollout>> three;
    for (int i = 0; i < 3; ++i) three.push_back(generate_rollout(roles));
    const auto made = co_await all(std::move(three));
    for (const auto& r : made) {
      CHECK(r.policies[0].obs.size() == 40 * B);
      CHECK(breaks_in(r) <= r.losses);  // none between rows, where nothing was lost
      losses += r.losses;
    }
  }
  CHECK((losses > 0) == sys.options().faults.any());
}

task<> generate_twice(system& sys) {
  counting::fail_at = 0;
  const auto roles = co_await serve_roles(sys, 4);
  const auto first = co_await generate_rollout(roles);
  CHECK(first.policies[0].obs == floats{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(first.policies[0].reward == floats(8, 1.0f));
  CHECK(first.policies[0].truncated == bytes{0, 0, 0, 0, 1, 1, 0, 0});
  CHECK(first.policies[0].valid == bytes(8, 1));
  CHECK(first.policies[0].cuts.size() == 2);
  CHECK(first.policies[0].final_obs == floats{3, 3});
  CHECK(first.policies[0].bootstrap_obs == floats{4, 4});
  CHECK(first.version == 4);
  CHECK(first.episodes.size() == 2);
  CHECK(first.episodes[0].step == 2);
  CHECK(first.episodes[0].episode_return == 3);

  const auto second = co_await generate_rollout(roles);
  CHECK(second.policies[0].obs == floats{4, 4, 5, 5, 6, 6, 7, 7});  // goes on where the first ended
  CHECK(second.policies[0].truncated == bytes{0, 0, 1, 1, 0, 0, 0, 0});
  const auto values = co_await roles.policies[0].route<&policy::values>(floats{6, 6, 8, 8}, false);
  CHECK(second.policies[0].final_value == floats{values[0], values[1]});
  CHECK(second.policies[0].bootstrap_value == floats{values[2], values[3]});
  CHECK(first.policies[0].value[0] == first.policies[0].value[1]);
  const auto first_values =
      co_await roles.policies[0].route<&policy::values>(first.policies[0].obs, false);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(first.policies[0].value[i] == Approx(first_values[i]).margin(1e-6));
}

task<> generate_with_failure(system& sys) {
  counting::fail_at = 6;
  const auto roles = co_await serve_roles(sys, 8);
  const auto made = co_await generate_rollout(roles);
  counting::fail_at = 0;
  // Steps 4 to 6 were of the episode that failed in its third.
  CHECK(made.policies[0].valid == bytes{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(made.policies[0].terminated == bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0});
  CHECK(made.episodes.size() == 2);
}

/// A network whose values are all 7.
at::Tensor seven_everywhere() {
  actor_critic network(one_number, {}, 1);
  network.parameters().zero_();
  for (auto& [name, leaf] : network.named_parameters()) {
    const bool is_value = name.starts_with("critic.") && leaf.numel() == 1;
    if (is_value) leaf.detach().fill_(7.0);
  }
  return network.parameters().clone();
}

task<> train_on_cut_episodes(system& sys) {
  counting::fail_at = 0;
  const auto roles = co_await serve_roles(sys, 6);
  const weights known{5, seven_everywhere(), {}};
  co_await roles.policies[0].fanout<&policy::update>(known);
  const auto made = co_await generate_rollout(roles);
  CHECK(made.policies[0].final_value == floats(4, 7.0f));
  // Two episodes of each environment, cut after 3 steps whose rewards are 1: G = 1 + 0.9 G'.
  const double last = 1 + 0.9 * 7, middle = 1 + 0.9 * last, first = 1 + 0.9 * middle;
  const auto square = [](double off) { return off * off; };
  const double loss = (square(last - 7) + square(middle - 7) + square(first - 7)) / 3;
  for (const bool stale : {false, true}) {
    INFO((stale ? "stale" : "fresh"));
    const ppo_options options{{.batch_size = 12, .n_epochs = 1, .gamma = 0.9, .gae_lambda = 1.0}};
    ppo_learner learner(one_number, options, 1);
    learner.start_from(numbers_of(known), {});
    const training_rollouts batch{.rollouts = {made}, .stale = stale};
    CHECK(learner.update(batch)["train/value_loss"] == Approx(loss).epsilon(1e-5));
  }
}

/// In which rows of an environment that stands still other noise was explored by, [T, B].
std::vector<bool> changes_in(const rollout& r) {
  std::vector<bool> changes;
  for (std::size_t i = B; i < r.policies[0].continuous.size(); ++i) {
    changes.push_back(r.policies[0].continuous[i] != r.policies[0].continuous[i - B]);
  }
  return changes;
}

task<> generate_with_noise(system& sys) {
  policy_options acting{
      .shape = {.obs_size = 1, .continuous_size = 1}, .network = {.use_sde = true}, .seed = 1};
  auto roles = co_await serve_roles(sys, 5, 1, make_vector<still>, acting);
  const auto one = co_await generate_rollout(roles);
  CHECK(changes_in(one) == std::vector<bool>(4 * B, false));
  CHECK(one.policies[0].continuous[0] !=
        one.policies[0].continuous[1]);  // each environment its own
  CHECK(one.policies[0].log_prob[0] == one.policies[0].log_prob[B]);
  const auto another = co_await generate_rollout(roles);
  CHECK(another.policies[0].continuous[0] != one.policies[0].continuous[0]);
  roles.sde_sample_freq = 2;
  const auto often = co_await generate_rollout(roles);
  CHECK(changes_in(often) == std::vector<bool>{false, false, true, true, false, false, true, true});
  roles.deterministic = true;
  const auto likeliest = co_await generate_rollout(roles);
  CHECK(changes_in(likeliest) == std::vector<bool>(4 * B, false));
  CHECK(likeliest.policies[0].continuous[0] == likeliest.policies[0].continuous[1]);
}

}  // namespace

TEST_CASE("rollout: rows stand in the order of time, environments side by side") {
  const auto made = add_all({quiet_step(), quiet_step(), quiet_step()});
  CHECK(made.policies[0].obs == floats{0, 0.5f, 1, 1.5f, 2, 2.5f});
  CHECK(made.policies[0].discrete == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1});
  CHECK(made.policies[0].log_prob == floats{0, -0.5f, -1, -1.5f, -2, -2.5f});
  CHECK(made.policies[0].value == floats{0, 0.5f, 1, 1.5f, 2, 2.5f});
  CHECK(made.policies[0].reward == floats{1, 2, 1, 2, 1, 2});
  CHECK(made.policies[0].valid == bytes(6, 1));
  CHECK(made.policies[0].cuts.empty());
}

TEST_CASE("rollout: an episode that was cut keeps its last observation, one that ended doesn't") {
  auto a = quiet_step(), b = quiet_step(), c = quiet_step();
  end(a, 1, false, true, 7);  // cut
  end(b, 0, true, false, 8);  // ended
  end(c, 0, true, true, 9);   // ended, in its last step: nothing to expect from there
  const auto made = add_all({a, b, c});
  REQUIRE(made.policies[0].cuts.size() == 1);
  CHECK(made.policies[0].cuts[0].step == 0);
  CHECK(made.policies[0].cuts[0].index == 1);
  CHECK(made.policies[0].final_obs == floats{7});
  CHECK(made.episodes.size() == 3);
  CHECK(made.episodes[1].step == 1);
  CHECK(made.episodes[1].episode_return == 18);
  CHECK(made.episodes[1].length == 5);
}

TEST_CASE("rollout: a failed episode's rows are invalid, and end with a termination") {
  auto ended = quiet_step(), broken = quiet_step();
  end(ended, 0, true, false, 1);
  fail(broken, 0);
  fail(broken, 1);
  const auto made = add_all({quiet_step(), ended, quiet_step(), broken, quiet_step()});
  // Environment 0 failed in its second episode, environment 1 in one that began before.
  CHECK(made.policies[0].valid == bytes{1, 0, 1, 0, 0, 0, 0, 0, 1, 1});
  CHECK(made.policies[0].terminated == bytes{0, 0, 1, 0, 0, 0, 1, 1, 0, 0});
  CHECK(made.policies[0].cuts.empty());
  CHECK(made.episodes.size() == 1);
}

TEST_CASE("rollout: a reset that had to be repeated costs no row") {
  auto ended = quiet_step();
  end(ended, 0, true, false, 1);
  fail(ended, 0, true);
  ended.reward[0] = 1.0;
  const auto made = add_all({quiet_step(), ended});
  CHECK(made.policies[0].valid == bytes(4, 1));
}

TEST_CASE("rollout: knows the oldest and the newest weights that acted") {
  const auto steps = std::vector<env_step>(4, quiet_step());
  auto made = add_all(steps, {3, 5, 4, 4});
  CHECK(made.version == 3);
  CHECK(made.last_version == 5);
  made = add_all(steps, {6, 5, 5, 7});  // another replica of the policy lags behind
  CHECK(made.version == 5);
  CHECK(made.last_version == 7);
}

TEST_CASE("to_batch: rollouts lie side by side, and so do their cuts") {
  auto cut_0 = quiet_step(), cut_1 = quiet_step(), broken = quiet_step();
  end(cut_0, 0, false, true, 7);
  end(cut_1, 1, false, true, 8);
  fail(broken, 1);
  std::vector<rollout> rollouts;
  rollouts.push_back(add_all({cut_1, quiet_step()}, {5, 5}));
  rollouts.push_back(add_all({quiet_step(), cut_0}, {4, 5}));
  rollouts.push_back(add_all({quiet_step(), broken}, {6, 6}));
  const auto batch = to_batch({.rollouts = rollouts, .stale = true}, one_number);
  check(batch, one_number, true);

  CHECK(batch.steps() == 2);
  CHECK(batch.environments() == 6);
  CHECK(batch.policy_version == 4);  // the oldest, wherever it stands
  CHECK(batch.proximal_correction);
  CHECK(at::equal(
      batch.obs.squeeze(2),
      at::tensor({0.f, .5f, 0.f, .5f, 0.f, .5f, 1.f, 1.5f, 1.f, 1.5f, 1.f, 1.5f}).view({2, 6})));
  CHECK(at::equal(batch.action[1], at::tensor({0, 1, 0, 1, 0, 1}, at::kLong)));
  CHECK(batch.truncated.sum().item<std::int64_t>() == 2);
  CHECK(at::equal(batch.final_index, at::tensor({0, 1, 1, 2}, at::kLong).view({2, 2})));
  CHECK(at::equal(batch.final_obs.squeeze(1), at::tensor({8.f, 7.f})));
  CHECK(batch.final_value[0][1].item<float>() == 8);
  CHECK(batch.final_value[1][2].item<float>() == 7);
  CHECK(batch.final_value.sum().item<float>() == 15);
  CHECK(at::equal(batch.bootstrap_value, at::tensor({100.f, 200.f, 100.f, 200.f, 100.f, 200.f})));
  CHECK(at::equal(batch.valid.logical_not().nonzero(),
                  at::tensor({0, 5, 1, 5}, at::kLong).view({2, 2})));
}

TEST_CASE("to_batch: one rollout, without a cut, and with continuous actions") {
  const network_shape continuous{.obs_size = 1, .continuous_size = 2};
  const agent_rows one(continuous);
  const policy_rows seen(one, {3.0f}), last(one, {4.0f});
  rollout_writer writer(one, 1, 1);
  const act_reply answer{
      .discrete = {}, .continuous = {0.5f, -9.0f}, .log_prob = {-1}, .value = {2}};
  writer.add(0, 0, seen, {&answer, 1}, {.reward = {1}, .terminated = {0}, .truncated = {0}}, last);
  auto made = writer.finish({&last, 1});
  made.policies[0].bootstrap_value = {5};
  const auto batch = to_batch({.rollouts = {made}}, continuous);
  check(batch, continuous, true);
  CHECK(at::equal(batch.action.view({2}), at::tensor({0.5f, -9.0f})));  // not clipped
  CHECK(batch.final_obs.size(0) == 0);
  CHECK_FALSE(batch.proximal_correction);
  CHECK_THROWS_WITH(to_batch({}, continuous), has_text("expected at least one rollout"));
}

TEST_CASE("generate_rollout: rollouts follow one another without a gap") { play(generate_twice); }

TEST_CASE("generate_rollout: an episode that was cut is worth what its last observation is") {
  play(train_on_cut_episodes);
}

TEST_CASE("generate_rollout: state-dependent noise stays for a rollout, or for sde_sample_freq") {
  play(generate_with_noise);
}

TEST_CASE("generate_rollout: an environment that throws costs its episode, not the rollout") {
  play(generate_with_failure);
}

TEST_CASE(
    "generate_rollout: three on two replicas don't mix their steps, also where replicas die") {
  log_off();
  for (std::uint64_t seed : {1, 2, 3, 4, 5}) {
    play(generate_side_by_side, seed);
    system sys({.deterministic = true, .seed = seed, .faults = fault_plan::parse("crash=0.01")});
    sys.run(generate_side_by_side(sys));
  }
}

TEST_CASE("generate_rollout: groups give what one replica of all their environments gives") {
  log_off();
  system one({.deterministic = true, .seed = 1});
  const auto whole = one.run(generate_grouped(one, 1));
  const std::size_t groups = GENERATE(2, 3);
  for (std::uint64_t seed : {1, 2, 3}) {  // orders of messages
    system sys(
        {.deterministic = true, .seed = seed, .faults = fault_plan::parse("delay=0.2:10ms")});
    const auto made = sys.run(generate_grouped(sys, groups));
    CHECK(made.policies[0].obs == whole.policies[0].obs);
    CHECK(made.policies[0].discrete == whole.policies[0].discrete);
    CHECK(made.policies[0].log_prob == whole.policies[0].log_prob);
    CHECK(made.policies[0].value == whole.policies[0].value);
    CHECK(made.policies[0].reward == whole.policies[0].reward);
    CHECK(made.policies[0].terminated == whole.policies[0].terminated);
    CHECK(made.policies[0].bootstrap_obs == whole.policies[0].bootstrap_obs);
    CHECK(made.policies[0].bootstrap_value == whole.policies[0].bootstrap_value);
    REQUIRE(made.episodes.size() == whole.episodes.size());
    REQUIRE_FALSE(made.episodes.empty());
    for (std::size_t i = 0; i < made.episodes.size(); ++i) {
      CHECK(made.episodes[i].step == whole.episodes[i].step);
      CHECK(made.episodes[i].environment == whole.episodes[i].environment);
    }
  }
}

TEST_CASE("generate_rollout: groups that lose steps make all their rows") {
  log_off();
  std::int64_t losses = 0;
  const std::size_t groups = GENERATE(2, 3);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(groups, seed);
    system sys({.deterministic = true, .seed = seed, .faults = fault_plan::parse("crash=0.01")});
    const auto made = sys.run(generate_grouped(sys, groups));
    check(made, pole);
    CHECK(made.steps == 100);
    CHECK(made.policies[0].reward.size() == 100 * poles);
    losses += made.losses;
  }
  CHECK(losses > 10);
}

TEST_CASE("generate_rollout: one group's environments step while another's do") {
  log_off();
  const auto slow = fault_plan::parse("delay=1:50ms");  // each message to and from environments
  const auto time_of = [&](std::size_t groups) {
    system sys({.deterministic = true, .seed = 1, .faults = slow});
    return std::chrono::duration<double>(sys.run(time_of_rollout(sys, groups))).count();
  };
  const double one = time_of(1);
  CHECK(one == Approx(100 * 0.050).epsilon(0.2));  // a step is 50 ms in the mean
  CHECK(time_of(2) < 1.5 * one);  // one after the other would be 2: the slower of two is 1.25 or so
}

TEST_CASE("rollout: environments that are lost cost the episodes under way, and nothing before") {
  rollout_writer writer(rows_of_one, 4, B);
  writer.lose_environments(0, B);  // before the first row there is nothing to lose
  auto first = quiet_step();
  end(first, 1, false, true, 7);  // index 1 begins a new episode in row 1
  add(writer, 0, first);
  writer.lose_environments(0, B);
  add(writer, 1, quiet_step());
  add(writer, 2, quiet_step());
  writer.lose_environments(0, B);
  add(writer, 3, quiet_step());
  const auto last = rows(4, 4);
  const auto made = writer.finish({&last, 1});
  const auto& of = made.policies[0];
  CHECK(made.losses == 3);
  CHECK(of.valid == bytes{0, 1, 0, 0, 0, 0, 1, 1});
  CHECK(of.terminated == bytes{1, 0, 0, 0, 1, 1, 0, 0});
  CHECK(of.truncated == bytes{0, 1, 0, 0, 0, 0, 0, 0});  // its value still counts
}

}  // namespace troupe
