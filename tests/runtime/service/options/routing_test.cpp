#include <algorithm>
#include <map>
#include <set>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Knows which replica it is and how often it was called.
struct member {
  explicit member(const replica_info& info) : index(info.index) {}
  std::size_t which() {
    ++calls;
    return index;
  }
  task<std::size_t> which_slowly(duration pause) {
    ++calls;
    co_await sleep_for(pause);
    co_return index;
  }
  int count() { return calls; }
  std::size_t index;
  int calls = 0;
};

task<std::size_t> ask(service<member> members) {
  const auto index = co_await members.route<&member::which>();
  co_return index;
}

task<std::vector<std::size_t>> ask_many(service<member> members, int n) {
  std::vector<task<std::size_t>> calls;
  for (int i = 0; i < n; ++i) calls.push_back(ask(members));
  co_return co_await all(std::move(calls));
}

serve_options routed_by(std::shared_ptr<router> how, std::size_t replicas = 4) {
  return {.name = "members", .replicas = replicas, .router = std::move(how)};
}

task<> round_robin_takes_turns(system& sys) {
  auto members = co_await sys.serve<member>(routed_by(routing::round_robin()));
  std::vector<std::size_t> order;
  for (int i = 0; i < 8; ++i) {
    const auto index = co_await members.route<&member::which>();
    order.push_back(index);
  }
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 0, 1, 2, 3});
}

task<> power_of_two_uses_all(system& sys) {
  for (auto how : {std::shared_ptr<router>(), routing::power_of_two()}) {
    auto members = co_await sys.serve<member>(routed_by(how));
    const auto indices = co_await ask_many(members, 400);
    std::map<std::size_t, int> shares;
    for (const auto i : indices) ++shares[i];
    REQUIRE(shares.size() == 4);
    for (const auto& [index, share] : shares) CHECK(share > 60);
    sys.stop(members);
  }
}

task<> hold(service<member> members, std::size_t& index) {
  index = co_await members.route<&member::which_slowly>(1h);
}

task<> occupy_three(group& g, service<member> members, std::size_t& free) {
  std::size_t busy[3] = {};
  for (auto& index : busy) {
    g.start(hold(members, index));
    co_await sleep_for(1ms);
  }
  free = co_await members.route<&member::which>();
}

task<> least_loaded_avoids_the_busy(system& sys) {
  auto members = co_await sys.serve<member>(routed_by(routing::least_loaded()));
  std::size_t free = 99;
  co_await with_group([&](group& g) { return occupy_three(g, members, free); });
  CHECK(free == 3);
}

task<std::map<std::uint64_t, std::size_t>> places_of_keys(service<member> members) {
  std::map<std::uint64_t, std::size_t> places;
  for (std::uint64_t key = 0; key < 300; ++key) {
    auto keyed = members.with({.key = key});
    places[key] = co_await keyed.route<&member::which>();
  }
  co_return places;
}

task<> consistent_hash_keeps_keys(system& sys) {
  auto four = co_await sys.serve<member>(routed_by(routing::consistent_hash(), 4));
  const auto first = co_await places_of_keys(four);
  const auto again = co_await places_of_keys(four);
  CHECK(first == again);
  std::set<std::size_t> used;
  for (const auto& [key, place] : first) used.insert(place);
  CHECK(used.size() == 4);

  sys.stop(four);
  auto five = co_await sys.serve<member>(routed_by(routing::consistent_hash(), 5));
  const auto later = co_await places_of_keys(five);
  int moved = 0;
  for (const auto& [key, place] : later) {
    if (place == first.at(key)) continue;
    ++moved;
    CHECK(place == 4);  // A key moves to the new replica or stays.
  }
  CHECK(moved > 30);  // 300 / 5 = 60 are expected.
  CHECK(moved < 100);
}

task<> locality_serves(system& sys) {
  auto members = co_await sys.serve<member>(routed_by(routing::locality()));
  const auto indices = co_await ask_many(members, 100);
  CHECK(std::set<std::size_t>(indices.begin(), indices.end()).size() == 4);
}

struct always_last final : router {
  std::size_t pick(replica_view& view, std::uint64_t) override { return view.size() - 1; }
};

task<> own_router(system& sys) {
  auto members = co_await sys.serve<member>(routed_by(std::make_shared<always_last>()));
  const auto index = co_await members.route<&member::which>();
  CHECK(index == 3);
}

struct throws_at_times final : router {
  std::size_t pick(replica_view&, std::uint64_t) override {
    if (++calls % 3 == 0) throw std::runtime_error("no idea");
    return 0;
  }
  std::atomic<int> calls = 0;
};

task<std::string> ask_slowly(service<member> members) {
  const auto o = co_await members.try_route<&member::which_slowly>(5ms);
  co_return o.ok() ? "answered" : describe(o.error());
}

task<> a_router_may_throw(system& sys) {
  auto options = routed_by(std::make_shared<throws_at_times>(), 1);
  options.max_queued = 1;
  auto members = co_await sys.serve<member>(options);
  std::vector<task<std::string>> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(ask_slowly(members));
  const auto ends = co_await all(std::move(calls));
  const auto answered = std::count(ends.begin(), ends.end(), "answered");
  const auto failed = std::count(ends.begin(), ends.end(), "no idea");
  CHECK(answered > 0);
  CHECK(failed > 0);
  CHECK(answered + failed == 20);
}

// ---- fanout

task<> fanout_asks_everybody(system& sys) {
  auto members = co_await sys.serve<member>({.name = "members", .replicas = 5});
  const auto indices = co_await members.fanout<&member::which>();
  CHECK(indices == std::vector<std::size_t>{0, 1, 2, 3, 4});
  const auto counts = co_await members.fanout<&member::count>();
  CHECK(counts == std::vector<int>(5, 1));
}

struct odd_thrower {
  explicit odd_thrower(const replica_info& info) : index(info.index) {}
  int even() {
    ++calls;
    if (index % 2 == 1) throw std::runtime_error("odd");
    return static_cast<int>(index);
  }
  void note(int n) { calls += n; }
  int count() { return calls; }
  std::size_t index;
  int calls = 0;
};

task<> fanout_throws_at_the_end(system& sys) {
  auto roles = co_await sys.serve<odd_thrower>({.name = "roles", .replicas = 4});
  const auto error = co_await error_of(roles.fanout<&odd_thrower::even>());
  CHECK(error == "role_error: roles.odd_thrower::even threw: odd");
  const auto counts = co_await roles.fanout<&odd_thrower::count>();
  CHECK(counts == std::vector<int>(4, 1));

  auto settled = co_await roles.fanout_settled<&odd_thrower::even>();
  REQUIRE(settled.size() == 4);
  CHECK(settled[2].value() == 2);
  CHECK(kind_of(settled[1]) == error_kind::role_error);
  co_await roles.fanout<&odd_thrower::note>(10);
}

task<> fanout_of_the_stopped(system& sys) {
  auto members = co_await sys.serve<member>({.name = "members", .replicas = 2});
  sys.stop(members);
  const auto error = co_await error_of(members.fanout<&member::which>());
  CHECK(error == "service_down: members: it was stopped");
}

// ---- try_route, sessions, options

task<> tries(system& sys) {
  auto roles = co_await sys.serve<odd_thrower>(
      {.name = "roles", .replicas = 2, .router = routing::round_robin()});
  const auto good = co_await roles.try_route<&odd_thrower::even>();
  CHECK(good.ok());
  CHECK(good.value() == 0);
  const auto bad = co_await roles.try_route<&odd_thrower::even>();
  CHECK(!bad);
  CHECK(kind_of(bad) == error_kind::role_error);
  const auto nothing = co_await roles.try_route<&odd_thrower::note>(1);
  CHECK(nothing.ok());
}

task<> sessions_stick(system& sys) {
  auto members = co_await sys.serve<member>({.name = "members", .replicas = 4});
  std::vector<session<member>> open;
  std::set<std::size_t> used;
  for (int i = 0; i < 4; ++i) {
    open.push_back(co_await members.session());
    used.insert(open.back().replica());
  }
  CHECK(used.size() == 4);  // Each went to the replica with the fewest.
  for (int i = 0; i < 20; ++i) {
    const auto index = co_await open[2].route<&member::which>();
    CHECK(index == open[2].replica());
  }
}

task<> nothing_named(system&) {
  service<member> none;
  CHECK(!none);
  CHECK_THROWS_AS(none.route<&member::which>(), std::logic_error);
  CHECK_THROWS_AS(none.fanout<&member::which>(), std::logic_error);
  const auto error = co_await error_of(none.session());
  CHECK(error == "a service handle that names no service was called");
}

// ---- handles of a base class

struct animal {
  virtual ~animal() = default;
  virtual std::string sound() { return "-"; }
  int legs() const { return number_of_legs; }
  int number_of_legs = 4;
};
struct named {
  std::string name() { return "Rex"; }
  int padding = 7;  // Puts the second base at an offset.
};
struct dog : named, animal {
  explicit dog(std::string s) : says(std::move(s)) {}
  std::string sound() override { return says; }
  std::string says;
};

task<std::string> hear(service<animal> any) {
  const auto sound = co_await any.route<&animal::sound>();
  co_return sound;
}

task<> base_handles(system& sys) {
  auto dogs = co_await sys.serve<dog>({.name = "dogs"}, std::string("wuff"));
  const auto virtual_one = co_await hear(dogs);
  CHECK(virtual_one == "wuff");
  const auto inherited = co_await dogs.route<&animal::legs>();
  CHECK(inherited == 4);
  const auto other_base = co_await dogs.route<&named::name>();
  CHECK(other_base == "Rex");
  service<named> as_named = dogs;
  const auto through_base = co_await as_named.route<&named::name>();
  CHECK(through_base == "Rex");
  service<animal> empty = service<dog>();
  CHECK(!empty);
  service<animal> animals = dogs;
  auto mine = co_await animals.session();
  const auto sticky = co_await mine.route<&animal::sound>();
  CHECK(sticky == "wuff");
}

}  // namespace

TEST_CASE("routing: round robin goes around") { testing::play(round_robin_takes_turns); }
TEST_CASE("routing: power of two choices uses every replica") {
  testing::play(power_of_two_uses_all);
}
TEST_CASE("routing: least loaded avoids busy replicas") {
  testing::play(least_loaded_avoids_the_busy);
}
TEST_CASE("routing: consistent hash keeps a key's replica, and moves few for a new one") {
  testing::play(consistent_hash_keeps_keys);
}
TEST_CASE("routing: by locality, local replicas share the load") { testing::play(locality_serves); }
TEST_CASE("routing: a program can bring its own router") { testing::play(own_router); }
TEST_CASE("routing: what a router throws reaches the caller, also one that waited") {
  testing::play(a_router_may_throw);
}
TEST_CASE("fanout: every replica answers, in the order of their indices") {
  testing::play(fanout_asks_everybody);
}
TEST_CASE("fanout: it throws after every replica has answered; settled it gives each outcome") {
  testing::play(fanout_throws_at_the_end);
}
TEST_CASE("fanout: a stopped service throws service_down") { testing::play(fanout_of_the_stopped); }
TEST_CASE("try_route: the error is in the outcome") { testing::play(tries); }
TEST_CASE("session: sessions spread over replicas and stay there") {
  testing::play(sessions_stick);
}
TEST_CASE("service: a handle that names none is refused when called") {
  testing::play(nothing_named);
}
TEST_CASE("service: a handle of a base calls virtual and inherited endpoints") {
  testing::play(base_handles);
}

}  // namespace troupe
