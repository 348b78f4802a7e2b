// The losses of IQL, VDN and QMIX against their equations, written out in double precision for one
// row at a time.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "algorithms/multi_agent/off_policy/iql/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/mixing_network.hpp"
#include "algorithms/multi_agent/off_policy/vdn/learner.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/multi_agent/off_policy/random_agents.hpp"
#include "tests/algorithms/off_policy/equations.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr int rows = 23, agents = 5, state_size = 4;

/// Five agents of three policies, whose agents do not stand beside each other. They come and go,
/// and have masks; those of a policy with several have numbers.
network_shape five_agents() {
  const space seen = spaces::box(-1, 1, {3}), other = spaces::box(-1, 1, {2});
  const env_spec spec{.id = "Five-v0",
                      .agents = {{"a", seen, spaces::discrete(4)},
                                 {"b", other, spaces::discrete(3)},
                                 {"c", seen, spaces::discrete(4)},
                                 {"d", other, spaces::discrete(2)},
                                 {"e", other, spaces::discrete(3)}},
                      .state_space = spaces::box(-1, 1, {state_size}),
                      .agents_vary = true,
                      .action_masks = true};
  return joint_shape(with_joint_spaces(spec), {"p", "q", "p", "r", "q"}, {});
}

transition_batch weighted_batch(const network_shape& shape) {
  case_random random(8);
  auto batch = random_joint_batch(random, shape, rows);
  batch.weight.clear();
  for (int row = 0; row < rows; ++row) batch.weight.push_back(0.25f + 0.1f * row);
  return batch;
}

template <class Learner, class... More>
Learner learner_of(const network_shape& shape, bool double_q, const More&... more) {
  joint_q_options options;
  options.backend = gradient_backend::fused;
  options.network.hidden = {16};
  options.double_q = double_q;
  Learner learner(shape, options, 4, more...);
  auto state = parts_of(learner);
  state["target"] = moved(state["target"]);
  set_parts(learner, state);
  return learner;
}

/// What is known of one agent in one row.
struct agent_row {
  bool acts = false;
  double q = 0;     ///< The value of its choice; 0 if it does not act.
  double next = 0;  ///< The target's value of its best next choice; 0 if it does not go on.
};

class equations {
 public:
  equations(const joint_q_learner& learner, const transition_batch& batch)
      : learner_(learner), shape_(learner.networks().shape()), batch_(batch) {
    const auto state = parts_of(learner);
    online_.assign(state["parameters"].begin(), state["parameters"].end());
    target_.assign(state["target"].begin(), state["target"].end());
  }

  agent_row agent(int row, int i) const {
    const auto& view = shape_.agents[i];
    const auto obs = row_of(batch_.obs, row, shape_.obs_size);
    const auto next_obs = row_of(batch_.next_obs, row, shape_.obs_size);
    agent_row made{.acts = learner_.trained()[view.policy] && obs[view.active] != 0};
    if (made.acts) {
      made.q = values(online_, view, obs)[batch_.choice[row * agents + view.integers_begin]];
    }
    if (next_obs[view.active] == 0 || batch_.agent_terminated[row * agents + i] != 0) return made;
    const auto next = values(target_, view, next_obs);
    const auto judged = learner_.options().double_q ? values(online_, view, next_obs) : next;
    made.next = next[best_of(judged, &next_obs[view.mask_begin])];
    return made;
  }

  double discount(int row) const { return batch_.discount[row]; }
  double weight(int row) const { return batch_.weight[row]; }
  const detail::float_block& online() const { return online_; }
  const detail::float_block& target() const { return target_; }

 private:
  std::vector<double> values(const detail::float_block& parameters, const agent_view& view,
                             const std::vector<float>& obs) const {
    std::vector<float> seen(obs.begin() + view.obs_begin,
                            obs.begin() + view.obs_begin + view.obs_size);
    for (int id = 0; id < view.ids; ++id) seen.push_back(id == view.id ? 1.0f : 0.0f);
    const auto& net = learner_.networks()[view.policy];
    return outputs_of(net.stack.top(), parameters.data() + net.first, seen);
  }

  /// The best of the allowed choices; of all, if none is allowed.
  static int best_of(const std::vector<double>& q, const float* mask) {
    const int count = static_cast<int>(q.size());
    const bool any = std::any_of(mask, mask + count, [](float x) { return x > 0; });
    int best = -1;
    for (int i = 0; i < count; ++i) {
      if (any && !(mask[i] > 0)) continue;
      if (best < 0 || q[i] > q[best]) best = i;
    }
    return best;
  }

  const joint_q_learner& learner_;
  const network_shape& shape_;
  const transition_batch& batch_;
  detail::float_block online_, target_;
};

void check_update(joint_q_learner& learner, const transition_batch& batch, double loss,
                  double q_mean, const std::vector<double>& errors) {
  const auto metrics = learner.update(batch);
  CHECK(metrics["train/loss"] == Approx(loss).epsilon(1e-5));
  CHECK(metrics["train/q_mean"] == Approx(q_mean).epsilon(1e-5).margin(1e-6));
  for (int row = 0; row < rows; ++row) {
    CHECK(learner.last().td_errors[row] == Approx(errors[row]).epsilon(1e-5).margin(1e-5));
  }
}

void check_agents(iql_learner& learner, const transition_batch& batch) {
  const equations of(learner, batch);
  const auto& policy = learner.networks().policy_of_agent();
  std::vector<double> counts(learner.networks().policies()), sums(counts.size()), errors;
  double q = 0, acting = 0;
  for (int row = 0; row < rows; ++row) {
    double size = 0, here = 0;
    for (int i = 0; i < agents; ++i) {
      const auto one = of.agent(row, i);
      if (!one.acts) continue;
      const double goes_on = 1 - double(batch.agent_terminated[row * agents + i]);
      const double y = batch.agent_reward[row * agents + i] + of.discount(row) * goes_on * one.next;
      sums[policy[i]] += of.weight(row) * (one.q - y) * (one.q - y);
      ++counts[policy[i]];
      size += std::abs(one.q - y);
      ++here;
      q += one.q;
    }
    acting += here;
    errors.push_back(here > 0 ? size / here : 0);
  }
  double loss = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) loss += counts[i] > 0 ? sums[i] / counts[i] : 0;
  check_update(learner, batch, loss, q / acting, errors);
}

/// Q_tot of the agents' values in a row of observations, by parameters of the mixer.
using mixing = std::function<double(const float* parameters, const std::vector<float>& obs,
                                    const std::vector<double>& q)>;

void check_team(joint_q_learner& learner, const transition_batch& batch, const mixing& mix) {
  const equations of(learner, batch);
  const auto first = learner.networks().parameter_count();
  const auto width = learner.networks().shape().obs_size;
  double loss = 0, q_mean = 0;
  std::vector<double> errors;
  for (int row = 0; row < rows; ++row) {
    std::vector<double> q, next;
    for (int i = 0; i < agents; ++i) {
      const auto one = of.agent(row, i);
      q.push_back(one.q);
      next.push_back(one.next);
    }
    const double total = mix(of.online().data() + first, row_of(batch.obs, row, width), q);
    const double next_total =
        mix(of.target().data() + first, row_of(batch.next_obs, row, width), next);
    const double goes_on = 1 - double(batch.terminated[row]);
    const double error = total - (batch.reward[row] + of.discount(row) * goes_on * next_total);
    loss += of.weight(row) * error * error / rows;
    q_mean += total / rows;
    errors.push_back(std::abs(error));
  }
  check_update(learner, batch, loss, q_mean, errors);
}

/// w2 . elu(w1 q + b1) + v for a mixer that sees `state`.
double mixed_by_equation(const float* parameters, const std::vector<float>& state,
                         const mixer_section& with, const std::vector<double>& q) {
  const int inputs = static_cast<int>(state.size()), embed = with.embed_dim;
  const auto made_by = [&](const std::vector<int>& hidden, int outputs) {
    const detail::mlp net(inputs, hidden, outputs, activation::relu);
    const auto made = outputs_of(net, parameters, state);
    parameters += net.parameter_count();
    return made;
  };
  const auto w1 = made_by(with.hyper_hidden, agents * embed), b1 = made_by({}, embed);
  const auto w2 = made_by(with.hyper_hidden, embed), v = made_by({embed}, 1);
  double total = v[0];
  for (int e = 0; e < embed; ++e) {
    double x = b1[e];
    for (int i = 0; i < agents; ++i) x += std::abs(w1[i * embed + e]) * q[i];
    total += std::abs(w2[e]) * (x > 0 ? x : std::exp(x) - 1);
  }
  return total;
}

template <class Work>
void for_single_and_double(const Work& work) {
  for (const bool double_q : {false, true}) {
    CAPTURE(double_q);
    work(double_q);
  }
}

}  // namespace

TEST_CASE("rules: IQL's loss is that of each policy alone, over the rows in which its agents act",
          "[joint_q]") {
  const auto shape = five_agents();
  const auto batch = weighted_batch(shape);
  for_single_and_double([&](bool double_q) {
    auto learner = learner_of<iql_learner>(shape, double_q, agents_section());
    check_agents(learner, batch);
    agents_section section;
    section.frozen = {"q"};
    auto others = learner_of<iql_learner>(shape, double_q, section);
    check_agents(others, batch);
  });
}

TEST_CASE("rules: VDN's loss is that of the sum of the agents' values", "[joint_q]") {
  const auto shape = five_agents();
  const auto batch = weighted_batch(shape);
  for_single_and_double([&](bool double_q) {
    auto learner = learner_of<vdn_learner>(shape, double_q);
    check_team(learner, batch, [](const float*, const auto&, const std::vector<double>& q) {
      double sum = 0;
      for (const double each : q) sum += each;
      return sum;
    });
  });
}

TEST_CASE("rules: QMIX's loss is that of the monotonic mixing of its equation", "[joint_q]") {
  const auto shape = five_agents();
  const auto batch = weighted_batch(shape);
  const auto hidden = {std::vector<int>{}, std::vector<int>{7}};
  for (const auto input : {mixer_input::state, mixer_input::observations, mixer_input::none}) {
    for (const auto& hyper_hidden : hidden) {
      CAPTURE(input, hyper_hidden.size());
      const mixer_section with{.input = input, .embed_dim = 6, .hyper_hidden = hyper_hidden};
      const auto range = input_of_mixer(shape, input);
      const auto mix = [&](const float* parameters, const std::vector<float>& obs,
                           const std::vector<double>& q) {
        std::vector<float> state{1.0f};
        if (input != mixer_input::none) {
          const auto begin = obs.begin() + static_cast<std::ptrdiff_t>(range.begin);
          state.assign(begin, begin + static_cast<std::ptrdiff_t>(range.size));
        }
        return mixed_by_equation(parameters, state, with, q);
      };
      for_single_and_double([&](bool double_q) {
        auto learner = learner_of<qmix_learner>(shape, double_q, agents_section(), with);
        check_team(learner, batch, mix);
      });
    }
  }
}

}  // namespace troupe
