#include "actors/torch/torch.hpp"

#include "actors/torch/torch_seed.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

namespace troupe {

void seed_torch(std::uint64_t seed, bool on_gpu) {
  // at::manual_seed would also begin to use the GPUs of a process that uses none.
  if (on_gpu) return at::manual_seed(seed);
  auto generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

}  // namespace troupe
