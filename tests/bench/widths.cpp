// At which width libtorch's products overtake the hand-written kernels: CPU microseconds of one PPO
// minibatch, its evaluation and its gradient, and of acting, by either, in turn on one thread.
// 17 observations and 6 continuous actions, as HalfCheetah's; the medians of 9 turns.
//
//   ppo_WIDTHS_bROWS_fused_us, ppo_WIDTHS_bROWS_libtorch_us    evaluation and gradient of ROWS rows
//   act_WIDTHS_bROWS_fused_us, act_WIDTHS_bROWS_libtorch_us    values and actions of ROWS rows
//
// bench_widths [--json]

#include "actors/torch/torch.hpp"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "actors/gradients/engine.hpp"
#include "actors/gradients/policy.hpp"
#include "actors/torch/torch_threads.hpp"

namespace {

using troupe::actor_critic;

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

struct pair_us {
  double fused = 0.0, libtorch = 0.0;
};

/// Medians of either, taken in turn; each turn runs long enough for the clock.
pair_us in_turn(const std::function<void()>& fused, const std::function<void()>& libtorch) {
  constexpr int turns = 9;
  constexpr double turn_us = 20'000;
  const auto once = [](const std::function<void()>& work) {
    const double start = cpu_us();
    work();
    return cpu_us() - start;
  };
  const auto of_turn = [&](const std::function<void()>& work, int calls) {
    const double start = cpu_us();
    for (int i = 0; i < calls; ++i) work();
    return (cpu_us() - start) / calls;
  };
  fused(), libtorch();
  const int calls = std::max(1, static_cast<int>(turn_us / std::max(once(fused), 1.0)));
  std::vector<double> of_fused, of_libtorch;
  for (int turn = 0; turn < turns; ++turn) {
    of_fused.push_back(of_turn(fused, calls));
    of_libtorch.push_back(of_turn(libtorch, calls));
  }
  std::ranges::sort(of_fused);
  std::ranges::sort(of_libtorch);
  return {of_fused[turns / 2], of_libtorch[turns / 2]};
}

/// One minibatch's numbers.
struct minibatch {
  explicit minibatch(const troupe::network_shape& shape, int rows)
      : obs(at::empty({rows, shape.obs_size}, at::kFloat)),
        action(at::empty({rows, shape.continuous_size}, at::kFloat)) {
    troupe::action_random random(7);
    for (const auto& x : {obs, action}) {
      random.fill_normal(std::span(x.data_ptr<float>(), static_cast<std::size_t>(x.numel())));
    }
  }
  at::Tensor obs, action;
};

/// Evaluates the minibatch's actions by an engine.
troupe::action_evaluation evaluate_by(troupe::graph& g, actor_critic& network, minibatch& of,
                                      const troupe::parameter_block& block) {
  g.clear();
  const std::span<const float> obs(of.obs.data_ptr<float>(),
                                   static_cast<std::size_t>(of.obs.numel()));
  return evaluate(g, network, block, obs, {.value = of.action.data_ptr<float>()});
}

pair_us gradient_us(actor_critic& network, minibatch& of) {
  const auto by = [&](troupe::graph& g) {
    return [&] {
      const auto e = evaluate_by(g, network, of, trained_parameters(network));
      g.backward(mean(e.log_prob) + mean(e.entropy) + mean(e.value));
    };
  };
  const auto kernels = make_graph(true, network.link()), torch = make_graph(false, network.link());
  return in_turn(by(*kernels), by(*torch));
}

pair_us act_us(actor_critic& network, minibatch& of) {
  const auto by = [&](troupe::graph& g) {
    return [&] { evaluate_by(g, network, of, trained_parameters(network).frozen()); };
  };
  const auto kernels = make_graph(true, network.link()), torch = make_graph(false, network.link());
  return in_turn(by(*kernels), by(*torch));
}

}  // namespace

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  const troupe::network_shape cheetah{.obs_size = 17, .continuous_size = 6};
  nlohmann::ordered_json line;
  std::printf("%-12s %6s %12s %12s %7s   %12s %12s %7s\n", "widths", "rows", "fused us",
              "libtorch us", "ratio", "act fused us", "libtorch us", "ratio");
  for (const std::vector<int>& hidden : {std::vector{64, 64},
                                         {256, 256},
                                         {400, 300},
                                         {512, 512},
                                         {768, 768},
                                         {1024, 1024},
                                         {2048, 2048}}) {
    actor_critic network(cheetah, {.hidden = hidden, .ortho_init = false}, 1);
    const auto name = std::to_string(hidden[0]) + "-" + std::to_string(hidden[1]);
    for (const int rows : {1, 8, 64, 256}) {
      minibatch of(cheetah, rows);
      const auto gradient = gradient_us(network, of);
      const auto act = act_us(network, of);
      std::printf("%-12s %6d %12.1f %12.1f %7.2f   %12.1f %12.1f %7.2f\n", name.c_str(), rows,
                  gradient.fused, gradient.libtorch, gradient.fused / gradient.libtorch, act.fused,
                  act.libtorch, act.fused / act.libtorch);
      const auto key = name + "_b" + std::to_string(rows);
      line["ppo_" + key + "_fused_us"] = gradient.fused;
      line["ppo_" + key + "_libtorch_us"] = gradient.libtorch;
      line["act_" + key + "_fused_us"] = act.fused;
      line["act_" + key + "_libtorch_us"] = act.libtorch;
    }
  }
  if (argc > 1 && std::strcmp(argv[1], "--json") == 0) std::puts(line.dump().c_str());
  return 0;
}
