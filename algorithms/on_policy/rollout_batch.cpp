#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/rollout_batch.hpp"

namespace troupe {
namespace {

void expect(const char* name, const at::Tensor& tensor, at::ScalarType type,
            at::IntArrayRef sizes) {
  TORCH_CHECK(tensor.defined(), "rollout batch: ", name, " is missing, expected ", type, " ",
              sizes);
  TORCH_CHECK(tensor.sizes() == sizes && tensor.scalar_type() == type && tensor.is_cpu(),
              "rollout batch: ", name, " must be ", type, " ", sizes, ", got ",
              tensor.scalar_type(), " ", tensor.sizes());
}

}  // namespace

rollout_batch of_environments(const rollout_batch& batch, std::int64_t first, std::int64_t count) {
  TORCH_CHECK(first >= 0 && count > 0 && first + count <= batch.environments(),
              "rollout batch: environments ", first, " to ", first + count - 1, " of ",
              batch.environments());
  rollout_batch part;
  at::Tensor cuts_here;
  if (batch.final_obs.defined() && batch.final_obs.size(0) > 0) {
    const auto b = batch.final_index.select(1, 1);
    cuts_here = at::nonzero((b >= first).logical_and(b < first + count)).flatten();
    part.final_index =
        batch.final_index.index_select(0, cuts_here) - at::tensor({std::int64_t{0}, first});
  }
  const auto take = [&](column_info column, const at::Tensor& from, at::Tensor& to) {
    if (!from.defined()) return;
    if (column.along != axis::cuts) {
      to = from.narrow(column.along == axis::steps ? 1 : 0, first, count);
    } else if (cuts_here.defined()) {
      to = from.index_select(0, cuts_here);
    }
  };
  for_each_column(take, batch, part);
  part.action = batch.action.narrow(1, first, count);
  if (batch.continuous.defined()) part.continuous = batch.continuous.narrow(1, first, count);
  if (batch.acted.defined()) part.acted = batch.acted.narrow(1, first, count);
  part.final_value = batch.final_value.narrow(1, first, count);
  part.policy_version = batch.policy_version;
  part.proximal_correction = batch.proximal_correction;
  return part;
}

rollout_batch shard_of(const rollout_batch& whole, std::size_t rank, std::size_t world) {
  const auto environments = static_cast<std::size_t>(whole.environments());
  const auto first = environments * rank / world;
  const auto end = environments * (rank + 1) / world;
  return of_environments(whole, static_cast<std::int64_t>(first),
                         static_cast<std::int64_t>(end - first));
}

void check(const rollout_batch& batch, const network_shape& shape, bool with_observations) {
  TORCH_CHECK(
      batch.obs.defined() && batch.obs.dim() == 3 && batch.obs.size(0) > 0 && batch.obs.size(1) > 0,
      "rollout batch: obs must be [T, B, D]");
  const auto T = batch.steps();
  const auto B = batch.environments();
  const std::int64_t D = shape.obs_size;
  const std::int64_t A = shape.continuous_size;
  const std::int64_t P = shape.choice_count();
  const auto F = batch.final_obs.defined() ? batch.final_obs.size(0) : 0;
  const auto expect_column = [&](column_info column, const at::Tensor& tensor) {
    if (column.optional && !tensor.defined()) return;
    if (column.is_obs && column.along != axis::steps && !with_observations) return;
    if (column.along == axis::cuts && F == 0) return;
    std::vector<std::int64_t> sizes{F};
    if (column.along == axis::steps) sizes = {T, B};
    if (column.along == axis::environments) sizes = {B};
    if (column.is_obs) sizes.push_back(D);
    expect(column.name, tensor, column.is_flag ? at::kBool : at::kFloat, sizes);
  };
  for_each_column(expect_column, batch);
  if (shape.discrete_actions > 0) {
    expect("action", batch.action, at::kLong, {T, B});
  } else if (P > 0) {
    expect("action", batch.action, at::kLong, {T, B, P});
    if (A > 0) expect("continuous", batch.continuous, at::kFloat, {T, B, A});
  } else {
    expect("action", batch.action, at::kFloat, {T, B, A});
  }
  if (batch.acted.defined()) expect("acted", batch.acted, at::kBool, {T, B});
  expect("final_value", batch.final_value, at::kFloat, {T, B});
  if (with_observations && F > 0) expect("final_index", batch.final_index, at::kLong, {F, 2});
}

}  // namespace troupe
