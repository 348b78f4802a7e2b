#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/rollout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "actors/networks/joint_shape.hpp"

namespace troupe {

namespace {

/// Throws std::invalid_argument that names a column if its size does not fit T steps of C columns
/// of a policy of that shape.
void check_columns(const policy_rollout& r, const network_shape& shape) {
  const auto expect = [](const char* name, std::size_t got, std::int64_t expected) {
    if (std::cmp_equal(got, expected)) return;
    throw std::invalid_argument(
        fmt::format("rollout: {}: expected {} numbers, got {}", name, expected, got));
  };
  const auto T = r.steps, C = r.columns, F = std::ssize(r.cuts);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (T < 1 || C < 1 || T > most / C) {
    throw std::invalid_argument(
        fmt::format("rollout: expected steps of environments, got {} of {}", T, C));
  }
  const auto of_column = [&](column_info column, const auto& numbers) {
    const auto rows = column.along == axis::steps ? T * C : column.along == axis::cuts ? F : C;
    expect(column.name, numbers.size(), rows * (column.is_obs ? shape.obs_size : 1));
  };
  for_each_column(of_column, r);
  expect("discrete", r.discrete.size(), T * C * shape.choice_count());
  expect("continuous", r.continuous.size(), T * C * shape.continuous_size);
  expect("final_value", r.final_value.size(), F);
  if (!r.after_end.empty()) expect("after_end", r.after_end.size(), T * C);
  for (const auto& [t, index] : r.cuts) {
    if (t >= 0 && t < T && index >= 0 && index < C) continue;
    throw std::invalid_argument(
        fmt::format("rollout: cuts: expected steps of its own, got step {} of {}", t, index));
  }
  const auto& when = r.acting;
  if (when.step.empty()) return;
  const auto choices = shape.choice_count();
  expect("acting.step", when.step.size(), T * C);
  expect("acting.final_step", when.final_step.size(), F);
  expect("acting.final_choice", when.final_choice.size(), F * choices);
  expect("acting.final_acts", when.final_acts.size(), F);
  expect("acting.bootstrap_choice", when.bootstrap_choice.size(), C * choices);
  const auto expect_steps = [&](const char* name, const auto& steps, std::int64_t first,
                                std::int64_t last) {
    for (const auto t : steps) {
      if (t >= first && t <= last) continue;
      throw std::invalid_argument(
          fmt::format("rollout: {}: expected {} to {}, got {}", name, first, last, t));
    }
  };
  expect_steps("acting.step", when.step, -1, T - 1);
  expect_steps("acting.final_step", when.final_step, 0, T);
}

}  // namespace

void check(const rollout& r, const network_shape& shape) {
  const agent_rows rows(shape);
  if (r.policies.size() != rows.policies()) {
    throw std::invalid_argument(fmt::format("rollout: expected those of {} policies, got {}",
                                            rows.policies(), r.policies.size()));
  }
  for (std::size_t i = 0; i < r.policies.size(); ++i) {
    const auto& one = r.policies[i];
    const auto members = std::ssize(rows.agents_of(i));
    try {
      if (one.steps != r.steps || one.columns != r.environments * members) {
        throw std::invalid_argument(
            fmt::format("rollout: expected {} steps of {} columns, got {} of {}", r.steps,
                        r.environments * members, one.steps, one.columns));
      }
      check_columns(one, rows.shape_of_policy(i));
    } catch (const std::invalid_argument& error) {
      if (shape.policies.empty()) throw;
      throw std::invalid_argument("policy \"" + shape.policies[i].name + "\": " + error.what());
    }
  }
}

namespace {

using sizes = std::vector<std::int64_t>;
using parts = std::vector<const policy_rollout*>;

/// A tensor over the memory of `numbers`.
template <class T>
at::Tensor tensor_over(const std::vector<T>& numbers, sizes shape, std::int64_t width) {
  if (width > 0) shape.push_back(width);
  return at::from_blob(const_cast<T*>(numbers.data()), shape, c10::CppTypeToScalarType<T>::value);
}

at::Tensor joined(const std::vector<at::Tensor>& parts, std::int64_t dimension) {
  return parts.size() == 1 ? parts[0].clone() : at::cat(parts, dimension);
}

/// One column of the actions of all rollouts, [T, sum of C, ...].
template <class T>
at::Tensor actions_of(const parts& rollouts, std::vector<T> policy_rollout::* column,
                      std::int64_t width) {
  std::vector<at::Tensor> each;
  for (const auto* r : rollouts) {
    each.push_back(tensor_over(r->*column, {r->steps, r->columns}, width));
  }
  return joined(each, 1);
}

template <class>
using column_parts = std::vector<at::Tensor>;

/// Joins all columns of the rollouts.
void join_columns(const parts& rollouts, std::int64_t obs_size, rollout_batch& batch) {
  rollout_columns<column_parts> each;
  for (const auto* r : rollouts) {
    const auto view = [&](column_info column, const auto& numbers, auto& to) {
      const auto width = column.is_obs ? obs_size : 0;
      const auto rows = std::ssize(numbers) / std::max<std::int64_t>(width, 1);
      const bool of_steps = column.along == axis::steps;
      to.push_back(
          tensor_over(numbers, of_steps ? sizes{r->steps, r->columns} : sizes{rows}, width));
    };
    for_each_column(view, *r, each);
  }
  const auto join = [](column_info column, const auto& one, at::Tensor& to) {
    to = joined(one, column.along == axis::steps ? 1 : 0);
    if (to.scalar_type() == at::kByte) to = to.to(at::kBool);
  };
  for_each_column(join, each, batch);
}

/// Returns in which rows an agent acted, bool [T, sum of C]; undefined if it did in all of them.
at::Tensor acted_rows_of(const parts& rollouts) {
  if (std::ranges::all_of(rollouts, [](const auto* r) { return r->after_end.empty(); })) return {};
  std::vector<at::Tensor> each;
  for (const auto* r : rollouts) {
    each.push_back(r->after_end.empty()
                       ? at::ones({r->steps, r->columns}, at::kBool)
                       : tensor_over(r->after_end, {r->steps, r->columns}, 0).eq(0));
  }
  return joined(each, 1);
}

}  // namespace

rollout_batch to_batch(const training_rollouts& given, const network_shape& shape,
                       std::size_t policy) {
  TORCH_CHECK(!given.rollouts.empty(), "to_batch: expected at least one rollout, got none");
  parts rollouts;
  for (const auto& r : given.rollouts) rollouts.push_back(&r.policies.at(policy));
  rollout_batch batch;
  join_columns(rollouts, shape.obs_size, batch);
  if (shape.is_continuous()) {
    batch.continuous = actions_of(rollouts, &policy_rollout::continuous, shape.continuous_size);
  }
  if (shape.choice_count() > 0) {
    const auto width = shape.discrete_actions > 0 ? 0 : shape.choice_count();
    batch.action = actions_of(rollouts, &policy_rollout::discrete, width);
  } else {
    batch.action = std::exchange(batch.continuous, {});
  }
  batch.final_value = at::zeros_like(batch.reward);
  std::vector<std::int64_t> places;
  std::int64_t first = 0;
  auto final_value = batch.final_value.accessor<float, 2>();
  for (const auto* r : rollouts) {
    for (std::size_t i = 0; i < r->cuts.size(); ++i) {
      const auto& [t, index] = r->cuts[i];
      final_value[t][first + index] = r->final_value[i];
      places.insert(places.end(), {t, first + index});
    }
    first += r->columns;
  }
  batch.final_index = at::tensor(places, at::kLong).reshape({-1, 2});
  batch.acted = acted_rows_of(rollouts);
  const auto oldest = std::ranges::min_element(given.rollouts, {}, &rollout::version)->version;
  batch.policy_version = static_cast<std::uint64_t>(oldest);
  batch.proximal_correction = given.stale;
  if (!given.obs_statistics.empty()) batch.obs_statistics = given.obs_statistics.at(policy);
  return batch;
}

}  // namespace troupe
