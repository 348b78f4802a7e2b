// The two-step game of Rashid et al. 2018, https://arxiv.org/abs/1803.11485, section 5: what VDN
// and QMIX learn of it when all actions are uniformly random. VDN can't represent the table of
// stage 2B, and prefers the safe 7; QMIX represents it and gets 8.

#include "actors/torch/torch.hpp"

#include <array>
#include <cmath>

#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/multi_agent/off_policy/joint_q_networks.hpp"
#include "algorithms/multi_agent/off_policy/qmix/mixing_network.hpp"
#include "algorithms/multi_agent/off_policy/qmix/qmix.hpp"
#include "algorithms/multi_agent/off_policy/vdn/vdn.hpp"
#include "tests/algorithms/multi_agent/off_policy/mixed.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using table = std::array<std::array<double, 2>, 2>;  // of agent 0's and agent 1's actions

constexpr double gamma = 0.99;
constexpr table payoffs_a{{{7, 7}, {7, 7}}}, payoffs_b{{{0, 1}, {1, 8}}};

/// The sum of values of each agent that is nearest to the table, if all joint actions weigh the
/// same: the means of rows and columns less the mean of all.
table nearest_sum(const table& of) {
  double all = 0, rows[2] = {}, columns[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      rows[i] += of[i][j] / 2;
      columns[j] += of[i][j] / 2;
      all += of[i][j] / 4;
    }
  }
  table made;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) made[i][j] = rows[i] + columns[j] - all;
  }
  return made;
}

double largest(const table& of) {
  return std::max(std::max(of[0][0], of[0][1]), std::max(of[1][0], of[1][1]));
}

double squares_between(const table& a, const table& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) sum += (a[i][j] - b[i][j]) * (a[i][j] - b[i][j]);
  }
  return sum;
}

template <class Config>
Config uniform_play(std::uint64_t seed) {
  Config config;
  config.env = {.id = "two_step-v0", .n_envs = 8};
  config.seed = seed;
  config.total_steps = 20'000;
  config.collection = {.learning_starts = 500, .train_freq = 8, .gradient_steps = 8};
  config.replay.capacity = 20'000;
  config.exploration = {.initial = 1, .final = 1};
  config.trainer.gamma = gamma;
  config.trainer.lr = 2e-3;
  config.trainer.lr_schedule = annealing::linear;
  config.trainer.batch_size = 64;
  config.trainer.target_update_interval = 64;
  config.trainer.tau = 0.05;
  config.policy.hidden = {32};
  config.evaluation = {.every_steps = 0, .final_episodes = 1};
  config.log.episodes = 1000;
  config.deterministic = true;
  return config;
}

/// The values Q_tot of the agents' joint choices in a stage of the game, by a model of VDN.
table values_of(const saved_model& model, std::size_t stage) {
  const joint_q_networks networks(model.shape, model.options);
  std::vector<float> obs(9, 0.0f);  // what agent 0, agent 1 and the state show of the stage
  for (std::size_t i = 0; i < 3; ++i) obs[3 * i + stage] = 1;
  std::array<std::vector<float>, 2> values;
  const auto parameters = model.parameters.contiguous();
  for (std::size_t agent = 0; agent < 2; ++agent) {
    const auto policy = static_cast<std::size_t>(networks.policy_of_agent()[agent]);
    const auto& of = networks[policy];
    const auto& members = networks.rows().agents_of(policy);
    std::vector<float> rows(members.size() * static_cast<std::size_t>(of.stack.inputs()));
    networks.rows().gather_inputs(policy, obs, rows);
    std::vector<float> outputs(2 * members.size());
    detail::stack_buffers buffers;
    of.stack.infer(parameters.data_ptr<float>() + of.first, rows.data(),
                   static_cast<int>(members.size()), buffers, outputs.data());
    const auto own = static_cast<std::size_t>(std::ranges::find(members, agent) - members.begin());
    values[agent] = {outputs[2 * own], outputs[2 * own + 1]};
  }
  table made;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) made[i][j] = values[0][i] + values[1][j];
  }
  return made;
}

/// What the best sum of values is in each stage: the first one leads to 2A or 2B.
struct best_sums {
  table first, a, b;
};
best_sums exact_sums() {
  best_sums made{.first = {}, .a = nearest_sum(payoffs_a), .b = nearest_sum(payoffs_b)};
  const double to_a = gamma * largest(made.a), to_b = gamma * largest(made.b);
  made.first = nearest_sum({{{to_a, to_a}, {to_b, to_b}}});
  return made;
}

}  // namespace

TEST_CASE("two-step game: the nearest sum of values prefers 7") {
  const auto best = exact_sums();
  CHECK(best.b == table{{{-1.5, 2.5}, {2.5, 6.5}}});
  CHECK(squares_between(best.b, payoffs_b) == Approx(9));
  // No other sum is nearer: a step away in any direction of its four values is farther.
  for (const double step : {-0.01, 0.01}) {
    for (std::size_t which = 0; which < 4; ++which) {
      auto other = best.b;
      for (std::size_t k = 0; k < 2; ++k) {
        (which < 2 ? other[which][k] : other[k][which - 2]) += step;
      }
      CHECK(squares_between(other, payoffs_b) > squares_between(best.b, payoffs_b));
    }
  }
  CHECK(largest(best.b) < largest(best.a));
  CHECK(best.first[0][0] == Approx(gamma * 7));
  CHECK(best.first[1][0] == Approx(gamma * 6.5));
}

TEST_CASE("two-step game: a monotonic mixing represents 8") {
  // With q = 0 for action 0 and q = 1 for action 1, the two hidden units are elu(q_0 + q_1) and
  // elu(7 (q_0 + q_1) - 7), and the weights below give 0, 1, 1 and 8 but for rounding.
  const double e = std::exp(-7.0), second = 6 / (6 + e), bias = second * (1 - e), first = 1 - bias;
  const auto spec = make_vector_environment("two_step-v0", 1)->spec();
  const auto shape = joint_shape(spec, {"a", "b"}, {});
  mixing_network mixer(shape, {.embed_dim = 2, .hyper_hidden = {}});
  std::vector<float> parameters(static_cast<std::size_t>(mixer.layout().count), 0.0f);
  const auto place = [&](const std::string& name) {
    const auto layout = mixer.layout();
    const auto found = std::ranges::find(layout.tensors, "mixer." + name, &tensor_place::name);
    return parameters.begin() + found->offset;
  };
  // Weights are [in, out] in the block, and the input is the stage, one-hot: of all stages alike.
  std::ranges::copy(std::vector{1.0f, 7.0f, 1.0f, 7.0f}, place("w1.0.bias"));
  std::ranges::copy(std::vector{0.0f, -7.0f}, place("b1.0.bias"));
  std::ranges::copy(std::vector{float(first), float(second)}, place("w2.0.bias"));
  *place("v.1.bias") = float(bias);
  const std::vector<float> q{0, 0, 0, 1, 1, 0, 1, 1};
  const std::vector<float> obs(4 * 9, 0.0f);
  const auto total = testing::mixed(mixer, parameters, obs, q, 4);
  CHECK(total[0] == Approx(0).margin(1e-5));
  CHECK(total[1] == Approx(1));
  CHECK(total[2] == Approx(1));
  CHECK(total[3] == Approx(8));
}

TEST_CASE("two-step game: under random play VDN gets 7, with the values of the nearest sums") {
  testing::stage on;
  const auto best = exact_sums();
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto run = on.run(algorithm_with(uniform_play<vdn_config>(seed)), std::to_string(seed))
                         .summary.value();
    CHECK(run.eval_mean == 7);
    const auto model = load_model(run_directory::open(run.run_directory).last_model());
    for (const auto& [stage, expected] : {std::pair(0, best.first), {1, best.a}, {2, best.b}}) {
      const auto found = values_of(model, static_cast<std::size_t>(stage));
      CAPTURE(stage, found[0][0], found[0][1], found[1][0], found[1][1]);
      for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
          CHECK(found[i][j] == Approx(expected[i][j]).margin(0.4));
        }
      }
    }
  }
}

TEST_CASE("two-step game: under random play QMIX gets 8") {
  testing::stage on;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto run = on.run(algorithm_with(uniform_play<qmix_config>(seed)), std::to_string(seed))
                         .summary.value();
    CHECK(run.eval_mean == 8);
  }
}

}  // namespace troupe
