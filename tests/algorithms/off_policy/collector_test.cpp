#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/collector.hpp"

#include <set>

#include "actors/networks/shape_of.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Counts its steps in obs[0] and gives that as reward; terminates after 3 steps or is cut after 5,
/// in turn; throws where its action is 1 and `fragile`.
class counter_env final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Counter-v0",
            .observation_space = spaces::box(0.0f, 100.0f, {1}),
            .action_space = spaces::box(std::vector<float>{-2, 0}, std::vector<float>{2, 10})};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    steps_ = 0;
    ++episodes_;
    obs[0] = 0;
  }
  step_result step(action_view action, std::span<float> obs) override {
    CHECK(std::abs(action.continuous()[0]) <= 2);
    CHECK(action.continuous()[1] >= 0);
    obs[0] = static_cast<float>(++steps_);
    if (fail_at > 0 && --fail_at == 0) throw std::runtime_error("it broke");
    const bool odd = episodes_ % 2 == 1;
    return {.reward = obs[0], .terminated = odd && steps_ == 3, .truncated = !odd && steps_ == 5};
  }
  static inline int fail_at = 0;

 private:
  int steps_ = 0, episodes_ = 0;
};

collector_options options(int environments, int n_step = 1) {
  const env_spec spec = counter_env().spec();
  return {.environments =
              [environments] {
                return std::make_unique<vector_env<counter_env>>(
                    static_cast<std::size_t>(environments));
              },
          .shape = shape_of(spec),
          .network = {.hidden = {3}, .kind = network_kind::squashed},
          .explore = {.learning_starts = 4},
          .n_step = n_step,
          .gamma = 0.5};
}

task<service<collector>> serve(system& sys, collector_options with) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  weights first{0, at::zeros({17}), {}};
  co_await store.route<&weight_store::put>(first);
  co_return co_await sys.serve<collector>({.name = "collectors"}, with, store);
}

using numbers = std::vector<std::uint32_t>;

/// Counted from that of the first row.
numbers episodes_of(const transition_rows& rows) {
  auto episodes = rows.episode;
  for (auto& each : episodes) each -= rows.episode[0];
  return episodes;
}

task<> rows_of_steps(system& sys) {
  const auto collectors = co_await serve(sys, options(1));
  const auto made = co_await collectors.route<&collector::collect>(0, 9);
  CHECK(made.steps == 9);
  CHECK(made.version == 0);
  const auto& rows = made.rows;
  CHECK(rows.obs == std::vector<float>{0, 1, 2, 0, 1, 2, 3, 4, 0});
  CHECK(rows.next_obs == std::vector<float>{1, 2, 3, 1, 2, 3, 4, 5, 1});
  CHECK(rows.reward == rows.next_obs);
  CHECK(rows.terminated == std::vector<float>{0, 0, 1, 0, 0, 0, 0, 0, 0});  // not the cut one
  CHECK(rows.discount == std::vector<float>(9, 0.5f));
  CHECK(rows.step == numbers{0, 1, 2, 0, 1, 2, 3, 4, 0});
  CHECK(rows.ended == std::vector<std::uint8_t>{0, 0, 1, 0, 0, 0, 0, 2, 0});
  CHECK(rows.environment == numbers(9, 0));
  CHECK(episodes_of(rows) == numbers{0, 0, 0, 1, 1, 1, 1, 1, 2});
  REQUIRE(made.episodes.size() == 2);
  CHECK(made.episodes[0].step == 3);
  CHECK(made.episodes[0].episode_return == 6);
  CHECK(made.episodes[1].step == 8);
  CHECK(made.episodes[1].length == 5);
  // Random for learning_starts steps, then what weights of zero choose.
  REQUIRE(rows.action.size() == 18);
  for (int i = 0; i < 18; ++i) CHECK((rows.action[static_cast<std::size_t>(i)] == 0) == (i >= 8));
}

task<> sums_of_steps(system& sys) {
  const auto collectors = co_await serve(sys, options(1, 2));
  const auto made = co_await collectors.route<&collector::collect>(0, 9);
  const auto& rows = made.rows;
  CHECK(rows.obs == std::vector<float>{0, 1, 2, 0, 1, 2, 3, 4});
  CHECK(rows.next_obs == std::vector<float>{2, 3, 3, 2, 3, 4, 5, 5});
  CHECK(rows.reward == std::vector<float>{2, 3.5, 3, 2, 3.5, 5, 6.5, 5});
  CHECK(rows.terminated == std::vector<float>{0, 1, 1, 0, 0, 0, 0, 0});
  CHECK(rows.discount == std::vector<float>{0.25, 0.25, 0.5, 0.25, 0.25, 0.25, 0.25, 0.5});
  // Where a sum begins, and the end with the step that it begins with.
  CHECK(rows.step == numbers{0, 1, 2, 0, 1, 2, 3, 4});
  CHECK(rows.ended == std::vector<std::uint8_t>{0, 0, 1, 0, 0, 0, 0, 2});
  CHECK(episodes_of(rows) == numbers{0, 0, 0, 1, 1, 1, 1, 1});
}

task<> failed_steps(system& sys) {
  const auto collectors = co_await serve(sys, options(2));
  counter_env::fail_at = 3;  // the second step of the first environment
  const auto made = co_await collectors.route<&collector::collect>(0, 2);
  CHECK(made.steps == 4);
  CHECK(made.rows.obs == std::vector<float>{0, 0, 1});
  CHECK(made.rows.size() == 3);
  CHECK(made.rows.environment == numbers{0, 1, 1});
  CHECK(made.rows.step == numbers{0, 0, 1});
  const auto after = co_await collectors.route<&collector::collect>(4, 1);
  CHECK(after.rows.environment == numbers{0, 1});
  CHECK(after.rows.step == numbers{0, 2});
  CHECK(after.rows.episode[0] == made.rows.episode[0] + 1);  // The failure ended that episode.
  CHECK(after.rows.episode[1] == made.rows.episode[1]);
}

task<> reset_when_restored(system& sys) {  // A counter can't be saved.
  const auto with = options(1, 2);
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  weights first{0, at::zeros({17}), {}};
  co_await store.route<&weight_store::put>(first);
  const auto one = co_await sys.serve<collector>({.name = "one"}, with, store);
  const auto other = co_await sys.serve<collector>({.name = "other"}, with, store);
  const auto before = co_await one.route<&collector::collect>(0, 2);
  CHECK(before.rows.step == numbers{0});
  const auto saved = co_await one.route<&collector::save>();
  co_await other.route<&collector::restore>(saved);
  const auto after = co_await other.route<&collector::collect>(2, 2);
  CHECK(after.rows.obs == std::vector<float>{0});
  CHECK(after.rows.step == numbers{0});
  CHECK(after.rows.episode[0] == before.rows.episode[0] + 1);
}

task<> newer_weights(system& sys) {
  const auto collectors = co_await serve(sys, options(1));
  weights second{2, at::full({17}, 0.3f), {}};
  co_await collectors.route<&collector::update>(second);
  weights first{1, at::zeros({17}), {}};
  co_await collectors.route<&collector::update>(first);
  const auto made = co_await collectors.route<&collector::collect>(100, 1);
  CHECK(made.version == 2);
  CHECK(made.rows.action[0] > 0);
}

task<> goes_on(system& sys) {
  auto noisy = options(2, 3);
  noisy.environments = [] { return make_vector_environment("Pendulum-v1", 2); };
  noisy.shape = {.obs_size = 3, .continuous_size = 1};
  noisy.network.kind = network_kind::squashed_gaussian;
  noisy.explore.noise.kind = noise_kind::ornstein_uhlenbeck;
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  weights first{0, at::full({20}, 0.1f), {}};
  co_await store.route<&weight_store::put>(first);
  const auto one = co_await sys.serve<collector>({.name = "one"}, noisy, store);
  const auto other = co_await sys.serve<collector>({.name = "other"}, noisy, store);
  co_await one.route<&collector::collect>(0, 30);
  const auto saved = co_await one.route<&collector::save>();
  co_await other.route<&collector::restore>(saved);
  const auto a = co_await one.route<&collector::collect>(60, 300);
  const auto b = co_await other.route<&collector::collect>(60, 300);
  CHECK(a.rows.obs == b.rows.obs);
  CHECK(a.rows.action == b.rows.action);
  CHECK(a.rows.reward == b.rows.reward);
  CHECK(a.rows.next_obs == b.rows.next_obs);
  CHECK(a.rows.discount == b.rows.discount);
  CHECK(a.rows.environment == b.rows.environment);
  CHECK(a.rows.episode == b.rows.episode);
  CHECK(a.rows.step == b.rows.step);
  CHECK(a.rows.ended == b.rows.ended);
  CHECK(a.rows.reward.size() == 2 * 300);  // Those that had begun are completed, too.
  CHECK(a.episodes.size() == 2);
}

task<> streams_of_their_own(system& sys) {
  auto random = options(1);
  random.explore.learning_starts = 1000;
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  std::set<std::vector<float>> streams;
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}, 1 + 0x9e3779b97f4a7c15u}) {
    for (const std::size_t index : {0, 1, 2}) {
      for (const std::size_t generation : {0, 1, 2}) {
        random.seed = seed;
        collector one({.index = index, .generation = generation}, random, store);
        streams.insert(one.collect(0, 5).rows.action);
      }
    }
  }
  CHECK(streams.size() == 27);
}

TEST_CASE("collector: seeds, replicas and their restarts draw from streams of their own") {
  play(streams_of_their_own);
}

TEST_CASE("collector: a transition ends with its own episode's last observation") {
  play(rows_of_steps);
}

TEST_CASE("collector: sums of n steps end where the episode does") { play(sums_of_steps); }

TEST_CASE("collector: a step whose environment fails gives no transition") { play(failed_steps); }

TEST_CASE("collector: environments that were reset begin other episodes, and sums with them") {
  play(reset_when_restored);
}

TEST_CASE("collector: older weights than those in use are ignored") { play(newer_weights); }

TEST_CASE("collector: one that was restored goes on as the one that was saved") { play(goes_on); }

TEST_CASE("exploration: epsilon falls linearly and stays") {
  const epsilon_schedule schedule{.initial = 1, .final = 0.04, .fraction = 0.16};
  CHECK(schedule.at(0, 50'000) == 1);
  CHECK(schedule.at(4'000, 50'000) == Approx(0.52));
  CHECK(schedule.at(8'000, 50'000) == 0.04);
  CHECK(schedule.at(50'000, 50'000) == 0.04);
}

TEST_CASE("exploration: Ornstein-Uhlenbeck noise has its spread, returns and is reset") {
  action_noise noise({.kind = noise_kind::ornstein_uhlenbeck, .std = 0.2}, 2, 1);
  action_random random(1);
  double sum = 0, squares = 0;
  std::vector<float> actions(2);
  constexpr int n = 400'000;
  for (int i = 0; i < n; ++i) {
    actions.assign(2, 0.0f);
    noise.add(actions, random);
    sum += actions[0];
    squares += actions[0] * actions[0];
  }
  // The variance of x' = (1 - theta dt) x + sigma sqrt(dt) n is sigma^2 / (theta (2 - theta dt)).
  CHECK(std::abs(sum / n) < 0.1);
  CHECK(squares / n == Approx(0.04 / (0.15 * (2 - 0.0015))).epsilon(0.2));
  noise.reset(0);
  CHECK(noise.state()[0] == 0);
  CHECK(noise.state()[1] != 0);
}

}  // namespace
}  // namespace troupe
