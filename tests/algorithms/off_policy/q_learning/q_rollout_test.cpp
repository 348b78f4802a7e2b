#include "algorithms/off_policy/q_learning/q_rollout.hpp"

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/loops/loops.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Counts 0, 1, 2 and ends at 3; cut after two steps if it was told so, and throws once at 1, where
/// it is stuck also at the reset that follows.
class counter_environment final : public environment {
 public:
  enum class end { terminated, truncated, thrown, stuck };
  explicit counter_environment(end how) : how_(how) {}

  env_spec spec() const override {
    return {.id = "Counter-v0",
            .observation_space = spaces::discrete(4),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    if (how_ == end::stuck && has_thrown_) throw std::runtime_error("still stuck");
    at_ = 0;
    show(obs);
  }
  step_result step(action_view, std::span<float> obs) override {
    const bool breaks = how_ == end::thrown || how_ == end::stuck;
    if (breaks && at_ == 1 && !std::exchange(has_thrown_, true)) {
      throw std::runtime_error("stuck");
    }
    ++at_;
    show(obs);
    return {.reward = static_cast<double>(at_),
            .terminated = at_ == 3,
            .truncated = how_ == end::truncated && at_ == 2};
  }

 private:
  void show(std::span<float> obs) const {
    for (std::size_t i = 0; i < obs.size(); ++i) obs[i] = i == at_ ? 1.0F : 0.0F;
  }
  end how_;
  std::size_t at_ = 0;
  bool has_thrown_ = false;
};

task<q_roles> serve_counter(system& sys, counter_environment::end how, std::int64_t n_steps) {
  hosted_environment::factory make = [how]() -> std::unique_ptr<vector_environment> {
    return std::make_unique<vector_env<counter_environment>>(
        1, [how] { return counter_environment(how); });
  };
  q_roles r;
  r.environments =
      co_await sys.serve<hosted_environment>({.name = "environments"}, make, std::uint64_t{1});
  const q_table nothing = q_learner(4, 2, {}).table();
  r.policies = co_await sys.serve<tabular_policy>({.name = "policies"}, nothing, std::uint64_t{1});
  r.states = std::make_shared<const discrete_states>(space(spaces::discrete(4)));
  r.n_steps = n_steps;
  co_return r;
}

std::string text_of(const q_rollout& made) {
  std::string text;
  for (const auto& t : made.transitions) {
    text += std::to_string(t.state) + (t.terminated ? '|' : '>') + std::to_string(t.next_state) +
            '=' + std::to_string(static_cast<int>(t.reward)) + ' ';
  }
  return text;
}

task<> terminating(system& sys) {
  const auto r = co_await serve_counter(sys, counter_environment::end::terminated, 5);
  const auto made = co_await generate_q_rollout(r);
  CHECK(text_of(made) == "0>1=1 1>2=2 2|3=3 0>1=1 1>2=2 ");
  CHECK(made.returns == std::vector<double>{6});
  const auto next = co_await generate_q_rollout(r);  // from where it was
  CHECK(text_of(next) == "2|3=3 0>1=1 1>2=2 2|3=3 0>1=1 ");
}

task<> truncating(system& sys) {
  const auto r = co_await serve_counter(sys, counter_environment::end::truncated, 4);
  const auto made = co_await generate_q_rollout(r);
  CHECK(text_of(made) == "0>1=1 1>2=2 0>1=1 1>2=2 ");  // not 1>0, the next episode's first
  CHECK(made.returns == std::vector<double>{3, 3});
}

task<> throwing(system& sys) {
  const auto r = co_await serve_counter(sys, counter_environment::end::thrown, 4);
  const auto made = co_await generate_q_rollout(r);
  CHECK(text_of(made) == "0>1=1 0>1=1 1>2=2 ");
  CHECK(made.returns.empty());
}

/// Another one takes its place, which gets stuck alike.
task<> throwing_at_reset_too(system& sys) {
  const auto r = co_await serve_counter(sys, counter_environment::end::stuck, 5);
  const auto made = co_await generate_q_rollout(r);
  CHECK(text_of(made) == "0>1=1 0>1=1 0>1=1 ");
  CHECK(made.returns.empty());
}

task<std::int64_t> train(q_roles r, service<q_learner> learner, std::vector<q_rollout> batch) {
  const auto table = co_await learner.route<&q_learner::learn>(std::move(batch[0].transitions));
  co_await r.policies.fanout<&tabular_policy::update>(table);
  co_return table.version;
}

task<> learn_blackjack(system& sys) {
  q_roles r;
  r.states = std::make_shared<const discrete_states>(
      make_vector_environment("Blackjack-v1", 1)->spec().observation_space);
  r.n_steps = 16;
  hosted_environment::factory make = [] { return make_vector_environment("Blackjack-v1", 64); };
  r.environments = co_await sys.serve<hosted_environment>({.name = "environments", .replicas = 2},
                                                          make, std::uint64_t{1});
  const q_learning_options options{.gamma = 1, .epsilon_steps = 50'000};
  auto learner = co_await sys.serve<q_learner>({.name = "learner"}, r.states->size(),
                                               std::int64_t{2}, options);
  const auto nothing = co_await learner.route<&q_learner::table>();
  r.policies = co_await sys.serve<tabular_policy>({.name = "policies"}, nothing, std::uint64_t{2});
  r.replay = co_await sys.serve<replay_queue<q_rollout>>({.name = "replay"}, replay_options{});

  loops::hooks<q_rollout> hooks;
  hooks.train = [&](std::vector<q_rollout> batch) { return train(r, learner, std::move(batch)); };
  co_await loops::synchronous(r, generate_q_rollout, hooks, {.batch = 1, .updates = 150});

  auto greedy = co_await learner.route<&q_learner::table>();
  greedy.epsilon = 0;
  co_await r.policies.fanout<&tabular_policy::update>(greedy);
  double sum = 0;
  int hands = 0;
  std::function<bool(const q_rollout&)> enough = [&](const q_rollout& made) {
    for (const double result : made.returns) sum += result;
    hands += static_cast<int>(made.returns.size());
    return hands >= 20'000;
  };
  co_await loops::evaluate(r, generate_q_rollout, enough);
  INFO("mean return " << sum / hands);
  CHECK(sum / hands > -0.12);  // at random -0.39, at best -0.043
}

}  // namespace

TEST_CASE("q_rollout: a terminated step has no next state, and the next rollout goes on") {
  play(terminating);
}

TEST_CASE("q_rollout: a step that was cut has the last state as its next, not the first") {
  play(truncating);
}

TEST_CASE("q_rollout: a step that failed is no transition") { play(throwing); }

TEST_CASE("q_rollout: a step that failed is no transition where the reset after it fails, too") {
  play(throwing_at_reset_too);
}

TEST_CASE("q_learning: learns to play blackjack") { play(learn_blackjack); }

}  // namespace troupe
