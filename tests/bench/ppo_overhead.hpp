#pragma once

namespace troupe::bench {

/// PPO on CartPole-v1 with eight environments, three updates, through actors and by a bare loop
/// over the same kernels: pairs that ran one after the other.
struct overhead {
  double ratio = 0;             ///< CPU time through actors over that of the bare loop; the median
  double allocations_bare = 0;  ///< for each step of the eight environments, updates included
  double allocations = 0;       ///< the same through actors
  /// Of a step through actors: the environments', the inference before it and its storage; steps of
  /// a rollout's beginning, and those at which an episode ends, left out.
  double allocations_per_step = 0;
};
overhead overhead_vs_bare_loop();

}  // namespace troupe::bench
