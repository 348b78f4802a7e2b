#include "actors/kernels/blas_kernels.hpp"

#include <cstdlib>
#include <cstring>

extern "C" {
char* openblas_get_corename() __attribute__((weak));
void gotoblas_dynamic_quit() __attribute__((weak));
void gotoblas_dynamic_init() __attribute__((weak));
}

namespace troupe {

namespace {

/// Returns OpenBLAS's name of the widest kernels that this processor can run; null if its own
/// choice can't be improved.
const char* widest_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16")) return "Cooperlake";
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

}  // namespace

void use_wide_blas_kernels() {
  constexpr const char* variable = "OPENBLAS_CORETYPE";
  if (!openblas_get_corename || !gotoblas_dynamic_quit || !gotoblas_dynamic_init) return;
  if (std::strcmp(openblas_get_corename(), "Prescott") != 0 || std::getenv(variable)) return;
  const char* kernels = widest_kernels();
  if (!kernels) return;
  setenv(variable, kernels, 1);  // OpenBLAS reads this variable when it chooses again.
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

}  // namespace troupe
