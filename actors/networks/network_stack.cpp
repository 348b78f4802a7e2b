#include "actors/torch/torch.hpp"

#include "actors/networks/network_stack.hpp"

#include <stdexcept>
#include <string>

#include "actors/networks/mlp_autograd.hpp"

namespace troupe::detail {
namespace {

at::Tensor tensor_over(const float* numbers, at::IntArrayRef sizes) {
  return at::from_blob(const_cast<float*>(numbers), sizes, at::kFloat);
}

}  // namespace

network_stack::network_stack(const network_shape& shape, const network_options& options,
                             int outputs, activation output_activation)
    : extractor_(make_extractor(shape, options)),
      top_(make_mlp(options, extractor_ ? extractor_->features() : shape.actor_inputs(),
                    hidden_after_body(shape, options, options.hidden), outputs, output_activation)),
      link_(options.device, 2 * sizeof(float) * parameter_count()) {
  if (has_convolutions() && options.use_sde) {
    throw std::invalid_argument("network (" + to_string(shape, options) +
                                "): use_sde of true, expected false where observations have "
                                "images");
  }
}

std::size_t network_stack::parameter_count() const {
  return top_.parameter_count() +
         (extractor_ ? static_cast<std::size_t>(extractor_->parameter_count()) : 0);
}

void network_stack::initialise(action_random& random, bool orthogonal, double output_gain,
                               float* parameters) const {
  if (orthogonal) {
    top_.initialise_orthogonal(random, output_gain, parameters);
  } else {
    top_.initialise_uniform(random, parameters);
  }
  if (extractor_) extractor_->initialise(random, orthogonal, parameters + top_.parameter_count());
}

at::Tensor network_stack::forward(const at::Tensor& parameters, const at::Tensor& x) const {
  auto there = link_.to_device(parameters);
  auto seen = link_.to_device(x);
  if (extractor_) {
    const auto split = there.split_with_sizes(
        {static_cast<std::int64_t>(top_.parameter_count()), extractor_->parameter_count()});
    there = split[0];
    seen = extractor_->forward(extractor_->parts(split[1]), seen);
  }
  return link_.to_host(detail::forward(top_, there, seen));
}

const float* network_stack::features_of(const float* parameters, const float* x, int rows,
                                        stack_buffers& buffers) const {
  if (!extractor_) return x;
  return extractor_->infer(parameters + top_.parameter_count(), x, rows, buffers.extractor);
}

void network_stack::infer(const float* parameters, const float* x, int rows, stack_buffers& buffers,
                          float* y, const at::Tensor& there) const {
  if (!has_convolutions() && link_.is_host()) {
    const float* seen = features_of(parameters, x, rows, buffers);
    return top_.infer(parameters, seen, rows, buffers.top, y);
  }
  const at::NoGradGuard no_grad;
  const auto count = static_cast<std::int64_t>(parameter_count());
  tensor_over(y, {rows, outputs()})
      .copy_(forward(there.defined() ? there : tensor_over(parameters, {count}),
                     tensor_over(x, {rows, inputs()})));
}

at::Tensor network_stack::device_copy(const float* parameters) const {
  if (link_.is_host()) return {};
  const at::NoGradGuard no_grad;
  return link_.to_device(tensor_over(parameters, {static_cast<std::int64_t>(parameter_count())}));
}

}  // namespace troupe::detail
