#pragma once

namespace troupe::bench {

/// PPO on CartPole-v1 with eight environments, three updates, through actors and by a bare loop
/// over the same kernels: pairs that ran one after the other.
struct overhead {
  double ratio = 0;             ///< CPU time through actors over that of the bare loop; the median
  double allocations_bare = 0;  ///< for each step of the eight environments, updates included
  double allocations = 0;       ///< the same through actors
};
overhead overhead_vs_bare_loop();

}  // namespace troupe::bench
