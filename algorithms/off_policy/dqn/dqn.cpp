#include "algorithms/off_policy/dqn/dqn.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/learner_adapter.hpp"

namespace troupe {

named_values named(const dqn_metrics& m) {
  return {{"train/loss", m.loss}, {"train/q_mean", m.q_mean}, {"train/grad_norm", m.grad_norm}};
}

namespace {

/// DQN's rule, which updates the target network every `every` steps of each environment. If a
/// collection has more steps, it updates it several times.
class dqn_learner_adapter final : public learner_adapter<dqn_learner> {
 public:
  dqn_learner_adapter(const network_shape& shape, const dqn_options& options, std::uint64_t seed,
                      std::int64_t every)
      : learner_adapter(shape, options, seed), every_(every) {}

  void stepped(std::int64_t before, std::int64_t after) override {
    learner_.update_target(after / every_ - before / every_);
  }

 private:
  std::int64_t every_;
};

}  // namespace

algorithm algorithm_with(const dqn_config& c) {
  const auto kind = c.trainer.dueling ? network_kind::dueling_q_values : network_kind::q_values;
  return algorithm_with(off_policy_algorithm_of<dqn_learner_adapter>(
      c, kind, {.epsilon = c.exploration}, c.target_update_steps()));
}

}  // namespace troupe
