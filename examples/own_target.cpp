// An algorithm of your own whose targets have a state: TD3 that bootstraps from the smallest of
// three critics, clipped to the range of the returns of repeating the least and the largest reward.
// The roles are those of every off-policy algorithm.
//
//   ./own_target train -n 10000 --env Pendulum-v1 slack=0.1 policy.backend=libtorch

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/program/main.hpp"

// readme: own_target
struct clipped_config : troupe::td3_config {
  clipped_config() {
    algo = "clipped_td3";
    trainer.n_critics = 3;
  }

  double slack = 0.0;
};

void describe(troupe::options_schema<clipped_config>& s) {
  troupe::describe_td3(s);
  s.field("slack", &clipped_config::slack)
      .at_least(0)
      .help("The range is widened at both ends by this share of its width.");
}

class clipped_learner final : public troupe::td3_learner {
 public:
  clipped_learner(const troupe::network_shape& shape, const troupe::td3_options& options,
                  std::uint64_t seed, double slack)
      : td3_learner(shape, options, seed), slack_(static_cast<float>(slack)) {}

  void visit_state(troupe::state_visitor& visit) override {
    td3_learner::visit_state(visit);
    visit("range", range_);
  }

 protected:
  troupe::variable next_value(troupe::variable q, const troupe::transition_batch& batch) override {
    for (int row = 0; row < batch.rows; ++row) {
      const float forever = batch.reward[row] / (1.0f - batch.discount[row]);
      range_[0] = std::min(range_[0], forever);
      range_[1] = std::max(range_[1], forever);
    }
    const float more = slack_ * (range_[1] - range_[0]);
    return clamp(row_min(q), range_[0] - more, range_[1] + more);
  }

 private:
  const float slack_;
  std::vector<float> range_ = {0.0f, 0.0f};
};

troupe::algorithm algorithm_with(const clipped_config& config) {
  return troupe::td3_algorithm<clipped_learner>(config, config.slack);
}
// readme: end

int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.help = "Trains by TD3 with clipped targets.",
                       .algorithms = {troupe::algorithm_of<clipped_config>(
                           "clipped_td3", "TD3 with three critics and clipped targets")}});
}
