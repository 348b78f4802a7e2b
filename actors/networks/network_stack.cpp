#include "actors/torch/torch.hpp"

#include "actors/networks/network_stack.hpp"

#include <stdexcept>
#include <string>

#include "actors/networks/mlp_autograd.hpp"

namespace troupe::detail {
namespace {

std::optional<conv_trunk> make_trunk(const network_shape& shape, const network_options& options) {
  if (!has_convolutions(shape, options)) return std::nullopt;
  if (shape.is_continuous()) {
    throw std::invalid_argument("network (" + to_string(shape, options) +
                                "): SAC, TD3 and DDPG have no convolutions here; expected "
                                "policy.kind mlp, or another algorithm");
  }
  return conv_trunk(shape.image, options.cnn);
}

device_link link_of(const network_shape& shape, const network_options& options) {
  device_link link(options.device);
  if (shape.is_continuous() && !link.is_host()) {
    throw std::invalid_argument("policy.device " + options.device +
                                ": SAC, TD3 and DDPG learn on the CPU alone; expected cpu");
  }
  return link;
}

}  // namespace

network_stack::network_stack(const network_shape& shape, const network_options& options,
                             int outputs, activation output_activation)
    : link_(link_of(shape, options)),
      trunk_(make_trunk(shape, options)),
      top_(trunk_ ? trunk_->features() : shape.obs_size,
           trunk_ ? std::vector<int>{} : options.hidden, outputs, options.hidden_activation,
           output_activation) {}

std::size_t network_stack::parameter_count() const {
  return top_.parameter_count() +
         (trunk_ ? static_cast<std::size_t>(trunk_->parameter_count()) : 0);
}

void network_stack::initialise(action_random& random, bool orthogonal, double output_gain,
                               float* parameters) const {
  if (orthogonal) {
    top_.initialise_orthogonal(random, output_gain, parameters);
  } else {
    top_.initialise_uniform(random, parameters);
  }
  if (trunk_) trunk_->initialise(random, orthogonal, parameters + top_.parameter_count());
}

at::Tensor network_stack::forward(const at::Tensor& parameters, const at::Tensor& x) const {
  auto there = link_.to_device(parameters);
  auto seen = link_.to_device(x);
  if (trunk_) {
    const auto split = there.split_with_sizes(
        {static_cast<std::int64_t>(top_.parameter_count()), trunk_->parameter_count()});
    there = split[0];
    seen = trunk_->forward(trunk_->parts(split[1]), seen);
  }
  return link_.to_host(detail::forward(top_, there, seen));
}

void network_stack::infer(const float* parameters, const float* x, int rows, mlp_buffers& buffers,
                          float* y) const {
  if (!trunk_ && link_.is_host()) return top_.infer(parameters, x, rows, buffers, y);
  const at::NoGradGuard no_grad;
  const auto view = [](const float* numbers, at::IntArrayRef sizes) {
    return at::from_blob(const_cast<float*>(numbers), sizes, at::kFloat);
  };
  const auto count = static_cast<std::int64_t>(parameter_count());
  view(y, {rows, outputs()}).copy_(forward(view(parameters, {count}), view(x, {rows, inputs()})));
}

}  // namespace troupe::detail
