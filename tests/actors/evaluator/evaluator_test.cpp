#include "actors/torch/torch.hpp"

#include "actors/evaluator/evaluator.hpp"

#include "actors/networks/actor_critic.hpp"
#include "actors/networks/shape_of.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Episodes of 1 step where the first seed was even, of 10 where it was odd; the return is the
/// length. What goes wrong, and how often, is the test's choice.
class uneven : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Uneven-v0",
            .observation_space = spaces::box(0.0f, 1.0f, {2}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) length_ = *seed % 2 == 0 ? 1 : 10;
    step_ = 0;
    obs[0] = obs[1] = 0.5f;
  }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = obs[1] = 0.5f;
    if (fail_every > 0 && ++steps % fail_every == 0) throw std::runtime_error("it broke down");
    return {.reward = 1.0, .terminated = ++step_ == length_ && !endless};
  }

  static inline int fail_every = 0;
  static inline int steps = 0;
  static inline bool endless = false;

 private:
  int length_ = 1;
  int step_ = 0;
};

struct normally {
  ~normally() {
    uneven::fail_every = 0;
    uneven::endless = false;
  }
};

evaluator_options on_uneven(std::size_t environments) {
  return {.environments = [=] { return std::make_unique<vector_env<uneven>>(environments); },
          .shape = shape_of(uneven().spec()),
          .network = {.hidden = {4}}};
}

weights start(const evaluator_options& o) {
  return {3, actor_critic(o.shape, o.network, 1).parameters().clone(), {}};
}

}  // namespace

TEST_CASE("evaluator: each environment plays its share, so short episodes don't weigh more") {
  const auto options = on_uneven(2);
  evaluator policy_evaluator(options);
  const auto even = policy_evaluator.evaluate(start(options), 10, 0);
  CHECK(even.returns.size() == 10);
  CHECK(even.mean == 5.5);  // five of 1 and five of 10
  CHECK(even.std == 4.5);
  CHECK(even.mean_length == 5.5);
  CHECK(even.version == 3);
  CHECK(policy_evaluator.evaluate(start(options), 5, 0).returns.size() == 5);
  CHECK(policy_evaluator.evaluate(start(options), 1, 0).returns.size() ==
        1);  // fewer than environments
}

TEST_CASE("evaluator: the same weights and seed give the same returns, another seed others") {
  evaluator_options options{
      .environments = [] { return make_vector_environment("CartPole-v1", 4); },
      .shape = {.obs_size = 4, .discrete_actions = 2},
      .network = {}};
  for (const bool deterministic : {true, false}) {
    options.deterministic = deterministic;
    evaluator policy_evaluator(options);
    const auto first = policy_evaluator.evaluate(start(options), 10, 0);
    CHECK(policy_evaluator.evaluate(start(options), 10, 0).returns == first.returns);
    CHECK(evaluator(options).evaluate(start(options), 10, 0).returns == first.returns);
    // Nor do the episodes of a neighbouring seed begin as these do, each one later.
    const auto neighbour = policy_evaluator.evaluate(start(options), 10, 1).returns;
    for (const double one : neighbour) CHECK(std::ranges::count(first.returns, one) < 10);
    CHECK(neighbour != first.returns);
    CHECK(std::vector(neighbour.begin(), neighbour.end() - 1) !=
          std::vector(first.returns.begin() + 1, first.returns.end()));
  }
}

TEST_CASE("evaluator: an episode whose environment fails is played anew") {
  const normally after;
  const auto options = on_uneven(2);
  evaluator policy_evaluator(options);
  uneven::fail_every = 37;
  const auto result = policy_evaluator.evaluate(start(options), 10, 0);
  CHECK(result.returns.size() == 10);
  CHECK(result.mean == 5.5);
}

TEST_CASE("evaluator: gives up where environments keep failing, or no episode ends") {
  const normally after;
  const auto options = on_uneven(2);
  evaluator policy_evaluator(options);
  uneven::fail_every = 1;
  CHECK_THROWS_WITH(policy_evaluator.evaluate(start(options), 2, 0),
                    "an evaluation was given up, environments have failed 22 times: Uneven-v0: it "
                    "broke down");
  uneven::fail_every = 0;
  uneven::endless = true;
  CHECK_THROWS_WITH(policy_evaluator.evaluate(start(options), 2, 0),
                    "an evaluation was given up, no episode has ended in 200000 steps");
  uneven::endless = false;
  CHECK(policy_evaluator.evaluate(start(options), 2, 0).returns.size() == 2);
}

TEST_CASE("evaluator: a stop ends an evaluation before the next step, also one without an end") {
  const normally after;
  const auto options = on_uneven(2);
  int asked = 0;
  evaluator policy_evaluator(options, [&] { return ++asked == 5; });
  uneven::endless = true;
  CHECK_THROWS_WITH(policy_evaluator.evaluate(start(options), 2, 0), "an evaluation was stopped");
  CHECK(asked == 5);
  uneven::endless = false;
  CHECK(policy_evaluator.evaluate(start(options), 2, 0).returns.size() == 2);
}

TEST_CASE("evaluator: refuses a network that does not fit, and no episodes at all") {
  auto options = on_uneven(1);
  CHECK_THROWS_AS(evaluator(options).evaluate(start(options), 0, 0), std::invalid_argument);
  CHECK_THROWS(evaluator(options).evaluate({0, at::zeros({3}), {}}, 1, 0));
  options.shape.obs_size = 5;
  CHECK_THROWS_WITH(evaluator(options), has_text("environment Uneven-v0 needs a network of obs 2"));
}

TEST_CASE("summarise: mean and standard deviation of the population") {
  const auto e = summarise({{1, 10}, {2, 20}, {3, 30}, {4, 40}}, 9);
  CHECK(e.returns == std::vector<double>{1, 2, 3, 4});
  CHECK(e.mean == 2.5);
  CHECK(e.mean_length == 25);
  CHECK(e.std == Approx(std::sqrt(1.25)));
  CHECK(e.version == 9);
}

}  // namespace troupe
