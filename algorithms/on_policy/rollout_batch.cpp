#include "actors/torch.hpp"

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
  const auto of = [&](const at::Tensor& tensor, std::int64_t dimension) {
    return tensor.defined() ? tensor.narrow(dimension, first, count) : at::Tensor();
  };
  rollout_batch part{.obs = of(batch.obs, 1),
                     .action = of(batch.action, 1),
                     .log_prob = of(batch.log_prob, 1),
                     .value = of(batch.value, 1),
                     .reward = of(batch.reward, 1),
                     .terminated = of(batch.terminated, 1),
                     .truncated = of(batch.truncated, 1),
                     .final_value = of(batch.final_value, 1),
                     .bootstrap_value = of(batch.bootstrap_value, 0),
                     .valid = of(batch.valid, 1),
                     .policy_version = batch.policy_version,
                     .proximal_correction = batch.proximal_correction,
                     .final_obs = {},
                     .final_index = {},
                     .bootstrap_obs = of(batch.bootstrap_obs, 0)};
  if (batch.final_obs.defined() && batch.final_obs.size(0) > 0) {
    const auto b = batch.final_index.select(1, 1);
    const auto here = (b >= first).logical_and(b < first + count).nonzero().flatten();
    part.final_obs = batch.final_obs.index_select(0, here);
    part.final_index =
        batch.final_index.index_select(0, here) - at::tensor({std::int64_t{0}, first});
  }
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
  const std::int64_t A = shape.action_size();
  expect("obs", batch.obs, at::kFloat, {T, B, D});
  if (shape.discrete_actions > 0) {
    expect("action", batch.action, at::kLong, {T, B});
  } else {
    expect("action", batch.action, shape.is_continuous() ? at::kFloat : at::kLong, {T, B, A});
  }
  expect("log_prob", batch.log_prob, at::kFloat, {T, B});
  expect("value", batch.value, at::kFloat, {T, B});
  expect("reward", batch.reward, at::kFloat, {T, B});
  expect("terminated", batch.terminated, at::kBool, {T, B});
  expect("truncated", batch.truncated, at::kBool, {T, B});
  expect("final_value", batch.final_value, at::kFloat, {T, B});
  expect("bootstrap_value", batch.bootstrap_value, at::kFloat, {B});
  if (batch.valid.defined()) expect("valid", batch.valid, at::kBool, {T, B});
  if (!with_observations) return;
  expect("bootstrap_obs", batch.bootstrap_obs, at::kFloat, {B, D});
  const auto F = batch.final_obs.defined() ? batch.final_obs.size(0) : 0;
  if (F == 0) return;
  expect("final_obs", batch.final_obs, at::kFloat, {F, D});
  expect("final_index", batch.final_index, at::kLong, {F, 2});
}

}  // namespace troupe
