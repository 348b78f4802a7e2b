#include "runtime/actor/turn_order.hpp"

#include <cmath>
#include <map>
#include <set>

#include "runtime/system/system_core.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Notes who called it, in their order.
struct ledger {
  void note(std::size_t who) { order.push_back(who); }
  std::vector<std::size_t> read() { return order; }
  std::vector<std::size_t> order;
};

/// Calls a ledger so many times.
struct writer {
  writer(replica_info me, service<ledger> to) : me(me.index), to(std::move(to)) {}
  task<> write(int times) {
    for (int i = 0; i < times; ++i) co_await to.route<&ledger::note>(me);
  }
  std::size_t me;
  service<ledger> to;
};

using order = std::vector<std::size_t>;

task<service<writer>> serve_writers(system& sys, service<ledger> to, std::string name) {
  co_return co_await sys.serve<writer>({.name = std::move(name), .replicas = 4}, to);
}

/// In which order four writers write into their ledger, with others beside them who write into
/// another one, or without.
task<order> write(system& sys, int others_times) {
  auto notes = co_await sys.serve<ledger>({.name = "ledger"});
  auto writers = co_await serve_writers(sys, notes, "writer");
  if (others_times == 0) {
    co_await writers.fanout<&writer::write>(20);
  } else {
    auto other_notes = co_await sys.serve<ledger>({.name = "other ledger"});
    auto others = co_await serve_writers(sys, other_notes, "other writer");
    co_await all(others.fanout<&writer::write>(others_times), writers.fanout<&writer::write>(20));
  }
  co_return co_await notes.route<&ledger::read>();
}

order order_of(std::uint64_t seed, int others_times) {
  log_off();
  system sys({.deterministic = true, .seed = seed});
  return sys.run(write(sys, others_times));
}

TEST_CASE("turns: actors that have nothing to do with each other don't change each other's order") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto alone = order_of(seed, 0);
    CHECK(alone.size() == 80);
    CHECK(order_of(seed, 1) == alone);
    CHECK(order_of(seed, 50) == alone);
  }
}

TEST_CASE("turns: each seed has an order of its own") {
  std::set<order> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) seen.insert(order_of(seed, 0));
  CHECK(seen.size() == 20);
}

TEST_CASE("turns: delays are about exponential") {
  detail::draws random(1, "delays");
  constexpr int count = 100'000;
  std::map<std::uint64_t, int> by_whole;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto delay = detail::delay_of(random.next());
    ++by_whole[delay >> 24];
    sum += static_cast<double>(delay) / (1 << 24);
  }
  CHECK(std::abs(sum / count - 1.5) < 0.02);
  CHECK(std::abs(by_whole[0] - count / 2) < 1000);
  CHECK(std::abs(by_whole[1] - count / 4) < 1000);
  CHECK(std::abs(by_whole[2] - count / 8) < 1000);
}

TEST_CASE("turns: actors of one name have different draws, in the order in which they are made") {
  system one({.deterministic = true, .seed = 3}), other({.deterministic = true, .seed = 3});
  auto& core = detail::core_of(one);
  const auto first = core.key_of("a"), second = core.key_of("a");
  CHECK(first != second);
  auto& same = detail::core_of(other);
  CHECK(same.key_of("b") != first);
  CHECK(same.key_of("a") == first);
  CHECK(same.key_of("a") == second);
}

}  // namespace
}  // namespace troupe
