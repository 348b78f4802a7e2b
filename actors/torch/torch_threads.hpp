#pragma once
// The number of threads of libtorch.

namespace troupe {

/// Sets libtorch and OpenBLAS to one thread each, with kernels that fit the processor
/// (blas_kernels.hpp). It must be called before the first tensor operation. Actors provide the
/// parallelism: with libtorch's own pool under them, training was measured nine times slower, and
/// OpenBLAS keeps one more pool. Freed memory stays in the process (freed_memory.hpp), because
/// operators on images allocate and free megabytes for each minibatch.
void use_one_torch_thread();

}  // namespace troupe
