// A plug-in whose 300th step in this process never returns.

#include <atomic>
#include <thread>

#include "tests/actors/worlds/plugins/counter.hpp"

namespace {

std::atomic<int> steps{0};

struct endless : counter {
  troupe::step_result step(troupe::action_view, std::span<float> obs) override {
    if (++steps == 300) {
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    obs[0] = 1;
    return {.reward = 1};
  }
};

}  // namespace

TROUPE_PLUGIN(troupe::plugin_environment<endless>("Endless-v0"))
