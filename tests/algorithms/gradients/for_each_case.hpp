#pragma once
// The cases of the tests that compare gradients worked out by hand with autograd's.

#include <algorithm>
#include <cstdlib>

#include "tests/algorithms/gradients/random_case.hpp"
#include "tests/test.hpp"

namespace troupe {

inline constexpr double bound = 1e-5;

inline int case_count() {
  const char* text = std::getenv("TROUPE_GRADIENT_CASES");
  return text ? std::atoi(text) : 120;
}

struct parity {
  double worst = 0.0;
  bool near_kink = false;
};

/// Calls `work(random)` for the wanted number of cases that come near no kink; each must be within
/// the bound.
template <class Work>
void for_each_case(const Work& work, int wanted = case_count()) {
  double worst = 0.0;
  int drawn = 0;
  for (int done = 0; done < wanted; ++drawn) {
    case_random random(static_cast<std::uint64_t>(drawn));
    const parity p = work(random);
    if (p.near_kink) continue;
    ++done;
    worst = std::max(worst, p.worst);
    INFO("case of seed " << drawn);
    if (!(p.worst < bound)) CHECK(p.worst < bound);
  }
  INFO(wanted << " cases of " << drawn << " drawn, worst relative distance " << worst);
  CHECK(worst < bound);
  CHECK(drawn < 2 * wanted + 10);
}

}  // namespace troupe
