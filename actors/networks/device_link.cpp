#include "actors/torch/torch.hpp"

#include <torch/cuda.h>

#include "actors/networks/device_link.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "actors/networks/device_memory.hpp"
#include "actors/networks/network.hpp"

namespace troupe::detail {
namespace {

using staging = device_link::staging;

at::Device checked(const std::string& name, std::size_t bytes) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("policy.device {}: {}", name, why));
  };
  if (!is_device_name(name)) refuse("expected cpu, cuda or cuda:N");
  const at::Device device(name);
  if (device.is_cpu()) return device;
  // at::hasCUDA is false with a libtorch that has CUDA, too, where there is no GPU.
  if (!at::globalContext().hasCUDART()) {
    refuse("this libtorch was built without CUDA; expected cpu");
  }
  const int count = static_cast<int>(torch::cuda::device_count());
  if (count == 0) refuse("no GPU was found, or no driver that this libtorch can use; expected cpu");
  if (device.index() >= count) {
    refuse(fmt::format("expected an index below {}, for so many GPUs were found", count));
  }
  const int index = device.has_index() ? device.index() : 0;
  if (const auto lack = lack_of_device_memory(index, bytes); !lack.empty()) refuse(lack);
  // A GPU computes with float32 as the CPU does, and the same way each time. By default libtorch
  // rounds the factors of convolutions to 10 bits, and cuDNN may add in any order.
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
  return {device.type(), static_cast<c10::DeviceIndex>(index)};
}

// Copies `x` to host memory that a GPU can access directly. The cache of pinned blocks does not
// reuse a block before its copy has finished.
at::Tensor staged(const at::Tensor& x, staging through) {
  if (through == staging::pinned && x.is_cpu() && x.is_pinned()) return x;
  auto block =
      at::empty(x.sizes(), x.options().device(at::kCPU).pinned_memory(through == staging::pinned));
  block.copy_(x);
  return block;
}

at::Tensor moved(const at::Tensor& x, at::Device to, staging through) {
  if (to.is_cpu()) return staged(x.contiguous(), through);  // waits until the copy has finished
  return staged(x.contiguous(), through).to(to, /*non_blocking=*/true);
}

// The copy as an autograd function, whose backward copies the gradient back.
struct staged_copy : torch::autograd::Function<staged_copy> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            at::Device to, staging through) {
    context->saved_data["from"] = x.device();
    context->saved_data["through"] = static_cast<std::int64_t>(through);
    return moved(x, to, through);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradient) {
    const auto from = context->saved_data["from"].toDevice();
    const auto through = static_cast<staging>(context->saved_data["through"].toInt());
    return {moved(gradient[0], from, through), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

device_link::device_link(const std::string& device, std::size_t bytes)
    : device_link(checked(device, bytes), device == "cpu" ? staging::none : staging::pinned) {}

device_link::device_link(at::Device device, staging through) : device_(device), through_(through) {}

at::Tensor device_link::host_zeros(std::int64_t size) const {
  return at::zeros({size}, at::TensorOptions(at::kFloat).pinned_memory(!device_.is_cpu()));
}

at::Tensor device_link::to_device(const at::Tensor& host) const {
  if (is_host() || !host.is_cpu()) return host;
  return staged_copy::apply(host, device_, through_);
}

at::Tensor device_link::to_host(const at::Tensor& there) const {
  return is_host() ? there : staged_copy::apply(there, at::Device(at::kCPU), through_);
}

}  // namespace troupe::detail
