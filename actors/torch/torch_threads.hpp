#pragma once

namespace troupe {

/// Actors are the threads here: libtorch's own pool under them was measured nine times slower, and
/// OpenBLAS keeps one more. Sets both to one thread, with kernels that fit the processor
/// (blas_kernels.hpp); before the first tensor operation.
void use_one_torch_thread();

}  // namespace troupe
