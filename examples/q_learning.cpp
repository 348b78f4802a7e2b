// Tabular Q-learning at Blackjack, which plays while it learns. A policy without any knowledge ends
// near the return of the best strategy without counting cards.
//
// The roles:
//   environments  two replicas with 64 games of Blackjack-v1 each
//   policies      act by a table of Q(state, action), and sometimes at random
//   learner       q_learner with Watkins' rule; its table goes to the policies after each batch
//   replay        hands each rollout to the learner once
//
//   ./q_learning
//
// It ends after a few seconds with the mean return of 200,000 hands of a random policy, of the
// basic strategy, whose exact value is -0.0431, and of the learned policy, near -0.05.

#include <cstdio>

#include "actors/worlds/registry.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/off_policy/q_learning/q_rollout.hpp"
#include "examples/openenv_games/blackjack_hand.hpp"
#include "runtime/system/run.hpp"

namespace loops = troupe::loops;

constexpr int hands = 200'000;

troupe::q_table basic_strategy(const troupe::discrete_states& states) {
  auto values = std::make_shared<std::vector<double>>(states.size() * 2);
  for (std::int64_t sum = 0; sum < 32; ++sum) {
    for (std::int64_t shown = 0; shown < 11; ++shown) {
      for (const std::int64_t ace : {0, 1}) {
        const auto state = states.index(std::vector<std::int64_t>{sum, shown, ace});
        (*values)[2 * state + games::basic_strategy_hits({sum, shown, ace == 1})] = 1;
      }
    }
  }
  return {.actions = 2, .values = values};
}

troupe::task<std::int64_t> learn(troupe::q_roles r, troupe::service<troupe::q_learner> learner,
                                 std::vector<troupe::q_rollout> batch) {
  std::vector<troupe::q_transition> transitions;
  for (const auto& rollout : batch) {
    transitions.insert(transitions.end(), rollout.transitions.begin(), rollout.transitions.end());
  }
  const auto table = co_await learner.route<&troupe::q_learner::learn>(std::move(transitions));
  co_await r.policies.fanout<&troupe::tabular_policy::update>(table);
  co_return table.version;
}

troupe::task<double> mean_return(troupe::q_roles r, troupe::q_table table) {
  co_await r.policies.fanout<&troupe::tabular_policy::update>(table);
  double sum = 0;
  int played = 0;
  bool first = true;  // another policy has begun the hands of the first rollout
  std::function<bool(const troupe::q_rollout&)> enough = [&](const troupe::q_rollout& rollout) {
    if (std::exchange(first, false)) return false;
    for (const double result : rollout.returns) sum += result;
    played += static_cast<int>(rollout.returns.size());
    return played >= hands;
  };
  co_await loops::evaluate(r, troupe::generate_q_rollout, enough);
  co_return sum / played;
}

troupe::task<> main_task(troupe::system& sys) {
  troupe::q_roles r;
  r.states = std::make_shared<const troupe::discrete_states>(
      troupe::make_vector_environment("Blackjack-v1", 1)->spec().observation_space);
  r.n_steps = 16;

  const troupe::q_learning_options options{.lr = 0.005, .gamma = 1, .epsilon_steps = 500'000};
  const troupe::q_table nothing = troupe::q_learner(r.states->size(), 2, options).table();
  troupe::hosted_environment::factory tables = [] {
    return troupe::make_vector_environment("Blackjack-v1", 64);
  };
  r.environments = co_await sys.serve<troupe::hosted_environment>(
      {.name = "environments", .replicas = 2}, tables, std::uint64_t{1});
  r.policies =
      co_await sys.serve<troupe::tabular_policy>({.name = "policies"}, nothing, std::uint64_t{2});
  const troupe::replay_options kept{.batch = 1, .max_staleness = 2};
  r.replay = co_await sys.serve<troupe::replay_queue<troupe::q_rollout>>({.name = "replay"}, kept);
  auto learner = co_await sys.serve<troupe::q_learner>({.name = "learner"}, r.states->size(),
                                                       std::int64_t{2}, options);

  loops::hooks<troupe::q_rollout> hooks{.train = [&](std::vector<troupe::q_rollout> batch) {
    return learn(r, learner, std::move(batch));
  }};
  co_await loops::asynchronous(r, troupe::generate_q_rollout, hooks,
                               {.rollouts = 2, .updates = 1500});

  troupe::q_table greedy = co_await learner.route<&troupe::q_learner::table>();
  greedy.epsilon = 0;
  troupe::q_table random = greedy;
  random.epsilon = 1;
  const double at_random = co_await mean_return(r, random);
  const double basic = co_await mean_return(r, basic_strategy(*r.states));
  const double learned = co_await mean_return(r, greedy);
  std::printf("mean return of %d hands: random %.3f, basic strategy %.3f, learned %.3f\n", hands,
              at_random, basic, learned);
  if (learned < -0.08) throw std::runtime_error("blackjack was not learned");
}

int main(int argc, char** argv) { return troupe::run(argc, argv, main_task); }
