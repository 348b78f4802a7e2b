#include "tests/runtime/simulation/fleet.hpp"

#include <algorithm>

#include "runtime/base/scarcity.hpp"
#include "runtime/cluster/simulated_nodes.hpp"
#include "runtime/system/system_core.hpp"
#include "tests/runtime/metrics/series.hpp"
#include "tests/runtime/simulation/dice.hpp"
#include "tests/runtime/simulation/local_pointer.hpp"

namespace troupe::simulation {

namespace {

using namespace std::chrono_literals;

/// What hangs comes back after that, when nobody waits for it any more.
constexpr duration hanging = 4min;
/// No change of the number of replicas takes longer, whatever hangs.
constexpr duration longest_scale = 3min;

class machine;

/// How often each thing goes wrong.
struct troubles {
  int starts_that_hang = 0;
  int starts_that_fail = 0;
  int calls_that_hang = 0;
  int nodes_lost = 0;
  int times_without_threads = 0;  ///< No thread can be had for a while.
  int controllers_lost = 0;
  int sum() const { return starts_that_hang + starts_that_fail + calls_that_hang + nodes_lost; }
};

/// What the roles, the callers and the nodes of one run share.
struct world {
  world(ledger& book, system& sys, dice random) : book(book), sys(sys), random(random) {}
  ledger& book;
  system& sys;
  dice random;
  troubles left;
  bool calm = false;  ///< Nothing goes wrong now.
  bool no_threads = false;
  bool messages_lost = false;     ///< Faults lose messages, and with them links.
  bool loses_controller = false;  ///< True if the service may be stopped and served again.
  service<machine> machines;      ///< The service that is served now.

  void set_calm(bool on) {
    calm = on;
    if (auto* faults = detail::core_of(sys).faults()) on ? faults->rest() : faults->go_on();
  }
  /// Begins a call, which may end as service_down if the controller is lost.
  int begin(int limit) { return loses_controller ? book.begin_inside(limit) : book.begin(limit); }
  void spend(duration time) { detail::core_of(sys).spend(time); }
  /// Whether one of those that are left happens now.
  bool happens(int& which, int once_in, const char* what) {
    if (calm || which == 0 || !random.once_in(once_in)) return false;
    --which;
    ++book.ends[what];
    return true;
  }
};

}  // namespace
}  // namespace troupe::simulation

template <>
struct troupe::wire_codec<troupe::simulation::world*>
    : troupe::simulation::local_pointer_codec<troupe::simulation::world> {};

namespace troupe::simulation {

namespace {

class machine {
 public:
  explicit machine(world* in) : in_(*in), alive_(in_.book) {
    auto& left = in_.left;
    if (in_.happens(left.starts_that_hang, 6, "a constructor hung")) in_.spend(hanging);
    if (in_.random.once_in(3)) in_.spend(duration(1ms) * in_.random.below(2000));
    if (in_.happens(left.starts_that_fail, 4, "a start failed")) {
      throw std::runtime_error("the workload asked for it");
    }
  }
  task<> catch_up() {
    counted_frame here(in_.book);
    const bool hangs = in_.happens(in_.left.starts_that_hang, 6, "a catch-up hung");
    co_await sleep_for(hangs ? hanging : duration(1ms) * in_.random.below(500));
  }

  /// Keeps its thread.
  int work(int id, duration time) {
    in_.book.executed(id);
    const bool hangs = in_.happens(in_.left.calls_that_hang, 20, "a call hung");
    in_.spend(hangs ? hanging : time);
    return id;
  }
  int look(int id, duration time) { return work(id, time); }
  task<int> wait(int id, duration time) {
    counted_frame here(in_.book);
    in_.book.executed(id);
    co_await sleep_for(time);
    co_return id;
  }

 private:
  world& in_;
  counted_frame alive_;
};

struct fleet {
  std::vector<std::size_t> slots;  ///< Of each node.
  std::size_t replicas_max = 0;    ///< There is room for so many while any one node is away.
  serve_options options;

  std::size_t all_slots() const {
    std::size_t sum = 0;
    for (const auto n : slots) sum += n;
    return sum;
  }
  bool on_nodes() const { return options.placement.on_node(); }
  /// An endpoint that works for so long is busy.
  duration busy_for() const {
    return options.max_call_time == no_limit ? duration(15s) : options.max_call_time / 2;
  }
};

std::string name_of(std::size_t node) { return "node-" + std::to_string(node); }

/// `loses_replicas`: faults lose replicas besides what is drawn here.
fleet draw_fleet(dice& random, troubles& all, bool loses_replicas) {
  fleet drawn;
  const auto nodes = static_cast<std::size_t>(2 + random.below(3));
  for (std::size_t i = 0; i < nodes; ++i) {
    drawn.slots.push_back(static_cast<std::size_t>(1 + random.below(4)));
  }
  const auto largest = *std::max_element(drawn.slots.begin(), drawn.slots.end());
  drawn.replicas_max = drawn.all_slots() - largest;
  auto& options = drawn.options;
  options.name = "fleet";
  options.replicas = drawn.replicas_max;
  options.placement = random.once_in(5)   ? placement::shared
                      : random.once_in(5) ? placement::process
                      : random.once_in(8) ? placement::thread
                                          : placement::node("node-*");
  options.idempotent = {endpoint<&machine::look>};
  options.start_timeout = 20s;
  options.drain_timeout = duration(1ms) * random.below(3000);
  // Where calls may hang, somebody has to judge them.
  if (random.once_in(2)) {
    options.max_call_time = 2s + duration(1ms) * random.below(4000);
    all.calls_that_hang = random.below(3);
  }
  all.starts_that_hang = random.below(2);
  all.starts_that_fail = random.below(3);
  all.nodes_lost = random.below(4);
  if (random.once_in(2)) all.times_without_threads = 1 + random.below(3);
  if (random.once_in(3)) {
    all.controllers_lost = 1;
    if (random.once_in(2)) options.outlive_controller = 10s;
  }
  options.max_restarts = static_cast<std::size_t>(all.sum());
  if (loses_replicas || all.times_without_threads > 0) {
    options.max_restarts = 1'000'000;
    options.max_retries = options.poison_limit = 1'000'000;
    options.backoff_limit = 100ms;
  }
  return drawn;
}

task<outcome<int>> called(task<outcome<int>> call, int id, ledger& book) {
  counted_frame here(book);
  auto result = co_await call;
  book.ended(id, result);
  co_return result;
}

/// Whatever holds the threads, a deadline ends the wait for a call.
task<> called_in_time(world& in, task<outcome<int>> call, int id, duration deadline) {
  constexpr auto delays = 1s;  // Of the turns of others, and of messages.
  counted_frame here(in.book);
  const auto began = detail::strand::current().now();
  co_await called(std::move(call), id, in.book);
  const auto took = detail::strand::current().now() - began;
  in.book.require(
      deadline == no_limit || took <= deadline + delays, "deadlines hold",
      "a call took " + detail::to_text(took) + ", its deadline is " + detail::to_text(deadline));
}

task<> call_often(world& in, duration longest, dice random) {
  counted_frame here(in.book);
  for (int i = 0; i < 8; ++i) {
    const auto time = duration(1ms) * random.below(static_cast<int>(longest / 1ms));
    const int kind = random.below(3);
    const auto deadline = random.once_in(3) ? duration(1s) * (1 + random.below(5)) : no_limit;
    const auto to = in.machines.with({.deadline = deadline});
    const int id = in.begin(kind == 1 ? 0 : 1);
    auto call = kind == 0   ? to.try_route<&machine::work>(id, time)
                : kind == 1 ? to.try_route<&machine::look>(id, time)
                            : to.try_route<&machine::wait>(id, time);
    co_await called_in_time(in, std::move(call), id, deadline);
    co_await sleep_for(duration(1ms) * random.below(3000));
  }
}

/// A growth may end because a replica can't be started, or where a later request is for fewer.
task<> scale(world& in, service<machine> which, std::size_t replicas) {
  counted_frame here(in.book);
  try {
    co_await in.sys.scale(which, replicas);
    ++in.book.ends["the fleet scaled"];
  } catch (const call_error& e) {
    const bool gone = in.loses_controller && e.kind() == error_kind::service_down;
    in.book.require(
        e.kind() == error_kind::replica_lost || e.kind() == error_kind::cancelled || gone,
        "only errors that can be", e.what());
    ++in.book.ends["the fleet's growth ended"];
  }
}

/// Returns when nothing has been restarted for longest_scale. A change of the number waits until
/// all replicas serve at once, which takes long where faults of messages lose a node every second.
task<> no_restart_for_long(world& in) {
  counted_frame here(in.book);
  constexpr duration look_every = 10s;
  auto restarts = metric(in.sys, "troupe_replica_restarts_total", "fleet");
  for (duration quiet{}; quiet < longest_scale; quiet += look_every) {
    co_await sleep_for(look_every);
    const auto now = metric(in.sys, "troupe_replica_restarts_total", "fleet");
    if (now != std::exchange(restarts, now) && in.messages_lost) quiet = {};
  }
}

task<> scale_in_time(world& in, service<machine> which, std::size_t replicas) {
  counted_frame here(in.book);
  const bool late = (co_await any(scale(in, which, replicas), no_restart_for_long(in))).index == 1;
  in.book.require(!late, "every scale ends",
                  "one to " + std::to_string(replicas) + " replicas did not");
}

task<> scale_often(world& in, std::size_t most, dice random) {
  counted_frame here(in.book);
  for (int i = 0; i < 6; ++i) {
    co_await sleep_for(duration(1ms) * random.below(8000));
    co_await scale_in_time(in, in.machines,
                           1 + static_cast<std::size_t>(random.below(static_cast<int>(most))));
  }
}

/// One node after the other is away for a while.
task<> lose_nodes(world& in, const fleet& all, dice random) {
  counted_frame here(in.book);
  auto& nodes = detail::core_of(in.sys).simulate_nodes();
  while (in.left.nodes_lost > 0) {
    co_await sleep_for(duration(1ms) * random.below(12'000));
    --in.left.nodes_lost;
    const auto which = static_cast<std::size_t>(random.below(static_cast<int>(all.slots.size())));
    const auto away = duration(1ms) * random.below(15'000);
    if (random.once_in(2)) {
      ++in.book.ends["a node killed"];
      nodes.kill(name_of(which));
      co_await sleep_for(away);
      nodes.join(name_of(which), all.slots[which]);
    } else {
      using way = detail::simulated_link::way;
      const auto cut = random.once_in(2) ? way::both : random.once_in(2) ? way::in : way::out;
      ++in.book.ends[away < 5s          ? "a link stalled"
                     : cut == way::both ? "a link cut"
                                        : "a link cut one way"];
      nodes.cut(name_of(which), away, cut);
      co_await sleep_for(away + 2s);  // Until the node is back.
    }
  }
}

/// No thread can be had from time to time.
task<> take_threads(world& in, dice random) {
  counted_frame here(in.book);
  for (; in.left.times_without_threads > 0; --in.left.times_without_threads) {
    co_await sleep_for(duration(1ms) * random.below(12'000));
    ++in.book.ends["no thread was left"];
    in.no_threads = true;
    co_await sleep_for(duration(1ms) * random.below(10'000));
    in.no_threads = false;
  }
}

/// The controller dies, and another one serves the same. The nodes live on.
task<> lose_controller(world& in, const fleet& all, dice random) {
  counted_frame here(in.book);
  for (; in.left.controllers_lost > 0; --in.left.controllers_lost) {
    co_await sleep_for(duration(1ms) * random.below(20'000));
    ++in.book.ends["the controller was lost"];
    detail::core_of(in.sys).simulate_nodes().lose_controller();
    in.sys.stop(in.machines);
    world* const known = &in;
    in.machines = co_await in.sys.serve<machine>(all.options, known);
  }
}

/// Every slot is busy for longer than anybody may be silent.
task<> keep_busy(world& in, const fleet& all, service<machine> to) {
  counted_frame here(in.book);
  const auto restarts = metric(in.sys, "troupe_replica_restarts_total", "fleet");
  const int id = in.begin(static_cast<int>(all.all_slots()));
  const auto results = co_await to.fanout_settled<&machine::work>(id, all.busy_for());
  for (const auto& each : results) {
    in.book.answer(id, each);
    in.book.require(each.ok(), "who is busy is not lost", describe(each.error()));
  }
  in.book.all_answered(id);
  in.book.require(metric(in.sys, "troupe_replica_restarts_total", "fleet") == restarts,
                  "who is busy is not lost", "a replica was restarted");
}

/// All slots are used, and nothing goes wrong.
task<> fill(world& in, const fleet& all) {
  counted_frame here(in.book);
  const auto to = in.machines;
  in.set_calm(true);
  co_await sleep_for(30s);  // What faults have begun is over then.
  const auto most = all.on_nodes() ? all.all_slots() : all.replicas_max;
  co_await scale_in_time(in, to, most);
  co_await keep_busy(in, all, to);
  co_await scale_in_time(in, to, all.replicas_max);
  in.set_calm(false);
}

task<> live_through(world& in, const fleet& all, dice random) {
  counted_frame here(in.book);
  std::vector<task<>> parts;
  for (int i = 0; i < 6; ++i) {
    parts.push_back(call_often(in, all.busy_for() / 2, random.fork()));
  }
  parts.push_back(scale_often(in, all.replicas_max, random.fork()));
  parts.push_back(take_threads(in, random.fork()));
  parts.push_back(lose_controller(in, all, random.fork()));
  if (all.on_nodes()) parts.push_back(lose_nodes(in, all, random.fork()));
  try {
    co_await with_timeout(troupe::all(std::move(parts)), 1h);
  } catch (const call_error& e) {
    in.book.require(false, "no hung caller", e.what());
  }
}

/// All nodes are here, and nothing goes wrong any more.
task<> recover(world& in, const fleet& all, std::size_t replicas) {
  counted_frame here(in.book);
  const auto to = in.machines;
  in.set_calm(true);
  co_await sleep_for(30s);  // A node is back by then; a start that hung is over.
  co_await scale_in_time(in, to, replicas);
  in.book.check_all_ended();
  in.book.require(metric(in.sys, "troupe_replicas_ready", "fleet") == static_cast<double>(replicas),
                  "replicas end as wished",
                  std::to_string(metric(in.sys, "troupe_replicas_ready", "fleet")) +
                      " serve, wished are " + std::to_string(replicas));
  if (!all.on_nodes()) co_return;
  std::size_t placed = 0, slots = 0;
  for (const auto& n : detail::core_of(in.sys).simulate_nodes().list()) {
    placed += n.replicas;
    slots += n.slots;
  }
  in.book.require(slots == all.all_slots(), "every node comes back",
                  std::to_string(slots) + " slots are here");
  in.book.require(placed == replicas, "no slot is lost", std::to_string(placed) + " are taken");
}

task<> main_of(world& in, dice random) {
  auto& book = in.book;
  auto& sys = in.sys;
  counted_frame here(book);
  const auto* faults = detail::core_of(sys).faults();
  const bool loses_replicas = faults && (faults->plan().crash > 0 || faults->plan().drop > 0);
  const auto all = draw_fleet(random, in.left, loses_replicas);
  in.loses_controller = in.left.controllers_lost > 0;
  in.messages_lost = faults && faults->plan().drop > 0;
  auto& nodes = detail::core_of(sys).simulate_nodes();
  for (std::size_t i = 0; i < all.slots.size(); ++i) nodes.join(name_of(i), all.slots[i]);
  world* const known = &in;
  in.machines = co_await sys.serve<machine>(all.options, known);
  co_await fill(in, all);
  co_await live_through(in, all, random.fork());
  if (book.broken) co_return;
  co_await recover(in, all,
                   1 + static_cast<std::size_t>(random.below(static_cast<int>(all.replicas_max))));
  sys.stop(in.machines);
  for (std::size_t i = 0; i < all.slots.size(); ++i) nodes.kill(name_of(i));
  co_await sleep_for(hanging + 1min);
  book.require(sys.actors() == 1, "no actor left",
               std::to_string(sys.actors() - 1) + " live after their service's end");
}

/// Takes threads away as the workload says, for the scope.
class scarce_threads {
 public:
  explicit scarce_threads(const world& in) {
    detail::set_scarcity([&in] { return in.no_threads; });
  }
  scarce_threads(const scarce_threads&) = delete;
  ~scarce_threads() { detail::set_scarcity(nullptr); }
};

}  // namespace

report play_fleet(std::uint64_t seed, const fault_plan& faults) {
  ledger book;
  std::optional<world> in;  // Roles look at it until they have ended.
  std::string plan;
  {
    system sys({.deterministic = true, .seed = seed, .faults = faults});
    if (const auto* drawn = detail::core_of(sys).faults()) plan = drawn->plan().text();
    dice random(seed * 31);
    if (random.once_in(2)) {
      detail::core_of(sys).limit_threads(static_cast<std::size_t>(2 + random.below(3)));
    }
    in.emplace(book, sys, random.fork());
    const scarce_threads taken(*in);
    try {
      sys.run(main_of(*in, random));
    } catch (const std::exception& e) {
      book.require(false, "the fleet serves to the end", e.what());
    }
    in->machines = {};
  }
  book.require(book.frames == 0, "no frame left", std::to_string(book.frames) + " are left");
  return {book.broken, book.ends, plan};
}

}  // namespace troupe::simulation
