// An agent learns to leave a corridor. docs/tour.md explains this program. The roles:
//   corridor   the environment, ten places in a row with the exit at the right end
//   policy     chooses the steps, by one weight for each place
//   learner    improves the weights by REINFORCE with a baseline (Williams 1992)
//
// Run ./tour: in seconds the mean return rises from below 0 to near 0.87.

#include <array>
#include <cmath>
#include <cstdio>
#include <random>

#include "algorithms/loops/loops.hpp"
#include "runtime/system/run.hpp"

namespace loops = troupe::loops;

// readme: role
struct transition {
  int place;  // the place that the agent is at now
  double reward = 0;
  bool terminated = false;
};

struct corridor {
  transition reset() { return {place = 4}; }
  troupe::task<transition> step(bool right) {
    co_await troupe::sleep_for(std::chrono::milliseconds(1));  // stands for a slow simulator
    if (right || place > 0) place += right ? 1 : -1;
    co_return transition{place, place == 10 ? 1.0 : -0.02, place == 10};
  }
  int place = 0;
};
// readme: end

// readme: policy
struct weights {
  double right(int place) const { return 1 / (1 + std::exp(-log_odds[place])); }  // probability
  std::array<double, 10> log_odds{};
  std::int64_t version = 0;
};

struct decision {
  int place;
  bool right;
  std::int64_t version;  // the version of the weights that decided
};

struct policy {
  troupe::batch<decision> act(troupe::batch<int> places) {
    troupe::batch<decision> decisions;
    for (const int place : places) {
      std::bernoulli_distribution right(current.right(place));
      decisions.push_back({place, right(random), current.version});
    }
    return decisions;
  }
  void update(weights fresh) { current = fresh; }
  weights current;
  std::minstd_rand random;
};
// readme: end

// readme: learner
struct episode {
  std::vector<decision> decisions;
  double total = 0;          // the return
  std::int64_t version = 0;  // the version of the oldest weights that decided
};

struct learner {
  weights train(std::vector<episode> batch) {
    double baseline = 0;  // the mean return
    for (const auto& e : batch) baseline += e.total / batch.size();
    for (const auto& e : batch) {
      for (const auto& d : e.decisions) {
        const double gradient = d.right - current.right(d.place);  // of log pi
        current.log_odds[d.place] += 0.1 * (e.total - baseline) * gradient;
      }
    }
    ++current.version;
    return current;
  }
  weights current;
};

struct roles {
  troupe::service<corridor> corridors;
  troupe::service<policy> policies;
  troupe::service<learner> trainer;
  troupe::service<troupe::replay_queue<episode>> replay;
};
// readme: end

// readme: episode
troupe::task<episode> play(roles r) {
  episode e;
  auto mine = co_await r.corridors.session({.exclusive = true});  // no other episode plays there
  auto now = co_await mine.route<&corridor::reset>();
  for (int t = 0; t < 50 && !now.terminated; ++t) {
    const auto chosen = co_await r.policies.route<&policy::act>(now.place);
    e.decisions.push_back(chosen);
    now = co_await mine.route<&corridor::step>(chosen.right);
    e.total += now.reward;
  }
  e.version = e.decisions.front().version;
  co_return e;
}

troupe::task<std::int64_t> update(roles r, std::vector<episode> batch) {
  const auto fresh = co_await r.trainer.route<&learner::train>(std::move(batch));
  co_await r.policies.publish<&policy::update>(fresh);
  co_return fresh.version;
}
// readme: end

troupe::task<> print_return(roles r, const char* when) {
  int played = 0;
  double sum = 0;
  std::function<bool(const episode&)> enough = [&](const episode& e) {
    sum += e.total;
    return ++played == 20;
  };
  co_await loops::evaluate(r, play, enough);
  std::printf("%s: mean return %.2f\n", when, sum / played);
}

troupe::task<> main_task(troupe::system& sys) {
  // readme: services
  roles r;
  r.corridors = co_await sys.serve<corridor>({.name = "corridors", .replicas = 16});
  r.policies = co_await sys.serve<policy>({.name = "policies"});
  r.trainer = co_await sys.serve<learner>({.name = "trainer"});
  const troupe::replay_options kept{.batch = 16, .max_staleness = 2};
  r.replay = co_await sys.serve<troupe::replay_queue<episode>>({.name = "replay"}, kept);
  // readme: end
  co_await print_return(r, "untrained");

  // readme: loops
  loops::hooks<episode> hooks{
      .train = [&](std::vector<episode> batch) { return update(r, std::move(batch)); }};
  co_await loops::synchronous(r, play, hooks, {.batch = 16, .updates = 30});
  co_await print_return(r, "after 30 synchronous updates");
  co_await loops::asynchronous(r, play, hooks, {.rollouts = 16, .updates = 30});
  co_await print_return(r, "after 30 asynchronous updates");
  // readme: end
}

int main(int argc, char** argv) { return troupe::run(argc, argv, main_task); }
