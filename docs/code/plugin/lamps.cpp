// The plug-in of docs/guides/environment.md.

// readme: plugin
#include <random>

#include "actors/worlds/plugin.hpp"

/// One of two lamps is lit. The button below it pays 1.
class lamps final : public troupe::environment {
 public:
  troupe::env_spec spec() const override {
    return {.id = "Lamps-v0",
            .observation_space = troupe::spaces::box(0.0f, 1.0f, {2}),  // the two lamps
            .action_space = troupe::spaces::discrete(2),                // the two buttons
            .max_episode_steps = 20,
            .reward_threshold = 19};
  }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_.seed(*seed);
    light(obs);
  }

  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    const double reward = action.discrete() == lit_ ? 1 : 0;
    light(obs);
    return {.reward = reward};
  }

 private:
  void light(std::span<float> obs) {
    lit_ = static_cast<int>(random_() % 2);
    obs[0] = lit_ == 0 ? 1.0f : 0.0f;
    obs[1] = 1.0f - obs[0];
  }

  std::mt19937 random_;
  int lit_ = 0;
};

TROUPE_PLUGIN(troupe::plugin_environment<lamps>("Lamps-v0", {.deterministic = true}))
// readme: end
