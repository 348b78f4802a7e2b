#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/training_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::detail {
namespace {

template <class T>
void gather_rows(const at::Tensor& from, std::size_t width, std::span<const row_index> index,
                 std::vector<T>& to) {
  if (to.size() < index.size() * width) to.resize(index.size() * width);
  const T* source = from.data_ptr<T>();
  T* target = to.data();
  for (auto row : index) {
    const T* begin = source + row * width;
    for (std::size_t i = 0; i < width; ++i) target[i] = begin[i];
    target += width;
  }
}

bool all_finite(const float* x, std::size_t count) {
  return std::all_of(x, x + count, [](float value) { return std::isfinite(value); });
}

/// The floats of the actions; the batch must have such.
const at::Tensor& floats_of(const rollout_batch& batch) {
  return batch.continuous.defined() ? batch.continuous : batch.action;
}

void check_choices(const std::int64_t* chosen, const std::vector<int>& choices) {
  for (int count : choices) {
    TORCH_CHECK(*chosen >= 0 && *chosen < count, "rollout batch: action ", *chosen,
                " is no choice, expected 0 to ", count - 1);
    ++chosen;
  }
}

}  // namespace

minibatch::minibatch(const network_shape& shape)
    : obs_size_(shape.obs_size), choices_(shape.choice_count()), floats_(shape.continuous_size) {}

void minibatch::gather(const rollout_batch& batch, std::span<const row_index> index) {
  rows_ = static_cast<int>(index.size());
  gather_rows(batch.obs, obs_size_, index, obs_);
  if (choices_ > 0) gather_rows(batch.action, choices_, index, action_choice_);
  if (floats_ > 0) gather_rows(floats_of(batch), floats_, index, action_value_);
}

void minibatch::gather(const rollout_batch& batch, const training_targets& targets,
                       std::span<const row_index> index) {
  gather(batch, index);
  gather_rows(batch.log_prob, 1, index, behaviour_log_prob_);
  gather_rows(targets.value, 1, index, old_value_);
  gather_rows(targets.advantage, 1, index, advantage_);
  gather_rows(targets.returns, 1, index, returns_);
  acted_.clear();
  all_acted_ = !batch.acted.defined();
  if (!all_acted_) {
    const bool* acted = batch.acted.data_ptr<bool>();
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (acted[index[i]]) acted_.push_back(static_cast<std::int64_t>(i));
    }
  }
  stale_ = targets.proximal_log_prob.defined();
  if (stale_) gather_rows(targets.proximal_log_prob, 1, index, proximal_log_prob_);
}

action_rows minibatch::actions() const {
  return {.choice = action_choice_.data(), .value = action_value_.data()};
}

std::optional<std::span<const std::int64_t>> minibatch::acted() const {
  if (all_acted_) return {};
  return acted_;
}

ppo_loss_inputs minibatch::loss_inputs(const action_evaluation& evaluation) const {
  const auto constant = [&](const std::vector<float>& numbers) {
    return evaluation.value.owner().constant(std::span(numbers).first(count()));
  };
  const auto behaviour = constant(behaviour_log_prob_);
  return {.log_prob = evaluation.log_prob,
          .entropy = evaluation.entropy,
          .value = evaluation.value,
          .behaviour_log_prob = behaviour,
          .proximal_log_prob = stale_ ? constant(proximal_log_prob_) : behaviour,
          .advantage = constant(advantage_),
          .returns = constant(returns_),
          .old_value = constant(old_value_),
          .acted = acted()};
}

std::vector<row_index> acted_rows(const rollout_batch& batch, std::span<const row_index> index) {
  std::vector<row_index> rows(index.begin(), index.end());
  if (!batch.acted.defined()) return rows;
  const bool* acted = batch.acted.data_ptr<bool>();
  std::erase_if(rows, [acted](row_index row) { return !acted[row]; });
  return rows;
}

std::vector<row_index> usable_rows(const rollout_batch& batch, const training_targets& targets,
                                   const network_shape& shape) {
  const auto T = batch.steps();
  const auto B = batch.environments();
  TORCH_CHECK(T * B <= std::numeric_limits<row_index>::max(), "rollout batch of ", T * B,
              " steps, expected fewer than 2^32");
  const bool* valid = batch.valid.defined() ? batch.valid.data_ptr<bool>() : nullptr;
  const float* obs = batch.obs.data_ptr<float>();
  const float* log_prob = batch.log_prob.data_ptr<float>();
  const float* advantage = targets.advantage.data_ptr<float>();
  const float* returns = targets.returns.data_ptr<float>();
  const std::size_t D = shape.obs_size;
  const std::size_t A = shape.continuous_size;
  const std::size_t P = shape.choice_count();
  const auto choices = shape.choices();

  std::vector<row_index> usable;
  usable.reserve(T * B);
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t t = 0; t < T; ++t) {
      const auto i = static_cast<std::size_t>(t * B + b);
      if (valid && !valid[i]) continue;
      if (!std::isfinite(log_prob[i]) || !std::isfinite(advantage[i]) ||
          !std::isfinite(returns[i]) || !all_finite(obs + i * D, D)) {
        continue;
      }
      if (A > 0 && !all_finite(floats_of(batch).data_ptr<float>() + i * A, A)) continue;
      if (P > 0) check_choices(batch.action.data_ptr<std::int64_t>() + i * P, choices);
      usable.push_back(static_cast<row_index>(i));
    }
  }
  return usable;
}

}  // namespace troupe::detail
