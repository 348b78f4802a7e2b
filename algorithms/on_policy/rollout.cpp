#include "actors/torch.hpp"

#include "algorithms/on_policy/rollout.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/on_policy/turns.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe {

namespace {

/// Other rollouts' steps would come between this one's.
constexpr session_options alone{.exclusive = true};
/// Replicas lost in a row, without a step between, after which a rollout is given up.
constexpr int losses_max = 20;

/// Environments of one replica, those from `first` on of a rollout's.
struct env_group {
  session<hosted_environment> where;
  recycled_vector<float> obs;  ///< [environments, D] what they show
  std::int64_t environments = 0;
  std::int64_t first = 0;
  bool begun = false;  ///< Nothing has been made of these rows yet.
};

bool is_lost(const call_error& e) { return e.kind() == error_kind::session_lost; }

task<env_group> open_group(rollout_roles roles) {
  for (int losses = 1;; ++losses) {
    try {
      auto where = co_await roles.environments.session(alone);
      auto seen = co_await where.route<&hosted_environment::observe>();
      co_return env_group{std::move(where), std::move(seen.rows), seen.environments, 0, seen.begun};
    } catch (const call_error& e) {
      if (!is_lost(e) || losses == losses_max) throw;
    }
  }
}

task<std::vector<env_group>> open_groups(rollout_roles roles) {
  std::vector<env_group> groups;
  while (groups.size() < roles.groups) {
    auto group = co_await open_group(roles);
    groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, {}, [](const env_group& g) { return g.where.replica(); });
  std::int64_t first = 0;
  for (auto& group : groups) group.first = std::exchange(first, first + group.environments);
  co_return groups;
}

/// The rows that groups show when they are opened, as they are acted on.
void normalize(rollout_normalizer& by, std::span<env_group> groups) {
  for (const auto& group : groups) {
    if (group.begun) by.add_begun(group.obs);
  }
  for (auto& group : groups) by.normalize(group.obs);
}

/// The rows of group `index`. In its turns it stores what its last step gave, and acts.
task<> take_steps(rollout_roles roles, std::vector<env_group>& groups, std::size_t index,
                  rollout& made, rollout_normalizer* normalizer, turns& turn) {
  auto& mine = groups[index];
  act_reply acted;
  std::optional<env_step> after;
  std::uint64_t noise_seed = 0;
  int losses = 0;
  for (std::int64_t t = 0;;) {
    while (!turn.is_of(index)) co_await turn.passed();
    if (after) {
      if (normalizer) normalizer->take_step(*after);
      made.add(t++, mine.obs, acted, *after, mine.first);
      mine.obs = std::move(after->obs);
      losses = 0;
    }
    if (t == roles.n_steps) break;
    if (roles.sde_sample_freq > 0 && t % roles.sde_sample_freq == 0) noise_seed = 0;
    act_request request{mine.obs, roles.deterministic, noise_seed, normalizer != nullptr};
    acted = co_await roles.policies.route<&policy::act>(std::move(request));
    noise_seed = acted.noise_seed;
    turn.pass();
    env_actions actions{acted.discrete, acted.continuous};
    after.reset();
    try {
      after = co_await mine.where.route<&hosted_environment::step>(std::move(actions));
    } catch (const call_error& e) {
      if (!is_lost(e) || ++losses == losses_max) throw;
    }
    if (after) continue;
    made.lose_environments(t, mine.first, mine.environments);
    auto other = co_await open_group(roles);
    if (normalizer) normalize(*normalizer, {&other, 1});
    mine.where = std::move(other.where);
    mine.obs = std::move(other.obs);
  }
  turn.pass();
}

}  // namespace

task<rollout> generate_rollout(rollout_roles roles) {
  auto groups = co_await open_groups(roles);
  rollout made(roles.n_steps, groups.back().first + groups.back().environments);
  std::optional<rollout_normalizer> normalizer;
  if (roles.normalizer) {
    const auto replica = static_cast<std::int64_t>(groups.front().where.replica());
    normalizer = roles.normalizer->begin(replica);
    normalize(*normalizer, groups);
  }
  turns turn(groups.size());
  std::vector<task<>> side_by_side;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto* by = normalizer ? &*normalizer : nullptr;
    side_by_side.push_back(take_steps(roles, groups, i, made, by, turn));
  }
  co_await all(std::move(side_by_side));
  for (const auto& group : groups) {
    made.bootstrap_obs.insert(made.bootstrap_obs.end(), group.obs.begin(), group.obs.end());
  }
  if (!made.cuts.empty()) {
    made.final_value =
        co_await roles.policies.route<&policy::values>(made.final_obs, normalizer.has_value());
  }
  made.bootstrap_value =
      co_await roles.policies.route<&policy::values>(made.bootstrap_obs, normalizer.has_value());
  if (normalizer) made.seen = roles.normalizer->end(*normalizer);
  co_return made;
}

rollout::rollout(std::int64_t steps, std::int64_t environments)
    : steps(steps), environments(environments) {
  valid.assign(static_cast<std::size_t>(steps * environments), 1);
  episode_began_.assign(static_cast<std::size_t>(environments), 0);
}

void rollout::add(std::int64_t t, const recycled_vector<float>& before, const act_reply& acted,
                  const env_step& after, std::int64_t first) {
  const auto append = [&](auto& to, const auto& from) {
    if (to.capacity() == 0) {  // the width is known
      to.reserve(from.size() / after.reward.size() *
                 static_cast<std::size_t>(steps * environments));
    }
    to.insert(to.end(), from.begin(), from.end());
  };
  append(obs, before);
  append(discrete, acted.discrete);
  append(continuous, acted.continuous);
  append(log_prob, acted.log_prob);
  append(value, acted.value);
  append(reward, after.reward);
  append(terminated, after.terminated);
  append(truncated, after.truncated);
  version = t == 0 && first == 0 ? acted.version : std::min(version, acted.version);
  last_version = std::max(last_version, acted.version);

  for (const auto& ended : after.finished) {
    const auto index = first + static_cast<std::int64_t>(ended.index);
    const auto row = static_cast<std::size_t>(t * environments + index);
    if (truncated[row] && !terminated[row]) {
      cuts.push_back({t, index});
      final_obs.insert(final_obs.end(), ended.final_obs.begin(), ended.final_obs.end());
    }
    episodes.push_back({t, ended.episode_return, ended.length, index});
    episode_began_[static_cast<std::size_t>(index)] = t + 1;
  }
  for (const auto& one : after.failures) {
    failure = one.id + ": " + one.message;
    if (!one.at_reset) drop_episode(t, first + static_cast<std::int64_t>(one.index));
  }
}

void rollout::lose_environments(std::int64_t t, std::int64_t first, std::int64_t count) {
  ++losses;
  for (auto index = first; index < first + count; ++index) {
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
