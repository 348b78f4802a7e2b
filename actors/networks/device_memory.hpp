#pragma once
// The memory of NVIDIA's GPUs, as the driver counts it.

#include <cstddef>
#include <optional>
#include <string>

namespace troupe::detail {

/// The memory of a GPU, which all processes on the machine share.
struct device_memory {
  std::size_t free = 0;   ///< bytes
  std::size_t total = 0;  ///< bytes
};

/// Returns the memory of the GPU of this index, as CUDA numbers them in this process. Returns none
/// if there is no such GPU, or the driver does not tell. It does not begin to use the GPU.
std::optional<device_memory> memory_of_device(int index);

/// Returns N of "cuda:N", and 0 of "cuda".
int index_of_device(const std::string& name);

/// Returns "" if the GPU has `bytes` free, and else a text that says what is needed and what is
/// free. A process that has not used the GPU before needs cuda_overhead() more. A GPU whose memory
/// is not told has enough.
std::string lack_of_device_memory(int index, std::size_t bytes);

/// What lack_of_device_memory says of a GPU with this memory.
std::string lack_of_device_memory(const device_memory& memory, std::size_t bytes, bool first_use);

/// The bytes that CUDA and its libraries take for themselves in a process, about: 600 MiB, and
/// 110 MiB for each core that this process may use, as each thread that computes has handles
/// and work space of cuBLAS and cuDNN. On an H200 with 16 threads runs took up to 2,275 MiB.
std::size_t cuda_overhead();

}  // namespace troupe::detail
