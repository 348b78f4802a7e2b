// A network learns to answer questions whose answers can be checked. Language models are trained on
// verifiable rewards in the same way, but this network is small enough for seconds.
//
// The roles:
//   dataset    draws questions `a+b` of two digits, with the last digit of their sum
//   policies   answer with one of 16 tokens, by a network with one hidden layer
//   rewards    give 1 for a right answer and 0.1 for a digit, and measure both
//   replay     hands each episode to the trainer once, unless it is too stale
//   trainer    trains by PPO on episodes of one step; its weights go to the policies and a store
//
//   ./verifiable_reward
//
// It trains twice, on-policy and while episodes go on, in seconds. It prints the share of right
// answers before training and after it, near 1.

#include <cstdio>

#include "actors/data/dataset.hpp"
#include "actors/reward/text_reward.hpp"
#include "actors/reward/weighted_reward.hpp"
#include "actors/torch/torch_threads.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "algorithms/on_policy/rollout_writer.hpp"
#include "runtime/system/run.hpp"

namespace loops = troupe::loops;
using troupe::ppo_learner;

const std::string tokens = "0123456789abcdef";
const troupe::network_shape shape{.obs_size = 20, .discrete_actions = 16};  // of the 16 tokens

struct text_pair {
  std::string text, expected;  // a question and its answer, or a model's answer and the right one
};
using questions = troupe::dataset<text_pair>;
using judge = troupe::weighted_reward<text_pair>;
using ppo_trainer = troupe::trainer<troupe::on_policy_learner, troupe::training_rollouts>;

std::vector<text_pair> all_questions() {
  std::vector<text_pair> made;
  for (int i = 0; i < 100; ++i) {
    const int a = i / 10, b = i % 10;
    made.push_back({std::to_string(a) + '+' + std::to_string(b), std::to_string((a + b) % 10)});
  }
  return made;
}

/// The observation of the network [20], with each digit one-hot.
std::vector<float> encode(const std::string& text) {
  std::vector<float> obs(20, 0);
  obs[text[0] - '0'] = 1;
  obs[10 + text[2] - '0'] = 1;
  return obs;
}

struct episode {
  troupe::rollout row;  // a rollout of one step
  troupe::reward_result reward;
  std::int64_t version;  // the version of the weights that answered
};

struct roles {
  troupe::service<questions> data;
  troupe::service<troupe::policy> policies;
  troupe::service<judge> rewards;
  troupe::service<ppo_trainer> learner;
  troupe::service<troupe::replay_queue<episode>> replay;
  bool greedy = false;  // true if it takes the likeliest token
};

troupe::task<episode> generate_episode(roles r) {
  const auto asked = co_await r.data.route<&questions::next>();
  troupe::act_request request{encode(asked.text), r.greedy};
  const auto reply = co_await r.policies.route<&troupe::policy::act>(request);
  text_pair answer{{tokens[reply.discrete[0]]}, asked.expected};
  const auto judged = co_await r.rewards.route<&judge::evaluate>(answer);
  const troupe::agent_rows rows(shape);
  troupe::rollout_writer writer(rows, 1, 1);
  const troupe::env_step ended{.reward = {judged.total}, .terminated = {1}, .truncated = {0}};
  const troupe::policy_rows seen(rows, request.obs);
  writer.add(0, 0, seen, {&reply, 1}, ended, seen);
  auto row = writer.finish({&seen, 1});
  row.policies[0].bootstrap_value = {0};  // the episode has ended, so it does not count
  co_return episode{std::move(row), judged, reply.version};
}

troupe::task<std::int64_t> train(roles r, bool stale, std::vector<episode> episodes) {
  troupe::training_rollouts batch{.stale = stale};
  for (auto& e : episodes) batch.rollouts.push_back(std::move(e.row));
  co_await r.learner.route<&ppo_trainer::train_step>(std::move(batch), 1.0, std::nullopt);
  co_return co_await r.learner.route<&ppo_trainer::push_weights>(r.policies);
}

troupe::task<double> right_answers(roles r) {
  r.greedy = true;
  int asked = 0;
  double right = 0;
  std::function<bool(const episode&)> enough = [&](const episode& e) {
    right += e.reward.values[0];
    return ++asked == 500;
  };
  co_await loops::evaluate(r, generate_episode, enough);
  co_return right / asked;
}

troupe::task<double> learn(troupe::system& sys, roles r, bool async) {
  const std::string mode = async ? "async" : "sync";
  auto store = co_await sys.serve<troupe::weight_store>({.name = "weights-" + mode});
  troupe::ppo_options options{{.lr = 5e-3, .batch_size = 64, .n_epochs = 8}};
  options.ent_coef = 0.15;  // Large: the right token must be tried before it can be rewarded.
  options.network = {.hidden = {128}, .hidden_activation = troupe::activation::relu};
  ppo_trainer::maker make = [=] { return std::make_unique<ppo_learner>(shape, options, 1); };
  r.learner = co_await sys.serve<ppo_trainer>({.name = "trainer-" + mode}, make, store);
  const troupe::policy_options acting{.shape = shape, .network = options.network, .seed = 2};
  r.policies = co_await sys.serve<troupe::policy>({.name = "policy-" + mode}, acting, store);
  const troupe::replay_options kept{.batch = 128, .max_staleness = async ? 2 : 0};
  r.replay = co_await sys.serve<troupe::replay_queue<episode>>({.name = "replay-" + mode}, kept);
  const double before = co_await right_answers(r);
  loops::hooks<episode> hooks{
      .train = [&](std::vector<episode> batch) { return train(r, async, std::move(batch)); }};
  if (async)
    co_await loops::asynchronous(r, generate_episode, hooks, {.rollouts = 128, .updates = 300});
  else
    co_await loops::synchronous(r, generate_episode, hooks, {.batch = 128, .updates = 300});
  const double after = co_await right_answers(r);
  std::printf("%s: %.0f %% right before, %.0f %% after\n", mode.c_str(), 100 * before, 100 * after);
  co_return after;
}

troupe::task<> main_task(troupe::system& sys) {
  roles r;
  const troupe::pattern_match digit("[0-9]");
  const std::vector<troupe::reward_function<text_pair>> functions{
      {"right", [](const text_pair& a) { return troupe::exact_match(a.text, a.expected); }},
      {"format", [digit](const text_pair& a) { return digit(a.text); }, 0.1}};
  r.data = co_await sys.serve<questions>({.name = "dataset"}, all_questions());
  r.rewards = co_await sys.serve<judge>({.name = "reward"}, functions, &sys.metrics());
  for (const bool async : {false, true}) {
    const double right = co_await learn(sys, r, async);
    if (right < 0.95) throw std::runtime_error("the questions were not learned");
  }
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, main_task);
}
