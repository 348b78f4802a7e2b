#include "actors/torch/torch.hpp"

#include "tests/bench/replicas.hpp"

#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "actors/policy/policy.hpp"
#include "actors/torch/tensor_codec.hpp"
#include "actors/weights/give_weights.hpp"
#include "runtime/process/child.hpp"
#include "runtime/system/node.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/bare_stream.hpp"

namespace troupe::detail {

namespace {

constexpr int rounds = 9;
constexpr int call_pairs_a_round = 10, calls_a_pair = 200, tensors_a_round = 300,
              updates_a_round = 100;
constexpr std::int64_t tensor_floats = 1 << 18;  // 1 MB
constexpr int window = 4;                        // Calls with tensors that are under way at once.
constexpr std::size_t policies = 8;

/// Takes and gives.
class desk {
 public:
  std::int64_t pid() { return getpid(); }
  std::string mirror(std::string text) { return text; }
  std::int64_t take(at::Tensor tensor) { return tensor.numel(); }
  at::Tensor give() { return kept_; }

 private:
  at::Tensor kept_ = at::ones({tensor_floats});
};

/// A policy that says where it lives.
class located_policy : public policy {
 public:
  using policy::policy;
  std::int64_t pid() { return getpid(); }
};

/// 4-44-44-2 twice, 4,535 floats.
policy_options small_policy() {
  return {.shape = {.obs_size = 4, .discrete_actions = 2},
          .network = {.hidden = {44, 44}, .ortho_init = false}};
}

// ---- what is measured; CPU time is looked up around a coroutine's run

template <class Role>
std::vector<pid_t> processes_of(system& sys, const service<Role>& of) {
  std::vector<pid_t> all;
  for (const auto pid : sys.run(of.template fanout<&Role::pid>())) {
    all.push_back(static_cast<pid_t>(pid));
  }
  return all;
}

task<> call_often(service<desk> to) {
  const std::string text(bare_ping_size, 'x');
  for (int i = 0; i < calls_a_pair; ++i) co_await to.route<&desk::mirror>(text);
}

task<> send_often(service<desk> to, at::Tensor tensor, int times) {
  for (int i = 0; i < times; ++i) co_await to.route<&desk::take>(tensor);
}

task<> fetch_often(service<desk> from, int times) {
  for (int i = 0; i < times; ++i) co_await from.route<&desk::give>();
}

task<> send_all(service<desk> to, at::Tensor tensor) {
  std::vector<task<>> senders;
  for (int i = 0; i < window; ++i)
    senders.push_back(send_often(to, tensor, tensors_a_round / window));
  co_await all(std::move(senders));
}

task<> fetch_all(service<desk> from) {
  std::vector<task<>> callers;
  for (int i = 0; i < window; ++i) callers.push_back(fetch_often(from, tensors_a_round / window));
  co_await all(std::move(callers));
}

task<> update_often(service<policy> to, weights fresh) {
  for (int i = 0; i < updates_a_round; ++i) {
    ++fresh.version;
    co_await give_weights<&policy::update>(to, fresh);
  }
}

/// The node's process, and the port of its bare stream.
struct node_process {
  explicit node_process(std::uint16_t controller)
      : process({.arguments = {node_part, std::to_string(controller)}}) {
    process.way()->open(std::make_shared<listener>(*this));
    told.acquire();
  }

  struct listener final : link_listener {
    explicit listener(node_process& by) : by(by) {}
    void received(block message) override {
      std::memcpy(&by.bare_port, message.data(), sizeof by.bare_port);
      by.told.release();
    }
    void writable() override {}
    void closed(const std::string&) override {}
    node_process& by;
  };

  int bare_port = 0;
  std::binary_semaphore told{0};
  child process;
};

task<service<desk>> serve_desk(system& sys, std::string name, placement where) {
  return sys.serve<desk>({.name = std::move(name), .placement = where});
}

task<service<weight_store>> serve_store(system& sys, weights first) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  co_await store.route<&weight_store::put>(std::move(first));
  co_return store;
}

task<service<located_policy>> serve_policies(system& sys, service<weight_store> store) {
  return sys.serve<located_policy>(
      {.name = "policies", .replicas = policies, .placement = placement::process}, small_policy(),
      store);
}

struct transfers {
  series to, from;
  void measure_once(system& sys, const service<desk>& with, const std::vector<pid_t>& processes,
                    const at::Tensor& tensor) {
    to.add(measure(processes, tensors_a_round, [&] { sys.run(send_all(with, tensor)); }));
    from.add(measure(processes, tensors_a_round, [&] { sys.run(fetch_all(with)); }));
  }
};

double gb_per_s(double seconds) {
  return static_cast<double>(tensor_floats) * sizeof(float) * 1e-9 / seconds;
}

/// The slower direction's, of medians or of the best.
double slower(const transfers& of, double (*which)(const std::vector<double>&)) {
  return gb_per_s(std::max(which(of.to.wall), which(of.from.wall)));
}

double median(const std::vector<double>& values) { return series::median(values); }

}  // namespace

void be_node(const std::shared_ptr<link>& parent, const std::string& port) {
  struct deaf final : link_listener {
    void received(block) override {}
    void writable() override {}
    void closed(const std::string&) override {}
  };
  parent->open(std::make_shared<deaf>());
  system sys;
  const node joined(sys, {.address = "127.0.0.1:" + port, .name = "bench", .slots = 9});
  const bare_server bare;
  const int at = bare.port();
  block message(sizeof at);
  std::memcpy(message.data(), &at, sizeof at);
  parent->send(std::move(message), priority::normal);
  for (;;) ::pause();
}

nlohmann::json measure_replicas() {
  system sys({.listen = "127.0.0.1:0"});
  node_process other(sys.port());
  const auto far = sys.run(serve_desk(sys, "far", placement::node("*")));
  const auto near = sys.run(serve_desk(sys, "near", placement::process));
  const actor_critic network(small_policy().shape, small_policy().network, 1);
  const weights first{.version = 1, .parameters = network.parameters()};
  const auto store = sys.run(serve_store(sys, first));
  const auto acting = sys.run(serve_policies(sys, store));
  const auto far_process = processes_of(sys, far), near_process = processes_of(sys, near),
             acting_processes = processes_of(sys, acting);

  const auto tensor = at::ones({tensor_floats});
  series calls, bare_calls, ratio, near_calls, updates;
  transfers far_tensors, near_tensors;
  {
    bare_stream bare(other.bare_port);
    auto fresh = first;
    for (int i = 0; i < rounds; ++i) {
      for (int pair = 0; pair < call_pairs_a_round; ++pair) {
        calls.add(measure(far_process, calls_a_pair, [&] { sys.run(call_often(far)); }));
        bare_calls.add(bare.ping(far_process[0], calls_a_pair));
        ratio.add(
            {calls.wall.back() / bare_calls.wall.back(), calls.cpu.back() / bare_calls.cpu.back()});
      }
      near_calls.add(measure(near_process, calls_a_pair, [&] { sys.run(call_often(near)); }));
      far_tensors.measure_once(sys, far, far_process, tensor);
      near_tensors.measure_once(sys, near, near_process, tensor);
      updates.add(measure(acting_processes, updates_a_round,
                          [&] { sys.run(update_often(acting, fresh)); }));
      fresh.version += updates_a_round;
    }
  }
  print("a call to a node's replica, us", calls, 1e6);
  print("bare TCP, us", bare_calls, 1e6);
  print("call / bare", ratio, 1);
  print("a call to a child's replica, us", near_calls, 1e6);
  print("1 MB tensor to a node, us", far_tensors.to, 1e6);
  print("1 MB tensor from a node, us", far_tensors.from, 1e6);
  print("1 MB tensor to a child, us", near_tensors.to, 1e6);
  print("1 MB tensor from a child, us", near_tensors.from, 1e6);
  print("18 KB of weights to 8 policies, ms", updates, 1e3);
  std::printf(
      "GB per s, the slower direction, median (best): node %.2f (%.2f), child %.2f (%.2f)\n",
      slower(far_tensors, median), slower(far_tensors, series::best), slower(near_tensors, median),
      slower(near_tensors, series::best));
  return {{"round_trip_ratio", series::median(ratio.wall)},
          {"round_trip_ratio_cpu", series::median(ratio.cpu)},
          {"stream_gb_per_s", slower(far_tensors, median)},
          {"stream_gb_per_s_best", slower(far_tensors, series::best)},
          {"shared_memory_gb_per_s", slower(near_tensors, median)},
          {"shared_memory_gb_per_s_best", slower(near_tensors, series::best)},
          {"weight_update_8_replicas_ms", series::median(updates.wall) * 1e3}};
}

}  // namespace troupe::detail
