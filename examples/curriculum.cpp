// PPO learns to balance a pole for ten seconds by a curriculum: first for one second, then for two,
// four and seven. The next level begins once nine of ten episodes succeed.
//
// The environment `timed_cartpole` is written below; train_in makes all roles.
//
//   ./curriculum [--seed N]
//
// It ends after a few seconds with the last level mastered. The log has a line for each level.

#include <cstdio>

#include "actors/torch/torch_threads.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/system/run.hpp"

/// A pole that must be balanced until the time of its level is up.
class timed_cartpole final : public troupe::environment {
 public:
  troupe::env_spec spec() const override {
    auto spec = pole_.spec();
    spec.levels = std::size(time_limits);
    return spec;
  }

  void set_level(std::size_t level) override { level_ = level; }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    pole_.reset(seed, obs);
    steps_ = 0;
  }

  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    auto result = pole_.step(action, obs);
    result.truncated = ++steps_ == time_limits[level_];
    result.success = !result.terminated;
    return result;
  }

 private:
  static constexpr std::int64_t time_limits[] = {50, 100, 200, 350, 500};  // steps of 20 ms

  troupe::cartpole pole_;
  std::size_t level_ = 0;
  std::int64_t steps_ = 0;
};

troupe::task<> main_task(troupe::system& sys) {
  // readme: curriculum
  troupe::ppo_config config;
  config.env = {.id = "TimedCartPole-v0", .n_envs = 8};
  config.env.curriculum = {.promote_at = 0.9, .window = 20, .stop_when_mastered = true};
  // readme: end
  config.seed = sys.options().seed;
  config.total_steps = 400'000;
  config.rollout.n_steps = 128;
  config.trainer.lr = 1e-3;
  config.trainer.batch_size = 128;
  config.trainer.gamma = 0.98;
  const auto result = co_await troupe::train_in(sys, config, {.root = "runs"});
  std::printf("%s after %lld steps; return at the last level %.0f: %s\n",
              result.stopped ? "mastered" : "NOT mastered", static_cast<long long>(result.steps),
              result.eval_mean, result.run_directory.c_str());
  if (!result.stopped) throw std::runtime_error("the last level was not mastered");
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  troupe::register_environment<timed_cartpole>("TimedCartPole-v0");
  return troupe::run(argc, argv, main_task);
}
