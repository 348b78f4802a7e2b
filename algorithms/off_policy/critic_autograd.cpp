#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/critic_autograd.hpp"

#include "actors/networks/mlp_autograd.hpp"
#include "algorithms/off_policy/batch_tensors.hpp"

namespace troupe::detail {

at::Tensor critic_values(const critic_ensemble& critics, const at::Tensor& on_host,
                         const at::Tensor& obs, const at::Tensor& action, int among) {
  const auto& link = critics.link();
  const auto parameters = link.to_device(on_host);
  auto features = link.to_device(obs);
  if (const auto& extractor = critics.extractor()) {
    const auto block = parameters.narrow(0, static_cast<std::int64_t>(critics.extractor_offset()),
                                         extractor->parameter_count());
    features = extractor->forward(extractor->parts(block), features);
  }
  const auto x = at::cat({features, link.to_device(action)}, 1);
  const auto count = static_cast<std::int64_t>(critics.network().parameter_count());
  const auto stride = static_cast<std::int64_t>(critics.stride());
  std::vector<at::Tensor> values;
  for (int i = 0; i < among; ++i) {
    values.push_back(forward(critics.network(), parameters.narrow(0, i * stride, count), x));
  }
  return link.to_host(at::cat(values, 1));
}

critic_autograd_result fit_by_autograd(const critic_ensemble& critics, const at::Tensor& parameters,
                                       const transition_batch& batch, const at::Tensor& y,
                                       double scale) {
  const auto type = parameters.scalar_type();
  const std::int64_t rows = batch.rows;
  const auto obs = tensor_of(batch.obs, {rows, -1}, type);
  const auto action = tensor_of(batch.action, {rows, -1}, type);
  const at::AutoGradMode with_grad(true);
  const auto leaf = parameters.detach().requires_grad_();
  const auto q = critic_values(critics, leaf, obs, action, critics.count());
  const auto error = q - y.detach().unsqueeze(1);
  auto squares = error.square();
  if (!batch.weight.empty()) {
    squares = squares * tensor_of(batch.weight, {rows, 1}, type);
  }
  const auto loss = scale * squares.mean(0).sum();
  return {{loss.item<double>(), q.detach().select(1, 0).mean().item<double>()},
          torch::autograd::grad({loss}, {leaf})[0],
          error.detach().abs().mean(1)};
}

}  // namespace troupe::detail
