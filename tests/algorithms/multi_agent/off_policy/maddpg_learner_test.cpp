// The learner of MADDPG and MATD3, and its gradients on the kernels against libtorch's in double
// precision over random agents, policies, ended agents, batches and settings.

#include "actors/torch/torch.hpp"

#include <cmath>
#include <limits>

#include "algorithms/multi_agent/off_policy/maddpg/learner.hpp"
#include "tests/actors/networks/gated.hpp"
#include "tests/algorithms/batch_tensors.hpp"
#include "tests/algorithms/gradients/for_each_case.hpp"
#include "tests/algorithms/gradients/gradient_by_torch.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/multi_agent/off_policy/disturbed_learner.hpp"
#include "tests/algorithms/multi_agent/off_policy/random_agents.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Up to five agents of up to as many policies with continuous actions. Agents may come and go, and
/// policies may be scripted.
network_shape random_float_agents(case_random& random) {
  const int count = random.between(1, 5);
  const int policies = random.between(1, count);
  std::vector<agent_spec> kinds;
  for (int i = 0; i < policies; ++i) {
    kinds.push_back({"", spaces::box(-1, 1, {random.between(1, 8)}),
                     spaces::box(-1, 1, {random.between(1, 4)})});
  }
  env_spec spec{.id = "Random-v0"};
  std::vector<std::string> policy_of_agent;
  for (int i = 0; i < count; ++i) {
    const int policy = i < policies ? i : random.between(0, policies - 1);
    policy_of_agent.push_back("policy_" + std::to_string(policy));
    spec.agents.push_back(kinds[static_cast<std::size_t>(policy)]);
    spec.agents.back().name = "agent_" + std::to_string(i);
  }
  spec.state_space = spaces::box(-1, 1, {random.between(1, 10)});
  spec.agents_vary = random.flip();
  auto shape =
      joint_shape(with_joint_spaces(spec), policy_of_agent,
                  {.agent_ids = random.flip(),
                   .critic = random.flip() ? central_input::state : central_input::observations});
  if (policies > 1 && random.below(4) == 0) shape.policies.back().script = "random";
  return shape;
}

/// Sees the hidden units of a policy's first `among` critics for its rows and the actions [R, A].
void watch_critics(kink_watch& watch, const detail::critic_ensemble& critics,
                   std::span<const float> parameters, const maddpg_rows& rows,
                   const at::Tensor& action, int among) {
  const auto seen = detail::tensor_of(rows.batch.obs, {rows.batch.rows, -1}, at::kDouble);
  for (int i = 0; i < among; ++i) {
    const auto& net = critics.network();
    const auto own =
        parameters.subspan(critics.stride() * static_cast<std::size_t>(i), net.parameter_count());
    watch.see(net, in_double(own), at::cat({seen, action}, 1));
  }
}

/// Sees the kinks of an actor and of the critic for the actions that it gives.
void watch_actor(kink_watch& watch, const maddpg_networks& networks, std::size_t policy,
                 const at::Tensor& actor, const maddpg_rows& rows, const at::Tensor& taken) {
  const auto& of = networks[policy];
  const auto inputs = detail::tensor_of(rows.inputs, {rows.batch.rows, -1}, at::kDouble);
  watch.see(of.actor.top(), actor, inputs);
  const auto mu = of.actor.forward(actor, inputs);
  auto action = taken.clone();
  for (std::size_t i = 0; i < rows.agent.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const auto begin = networks.shape().agents[rows.agent[i]].floats_begin;
    action.select(0, row).narrow(0, begin, mu.size(1)).copy_(mu.select(0, row));
  }
  watch_critics(watch, of.critics, of.critics.parameters(), rows, action, 1);
}

/// The gradients of an update on the kernels against those of the same rule by libtorch.
parity gradient_case(case_random& random, bool matd3) {
  const auto shape = random_float_agents(random);
  auto with = matd3 ? matd3_options() : maddpg_options();
  with.backend = gradient_backend::fused;
  with.network = random_network(random);
  with.policy_delay = 1;
  if (matd3) {
    with.target_policy_noise = random.between(0.05, 0.5);
    with.target_noise_clip = random.between(0.05, 0.7);
  }
  agents_section agents;
  if (random.flip() && shape.policies.size() > 1) agents.frozen = {shape.policies[0].name};
  const auto seed = random.next();
  const auto learner = disturbed(random, maddpg_learner(shape, with, seed, agents));
  const auto before = parts_of(learner);
  maddpg_learner updated(shape, with, seed, agents);
  set_parts(updated, before);
  updated.update(random_float_batch(random, shape, random.between(1, 40)));

  kink_watch watch;
  double worst = 0;
  for (std::size_t i = 0; i < shape.policies.size(); ++i) {
    const auto& rows = updated.rows(i);
    if (rows.batch.rows == 0) continue;
    const auto taken = detail::tensor_of(rows.batch.action, {rows.batch.rows, -1}, at::kDouble);
    const auto compare = [&](std::span<const float> parameters, std::span<const float> found,
                             const auto& loss) {
      const auto expected = gradient_by_torch(parameters, at::kDouble, loss).to(at::kDouble);
      const auto single = gradient_by_torch(parameters, at::kFloat, loss);
      watch.see_rounding(relative_distance(in_span(single), expected));
      worst = std::max(worst, relative_distance(found, expected));
    };
    const auto& critics = before[shape.policies[i].name + ".critics"];
    compare(critics, updated.critic_gradient(i), [&](graph& g, const parameter_block& block) {
      return maddpg_critic_loss(g, learner.networks(), i, block, rows).loss;
    });
    watch_critics(watch, learner.networks()[i].critics, critics, rows, taken, with.n_critics);
    // The actor learns from the critics that have just been stepped.
    const auto& networks = updated.networks();
    const auto actor =
        std::span(before["actors"]).subspan(networks[i].first, networks[i].actor.parameter_count());
    compare(actor, updated.actor_gradient(i), [&](graph& g, const parameter_block& block) {
      return maddpg_actor_loss(g, networks, i, block, rows);
    });
    watch_actor(watch, networks, i, in_double(actor), rows, taken);
  }
  return {worst, watch.too_near()};
}

maddpg_learner some_learner(const network_shape& shape, maddpg_options options,
                            gradient_backend backend = gradient_backend::automatic,
                            activation kind = activation::tanh, const std::string& encoder = {}) {
  options.max_skipped_steps = 3;
  options.network.encoder = encoder;
  options.backend = backend;
  options.network.hidden = {16, 20};
  options.network.hidden_activation = kind;
  return maddpg_learner(shape, options, 5);
}

transition_batch some_batch(const network_shape& shape, std::uint64_t seed) {
  case_random random(seed);
  return random_float_batch(random, shape, 23);
}

/// All weights, those of the actors first.
std::vector<float> weights_of(const maddpg_learner& learner) {
  auto state = parts_of(learner);
  auto all = state["actors"];
  for (const auto& policy : learner.networks().shape().policies) {
    const auto& critics = state[policy.name + ".critics"];
    all.insert(all.end(), critics.begin(), critics.end());
  }
  return all;
}

double norm_of(std::span<const float> numbers) {
  double squares = 0;
  for (const double x : numbers) squares += x * x;
  return std::sqrt(squares);
}

/// Agents a and b see a number each and have one float each.
network_shape two_floats() {
  const space number = spaces::box(-9, 9, {1}), move = spaces::box(-1, 1, {1});
  return joint_shape(
      with_joint_spaces({.id = "Two-v0", .agents = {{"a", number, move}, {"b", number, move}}}),
      {"a", "b"}, {.critic = central_input::observations});
}

}  // namespace

TEST_CASE("maddpg: scaled rewards are those of agents that act, by the statistics of each") {
  case_random random(11);
  const auto shape = random_float_agents(random);
  const auto batch = random_float_batch(random, shape, 23);
  maddpg_options options;
  options.network.hidden = {8};
  maddpg_learner plain(shape, options, 5);
  options.normalize_reward = reward_scaling::standardize;
  maddpg_learner scaling(shape, options, 5);
  const auto agents = shape.agents.size();
  detail::reward_scale scale(reward_scaling::standardize, agents);
  auto scaled = batch;
  for (std::size_t agent = 0; agent < agents; ++agent) {
    std::vector<float> rewards;
    for (std::size_t row = 0; row < 23; ++row) {
      const float* obs = batch.obs.data() + row * static_cast<std::size_t>(shape.obs_size);
      if (!plain.networks().acts(obs, agent)) continue;
      rewards.push_back(batch.agent_reward[row * agents + agent]);
    }
    scale.add(agent, rewards);
    for (auto at = agent; at < scaled.agent_reward.size(); at += agents) {
      scaled.agent_reward[at] = scale.apply(agent, batch.agent_reward[at]);
    }
  }
  plain.update(scaled);
  scaling.update(batch);
  CHECK(scaled.agent_reward != batch.agent_reward);
  const auto expected = parts_of(plain), found = parts_of(scaling);
  CHECK(found["actors"] == expected["actors"]);
  for (const auto& policy : shape.policies) {
    CHECK(found[policy.name + ".critics"] == expected[policy.name + ".critics"]);
  }
}

TEST_CASE("gradients: MADDPG's on the kernels equal libtorch's", "[gradients]") {
  for_each_case([](case_random& random) { return gradient_case(random, false); },
                std::max(case_count(), 1000));
}
TEST_CASE("gradients: MATD3's on the kernels equal libtorch's", "[gradients]") {
  for_each_case([](case_random& random) { return gradient_case(random, true); },
                std::max(case_count(), 1000));
}

TEST_CASE("maddpg: the loss and gradients of linear networks", "[maddpg]") {
  maddpg_options options;
  options.network.hidden = {};
  options.lr = options.tau = 1e-12;  // so that nothing moves
  maddpg_learner learner(two_floats(), options, 1);
  auto state = parts_of(learner);
  state["actors"] = {0.5f, 0, -0.25f, 0};  // a's action is tanh(o / 2), b's is tanh(-o / 4)
  state["target_actors"] = {1, 0, 2, 0};
  const auto& policies = learner.networks().shape().policies;
  const auto first = policies[0].name, second = policies[1].name;
  const std::vector<float> a{1, 2, 3, 4, 0.5f}, b{5, 6, 7, 8, 0};  // of o_a, o_b, a_a, a_b, 1
  std::ranges::copy(a, state[first + ".critics"].begin());
  std::ranges::copy(b, state[second + ".critics"].begin());
  std::ranges::copy(b, state[first + ".target_critics"].begin());
  std::ranges::copy(a, state[second + ".target_critics"].begin());
  set_parts(learner, state);
  transition_batch batch;
  batch.resize(1, two_floats());
  batch.obs = {2, 1};
  batch.next_obs = {0.5f, 0.25f};
  batch.action = {0.5f, -0.5f};
  batch.agent_reward = {1, 10};
  batch.agent_terminated = {0, 0};
  batch.discount = {0.9f};
  const double next_a = std::tanh(0.5), next_b = std::tanh(0.5);
  const double y_a = 1 + 0.9 * (5 * 0.5 + 6 * 0.25 + 7 * next_a + 8 * next_b);
  const double y_b = 10 + 0.9 * (0.5 + 2 * 0.25 + 3 * next_a + 4 * next_b + 0.5);
  const double q_a = 2 + 2 + 1.5 - 2 + 0.5, q_b = 10 + 6 + 3.5 - 4;
  const auto metrics = learner.update(batch);
  CHECK(metrics["train/critic_loss"] ==
        Approx((q_a - y_a) * (q_a - y_a) + (q_b - y_b) * (q_b - y_b)).epsilon(1e-5));
  CHECK(metrics["train/q_mean"] == Approx((q_a + q_b) / 2));
  CHECK(learner.last().td_errors[0] ==
        Approx((std::abs(q_a - y_a) + std::abs(q_b - y_b)) / 2).epsilon(1e-5));
  const auto gradient = learner.critic_gradient(0);
  const double d = 2 * (q_a - y_a);
  const double inputs[] = {2, 1, 0.5, -0.5, 1};
  for (std::size_t i = 0; i < 5; ++i) CHECK(gradient[i] == Approx(d * inputs[i]).epsilon(1e-5));
  // An actor learns through its own action; the other's is the one that was taken.
  const double mu_a = std::tanh(1.0), mu_b = std::tanh(-0.25);
  CHECK(metrics["train/actor_loss"] ==
        Approx(-(4.5 + 3 * mu_a - 2) - (16 + 3.5 + 8 * mu_b)).epsilon(1e-5));
  const double slope_a = -3 * (1 - mu_a * mu_a), slope_b = -8 * (1 - mu_b * mu_b);
  CHECK(learner.actor_gradient(0)[0] == Approx(2 * slope_a).epsilon(1e-5));
  CHECK(learner.actor_gradient(0)[1] == Approx(slope_a).epsilon(1e-5));
  CHECK(learner.actor_gradient(1)[0] == Approx(slope_b).epsilon(1e-5));
  CHECK(learner.actor_gradient(1)[1] == Approx(slope_b).epsilon(1e-5));
  batch.agent_terminated = {1, 0};
  learner.update(batch);
  CHECK(learner.last().td_errors[0] ==
        Approx((std::abs(q_a - 1) + std::abs(q_b - y_b)) / 2).epsilon(1e-5));
}

TEST_CASE("maddpg: the gradients of each policy's actor and critics are clipped", "[maddpg]") {
  const auto shape = four_agents();
  constexpr double limit = 1e-3;
  for (const double max_grad_norm : {limit, 0.0}) {
    CAPTURE(max_grad_norm);
    maddpg_options options;
    options.max_grad_norm = max_grad_norm;
    auto learner = some_learner(shape, options);
    learner.update(some_batch(shape, 1));
    const auto after = parts_of(learner);
    for (std::size_t i = 0; i < 2; ++i) {
      CAPTURE(i);
      const double of_actor = norm_of(learner.actor_gradient(i));
      const double of_critics = norm_of(learner.critic_gradient(i));
      REQUIRE(of_actor > limit);
      REQUIRE(of_critics > limit);
      // After its first step Adam's first moment is a tenth of the gradient that it was given.
      const auto policy = shape.policies[i].name + '.';
      const bool is_clipped = max_grad_norm > 0;
      CHECK(norm_of(after.optimizers.at(policy + "actor_optimizer").first_moment) ==
            Approx(0.1 * (is_clipped ? limit : of_actor)).epsilon(2e-3));
      CHECK(norm_of(after.optimizers.at(policy + "critic_optimizer").first_moment) ==
            Approx(0.1 * (is_clipped ? limit : of_critics)).epsilon(2e-3));
    }
  }
}

TEST_CASE("maddpg: the numbers of agents that have ended change nothing", "[maddpg]") {
  const auto shape = four_agents();
  const auto width = static_cast<std::size_t>(shape.obs_size);
  for (const auto& options : {maddpg_options(), matd3_options()}) {
    for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
      auto one = some_learner(shape, options, backend),
           other = some_learner(shape, options, backend);
      case_random random(3);
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const auto batch = some_batch(shape, seed);
        auto changed = batch;
        for (std::size_t row = 0; row < 23; ++row) {
          for (std::size_t i = 0; i < 4; ++i) {
            const auto& view = shape.agents[i];
            const auto change = [&](std::vector<float>& column, std::size_t at) {
              column[at] = static_cast<float>(5 * random.normal());
            };
            const auto active = row * width + static_cast<std::size_t>(view.active);
            const auto begin = row * width + static_cast<std::size_t>(view.obs_begin);
            if (batch.next_obs[active] == 0) change(changed.next_obs, begin);
            if (batch.obs[active] != 0) continue;
            change(changed.obs, begin);
            change(changed.agent_reward, row * 4 + i);
            change(changed.action, row * 6 + static_cast<std::size_t>(view.floats_begin));
            changed.agent_terminated[row * 4 + i] = 1 - batch.agent_terminated[row * 4 + i];
          }
        }
        CHECK(changed.obs != batch.obs);
        one.update(batch);
        other.update(changed);
        CHECK(std::ranges::equal(one.last().td_errors, other.last().td_errors));
      }
      CHECK(weights_of(one) == weights_of(other));
    }
  }
}

TEST_CASE("maddpg: a batch in which nobody acts moves nothing", "[maddpg]") {
  const auto shape = four_agents(central_input::state);
  auto learner = some_learner(shape, maddpg_options());
  auto batch = some_batch(shape, 1);
  for (std::size_t row = 0; row < 23; ++row) {
    for (const auto& view : shape.agents) {
      batch.obs[row * static_cast<std::size_t>(shape.obs_size) +
                static_cast<std::size_t>(view.active)] = 0;
    }
  }
  const auto before = weights_of(learner);
  CHECK(learner.update(batch).skipped_steps == 0);
  CHECK(weights_of(learner) == before);
}

TEST_CASE("maddpg: both backends come to the same weights", "[maddpg]") {
  register_gated();
  using given = std::pair<central_input, std::string>;
  for (const auto& [critic, encoder] :
       {given{central_input::observations, ""}, given{central_input::state, ""},
        given{central_input::observations, "gated"}, given{central_input::state, "gated"}}) {
    CAPTURE(encoder);
    const auto shape = four_agents(critic);
    const auto learner_by = [&, encoder = encoder](gradient_backend backend) {
      return some_learner(shape, matd3_options(), backend, activation::tanh, encoder);
    };
    auto fused = learner_by(gradient_backend::fused);
    auto libtorch = learner_by(gradient_backend::libtorch);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      fused.update(some_batch(shape, seed));
      libtorch.update(some_batch(shape, seed));
      for (std::size_t i = 0; i < 23; ++i) {
        CHECK(fused.last().td_errors[i] ==
              Approx(libtorch.last().td_errors[i]).epsilon(1e-3).margin(1e-4));
      }
    }
    const auto a = weights_of(fused), b = weights_of(libtorch);
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      worst = std::max(worst, static_cast<double>(std::abs(a[i] - b[i])));
    }
    CHECK(worst < 1e-4);
    CHECK(std::isfinite(
        some_learner(shape, matd3_options(), gradient_backend::automatic, activation::silu)
            .update(some_batch(shape, 1))["train/critic_loss"]));
  }
}

TEST_CASE("maddpg: a restored state continues bit for bit", "[maddpg]") {
  const auto shape = four_agents();
  auto learner = some_learner(shape, matd3_options());
  for (std::uint64_t i = 0; i < 5; ++i) learner.update(some_batch(shape, i));
  auto other = some_learner(shape, matd3_options());
  other.restore(learner.save());
  for (std::uint64_t i = 5; i < 12; ++i) {
    const auto metrics = learner.update(some_batch(shape, i));
    CHECK(metrics.has("train/actor_loss") == (i % 2 == 1));
    other.update(some_batch(shape, i));
  }
  CHECK(weights_of(other) == weights_of(learner));
  auto options = matd3_options();
  options.n_critics = 1;
  auto single = some_learner(shape, options);
  CHECK_THROWS_WITH(single.restore(learner.save()), Catch::Contains("maddpg state: p.critics"));
}

TEST_CASE("maddpg: a model's critics are named after their policies", "[maddpg]") {
  const auto shape = four_agents();
  auto learner = some_learner(shape, matd3_options()), other = some_learner(shape, matd3_options());
  for (std::uint64_t i = 0; i < 4; ++i) learner.update(some_batch(shape, i));
  const auto beside = learner.beside();
  REQUIRE(beside.size() == 2 * 2 * 6);  // policies, critics, weights and biases of three layers
  CHECK(beside[0].first == "p.qf0.0.weight");
  CHECK(beside.back().first == "q.qf1.2.bias");
  other.start_from(learner.acting(), beside);
  CHECK(weights_of(other) == weights_of(learner));
  CHECK(parts_of(other)["target_actors"] == parts_of(other)["actors"]);
  CHECK(parts_of(other)["q.target_critics"] == parts_of(other)["q.critics"]);
  auto one = some_learner(shape, maddpg_options());
  CHECK_THROWS_WITH(one.start_from(learner.acting(), beside),
                    Catch::Contains("expected 1 critics"));
  const named_tensors others(beside.begin(), beside.begin() + 12);
  CHECK_THROWS_WITH(other.start_from(learner.acting(), others),
                    Catch::Contains("q.qf0.0.weight is missing"));
}

TEST_CASE("maddpg: critics have encoders of their own, for what they see of each agent",
          "[maddpg]") {
  register_gated();
  const auto learner_of = [](central_input critic) {
    return some_learner(four_agents(critic), matd3_options(), gradient_backend::automatic,
                        activation::tanh, "gated");
  };
  const auto names_of = [](const named_tensors& tensors) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors) {
      if (name.ends_with("mix")) names.push_back(name);
    }
    return names;
  };
  // Agents a and c see three numbers, b and d two. The state has five.
  CHECK(names_of(learner_of(central_input::observations).beside()) ==
        std::vector<std::string>{"p.critic.encoder.3.mix", "p.critic.encoder.2.mix",
                                 "q.critic.encoder.3.mix", "q.critic.encoder.2.mix"});
  CHECK(names_of(learner_of(central_input::state).beside()) ==
        std::vector<std::string>{"p.critic.encoder.5.mix", "q.critic.encoder.5.mix"});

  auto learner = learner_of(central_input::observations);
  auto other = learner_of(central_input::observations);
  const auto first = parts_of(learner);
  for (std::uint64_t i = 0; i < 4; ++i) learner.update(some_batch(four_agents(), i));
  for (const auto* policy : {"p", "q"}) {
    const auto& critics = learner.networks()[*policy == 'p' ? 0 : 1].critics;
    const auto now = parts_of(learner)[policy + std::string(".critics")];
    const auto before = first[policy + std::string(".critics")];
    for (auto i = critics.extractor_offset();
         i < critics.extractor_offset() +
                 static_cast<std::size_t>(critics.extractor()->parameter_count());
         ++i) {
      CHECK(now[i] != before[i]);
    }
  }
  other.start_from(learner.acting(), learner.beside());
  CHECK(weights_of(other) == weights_of(learner));
}

TEST_CASE("maddpg: steps that are not finite are skipped, and end training", "[maddpg]") {
  const auto shape = four_agents();
  for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
    auto learner = some_learner(shape, maddpg_options(), backend);
    auto batch = some_batch(shape, 1);
    for (auto& r : batch.agent_reward) r = std::numeric_limits<float>::infinity();
    const auto before = weights_of(learner);
    CHECK(learner.update(batch).skipped_steps == 1);
    CHECK(learner.update(batch).skipped_steps == 1);
    CHECK(weights_of(learner) == before);
    CHECK_THROWS_AS(learner.update(batch), non_finite_training);
  }
}

TEST_CASE("maddpg: shapes that it has no critics for are refused", "[maddpg]") {
  const maddpg_options options;
  CHECK_THROWS_WITH(maddpg_learner({.obs_size = 2, .continuous_size = 1}, options, 1),
                    Catch::Contains("expected several agents"));
  CHECK_THROWS_WITH(maddpg_learner(four_agents(central_input::none), options, 1),
                    Catch::Contains("critics see neither"));
  auto batch = some_batch(four_agents(), 1);
  batch.agent_reward.pop_back();
  CHECK_THROWS_WITH(some_learner(four_agents(), options).update(batch),
                    Catch::Contains("agent_reward has 91 numbers, expected 92"));
}

}  // namespace troupe
