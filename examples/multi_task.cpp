// One network learns three tasks that contradict each other: on a shelf of nine places, to go to
// the left end, to the right end or to the middle.
//
// The cast:
//   shelf     an environment; which task it sets is part of what it shows
//   schedule  whose turn it is: the task with the worst relative return
// and PPO's own: services of environments for each task, policies, replay, trainer, weights.
//
//   build/release/examples/multi_task    # ends in seconds, when each task has reached its target

#include <cstdio>
#include <random>

#include "actors/derived_seed.hpp"
#include "actors/env/vector_env.hpp"
#include "actors/policy/shape_of.hpp"
#include "actors/torch_threads.hpp"
#include "actors/trainer/trainer.hpp"
#include "algorithms/loops/callbacks.hpp"
#include "algorithms/loops/evaluations.hpp"
#include "algorithms/loops/multi_task.hpp"
#include "algorithms/on_policy/episode.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "algorithms/on_policy/rollout_learner.hpp"
#include "runtime/run.hpp"

using namespace troupe;

constexpr int places = 9, tasks = 3;
constexpr std::size_t rollouts = 2 * tasks;  // of an update: enough for each task to be in it
constexpr const char* names[tasks] = {"left", "right", "middle"};
constexpr int goals[tasks] = {0, 8, 4};
constexpr double targets[tasks] = {0.78, 0.78, 0.88};  // the best returns are 0.825 and 0.925

class shelf final : public environment {
 public:
  explicit shelf(int task) : task_(task) {}

  env_spec spec() const override {
    return {.id = "Shelf-v0",
            .observation_space = spaces::box(0.0f, 1.0f, {places + tasks}),  // one 1 in each part
            .action_space = spaces::discrete(3),                             // left, stay, right
            .max_episode_steps = 20};
  }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_.seed(static_cast<std::uint32_t>(*seed));
    do place_ = static_cast<int>(random_() % places);
    while (place_ == goals[task_]);
    show(obs);
  }

  step_result step(action_view action, std::span<float> obs) override {
    place_ = std::clamp(place_ + static_cast<int>(action.discrete()) - 1, 0, places - 1);
    show(obs);
    const bool there = place_ == goals[task_];
    return {.reward = there ? 1.0 : -0.05, .terminated = there};
  }

 private:
  void show(std::span<float> obs) const {
    std::ranges::fill(obs, 0.0f);
    obs[static_cast<std::size_t>(place_)] = 1;
    obs[static_cast<std::size_t>(places + task_)] = 1;
  }

  int task_, place_ = 0;
  std::mt19937 random_;
};

using ppo_trainer = trainer<rollout_learner>;
using together = loops::multi_task<rollout_roles, rollout>;

/// One update, after which every policy has the new weights.
task<std::int64_t> train(service<ppo_trainer> learner, service<policy> policies,
                         std::vector<rollout> made) {
  rollout_learner::batch batch{.rollouts = std::move(made)};
  co_await learner.route<&ppo_trainer::train_step>(std::move(batch));
  co_return co_await learner.route<&ppo_trainer::push_weights>(policies);
}

std::vector<double> returns_of(const rollout& r) {
  std::vector<double> returns;
  for (const auto& episode : r.episodes) returns.push_back(episode.episode_return);
  return returns;
}

/// Shelves that set one task: eight for each rollout that may be under way at once.
task<service<hosted_environment>> serve_shelves(troupe::system& sys, std::string name, int task) {
  hosted_environment::factory all = [task] {
    return std::make_unique<vector_env<shelf>>(8, [task] { return shelf(task); });
  };
  const auto seed = derived_seed(sys.options().seed, name);
  co_return co_await sys.serve<hosted_environment>({.name = name, .replicas = rollouts}, all, seed);
}

/// How far the worst mean return of 100 episodes is above its target.
task<double> take_exams(std::vector<rollout_roles> exams) {
  double worst = 1;
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto measure = loops::mean_score(exams[i], generate_rollout, returns_of, 100);
    const double result = co_await measure({});
    std::printf("%s %.2f of %.2f%s", names[i], result, targets[i], i + 1 < tasks ? ", " : "\n");
    worst = std::min(worst, result - targets[i]);
  }
  co_return worst;
}

task<> main_task(troupe::system& sys) {
  const auto seed = sys.options().seed;
  const auto shape = shape_of(shelf(0).spec());
  ppo_options options{.n_steps = 50, .batch_size = 120};
  options.lr = 1e-3;
  options.ent_coef = 0.005;
  std::function<rollout_learner()> make = [=] {
    return rollout_learner(ppo_learner(shape, options, seed));
  };
  const auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const auto learner = co_await sys.serve<ppo_trainer>({.name = "trainer"}, make, store);
  policy_options acting{.shape = shape, .network = {}, .seed = seed};
  const auto policies = co_await sys.serve<policy>({.name = "policy"}, acting, store);
  replay_options kept{.batch = rollouts};
  const auto replay = co_await sys.serve<replay_queue<rollout>>({.name = "replay"}, kept);

  // readme: multi_task
  loops::schedule_options by_need{.rule = loops::schedule_rule::by_need};
  together all{.replay = replay, .generate = generate_rollout, .returns = returns_of};
  std::vector<rollout_roles> exams;
  for (int i = 0; i < tasks; ++i) {
    by_need.tasks.push_back({.name = names[i], .floor = -1, .target = targets[i]});
    const auto practice = co_await serve_shelves(sys, names[i], i);
    const auto unseen = co_await serve_shelves(sys, std::string(names[i]) + "_exam", i);
    all.tasks.push_back({practice, policies, replay, options.n_steps});
    exams.push_back({unseen, policies, replay, options.n_steps, true});
  }
  all.schedule = co_await sys.serve<loops::task_schedule>({.name = "schedule"}, by_need);
  loops::evaluation_options judging{.measure = [&](auto) { return take_exams(exams); },
                                    .stop = {loops::score_reached(0)}};
  loops::hooks<rollout> hooks{
      .train = [&](auto made) { return train(learner, policies, std::move(made)); },
      .called = loops::every_updates(5, loops::evaluate_with(judging))};
  auto* generate = &loops::generate_next_task<rollout_roles, rollout>;
  const loops::synchronous_options length{.batch = rollouts, .updates = 150};
  const auto done = co_await loops::synchronous(all, generate, hooks, length);
  const auto measured = co_await all.schedule.route<&loops::task_schedule::measured>();
  // readme: end
  for (const auto& task : measured)
    std::printf("%s, while training: %.2f\n", task.name.c_str(), task.mean_return);
  if (!done.stopped) throw std::runtime_error("a task was not learned");
}

int main(int argc, char** argv) {
  use_one_torch_thread();
  return troupe::run(argc, argv, main_task);
}
