#include "actors/torch.hpp"

#include "actors/torch_threads.hpp"

extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace troupe {

void use_one_torch_thread() {
  at::set_num_threads(1);
  if (openblas_set_num_threads) openblas_set_num_threads(1);
}

}  // namespace troupe
