#include "actors/torch/torch.hpp"

#include <ATen/Parallel.h>

#include "actors/torch/torch_threads.hpp"

#include "actors/kernels/blas_kernels.hpp"
#include "runtime/base/freed_memory.hpp"

extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace troupe {

void use_one_torch_thread() {
  at::set_num_threads(1);
  use_wide_blas_kernels();
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  detail::keep_freed_memory();
}

}  // namespace troupe
