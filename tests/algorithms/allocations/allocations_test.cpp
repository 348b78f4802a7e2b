// Calls, the steps of a rollout and gradient steps allocate nothing once they have come round.

#include "actors/torch/torch.hpp"

#include <string>

#include "actors/gradients/kernel_graph.hpp"
#include "actors/networks/shape_of.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/multi_agent/off_policy/iql/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/learner.hpp"
#include "algorithms/multi_agent/off_policy/vdn/learner.hpp"
#include "algorithms/on_policy/episode.hpp"
#include "runtime/system/system.hpp"
#include "tests/algorithms/allocations/count.hpp"
#include "tests/algorithms/multi_agent/off_policy/random_agents.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Each kind of endpoint.
struct echo {
  recycled_vector<float> plain(recycled_vector<float> x) { return x; }
  task<int> coroutine(int x) { co_return x; }
  batch<int> batched(batch<int> x) { return x; }
};

task<> call_each(service<echo> echoes, int times) {
  for (int i = 0; i < times; ++i) {
    recycled_vector<float> message(100, 1.0f);
    const auto reply = co_await echoes.route<&echo::plain>(std::move(message));
    const int one = co_await echoes.route<&echo::coroutine>(i);
    const int other = co_await echoes.route<&echo::batched>(i);
    if (reply.size() != 100 || one != i || other != i) throw std::logic_error("a wrong reply");
  }
}

task<std::int64_t> count_calls(system& sys) {
  serve_options options{.name = "echo"};
  options.idempotent = {endpoint<&echo::plain>,
                        endpoint<&echo::batched>};  // their arguments are copied
  const auto echoes = co_await sys.serve<echo>(std::move(options));
  co_await call_each(echoes, 2000);
  const auto before = testing::allocations();
  co_await call_each(echoes, 1000);
  co_return testing::allocations() - before;
}

constexpr std::size_t environments = 4;
constexpr std::int64_t n_steps = 512;

/// Counts the steps, and those of them with an allocation since the step before.
struct step_counts {
  std::int64_t seen = 0;
  std::int64_t steps = 0;
  std::int64_t with_allocations = 0;

  void step() {
    const auto now = testing::allocations();
    if (seen > 0 && steps % n_steps > 1)
      with_allocations += now != seen;  // a rollout's beginning takes its columns
    seen = now;
    ++steps;
  }
};

task<> count_steps(system& sys, std::string env, std::size_t groups, step_counts& counts) {
  const auto shape = shape_of(make_vector_environment(env, 1)->spec());
  rollout_roles roles;
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const actor_critic network(shape, {}, 1);
  weights first{1, network.parameters().clone(), {}};
  co_await store.route<&weight_store::put>(first);
  policy_options acting{.shape = shape, .network = {}, .seed = 1};
  serve_options deciding{.name = "policy", .idempotent = {endpoint<&policy::act>}};
  auto acts = co_await sys.serve<policy>(std::move(deciding), std::move(acting), store);
  roles.policies = {std::move(acts)};
  roles.rows = std::make_shared<const agent_rows>(shape);
  hosted_environment::factory make = [env, groups] {
    return make_vector_environment(env, environments / groups);
  };
  env_observers observers{.stepped = [&counts](std::int64_t) { counts.step(); }};
  roles.environments = co_await sys.serve<hosted_environment>(
      {.name = "environments", .replicas = groups}, std::move(make), std::uint64_t{1},
      std::move(observers));
  roles.n_steps = n_steps;
  roles.groups = groups;
  co_await generate_rollout(roles);
  co_await generate_rollout(roles);
  counts = {};
  for (int i = 0; i < 4; ++i) co_await generate_rollout(roles);
}

/// What a step of the learner allocates after the first ones.
template <class Learner>
std::int64_t count_updates(Learner learner, const transition_batch& batch) {
  for (int i = 0; i < 3; ++i) learner.update(batch);
  const auto before = testing::allocations();
  for (int i = 0; i < 10; ++i) learner.update(batch);
  return testing::allocations() - before;
}

TEST_CASE("learners: a gradient step of several agents on the kernels allocates nothing") {
  case_random random(2);
  const auto shape = random_agents(random);
  const auto batch = random_joint_batch(random, shape, 33);
  joint_q_options options;
  options.backend = gradient_backend::fused;
  options.double_q = true;
  CHECK(count_updates(iql_learner(shape, options, 1, {}), batch) == 0);
  CHECK(count_updates(vdn_learner(shape, options, 1), batch) == 0);
  CHECK(count_updates(qmix_learner(shape, options, 1), batch) == 0);
  options.double_q = false;
  CHECK(count_updates(qmix_learner(shape, options, 1, {}, {.input = mixer_input::none}), batch) ==
        0);
}

TEST_CASE("graph: a step with select_rows and layer_norm on the kernels allocates nothing") {
  const std::vector<float> values(24, 0.5f);
  std::vector<float> gradient(24);
  const std::vector<std::int64_t> chosen{3, 0, 0, 1};
  const parameter_block block{values, gradient};
  kernel_graph g;
  const auto step = [&] {
    g.clear();
    const auto rows = select_rows(g.parameter(block, 0, 4, 4), chosen);
    const auto scale = g.parameter(block, 16, 1, 4), shift = g.parameter(block, 20, 1, 4);
    g.backward(mean(row_sum(square(layer_norm(rows, scale, shift)))));
  };
  step();
  const auto before = testing::allocations();
  for (int i = 0; i < 10; ++i) step();
  CHECK(testing::allocations() == before);
}

TEST_CASE("calls of each kind of endpoint allocate nothing in steady state") {
  system sys({.threads = 1});
  CHECK(sys.run(count_calls(sys)) <= 10);  // of 3,000 calls: alarms, and a thread's first time
}

TEST_CASE(
    "generate_rollout: a step, the inference for it and its storage allocate nothing in steady "
    "state") {
  // Continuous and discrete actions. Without a good policy the episodes of both end at every 200th
  // step alone: the list of them grows then.
  for (const char* env : {"Pendulum-v1", "MountainCar-v0"}) {
    CAPTURE(env);
    system sys({.threads = 1});
    step_counts counts;
    sys.run(count_steps(sys, env, 1, counts));
    CHECK(counts.steps == 4 * n_steps);
    CHECK(counts.with_allocations <= 4 * 2 * (n_steps / 200));
  }
}

}  // namespace
}  // namespace troupe
