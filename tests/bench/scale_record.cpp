#include "tests/bench/scale_record.hpp"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "runtime/process/child.hpp"
#include "runtime/system/node.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe::detail {

namespace {

struct adder {
  int add(int n) { return total += n; }
  int total = 0;
};

task<> call_often(service<adder> to, int times) {
  for (int i = 0; i < times; ++i) co_await to.route<&adder::add>(1);
}

task<> call_from(service<adder> to, int callers, int times) {
  std::vector<task<>> all_of_them;
  for (int i = 0; i < callers; ++i) all_of_them.push_back(call_often(to, times));
  co_await all(std::move(all_of_them));
}

/// Calls from so many callers at a time, at least so many in all.
nlohmann::json row_of(system& sys, const service<adder>& to, const char* where,
                      std::size_t replicas, int callers, int at_least) {
  const int times = std::max(1, at_least / callers);
  const auto took = measure({}, callers * times, [&] { sys.run(call_from(to, callers, times)); });
  std::int64_t counted = 0;
  for (const int total : sys.run(to.fanout<&adder::add>(0))) counted += total;
  const auto expected = std::int64_t{callers} * times;
  if (counted != expected) {
    throw std::runtime_error("calls answered: expected " + std::to_string(expected) + ", got " +
                             std::to_string(counted));
  }
  std::printf("%-10s %9zu %9d %10lld %12.3f %12.3f\n", where, replicas, callers,
              static_cast<long long>(counted), took.cpu * 1e6, took.wall * 1e6);
  std::fflush(stdout);
  return {{"where", where},   {"replicas", replicas},     {"callers", callers},
          {"calls", counted}, {"cpu_us", took.cpu * 1e6}, {"wall_us", took.wall * 1e6}};
}

task<service<adder>> serve_adders(system& sys, std::size_t replicas, placement where) {
  return sys.serve<adder>({.name = "adders", .replicas = replicas, .placement = where});
}

/// In a system of its own each.
nlohmann::json row_in(system_options options, placement where, std::size_t replicas, int callers,
                      int at_least, std::size_t nodes = 0) {
  system sys(std::move(options));
  std::vector<std::unique_ptr<child>> others;
  for (std::size_t i = 0; i < nodes; ++i) {
    others.push_back(std::make_unique<child>(child_options{
        .arguments = {scale_node, std::to_string(sys.port()), "bench-" + std::to_string(i)}}));
  }
  if (nodes > 0) sys.run(sys.wait_for_nodes(nodes));
  const auto to = sys.run(serve_adders(sys, replicas, where));
  const char* name = nodes > 0 ? "nodes" : where == placement::process ? "processes" : "replicas";
  return row_of(sys, to, name, nodes > 0 ? nodes : replicas, callers, at_least);
}

}  // namespace

void be_scale_node(const std::string& port, const std::string& name) {
  struct deaf final : link_listener {
    void received(block) override {}
    void writable() override {}
    void closed(const std::string&) override {}
  };
  link_to_parent()->open(std::make_shared<deaf>());
  system sys;
  const node joined(sys, {.address = "127.0.0.1:" + port, .name = name, .slots = 64});
  for (;;) ::pause();
}

nlohmann::json record_scale() {
  constexpr int calls = 200'000, far_calls = 20'000;
  nlohmann::json rows = nlohmann::json::array();
  std::printf("%-10s %9s %9s %10s %12s %12s\n", "of", "number", "callers", "calls", "CPU us here",
              "wall us");
  for (const std::size_t replicas : {1, 10, 100, 1000}) {
    for (const int callers : {1, 64, 4096, 65'536}) {
      rows.push_back(row_in({}, placement::shared, replicas, callers, calls));
    }
  }
  for (const std::size_t processes : {1, 10, 50, 200}) {
    rows.push_back(row_in({}, placement::process, processes, 256, far_calls));
  }
  for (const std::size_t nodes : {1, 2, 4}) {
    rows.push_back(row_in({.listen = "127.0.0.1:0"}, placement::node("bench-*"), 8 * nodes, 256,
                          far_calls, nodes));
  }
  return rows;
}

}  // namespace troupe::detail
