// One episode function under three loops: trained on-policy, trained while episodes go on, and
// evaluated.
//
// The roles are plain classes:
//   dataset   draws a question, which is a digit
//   policy    answers with a digit, at first by chance, from a table of preferences with a version
//   reward    gives 1 for the right answer, which is the question plus three
//   learner   moves preferences towards rewarded answers (Williams 1992, REINFORCE)
// The replay, from Troupe, hands each episode to the learner once, unless it is too stale.
//
//   ./three_loops
//
// It ends in a second and prints the share of right answers after each way of training, near 1.

#include <array>
#include <cmath>
#include <cstdio>
#include <random>

#include "algorithms/loops/loops.hpp"
#include "runtime/system/run.hpp"

namespace loops = troupe::loops;

using table = std::array<std::array<double, 10>, 10>;  // preference[question][answer]

struct answer {
  int digit;
  std::int64_t version;  // the version of the preferences that gave the answer
};

// readme: role
struct reward {
  double evaluate(int question, int digit) { return digit == (question + 3) % 10 ? 1.0 : 0.0; }
};
// readme: end

struct dataset {
  int sample() { return static_cast<int>(random() % 10); }
  std::minstd_rand random;
};

struct policy {
  answer generate(int question) {
    std::array<double, 10> weight;
    for (int d = 0; d < 10; ++d) weight[d] = std::exp(preference[question][d]);
    std::discrete_distribution<int> choice(weight.begin(), weight.end());
    return {choice(random), version};
  }
  void update(table fresh, std::int64_t of_version) {
    preference = fresh;
    version = of_version;
  }
  table preference{};
  std::int64_t version = 0;
  std::minstd_rand random;
};

struct episode {
  int question;
  int digit;
  double score;
  std::int64_t version;
};

struct learner {
  table train(std::vector<episode> batch) {
    for (const auto& e : batch) preference[e.question][e.digit] += e.score;
    return preference;
  }
  table preference{};
};

struct roles {
  troupe::service<dataset> data;
  troupe::service<policy> policies;
  troupe::service<struct reward> rewards;
  troupe::service<learner> trainer;
  troupe::service<troupe::replay_queue<episode>> replay;
};

// readme: episode
troupe::task<episode> generate_episode(roles r) {
  const int question = co_await r.data.route<&dataset::sample>();
  const auto reply = co_await r.policies.route<&policy::generate>(question);
  const double score = co_await r.rewards.route<&reward::evaluate>(question, reply.digit);
  co_return episode{question, reply.digit, score, reply.version};
}
// readme: end

troupe::task<std::int64_t> train(roles r, std::int64_t& version, std::vector<episode> batch) {
  const auto fresh = co_await r.trainer.route<&learner::train>(std::move(batch));
  co_await r.policies.publish<&policy::update>(fresh, ++version);
  co_return version;
}

troupe::task<double> right_answers(roles r) {
  int asked = 0;
  double right = 0;
  std::function<bool(const episode&)> enough = [&](const episode& e) {
    right += e.score;
    return ++asked == 500;
  };
  co_await loops::evaluate(r, generate_episode, enough);
  co_return right / asked;
}

troupe::task<> main_task(troupe::system& sys) {
  roles r;
  r.data = co_await sys.serve<dataset>({.name = "dataset"});
  r.rewards = co_await sys.serve<reward>({.name = "reward"});
  for (const bool async : {false, true}) {
    const std::string mode = async ? "async" : "sync";
    r.policies = co_await sys.serve<policy>({.name = "policy-" + mode, .replicas = 2});
    r.trainer = co_await sys.serve<learner>({.name = "learner-" + mode});
    troupe::replay_options kept{.batch = 16, .max_staleness = async ? 4 : 0};
    r.replay = co_await sys.serve<troupe::replay_queue<episode>>({.name = "replay-" + mode}, kept);

    // readme: loops
    std::int64_t version = 0;
    loops::hooks<episode> hooks{
        .train = [&](std::vector<episode> batch) { return train(r, version, std::move(batch)); }};
    if (async) {
      co_await loops::asynchronous(r, generate_episode, hooks, {.rollouts = 32, .updates = 200});
    } else {
      co_await loops::synchronous(r, generate_episode, hooks, {.batch = 16, .updates = 200});
    }
    const double right = co_await right_answers(r);
    // readme: end
    std::printf("%s: %.0f %% right\n", mode.c_str(), 100 * right);
    if (right < 0.9) throw std::runtime_error("the questions were not learned");
  }
}

int main(int argc, char** argv) { return troupe::run(argc, argv, main_task); }
