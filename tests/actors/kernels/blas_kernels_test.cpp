#include "actors/kernels/blas_kernels.hpp"

#include <string>

#include "actors/torch/torch.hpp"
#include "tests/test.hpp"

extern "C" char* openblas_get_corename() __attribute__((weak));

namespace troupe {
namespace {

TEST_CASE(
    "blas kernels: OpenBLAS doesn't run those of 2004 on a processor with AVX2, and computes as "
    "before") {
  const auto left = at::arange(0, 256 * 64).reshape({256, 64}).remainder(7).to(at::kFloat);
  const auto right = at::arange(0, 64 * 64).reshape({64, 64}).remainder(5).to(at::kFloat);
  const auto before = left.matmul(right);
  use_wide_blas_kernels();
  CHECK(left.matmul(right).equal(before));  // small integers, so every order of summation is exact
#if defined(__x86_64__)
  if (openblas_get_corename && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    CHECK(std::string(openblas_get_corename()) != "Prescott");
  }
#endif
}

}  // namespace
}  // namespace troupe
