// The code of docs/guides/environment.md that is in no example.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <sstream>

#include "actors/environments/canvas.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/program/main.hpp"
#include "runtime/system/run.hpp"

// readme: corridor
#include <algorithm>
#include <random>

#include "algorithms/program/main.hpp"

/// A row of ten places, of which the last is the exit.
class corridor final : public troupe::environment {
 public:
  troupe::env_spec spec() const override {
    return {.id = "Corridor-v0",
            .observation_space = troupe::spaces::box(0.0f, 1.0f, {1}),  // the agent's place
            .action_space = troupe::spaces::discrete(2),                // left, right
            .max_episode_steps = 100,
            .reward_threshold = 0.9};
  }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_.seed(*seed);
    position_ = static_cast<int>(random_() % 5);
    obs[0] = static_cast<float>(position_) / length;
  }

  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    position_ = std::max(0, position_ + (action.discrete() == 1 ? 1 : -1));
    obs[0] = static_cast<float>(position_) / length;
    const bool out = position_ == length;
    return {.reward = out ? 1.0 : -0.01, .terminated = out, .truncated = false};
  }

 private:
  static constexpr int length = 10;
  std::minstd_rand random_;
  int position_ = 0;
};

int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.help = "Trains agents to leave a corridor.",
                       .environments = {troupe::environment_of<corridor>("Corridor-v0")}});
}
// readme: end

namespace docs::train_in {
// readme: train_in
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/system/run.hpp"

troupe::task<> main_task(troupe::system& sys) {
  troupe::ppo_config config;
  config.env = {.id = "Corridor-v0", .n_envs = 8};
  config.total_steps = 20'000;
  config.rollout.n_steps = 128;
  const auto result = co_await troupe::train_in(sys, config, {.root = "runs"});
  std::printf("return %.2f: %s\n", result.eval_mean, result.run_directory.c_str());
}

int main(int argc, char** argv) {
  troupe::register_environment<corridor>("Corridor-v0");  // before `run`
  return troupe::run(argc, argv, main_task);
}
// readme: end
}  // namespace docs::train_in

namespace docs::wrapper {
// readme: wrapper
#include <memory>
#include <random>
#include <sstream>

#include "actors/worlds/registry.hpp"

/// Repeats the action before with a probability of 1/4 (Machado et al. 2018).
class sticky_actions final : public troupe::environment_wrapper {
 public:
  using environment_wrapper::environment_wrapper;

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_.seed(*seed);
    last_ = 0;
    inner_->reset(seed, obs);
  }

  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    if (random_() % 4 != 0) last_ = action.discrete();
    return inner_->step(troupe::action_view(last_), obs);
  }

  bool save(troupe::state_writer& to) const override {
    std::ostringstream generator;
    generator << random_;
    to.put("sticky_generator", generator.str());
    to.put("sticky_last", last_);
    return inner_->save(to);
  }

  void restore(const troupe::state_reader& from) override {
    std::istringstream(from.get<std::string>("sticky_generator")) >> random_;
    from.get("sticky_last", last_);
    inner_->restore(from);
  }

 private:
  std::minstd_rand random_;
  std::int64_t last_ = 0;
};

void register_sticky_cartpole() {
  troupe::register_environment("StickyCartPole-v1", [] {
    return std::make_unique<sticky_actions>(troupe::make_environment("CartPole-v1"));
  });
}
// readme: end
}  // namespace docs::wrapper

namespace docs::vector {
// readme: vector
#include <cstdio>

#include "actors/worlds/registry.hpp"

void push_right() {
  const auto poles = troupe::make_vector_environment("CartPole-v1", 64);
  poles->reset(7);  // the seeds are 7, 8, 9, ...
  troupe::env_actions actions;
  actions.discrete.assign(poles->size(), 1);
  troupe::env_step seen;
  for (int i = 0; i < 100; ++i) {
    poles->step_into(actions, seen);
    for (const auto& ended : seen.finished) {
      std::printf("environment %zu: return %.0f\n", ended.index, ended.episode_return);
    }
  }
}
// readme: end
}  // namespace docs::vector

namespace docs::picture {

class corridor {
 public:
  bool render(troupe::canvas& on) const;

 private:
  static constexpr int length = 10;
  int position_ = 0;
};

// readme: picture
#include "actors/environments/canvas.hpp"

/// Draws the places as a row, the exit in green and the agent in red.
bool corridor::render(troupe::canvas& on) const {
  constexpr int side = 40;  // pixels
  constexpr double middle = side / 2.0;
  on.begin(side * (length + 1), side, {255, 255, 255});
  on.rectangle({side * length, 0}, side, side, {70, 160, 90});
  on.circle({position_ * side + middle, middle}, 0.4 * side, {214, 54, 54});
  return true;
}
// readme: end
}  // namespace docs::picture
