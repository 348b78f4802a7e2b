#pragma once
// All that a device needs of its own: everything else says to_device and to_host, on the CPU too.

#include <string>

#include <ATen/core/Tensor.h>

namespace troupe::detail {

/// The way between the host's memory, where parameters, batches, actions and optimisers are, and
/// the device on which a network is worked out.
class device_link {
 public:
  /// What a copy to the device, or from it, goes through.
  enum class staging {
    none,      ///< nothing: the tensor itself where it is there already
    pageable,  ///< a block of ordinary memory: for tests of this class
    pinned,    ///< a page-locked block of libtorch's cache, from which a GPU copies by itself
  };

  /// "cpu", "cuda" or "cuda:N". Throws std::invalid_argument if there is no such device here,
  /// saying what was found.
  explicit device_link(const std::string& device);
  device_link(at::Device device, staging through);

  /// Whether the device is the CPU: then both ways give what they are given.
  bool is_host() const { return device_.is_cpu() && through_ == staging::none; }
  /// A tensor of the host on the device. Autograd follows: its gradient comes back to the host.
  at::Tensor to_device(const at::Tensor& host) const;
  /// A tensor of the device on the host, once it is there. Autograd follows.
  at::Tensor to_host(const at::Tensor& there) const;

 private:
  at::Device device_;
  staging through_;
};

}  // namespace troupe::detail
