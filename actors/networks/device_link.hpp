#pragma once
// The copies between host and device. All code that is specific to a device is here; other code
// calls to_device and to_host, on the CPU too.

#include <cstddef>
#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

namespace troupe::detail {

/// Copies tensors between the host and the device that computes a network. Parameters, batches,
/// actions and optimisers are in the host's memory.
class device_link {
 public:
  /// The memory that a copy to or from the device goes through.
  enum class staging {
    none,      ///< nothing: a tensor that is there already is returned itself
    pageable,  ///< a block of ordinary memory, for tests of this class
    pinned,    ///< a page-locked block of libtorch's cache, which a GPU can read and write
  };

  /// Takes "cpu", "cuda" or "cuda:N", and how many bytes of a GPU's memory its user needs there.
  /// Throws std::invalid_argument, which says what was found, if this machine has no such device,
  /// or if the device has less memory left.
  explicit device_link(const std::string& device, std::size_t bytes = 0);
  device_link(at::Device device, staging through);

  /// Returns whether the device is the CPU. Then to_device and to_host return their argument.
  bool is_host() const { return device_.is_cpu() && through_ == staging::none; }
  /// Returns zeros [size] on the host that the device can copy without a detour, for blocks that
  /// live as long as a network. Who writes to such a block waits for what was computed with it
  /// before: to_host does.
  at::Tensor host_zeros(std::int64_t size) const;
  /// Returns a host tensor as a tensor on the device. A tensor that is on a GPU already is returned
  /// itself. Autograd works through the copy: the gradient comes back to the host.
  at::Tensor to_device(const at::Tensor& host) const;
  /// Returns a device tensor as a tensor on the host, after the copy has finished. Autograd works
  /// through the copy.
  at::Tensor to_host(const at::Tensor& there) const;

 private:
  at::Device device_;
  staging through_;
};

}  // namespace troupe::detail
