// What a gradient step of SAC and TD3 costs at the sizes at which RL-tools publishes its times:
// Pendulum's shapes, two layers of 64 ReLU, batches of 100. CPU time, the best of 15 slices.
//
//   sac_update_us, td3_update_us    microseconds of one update (TD3's actor every second one)
//
// bench_learners [--json]

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "tests/bench/two_clocks.hpp"

namespace {

double cpu_us() { return 1e6 * troupe::detail::cpu_seconds(); }

troupe::transition_batch some_batch(const troupe::network_shape& shape, int rows) {
  troupe::action_random random(7);
  troupe::transition_batch batch;
  batch.resize(rows, shape);
  for (auto* column : {&batch.obs, &batch.next_obs, &batch.reward}) random.fill_normal(*column);
  for (auto& a : batch.action) a = static_cast<float>(2.0 * random.uniform() - 1.0);
  std::ranges::fill(batch.discount, 0.99f);
  return batch;
}

template <class Options>
Options with(const troupe::network_options& network) {
  Options options;
  options.lr = 1e-3;
  options.network = network;
  return options;
}

template <class Learner>
double update_us(Learner& learner, const troupe::transition_batch& batch) {
  constexpr int slices = 15, updates = 200;
  double best = std::numeric_limits<double>::infinity();
  for (int slice = 0; slice < slices; ++slice) {
    const double start = cpu_us();
    for (int i = 0; i < updates; ++i) learner.update(batch);
    best = std::min(best, (cpu_us() - start) / updates);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const troupe::network_shape pendulum{.obs_size = 3, .continuous_size = 1};
  const troupe::network_options network{
      .hidden = {64, 64}, .hidden_activation = troupe::activation::relu, .ortho_init = false};
  const auto batch = some_batch(pendulum, 100);
  troupe::sac_learner sac(pendulum, with<troupe::sac_options>(network), 1);
  troupe::td3_learner td3(pendulum, with<troupe::td3_options>(network), 1);
  const double sac_us = update_us(sac, batch);
  const double td3_us = update_us(td3, batch);
  std::printf("update of a batch of 100: SAC %.1f us, TD3 %.1f us\n", sac_us, td3_us);
  if (argc > 1 && std::strcmp(argv[1], "--json") == 0) {
    const nlohmann::ordered_json line{{"sac_update_us", sac_us}, {"td3_update_us", td3_us}};
    std::puts(line.dump().c_str());
  }
  return 0;
}
