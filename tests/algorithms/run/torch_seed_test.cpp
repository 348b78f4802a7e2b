#include "actors/torch/torch.hpp"

#include "actors/torch/torch_seed.hpp"

#include <vector>

#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/run_control.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Draws from libtorch after each update, as a learner with a dropout draws in it.
task<loops::verdict> draw(std::vector<float>& drawn, loops::progress) {
  drawn.push_back(at::rand({1}).item<float>());
  co_return loops::verdict::go_on;
}

ppo_config short_ppo(std::uint64_t seed) {
  ppo_config config;
  config.total_steps = 4 * 64;
  config.seed = seed;
  config.rollout.n_steps = 64;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 0, .episodes = 1, .final_episodes = 1};
  config.checkpoint.every_updates = 1;
  config.deterministic = true;
  return config;
}

/// What runs of that seed draw, whatever the process has drawn before.
std::vector<float> drawn_by(std::uint64_t seed) {
  const quiet_stage on;
  std::vector<float> drawn;
  run_options options;
  options.callbacks.on_update_end = [&](loops::progress now) { return draw(drawn, now); };
  train(algorithm_with(short_ppo(seed)), {.root = on.folder.path / "runs"}, options);
  return drawn;
}

TEST_CASE("seed_torch: the same seed gives the same numbers, and another one others") {
  seed_torch(7);
  const auto first = at::rand({4});
  at::rand({3});
  seed_torch(7);
  CHECK(at::equal(at::rand({4}), first));
  seed_torch(8);
  CHECK_FALSE(at::equal(at::rand({4}), first));
}

TEST_CASE("seed_torch: a run's seed and the version decide what an update draws from libtorch") {
  const auto first = drawn_by(1);
  REQUIRE(first.size() == 4);
  CHECK(first[0] != first[1]);
  at::rand({5});  // what the process has drawn before does not matter
  CHECK(drawn_by(1) == first);
  CHECK(drawn_by(2) != first);
}

TEST_CASE("seed_torch: a run that goes on draws as one that was not interrupted") {
  const auto whole = drawn_by(1);
  quiet_stage on;
  std::vector<float> drawn;
  const auto what = algorithm_with(short_ppo(1));
  auto options = stop_after(2);
  const auto counting = options.callbacks.on_update_end;
  options.callbacks.on_update_end = [&, counting](loops::progress now) {
    drawn.push_back(at::rand({1}).item<float>());
    return counting(now);
  };
  const auto begun = train(what, {.root = on.folder.path / "runs"}, options);
  REQUIRE_FALSE(begun.summary);
  auto from = newest_checkpoint(begun.run_directory, what.settings, *on.metrics);
  REQUIRE(from);
  drawn.resize(static_cast<std::size_t>(progress_of(*from, what.settings).version));
  at::rand({5});
  run_options rest;
  rest.callbacks.on_update_end = [&](loops::progress now) { return draw(drawn, now); };
  train(what, {.directory = begun.run_directory}, rest, std::move(from));
  CHECK(drawn == whole);
}

}  // namespace
}  // namespace troupe
