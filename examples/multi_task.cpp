// One network learns three tasks that contradict each other: on a shelf of nine places, to go to
// the left end, to the right end or to the middle. The observations of the tasks differ only in the
// number of the task.
//
// The environment `shelf` is written below; train_in makes all roles.
//
//   ./multi_task [--seed N]
//
// It ends after a few seconds, when each task has reached its target.

#include <cstdio>
#include <random>

#include "actors/torch/torch_threads.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/system/run.hpp"

namespace loops = troupe::loops;

class shelf final : public troupe::environment {
 public:
  explicit shelf(int goal) : goal_(goal) {}

  troupe::env_spec spec() const override {
    return {
        .id = "Shelf-v0",
        .observation_space = troupe::spaces::box(0.0f, 1.0f, {places}),  // 1 at the agent's place
        .action_space = troupe::spaces::discrete(3),                     // left, stay, right
        .max_episode_steps = 20};
  }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_.seed(static_cast<std::uint32_t>(*seed));
    do place_ = static_cast<int>(random_() % places);
    while (place_ == goal_);
    show(obs);
  }

  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    place_ = std::clamp(place_ + static_cast<int>(action.discrete()) - 1, 0, places - 1);
    show(obs);
    const bool there = place_ == goal_;
    return {.reward = there ? 1.0 : -0.05, .terminated = there};
  }

  static constexpr int places = 9;

 private:
  void show(std::span<float> obs) const {
    std::ranges::fill(obs, 0.0f);
    obs[static_cast<std::size_t>(place_)] = 1;
  }

  int goal_, place_ = 0;
  std::mt19937 random_;
};

troupe::task<> main_task(troupe::system& sys) {
  troupe::ppo_config config;
  config.env.n_envs = 8;
  // readme: multi_task
  config.env.tasks = {{.id = "left", .floor = -1, .target = 0.78},  // the best return is 0.825
                      {.id = "right", .floor = -1, .target = 0.78},
                      {.id = "middle", .floor = -1, .target = 0.88}};  // 0.925
  config.env.schedule = {.rule = loops::schedule_rule::by_need, .stop_when_learned = true};
  // readme: end
  config.seed = sys.options().seed;
  config.total_steps = 400'000;
  config.rollout.n_steps = 128;
  config.trainer.lr = 1e-3;
  config.trainer.batch_size = 128;
  config.trainer.ent_coef = 0.005;
  const auto result = co_await troupe::train_in(sys, config, {.root = "runs"});
  std::printf("%s after %lld steps; mean relative return %.2f: %s\n",
              result.stopped ? "learned" : "NOT learned", static_cast<long long>(result.steps),
              result.eval_mean, result.run_directory.c_str());
  if (!result.stopped) throw std::runtime_error("a task was not learned");
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  for (const auto& [id, goal] : {std::pair("left", 0), {"right", 8}, {"middle", 4}})
    troupe::register_environment(id, [goal] { return std::make_unique<shelf>(goal); });
  return troupe::run(argc, argv, main_task);
}
