#include "actors/torch.hpp"

#include "algorithms/ppo/rollout.hpp"

#include <algorithm>
#include <optional>

namespace troupe {

namespace {

/// Other rollouts' steps would come between this one's.
constexpr session_options alone{.exclusive = true};
/// Replicas lost in a row, without a step between, after which a rollout is given up.
constexpr int losses_max = 20;

/// Takes the rows from t on, until there are T or the environments are lost. Returns what is seen
/// after the last row, [B, D].
task<std::vector<float>> take_steps(rollout_roles roles, session<hosted_environment> environment,
                                    std::vector<float> obs, rollout& made, std::int64_t& t) {
  std::uint64_t noise_seed = 0;
  for (; t < roles.n_steps; ++t) {
    if (roles.sde_sample_freq > 0 && t % roles.sde_sample_freq == 0) noise_seed = 0;
    act_request request{obs, roles.deterministic, noise_seed};
    const auto acted = co_await roles.policies.route<&policy::act>(std::move(request));
    noise_seed = acted.noise_seed;
    env_actions actions{acted.discrete, acted.continuous};
    auto after = co_await environment.route<&hosted_environment::step>(std::move(actions));
    made.add(t, obs, acted, after);
    obs = std::move(after.obs);
  }
  co_return obs;
}

}  // namespace

task<rollout> generate_rollout(rollout_roles roles) {
  std::optional<rollout> made;
  std::vector<float> obs;
  std::int64_t t = 0;
  int in_a_row = 0;
  for (bool whole = false; !whole;) {
    const auto before = t;
    try {
      const auto environment = co_await roles.environments.session(alone);
      auto seen = co_await environment.route<&hosted_environment::observe>();
      if (!made) made.emplace(roles.n_steps, seen.environments);
      obs = co_await take_steps(roles, environment, std::move(seen.rows), *made, t);
      whole = true;
    } catch (const call_error& e) {
      if (e.kind() != error_kind::session_lost) throw;
      in_a_row = t == before ? in_a_row + 1 : 0;
      if (in_a_row == losses_max) throw;
      if (made) made->lose_environments(t);
    }
  }
  if (!made->cuts.empty()) {
    made->final_value = co_await roles.policies.route<&policy::values>(made->final_obs);
  }
  made->bootstrap_value = co_await roles.policies.route<&policy::values>(obs);
  made->bootstrap_obs = std::move(obs);
  co_return std::move(*made);
}

rollout::rollout(std::int64_t steps, std::int64_t environments)
    : steps(steps), environments(environments) {
  valid.assign(static_cast<std::size_t>(steps * environments), 1);
  episode_began_.assign(static_cast<std::size_t>(environments), 0);
}

void rollout::add(std::int64_t t, const std::vector<float>& before, const act_reply& acted,
                  const env_step& after) {
  const auto append = [&](auto& to, const auto& from) {
    if (t == 0) to.reserve(from.size() * static_cast<std::size_t>(steps));  // the width is known
    to.insert(to.end(), from.begin(), from.end());
  };
  append(obs, before);
  append(discrete, acted.discrete);
  append(continuous, acted.continuous);
  append(log_prob, acted.log_prob);
  append(value, acted.value);
  append(reward, after.reward);
  append(discounted, after.discounted);
  append(terminated, after.terminated);
  append(truncated, after.truncated);
  version = t == 0 ? acted.version : std::min(version, acted.version);
  last_version = std::max(last_version, acted.version);

  for (const auto& ended : after.finished) {
    const auto index = static_cast<std::int64_t>(ended.index);
    const auto row = static_cast<std::size_t>(t * environments + index);
    if (truncated[row] && !terminated[row]) {
      cuts.push_back({t, index});
      final_obs.insert(final_obs.end(), ended.final_obs.begin(), ended.final_obs.end());
    }
    episodes.push_back({t, ended.episode_return, ended.length, index});
    episode_began_[ended.index] = t + 1;
  }
  for (const auto& one : after.failures) {
    failure = one.id + ": " + one.message;
    if (!one.at_reset) drop_episode(t, static_cast<std::int64_t>(one.index));
  }
}

void rollout::lose_environments(std::int64_t t) {
  ++losses;
  for (std::int64_t index = 0; index < environments; ++index) {
    if (episode_began_[static_cast<std::size_t>(index)] < t) drop_episode(t - 1, index);
  }
}

/// Its rows don't count, and nothing flows over its end.
void rollout::drop_episode(std::int64_t t, std::int64_t index) {
  auto& began = episode_began_[static_cast<std::size_t>(index)];
  for (auto row = began; row <= t; ++row)
    valid[static_cast<std::size_t>(row * environments + index)] = 0;
  terminated[static_cast<std::size_t>(t * environments + index)] = 1;
  began = t + 1;
}

namespace {

/// All rollouts' columns of one kind, [T, sum of B, ...].
template <class T>
at::Tensor joined(const std::vector<rollout>& rollouts, std::vector<T> rollout::* column,
                  at::ScalarType type, std::int64_t width) {
  std::vector<at::Tensor> parts;
  for (const auto& r : rollouts) {
    auto sizes = width > 0 ? std::vector<std::int64_t>{r.steps, r.environments, width}
                           : std::vector<std::int64_t>{r.steps, r.environments};
    auto* data = const_cast<T*>((r.*column).data());
    parts.push_back(at::from_blob(data, sizes, at::TensorOptions().dtype(type)));
  }
  return parts.size() == 1 ? parts[0].clone() : at::cat(parts, 1);
}

/// The same for columns without time, [sum of n, ...].
at::Tensor stacked(const std::vector<rollout>& rollouts, std::vector<float> rollout::* column,
                   std::int64_t width) {
  std::vector<at::Tensor> parts;
  for (const auto& r : rollouts) {
    auto* data = const_cast<float*>((r.*column).data());
    const auto n = static_cast<std::int64_t>((r.*column).size());
    parts.push_back(width > 0 ? at::from_blob(data, {n / width, width}, at::kFloat)
                              : at::from_blob(data, {n}, at::kFloat));
  }
  return at::cat(parts, 0);
}

}  // namespace

rollout_batch to_batch(const std::vector<rollout>& rollouts, const network_shape& shape,
                       bool stale) {
  TORCH_CHECK(!rollouts.empty(), "to_batch: expected at least one rollout, got none");
  rollout_batch batch;
  batch.obs = joined(rollouts, &rollout::obs, at::kFloat, shape.obs_size);
  if (shape.is_continuous()) {
    batch.action = joined(rollouts, &rollout::continuous, at::kFloat, shape.continuous_size);
  } else {
    const auto choices = static_cast<std::int64_t>(shape.choices().size());
    batch.action = joined(rollouts, &rollout::discrete, at::kLong, choices > 1 ? choices : 0);
  }
  batch.log_prob = joined(rollouts, &rollout::log_prob, at::kFloat, 0);
  batch.value = joined(rollouts, &rollout::value, at::kFloat, 0);
  batch.reward = joined(rollouts, &rollout::reward, at::kFloat, 0);
  if (!rollouts.front().discounted.empty()) {
    batch.discounted = joined(rollouts, &rollout::discounted, at::kDouble, 0);
  }
  batch.terminated = joined(rollouts, &rollout::terminated, at::kByte, 0).to(at::kBool);
  batch.truncated = joined(rollouts, &rollout::truncated, at::kByte, 0).to(at::kBool);
  batch.valid = joined(rollouts, &rollout::valid, at::kByte, 0).to(at::kBool);
  batch.bootstrap_value = stacked(rollouts, &rollout::bootstrap_value, 0);
  batch.bootstrap_obs = stacked(rollouts, &rollout::bootstrap_obs, shape.obs_size);

  batch.final_value = at::zeros_like(batch.reward);
  batch.final_obs = stacked(rollouts, &rollout::final_obs, shape.obs_size);
  std::vector<std::int64_t> places;
  std::int64_t first = 0;
  auto final_value = batch.final_value.accessor<float, 2>();
  for (const auto& r : rollouts) {
    for (std::size_t i = 0; i < r.cuts.size(); ++i) {
      const auto& [t, index] = r.cuts[i];
      final_value[t][first + index] = r.final_value[i];
      places.insert(places.end(), {t, first + index});
    }
    first += r.environments;
  }
  batch.final_index = at::tensor(places, at::kLong).reshape({-1, 2});
  const auto oldest = std::ranges::min(rollouts, {}, &rollout::version).version;
  batch.policy_version = static_cast<std::uint64_t>(oldest);
  batch.proximal_correction = stale;
  return batch;
}

}  // namespace troupe
