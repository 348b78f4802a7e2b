#include "actors/trainer/polyak.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "actors/kernels/cpu_clones.hpp"
#include "actors/kernels/flush_denormals.hpp"

namespace troupe {
namespace {

TROUPE_CPU_CLONES void average(std::size_t count, const float* __restrict source, float tau,
                               float rest, float* __restrict target) {
  for (std::size_t i = 0; i < count; ++i) target[i] = rest * target[i] + tau * source[i];
}

}  // namespace

void polyak_average(std::span<const float> source, double tau, std::span<float> target) {
  if (source.size() != target.size()) {
    throw std::invalid_argument("polyak average: source of " + std::to_string(source.size()) +
                                " parameters, target of " + std::to_string(target.size()));
  }
  const detail::flush_denormals flush;
  if (tau == 1.0) {
    std::ranges::copy(source, target.begin());
  } else {
    average(source.size(), source.data(), static_cast<float>(tau), static_cast<float>(1.0 - tau),
            target.data());
  }
}

void polyak_average(std::span<const float> source, double tau, std::span<float> target,
                    std::int64_t times) {
  if (times == 0) return;
  const double stays = std::pow(1.0 - tau, static_cast<double>(times));
  polyak_average(source, 1.0 - stays, target);
}

}  // namespace troupe
