// Replicas in other processes: everything once in child processes, and once over a simulated link.

#include <signal.h>
#include <unistd.h>

#include <limits>
#include <map>

#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/remote/link.hpp"
#include "tests/runtime/remote/everywhere.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct animal {
  virtual ~animal() = default;
  virtual std::string sound() { return "?"; }
  int legs() { return 4; }
};

class counter : public animal {
 public:
  counter(const replica_info& info, int from) : info_(info), total_(from) {}

  int add(int n) { return total_ += n; }
  std::string sound() override { return "click"; }
  std::size_t index() const { return info_.index; }
  std::size_t generation() const { return info_.generation; }
  int fail(int n) { throw std::out_of_range("no " + std::to_string(n)); }
  void die() { throw fatal("told to"); }
  task<> die_later() {
    co_await sleep_for(1ms);
    throw fatal("told to");
  }
  std::int64_t pid() { return getpid(); }
  task<int> add_later(int n) {
    co_await sleep_for(20ms);
    co_return total_ += n;
  }
  task<int> never() {
    co_await sleep_for(1h);
    co_return 0;
  }
  batch<int> twice(batch<int> numbers) {
    batch<int> results;
    for (const int n : numbers) {
      if (n < 0) {
        results.push_error(std::make_exception_ptr(std::invalid_argument("negative")));
      } else {
        results.push_back(2 * n);
      }
    }
    return results;
  }
  std::vector<double> mirror(const std::vector<double>& values) { return values; }
  std::map<std::string, std::vector<float>> nothing() { return {}; }

 private:
  replica_info info_;
  int total_;
};

/// Calls another service, which its constructor was given.
class relay {
 public:
  relay(service<counter> to, service<animal> pet) : to_(to), pet_(pet) {}

  task<> catch_up() { known_ = co_await to_.route<&counter::add>(0); }
  task<int> add_twice(int n) {
    co_await to_.route<&counter::add>(n);
    co_return co_await to_.route<&counter::add>(n);
  }
  task<std::string> listen() { return hear(pet_); }
  task<std::string> hear(service<animal> who) {
    const auto sound = co_await who.route<&animal::sound>();
    co_return sound;
  }
  int known() const { return known_; }
  task<std::string> try_to_fail() {
    const auto outcome = co_await to_.try_route<&counter::fail>(3);
    co_return describe(outcome.error());
  }

 private:
  service<counter> to_;
  service<animal> pet_;
  int known_ = -1;
};

task<service<counter>> counters(system& sys, std::size_t replicas) {
  return sys.serve<counter>({.name = "counters",
                             .replicas = replicas,
                             .placement = elsewhere(sys),
                             .idempotent = {endpoint<&counter::pid>, endpoint<&counter::index>}},
                            10);
}

task<> deaths_of_a_coroutine_are_poison(system& sys) {
  auto to = co_await sys.serve<counter>({.name = "counters",
                                         .replicas = 3,
                                         .placement = elsewhere(sys),
                                         .idempotent = {endpoint<&counter::die_later>}},
                                        10);
  const auto refused = co_await to.try_route<&counter::die_later>();
  CHECK(describe(refused.error()) ==
        "poison: counters.counter::die_later: this call has killed 2 replicas");
}

task<> call_in_every_way(system& sys) {
  auto to = co_await counters(sys, 2);
  const auto sums = co_await to.fanout<&counter::add>(1);
  CHECK(sums == std::vector<int>{11, 11});
  const auto indices = co_await to.fanout<&counter::index>();
  CHECK(indices == std::vector<std::size_t>{0, 1});

  auto mine = co_await to.session();
  const int once = co_await mine.route<&counter::add>(5);
  const int later = co_await mine.route<&counter::add_later>(5);
  CHECK(once == 16);
  CHECK(later == 21);

  std::vector<task<outcome<int>>> calls;
  for (int n = -1; n < 3; ++n) calls.push_back(to.try_route<&counter::twice>(n));
  const auto doubled = co_await all(std::move(calls));
  CHECK(describe(doubled[0].error()).find("negative") != std::string::npos);
  for (int n = 0; n < 3; ++n) CHECK(doubled[static_cast<std::size_t>(n + 1)].value() == 2 * n);

  const auto legs = co_await service<animal>(to).route<&animal::legs>();
  const auto sound = co_await service<animal>(to).route<&animal::sound>();
  CHECK(legs == 4);
  CHECK(sound == "click");
  const auto nothing = co_await to.route<&counter::nothing>();
  CHECK(nothing.empty());
}

TEST_CASE("elsewhere: every kind of call reaches a replica in another process") {
  run_everywhere(call_in_every_way);
}

task<> keep_bits(system& sys) {
  auto to = co_await counters(sys, 1);
  using limits = std::numeric_limits<double>;
  const std::vector<double> odd{limits::quiet_NaN(),  limits::infinity(),
                                -limits::infinity(),  -0.0,
                                limits::denorm_min(), 1e300};
  const auto back = co_await to.route<&counter::mirror>(odd);
  REQUIRE(back.size() == odd.size());
  CHECK(std::memcmp(back.data(), odd.data(), odd.size() * sizeof(double)) == 0);
  std::vector<double> large(1 << 18);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<double>(i);
  const auto same = co_await to.route<&counter::mirror>(large);
  CHECK(same == large);
}

TEST_CASE("elsewhere: numbers keep their bits, also where they are many") {
  run_everywhere(keep_bits);
}

task<> get_errors(system& sys) {
  auto to = co_await counters(sys, 1);
  const auto failed = co_await to.try_route<&counter::fail>(7);
  REQUIRE(is_kind(failed.error(), error_kind::role_error));
  CHECK(describe(failed.error()).find("no 7") != std::string::npos);
  try {
    std::rethrow_exception(failed.error());
  } catch (const role_error& e) {
    CHECK_THROWS_AS(std::rethrow_exception(e.cause()), std::out_of_range);
  }
  const auto late = co_await to.with({.deadline = 50ms}).try_route<&counter::never>();
  CHECK(is_kind(late.error(), error_kind::deadline_exceeded));
  const int next = co_await to.route<&counter::add>(1);
  CHECK(next == 11);
}

TEST_CASE("elsewhere: an error has its kind, type and text, and costs the replica nothing") {
  run_everywhere(get_errors);
}

task<> outlive_a_crash(system& sys) {
  auto to = co_await counters(sys, 1);
  const auto first = co_await to.route<&counter::pid>();
  const auto died = co_await to.try_route<&counter::die>();
  CHECK(is_kind(died.error(), error_kind::replica_lost));
  const int fresh = co_await to.route<&counter::add>(1);
  CHECK(fresh == 11);
  const auto generation = co_await to.route<&counter::generation>();
  CHECK(generation == 1);
  const auto second = co_await to.route<&counter::pid>();
  if (elsewhere(sys) == placement::process && !sys.options().deterministic) CHECK(first != second);
}

TEST_CASE("elsewhere: a role that can't go on is made again, in a process of its own") {
  run_everywhere(outlive_a_crash);
}

TEST_CASE("elsewhere: a coroutine call that kills its replicas is poison") {
  run_everywhere(deaths_of_a_coroutine_are_poison);
}

task<> pass_handles(system& sys) {
  auto to = co_await sys.serve<counter>({.name = "local counters", .replicas = 2}, 100);
  auto pets = co_await counters(sys, 1);
  auto relays = co_await sys.serve<relay>(
      {.name = "relays", .replicas = 2, .placement = elsewhere(sys)}, to, pets);
  const auto known = co_await relays.fanout<&relay::known>();
  CHECK(known == std::vector<int>{100, 100});
  auto mine = co_await to.session();
  const auto sum = co_await relays.route<&relay::add_twice>(1);
  CHECK(sum > 100);
  const auto sound = co_await relays.route<&relay::listen>();
  CHECK(sound == "click");
  const auto other = co_await relays.route<&relay::hear>(service<animal>(to));
  CHECK(other == "click");
  const auto error = co_await relays.route<&relay::try_to_fail>();
  CHECK(error.find("no 3") != std::string::npos);
  sys.stop(to);
  const auto down = co_await relays.try_route<&relay::add_twice>(1);
  CHECK(describe(down.error()).find("it was stopped") != std::string::npos);
}

TEST_CASE("elsewhere: a role calls services by the handles it was given") {
  run_everywhere(pass_handles);
}

task<> scale_up_and_down(system& sys) {
  auto to = co_await counters(sys, 1);
  co_await sys.scale(to, 3);
  const auto three = co_await to.fanout<&counter::index>();
  CHECK(three.size() == 3);
  co_await sys.scale(to, 1);
  const auto one = co_await to.fanout<&counter::index>();
  CHECK(one == std::vector<std::size_t>{0});
}

TEST_CASE("elsewhere: a service grows and shrinks") { run_everywhere(scale_up_and_down); }

// ---- what only a process can suffer

task<outcome<int>> wait_for_ever(session<counter> with) {
  try {
    co_return co_await with.route<&counter::never>();
  } catch (...) {
    co_return outcome<int>(std::current_exception());
  }
}

task<> kill_it(system& sys) {
  auto to = co_await counters(sys, 2);
  const auto pids = co_await to.fanout<&counter::pid>();
  CHECK(pids[0] != pids[1]);
  CHECK(pids[0] != getpid());
  auto mine = co_await to.session();
  const auto victim = co_await mine.route<&counter::pid>();
  kill(static_cast<pid_t>(victim), SIGKILL);
  const auto lost = co_await wait_for_ever(mine);
  CHECK(is_kind(lost.error(), error_kind::session_lost));
  for (int i = 0; i < 100; ++i) {
    const auto pid = co_await to.route<&counter::pid>();
    CHECK(pid != victim);
  }
}

TEST_CASE("elsewhere: a process that is killed costs one replica, and is replaced") {
  troupe::system sys;
  sys.run(with_timeout(kill_it(sys), 30s));
}

task<> outlive_a_node(system& sys) {
  auto there = std::make_unique<troupe::system>();
  auto joining = std::make_unique<detail::node>(*there, at(sys));
  co_await sys.wait_for_nodes(1);
  auto to = co_await counters(sys, 2);
  co_await to.fanout<&counter::add>(1);
  CHECK(sys.nodes()[0].replicas == 2);
  joining.reset();
  const auto lost = co_await to.with({.deadline = 200ms}).try_route<&counter::add>(1);
  CHECK_FALSE(lost.ok());
  joining = std::make_unique<detail::node>(*there, at(sys));
  co_await to.route<&counter::index>();  // Idempotent: also if it is not known yet who is lost.
  const int fresh = co_await to.route<&counter::add>(1);
  CHECK(fresh == 11);
}

TEST_CASE("elsewhere: what was on a lost node is made again when there is one") {
  troupe::system sys({.listen = "127.0.0.1:0"});
  sys.run(with_timeout(outlive_a_node(sys), 30s));
}

task<> wait_for_more_nodes(system& sys) {
  auto there = std::make_unique<troupe::system>();
  const detail::node joining(*there, at(sys));
  std::vector<task<>> waits;
  for (int i = 0; i < 3; ++i) waits.push_back(sys.wait_for_nodes(1));
  co_await all(std::move(waits));
  CHECK(sys.nodes().size() == 1);
}

TEST_CASE("elsewhere: all who wait for nodes at the same time are told") {
  troupe::system sys({.listen = "127.0.0.1:0"});
  sys.run(with_timeout(wait_for_more_nodes(sys), 30s));
}

// ---- what is refused

struct closed_box {
  std::function<int()> secret;
};
struct keeper {
  explicit keeper(closed_box box) : box_(std::move(box)) {}
  int ask() { return box_.secret(); }
  closed_box box_;
};
struct teller {
  int tell(int n) { return n; }
  closed_box show() { return {}; }
};

task<> place_what_cannot_leave(system& sys) {
  const serve_options options{.name = "x", .placement = placement::process};
  std::string error;
  try {
    co_await sys.serve<keeper>(options, closed_box{});
  } catch (const std::invalid_argument& e) {
    error = e.what();
  }
  CHECK(error.find("keeper") != std::string::npos);
  CHECK(error.find("std::function<int ()>") != std::string::npos);
  try {
    auto to = co_await sys.serve<teller>(options);
    co_await to.route<&teller::show>();
  } catch (const std::invalid_argument& e) {
    error = e.what();
  }
  CHECK(error.find("teller::show") != std::string::npos);
  CHECK(error.find("closed_box") != std::string::npos);
}

TEST_CASE("elsewhere: what can't be encoded is refused where it is placed, by its name") {
  troupe::system sys({.deterministic = true});
  sys.run(place_what_cannot_leave(sys));
}

/// Says that it takes more bytes than a message may have; none are written.
struct whale {};
struct sea {
  void hold(whale) {}
  int fish() { return 3; }
};

}  // namespace

template <>
struct wire_codec<whale> {
  [[maybe_unused]] static constexpr std::size_t bytes_min = 0;
  static std::size_t size(const whale&) { return detail::max_message; }
  static void write(const whale&, wire_writer&) { throw std::logic_error("it was not refused"); }
  static whale read(wire_reader&) { return {}; }
};

namespace {

task<> send_too_much(system& sys) {
  auto to = co_await sys.serve<sea>({.name = "sea", .placement = elsewhere(sys)});
  const auto refused = co_await to.try_route<&sea::hold>(whale{});
  const auto error = describe(refused.error());
  CHECK(error.find("sea::hold: ") != std::string::npos);
  CHECK(error.find(" bytes; a message has at most 1073741824") != std::string::npos);
  const int fish = co_await to.route<&sea::fish>();
  CHECK(fish == 3);
}

TEST_CASE("elsewhere: a message over the limit is refused at its sender, by its endpoint's name") {
  run_everywhere(send_too_much);
}

/// What can be written and not be read.
struct grenade {
  int kind = 0;
};
struct range {
  explicit range(const grenade&) {}
  range(const replica_info& info, int) : generation_(info.generation) {}

  void take(const grenade&) {}
  grenade give(int kind) { return {kind}; }
  std::size_t generation() const { return generation_; }

 private:
  std::size_t generation_ = 0;
};

}  // namespace

template <>
struct wire_codec<grenade> {
  [[maybe_unused]] static constexpr std::size_t bytes_min = 4;
  static std::size_t size(const grenade&) { return sizeof(int); }
  static void write(const grenade& g, wire_writer& to) {
    if (g.kind == 3) throw std::out_of_range("it can't be written");
    to.write(g.kind);
  }
  static grenade read(wire_reader& from) {
    const int kind = from.read<int>();
    if (kind == 0) throw std::bad_alloc();
    if (kind == 1) throw kind;
    throw std::length_error("it went off");
  }
};

namespace {

task<> throw_grenades(system& sys) {
  auto to = co_await sys.serve<range>(
      {.name = "range", .placement = elsewhere(sys), .idempotent = {endpoint<&range::take>}}, 7);
  const std::vector<std::string> texts{"bad_alloc", "not a std::exception", "it went off",
                                       "it can't be written"};
  for (int kind = 0; kind < 4; ++kind) {
    const auto taken = co_await to.try_route<&range::take>(grenade{kind});
    const auto given = co_await to.try_route<&range::give>(kind);
    const auto& text = texts[static_cast<std::size_t>(kind)];
    CHECK(describe(taken.error()).find(text) != std::string::npos);
    CHECK(describe(given.error()).find(text) != std::string::npos);
  }
  const auto generation = co_await to.route<&range::generation>();
  CHECK(generation == 0);
  std::string error;
  try {
    co_await sys.serve<range>({.name = "no range", .placement = elsewhere(sys), .max_restarts = 0},
                              grenade{2});
  } catch (const call_error& e) {
    error = e.what();
  }
  CHECK(error.find("its role could not be read: it went off") != std::string::npos);
  const auto still = co_await to.route<&range::generation>();
  CHECK(still == 0);
}

TEST_CASE("elsewhere: what can't be decoded is an error of its call, and costs no replica") {
  run_everywhere(throw_grenades);
}

TEST_CASE("elsewhere: a node's name fits a pattern with stars") {
  using detail::name_fits;
  CHECK(name_fits("gpu-1", "gpu-1"));
  CHECK(name_fits("gpu-1", "gpu-*"));
  CHECK(name_fits("gpu-", "gpu-*"));
  CHECK(name_fits("a-gpu-12-b", "*gpu*b"));
  CHECK(name_fits("", "*"));
  CHECK_FALSE(name_fits("gpu-1", "gpu-2"));
  CHECK_FALSE(name_fits("cpu-1", "gpu-*"));
  CHECK_FALSE(name_fits("gpu", "gpu-*"));
}

}  // namespace
}  // namespace troupe
