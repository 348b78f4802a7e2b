#pragma once

namespace troupe {

/// OpenBLAS runs its kernels of 2004 ("Prescott", SSE3) on a processor younger than itself: matrix
/// products were measured ten times slower with OpenBLAS 0.3.21 on a Xeon of 2023. Where it fell to
/// those, and OPENBLAS_CORETYPE isn't set, this makes it take the widest kernels that the processor
/// runs. Before the first tensor operation and on one thread; does nothing with another BLAS.
void use_wide_blas_kernels();

}  // namespace troupe
