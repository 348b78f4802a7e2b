#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/rollout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace troupe {

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
    episodes.push_back({t, ended.episode_return, ended.length, index, ended.info});
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

/// Marks the rows of the episode as invalid, and row t as terminated, so that no advantage is
/// computed across its end.
void rollout::drop_episode(std::int64_t t, std::int64_t index) {
  auto& began = episode_began_[static_cast<std::size_t>(index)];
  for (auto row = began; row <= t; ++row)
    valid[static_cast<std::size_t>(row * environments + index)] = 0;
  terminated[static_cast<std::size_t>(t * environments + index)] = 1;
  began = t + 1;
}

void check(const rollout& r, const network_shape& shape) {
  const auto expect = [](const char* name, std::size_t got, std::int64_t expected) {
    if (std::cmp_equal(got, expected)) return;
    throw std::invalid_argument(
        fmt::format("rollout: {}: expected {} numbers, got {}", name, expected, got));
  };
  const auto T = r.steps, B = r.environments, F = std::ssize(r.cuts);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (T < 1 || B < 1 || T > most / B) {
    throw std::invalid_argument(
        fmt::format("rollout: expected steps of environments, got {} of {}", T, B));
  }
  const auto of_column = [&](column_info column, const auto& numbers) {
    const auto rows = column.along == axis::steps ? T * B : column.along == axis::cuts ? F : B;
    expect(column.name, numbers.size(), rows * (column.is_obs ? shape.obs_size : 1));
  };
  for_each_column(of_column, r);
  expect("discrete", r.discrete.size(), T * B * shape.choice_count());
  expect("continuous", r.continuous.size(), T * B * shape.continuous_size);
  expect("final_value", r.final_value.size(), F);
  for (const auto& [t, b] : r.cuts) {
    if (t >= 0 && t < T && b >= 0 && b < B) continue;
    throw std::invalid_argument(
        fmt::format("rollout: cuts: expected steps of its own, got step {} of {}", t, b));
  }
}

namespace {

using sizes = std::vector<std::int64_t>;

/// A tensor over the memory of `numbers`.
template <class T>
at::Tensor tensor_over(const std::vector<T>& numbers, sizes shape, std::int64_t width) {
  if (width > 0) shape.push_back(width);
  return at::from_blob(const_cast<T*>(numbers.data()), shape, c10::CppTypeToScalarType<T>::value);
}

at::Tensor joined(const std::vector<at::Tensor>& parts, std::int64_t dimension) {
  return parts.size() == 1 ? parts[0].clone() : at::cat(parts, dimension);
}

/// One column of the actions of all rollouts, [T, sum of B, ...].
template <class T>
at::Tensor actions_of(const std::vector<rollout>& rollouts, std::vector<T> rollout::* column,
                      std::int64_t width) {
  std::vector<at::Tensor> parts;
  for (const auto& r : rollouts) {
    parts.push_back(tensor_over(r.*column, {r.steps, r.environments}, width));
  }
  return joined(parts, 1);
}

template <class>
using column_parts = std::vector<at::Tensor>;

/// Joins all columns of the rollouts along their environments.
void join_columns(const std::vector<rollout>& rollouts, std::int64_t obs_size,
                  rollout_batch& batch) {
  rollout_columns<column_parts> parts;
  for (const auto& r : rollouts) {
    const auto view = [&](column_info column, const auto& numbers, auto& to) {
      const auto width = column.is_obs ? obs_size : 0;
      const auto rows = std::ssize(numbers) / std::max<std::int64_t>(width, 1);
      const bool of_steps = column.along == axis::steps;
      to.push_back(
          tensor_over(numbers, of_steps ? sizes{r.steps, r.environments} : sizes{rows}, width));
    };
    for_each_column(view, r, parts);
  }
  const auto join = [](column_info column, const auto& each, at::Tensor& to) {
    to = joined(each, column.along == axis::steps ? 1 : 0);
    if (to.scalar_type() == at::kByte) to = to.to(at::kBool);
  };
  for_each_column(join, parts, batch);
}

}  // namespace

rollout_batch to_batch(const std::vector<rollout>& rollouts, const network_shape& shape,
                       bool stale) {
  TORCH_CHECK(!rollouts.empty(), "to_batch: expected at least one rollout, got none");
  rollout_batch batch;
  join_columns(rollouts, shape.obs_size, batch);
  if (shape.is_continuous()) {
    batch.continuous = actions_of(rollouts, &rollout::continuous, shape.continuous_size);
  }
  if (shape.choice_count() > 0) {
    const auto width = shape.discrete_actions > 0 ? 0 : shape.choice_count();
    batch.action = actions_of(rollouts, &rollout::discrete, width);
  } else {
    batch.action = std::exchange(batch.continuous, {});
  }
  batch.final_value = at::zeros_like(batch.reward);
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
  const auto oldest = std::ranges::min_element(rollouts, {}, &rollout::version)->version;
  batch.policy_version = static_cast<std::uint64_t>(oldest);
  batch.proximal_correction = stale;
  return batch;
}

}  // namespace troupe
