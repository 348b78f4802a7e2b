#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/targets.hpp"

#include <algorithm>
#include <limits>

#include "algorithms/losses/gae.hpp"
#include "algorithms/losses/vtrace.hpp"

namespace troupe::detail {
namespace {

rollout_batch contiguous(rollout_batch batch) {
  const auto make = [](column_info, at::Tensor& tensor) {
    if (tensor.defined()) tensor = tensor.contiguous();
  };
  for_each_column(make, batch);
  for (auto* other : {&batch.action, &batch.continuous, &batch.final_index, &batch.acted})
    make({}, *other);
  return batch;
}

/// `valid`, but false for steps of episodes that do not end in this batch.
at::Tensor of_whole_episodes(const rollout_batch& batch) {
  const auto T = batch.steps();
  const auto B = batch.environments();
  auto valid = batch.valid.defined() ? batch.valid.clone() : at::ones({T, B}, at::kBool);
  const bool* terminated = batch.terminated.data_ptr<bool>();
  const bool* truncated = batch.truncated.data_ptr<bool>();
  for (std::int64_t b = 0; b < B; ++b) {
    for (auto t = T - 1; t >= 0; --t) {
      if (terminated[t * B + b] || truncated[t * B + b]) break;
      valid.data_ptr<bool>()[t * B + b] = false;
    }
  }
  return valid;
}

/// The present critic's values of the last observations of truncated episodes, [T, B].
at::Tensor final_values(const rollout_batch& batch, actor_critic& model) {
  const auto T = batch.steps();
  const auto B = batch.environments();
  auto final_value = at::zeros({T, B}, at::kFloat);
  std::vector<bool> given(T * B, false);
  if (batch.final_obs.defined() && batch.final_obs.size(0) > 0) {
    const auto value = model.values(batch.final_obs);
    const auto index = batch.final_index.accessor<std::int64_t, 2>();
    for (std::int64_t f = 0; f < value.size(0); ++f) {
      const auto t = index[f][0];
      const auto b = index[f][1];
      TORCH_CHECK(t >= 0 && t < T && b >= 0 && b < B, "rollout batch: final_index (", t, ", ", b,
                  ") lies outside [", T, ", ", B, "]");
      final_value[t][b] = value[f];
      given[t * B + b] = true;
    }
  }
  const auto* terminated = batch.terminated.data_ptr<bool>();
  const auto* truncated = batch.truncated.data_ptr<bool>();
  const auto* valid = batch.valid.defined() ? batch.valid.data_ptr<bool>() : nullptr;
  for (std::int64_t i = 0; i < T * B; ++i) {
    const bool needed = truncated[i] && !terminated[i] && (!valid || valid[i]);
    TORCH_CHECK(given[i] || !needed, "rollout batch: the episode truncated at (", i / B, ", ",
                i % B, ") has no row in final_obs");
  }
  return final_value;
}

}  // namespace

rollout_batch prepared(rollout_batch batch, const on_policy_options& options) {
  batch = contiguous(std::move(batch));
  if (options.whole_episodes) batch.valid = of_whole_episodes(batch);
  return batch;
}

at::Tensor scaled_rewards(const rollout_batch& batch, reward_scale& scale) {
  auto scaled = batch.reward.clone();
  float* reward = scaled.data_ptr<float>();
  const bool* valid = batch.valid.defined() ? batch.valid.data_ptr<bool>() : nullptr;
  std::vector<float> counted;
  for (std::int64_t i = 0; i < scaled.numel(); ++i) {
    if (!valid || valid[i]) counted.push_back(reward[i]);
  }
  scale.add(0, counted);
  for (std::int64_t i = 0; i < scaled.numel(); ++i) reward[i] = scale.apply(0, reward[i]);
  return scaled;
}

namespace {

/// What returns are computed from, with the values of the present critic if the batch is stale.
gae_inputs return_inputs(const rollout_batch& batch, actor_critic& model, bool stale) {
  gae_inputs in{.reward = batch.reward,
                .value = batch.value,
                .terminated = batch.terminated,
                .truncated = batch.truncated,
                .final_value = batch.final_value,
                .bootstrap_value = batch.bootstrap_value,
                .valid = batch.valid};
  if (stale) {
    in.value = model.values(batch.obs.flatten(0, 1)).view(batch.reward.sizes());
    in.bootstrap_value = model.values(batch.bootstrap_obs);
    in.final_value = final_values(batch, model);
  }
  return in;
}

/// The steps that are transitions.
std::vector<row_index> valid_rows(const rollout_batch& batch) {
  std::vector<row_index> rows;
  const bool* valid = batch.valid.defined() ? batch.valid.data_ptr<bool>() : nullptr;
  for (row_index i = 0; i < static_cast<row_index>(batch.reward.numel()); ++i) {
    if (!valid || valid[i]) rows.push_back(i);
  }
  return rows;
}

}  // namespace

training_targets targets_of(const rollout_batch& batch, actor_critic& model,
                            const on_policy_options& options, bool stale,
                            const value_normalizer& scale) {
  auto in = return_inputs(batch, model, stale);
  if (!options.baseline) {
    in.value = at::zeros_like(batch.reward);
    in.bootstrap_value = at::zeros_like(batch.bootstrap_value);
    in.final_value = at::zeros_like(batch.reward);
  }
  const auto value = in.value.contiguous();
  if (options.normalize_value) {
    for (auto* each : {&in.value, &in.bootstrap_value, &in.final_value}) {
      *each = *each * scale.deviation() + scale.mean();
    }
  }
  auto targets = gae(in, {.gamma = options.gamma, .lambda = options.gae_lambda});
  return {value, targets.advantage, targets.returns, {}};
}

training_targets vtrace_targets_of(graph& g, rollout_batch& batch, actor_critic& model,
                                   const on_policy_options& options, bool stale,
                                   minibatch& buffer) {
  const auto in = return_inputs(batch, model, stale);
  auto ratio = at::ones_like(batch.reward);
  if (stale) {
    auto log_prob = proximal_log_prob_of(g, batch, model, valid_rows(batch), buffer);
    ratio = (log_prob - batch.log_prob).exp();
    batch.log_prob = std::move(log_prob);
  }
  auto targets = vtrace(in, ratio,
                        {.gamma = options.gamma,
                         .lambda = options.gae_lambda,
                         .rho_cap = options.importance_cap,
                         .c_cap = options.trace_cap});
  return {in.value.contiguous(), targets.advantage, targets.returns, {}};
}

at::Tensor proximal_log_prob_of(graph& g, const rollout_batch& batch, const actor_critic& model,
                                std::span<const row_index> usable, minibatch& buffer) {
  constexpr std::size_t block = 256;
  auto log_prob = at::zeros_like(batch.reward);
  auto* to = log_prob.data_ptr<float>();
  for (std::size_t from = 0; from < usable.size(); from += block) {
    const auto rows = usable.subspan(from, std::min(block, usable.size() - from));
    buffer.gather(batch, rows);
    g.clear();
    const auto now =
        evaluate(g, model, trained_parameters(model).frozen(), buffer.obs(), buffer.actions());
    const auto log_probs = g.values(now.log_prob);
    for (std::size_t i = 0; i < rows.size(); ++i) to[rows[i]] = log_probs[i];
  }
  return log_prob;
}

double explained_variance(const training_targets& targets, std::span<const row_index> index,
                          const rank_group& ranks) {
  const float* value = targets.value.data_ptr<float>();
  const float* returns = targets.returns.data_ptr<float>();
  const double count = ranks.sum(static_cast<double>(index.size()));
  const auto variance = [&](auto number) {
    double mean = 0.0, squares = 0.0;
    for (auto i : index) mean += number(i);
    mean = ranks.sum(mean) / count;
    for (auto i : index) squares += (number(i) - mean) * (number(i) - mean);
    return ranks.sum(squares) / count;
  };
  const double total = variance([&](row_index i) -> double { return returns[i]; });
  const double left = variance([&](row_index i) -> double { return returns[i] - value[i]; });
  return total == 0.0 ? std::numeric_limits<double>::quiet_NaN() : 1.0 - left / total;
}

}  // namespace troupe::detail
