// What it costs to choose actions. CPU time, the best of 21 slices of at least 5 ms:
//
//   infer_us_1, infer_us_64, infer_us_1024   forward pass of 4-64-64-2, tanh, for so many rows
//   allocations_per_step                     calls of malloc while a batch of 16 environments acts
//                                            by an actor-critic, is stepped and stored, mean of the
//                                            steps at which no episode ends
//   allocations_per_episode                  the same at an episode's end, whose report needs
//   memory
//
// bench_infer [--json]

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/kernels/float_block.hpp"
#include "actors/networks/actor_critic.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/shape_of.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/rollout.hpp"
#include "tests/bench/two_clocks.hpp"

namespace {

std::atomic<std::int64_t> allocations = 0;

}  // namespace

// Every allocation of the process comes through here, operator new's and libtorch's too; glibc's
// own functions do the work.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* p, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* p, std::size_t size) {
  ++allocations;
  return __libc_realloc(p, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t size) {
  ++allocations;
  *p = __libc_memalign(alignment, size);
  return *p ? 0 : 12;  // ENOMEM
}
}

namespace troupe {
namespace {

double cpu_us() { return 1e6 * troupe::detail::cpu_seconds(); }

double infer_us(int rows) {
  const detail::mlp net(4, {64, 64}, 2, activation::tanh);
  action_random random(1);
  detail::float_block parameters(net.parameter_count());  // as a policy keeps them
  std::vector<float> obs(static_cast<std::size_t>(rows) * 4),
      outputs(static_cast<std::size_t>(rows) * 2);
  net.initialise_orthogonal(random, 0.01, parameters.data());
  random.fill_normal(obs);
  detail::mlp_buffers buffers;
  const int calls = std::max(1, 40'000 / rows);
  double best = std::numeric_limits<double>::infinity();
  for (int slice = 0; slice < 21; ++slice) {
    const double start = cpu_us();
    for (int i = 0; i < calls; ++i) {
      net.infer(parameters.data(), obs.data(), rows, buffers, outputs.data());
    }
    best = std::min(best, (cpu_us() - start) / calls);
  }
  return best;
}

struct allocation_counts {
  double per_step = 0.0;
  double per_episode = 0.0;
};

allocation_counts count_allocations() {
  constexpr std::size_t size = 16;
  constexpr int steps = 2000, warm_up = 500;
  const auto environments = make_vector_environment("CartPole-v1", size);
  const auto shape = shape_of(environments->spec());
  actor_critic model(shape, {}, 1);
  action_random random(2);
  rollout store(steps, size);
  env_actions actions;
  env_step after;
  act_reply acted;
  acted.discrete.resize(size);
  acted.log_prob.resize(size);
  acted.value.resize(size);
  auto obs = environments->reset(3).obs;

  std::int64_t quiet = 0, quiet_steps = 0, at_ends = 0, ends = 0;
  for (int t = 0; t < steps; ++t) {
    const std::int64_t before = allocations;
    model.act(obs.data(), size, random, false, {.choice = acted.discrete.data()},
              acted.log_prob.data(), acted.value.data());
    actions.discrete.assign(acted.discrete.begin(), acted.discrete.end());
    environments->step_into(actions, after);
    store.add(t, obs, acted, after);
    std::ranges::copy(after.obs, obs.begin());
    const std::int64_t made = allocations - before;
    if (t < warm_up) continue;
    if (after.finished.empty()) {
      quiet += made;
      ++quiet_steps;
    } else {
      at_ends += made;
      ends += static_cast<std::int64_t>(after.finished.size());
    }
  }
  return {static_cast<double>(quiet) / static_cast<double>(quiet_steps),
          static_cast<double>(at_ends) / static_cast<double>(ends)};
}

int run(bool as_json) {
  const double one = infer_us(1), some = infer_us(64), many = infer_us(1024);
  const auto counts = count_allocations();
  std::printf("4-64-64-2 tanh: %.3f us for 1 row, %.2f for 64, %.1f for 1024\n", one, some, many);
  std::printf(
      "act, step and store of 16 environments: %.3f allocations, %.2f at an episode's end\n",
      counts.per_step, counts.per_episode);
  if (as_json) {
    const nlohmann::ordered_json line{{"infer_us_1", one},
                                      {"infer_us_64", some},
                                      {"infer_us_1024", many},
                                      {"allocations_per_step", counts.per_step},
                                      {"allocations_per_episode", counts.per_episode}};
    std::puts(line.dump().c_str());
  }
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  return troupe::run(argc > 1 && std::strcmp(argv[1], "--json") == 0);
}
