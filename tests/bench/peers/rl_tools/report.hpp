// The end of RL-tools' programs for `./dev bench peers`: trains once, evaluates over 100
// deterministic episodes, and prints one JSON object. Included after RL-tools' operations, which
// its template names.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "begin.hpp"

extern "C" char* openblas_get_corename();

namespace peer {

/// Products of matrices so far; the linker's --wrap puts the counter below before OpenBLAS.
inline unsigned long long products = 0;

/// CPU seconds of this process, all its threads, user and system.
inline double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Runs a training loop to its end; `steps` are the environment steps of one turn of the loop,
/// `updates` how many minibatches it trains on in all.
template <typename Loop>
int train_and_report(index seed, long steps, long updates) {
  device d;
  typename Loop::template State<Loop> state;
  rlt::malloc(d, state);
  const double before = cpu_seconds();
  rlt::init(d, state, seed);
  while (!rlt::step(d, state)) {
  }
  const double spent = cpu_seconds() - before;
  const auto trained_with = products;

  constexpr index episodes = 100, episode_steps = 200;
  using examined = typename Loop::ENVIRONMENT_EVALUATION;
  using examination =
      rlt::rl::utils::evaluation::Specification<numbers, index, examined, episodes, episode_steps>;
  rlt::rl::utils::evaluation::Result<examination> result;
  examined environment;
  rlt::malloc(d, environment);
  rlt::init(d, environment);
  rlt::rl::environments::DummyUI ui;
  rlt::evaluate(d, environment, ui, rlt::get_actor(state), result, state.rng,
                rlt::Mode<rlt::mode::Evaluation<>>{});
  std::printf(
      "{\"steps\": %ld, \"train_cpu_s\": %.6f, \"eval_mean\": %.2f, \"eval_std\": %.2f, "
      "\"updates\": %ld, \"matrix_products\": %llu, \"kernels\": \"%s\"}\n",
      static_cast<long>(state.step) * steps, spent, static_cast<double>(result.returns_mean),
      static_cast<double>(result.returns_std), updates, trained_with, openblas_get_corename());
  return 0;
}

inline index seed_of(int argc, char** argv) {
  return argc > 1 ? static_cast<index>(std::strtoul(argv[1], nullptr, 10)) : 1;
}

}  // namespace peer

extern "C" {

void __real_cblas_sgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint, blasint, blasint,
                        float, const float*, blasint, const float*, blasint, float, float*,
                        blasint);

void __wrap_cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE a_as, CBLAS_TRANSPOSE b_as, blasint m,
                        blasint n, blasint k, float alpha, const float* a, blasint lda,
                        const float* b, blasint ldb, float beta, float* c, blasint ldc) {
  ++peer::products;
  __real_cblas_sgemm(order, a_as, b_as, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}
