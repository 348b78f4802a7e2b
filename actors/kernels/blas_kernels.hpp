#pragma once
// A correction of OpenBLAS's choice of kernels.

namespace troupe {

/// Makes OpenBLAS use the widest kernels that the processor can run. OpenBLAS uses its kernels of
/// 2004 ("Prescott", SSE3) on processors that are newer than itself: with OpenBLAS 0.3.21 on a Xeon
/// of 2023, matrix products were measured ten times slower. The function changes the choice only if
/// OpenBLAS chose these kernels and OPENBLAS_CORETYPE isn't set. It must be called before the first
/// tensor operation, on one thread. It does nothing with another BLAS.
void use_wide_blas_kernels();

}  // namespace troupe
