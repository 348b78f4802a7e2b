#include "actors/torch/torch.hpp"

#include "tests/chaos/roles.hpp"

#include <thread>

#include "actors/reward/text_reward.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe::chaos {

namespace {

std::unique_ptr<vector_environment> make_cartpole() {
  return make_vector_environment("CartPole-v1", 1);
}

/// A kill every second or two is no crash loop: replicas are restarted however many there were.
/// The loss of a node is to be borne with the defaults.
serve_options mortal(std::string name, const role_options& of,
                     std::vector<const endpoint_info*> idempotent) {
  serve_options options{.name = std::move(name),
                        .replicas = of.replicas,
                        .placement = of.where,
                        .idempotent = std::move(idempotent)};
  if (!of.where.on_node()) {
    options.max_restarts = 1000;
    options.backoff_limit = std::chrono::milliseconds(500);
  }
  return options;
}

}  // namespace

double episodes::play(std::uint64_t seed) const {
  const auto environment = make_cartpole();
  environment->reset(seed);
  action_draw actions(seed);
  double episode_return = 0;
  for (;;) {
    const auto after = environment->step({.discrete = {actions.next()}});
    episode_return += after.reward[0];
    if (after.terminated[0] || after.truncated[0]) return episode_return;
  }
}

std::int64_t episodes::begin(std::uint64_t seed) {
  auto& made = under_way_[++last_];
  made.environment = make_cartpole();
  made.environment->reset(seed);
  return last_;
}

episodes::look episodes::step(std::int64_t number, std::int64_t action) {
  auto& of = under_way_.at(number);
  const auto after = of.environment->step({.discrete = {action}});
  of.episode_return += after.reward[0];
  look seen{.obs = {after.obs.begin(), after.obs.end()},
            .over = after.terminated[0] || after.truncated[0],
            .episode_return = of.episode_return};
  if (seen.over) under_way_.erase(number);
  return seen;
}

int worker::work(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return milliseconds;
}

policy_options small_policy() {
  return {.shape = {.obs_size = 4, .discrete_actions = 2},
          .network = {.hidden = {44, 44}, .ortho_init = false}};
}

weights weights_of(std::int64_t version) {
  const auto options = small_policy();
  const actor_critic made(options.shape, options.network, static_cast<std::uint64_t>(version));
  return {.version = version, .parameters = made.parameters().clone()};
}

task<roles> serve_roles(system& sys, role_options options) {
  roles all;
  all.store = co_await sys.serve<weight_store>({.name = "weights"});
  auto first = weights_of(1);
  co_await all.store.route<&weight_store::put>(std::move(first));
  auto playing = mortal("environments", options,
                        {endpoint<&episodes::play>, endpoint<&environment_role::where>});
  all.environments = co_await sys.serve<environment_role>(std::move(playing));
  auto acting =
      mortal("policies", options, {endpoint<&policy::act>, endpoint<&policy_role::where>});
  all.policies = co_await sys.serve<policy_role>(std::move(acting), small_policy(), all.store);
  const std::vector<reward_function<completion>> functions{
      {"right", [](const completion& c) { return exact_match(c.text, c.expected); }},
      {"short", [](const completion& c) { return c.text.size() < 8 ? 1.0 : 0.0; }, 0.5}};
  auto judging =
      mortal("rewards", options,
             {endpoint<&weighted_reward<completion>::evaluate>, endpoint<&reward_role::where>});
  all.rewards = co_await sys.serve<reward_role>(std::move(judging), functions, &sys.metrics());
  if (options.where.on_node()) {
    all.workers = co_await sys.serve<worker>(mortal("workers", options, {}));
  }
  co_return all;
}

}  // namespace troupe::chaos
