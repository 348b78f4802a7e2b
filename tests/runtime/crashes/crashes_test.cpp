// A thousand crashes of replicas under load, on real threads: how soon the replacement answers,
// that every call ends, and that nothing is left behind. A suite of its own, because it measures
// the memory of its whole process; and one of the few with a bound in real time, which is the
// promise.
//
//   clients ──add, add_slowly──> four replicas <──die── the killer, one crash after the other
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include "runtime/coroutine/condition.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

constexpr std::size_t replicas = 4;
constexpr int clients = 32;
constexpr int warm_up_crashes = 100;  // Allocates what is allocated once.
constexpr int crashes = 1000;

// What the promises are held to. Memory is measured while nobody calls.
constexpr auto answer_limit = 50ms;  // At p99: from a crash to its replacement's first answer.
constexpr auto phase_limit = 60s;    // A call that has not ended by then hangs.
constexpr std::int64_t heap_limit = 32 << 10;  // Bytes in use, after minus before. The least
// that malloc gives takes 32 bytes; a restart's time takes 8, for as long as restart_window.
constexpr std::int64_t resident_limit = 1 << 20;  // Resident bytes, after minus before.

using crash_times = std::array<std::atomic<time_point>, replicas>;  // By the replica's index.

struct answer {
  std::size_t index = 0;
  std::size_t generation = 0;
};

class mortal {
 public:
  mortal(const replica_info& info, std::shared_ptr<crash_times> crashed)
      : info_(info), crashed_(std::move(crashed)), state_(64 << 10) {}

  answer add() {
    ++state_[0];
    return {info_.index, info_.generation};
  }
  task<answer> add_slowly() {
    tracked here;
    co_await sleep_for(1ms);
    co_return answer{info_.index, info_.generation};
  }
  task<> wait_long() { co_await sleep_for(1h); }
  void die() {
    crashed_->at(info_.index) = std::chrono::steady_clock::now();
    throw fatal("asked to");
  }

 private:
  const replica_info info_;
  std::shared_ptr<crash_times> crashed_;
  std::vector<std::uint8_t> state_;  // 64 KiB: a role that stays behind is seen in the heap.
  tracked here_;
};

/// What the clients and the killer share; all of them run on the program's own actor.
struct load {
  service<mortal> to;
  std::shared_ptr<crash_times> crashed;
  bool ending = false;
  std::array<std::size_t, replicas> awaited{};  // The generation whose first answer is waited for.
  std::array<std::optional<duration>, replicas> answered_after;
  condition changed;
  std::int64_t begun = 0, answered = 0, lost = 0, other = 0;
};

void note(load& l, const answer& a) {
  auto& after = l.answered_after[a.index];
  if (after || a.generation < l.awaited[a.index]) return;
  after = std::chrono::steady_clock::now() - l.crashed->at(a.index).load();
  l.changed.notify_all();
}

template <auto F>
task<> call_until_the_end(load& l, duration pause) {
  while (!l.ending) {
    ++l.begun;
    const auto o = co_await l.to.try_route<F>();
    if (o.ok()) {
      ++l.answered;
      note(l, o.value());
    } else {
      ++(kind_of(o) == error_kind::replica_lost ? l.lost : l.other);
    }
    co_await sleep_for(pause);
  }
}

/// A replica may answer a moment before sessions know it, and then a session goes to another one.
task<session<mortal>> open_at(load& l, std::size_t index) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (std::chrono::steady_clock::now() < end) {
    auto opened = co_await l.to.session();
    if (opened.replica() == index) co_return opened;
    co_await sleep_for(100us);
  }
  throw std::runtime_error("no session went to the replacement within 60 s");
}

task<> die_in(session<mortal> victim) { co_await victim.route<&mortal::die>(); }

/// Crashes them in turn. Each replacement answers before the next crash.
task<> crash_often(load& l, int times, std::vector<duration>& after) {
  std::vector<session<mortal>> open;  // A new one goes where there is none: to the replacement.
  for (std::size_t i = 0; i < replicas; ++i) open.push_back(co_await l.to.session());
  for (int i = 0; i < times; ++i) {
    const auto victim = open.front();
    open.erase(open.begin());
    const auto index = victim.replica();
    ++l.awaited[index];
    l.answered_after[index].reset();
    const auto end = co_await error_of(die_in(victim));
    if (!starts_with(end, "session_lost")) throw std::logic_error("a crash ended as " + end);
    while (!l.answered_after[index]) co_await l.changed.wait();
    after.push_back(*l.answered_after[index]);
    open.push_back(co_await open_at(l, index));
  }
}

task<> crash_under_load(group& g, load& l, int times, std::vector<duration>& after) {
  l.ending = false;
  for (int i = 0; i < clients / 2; ++i) {
    g.start(call_until_the_end<&mortal::add>(l, 500us));  // Without a pause they fill every core.
    g.start(call_until_the_end<&mortal::add_slowly>(l, 0ms));
  }
  co_await crash_often(l, times, after);
  l.ending = true;
  co_await g.join();
}

/// `after` gets, for each crash, how long its replacement took to answer.
task<> phase(load& l, int times, std::vector<duration>& after) {
  return with_timeout(
      with_group([&, times](group& g) { return crash_under_load(g, l, times, after); }),
      phase_limit);
}

struct memory {
  std::int64_t heap = 0;      // Bytes in use; what is kept to be recycled isn't.
  std::int64_t resident = 0;  // Bytes, after unused pages were given back.
};

memory measure() {
  const auto heap = static_cast<std::int64_t>(mallinfo2().uordblks - detail::kept_memory());
  malloc_trim(0);
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return {heap, pages * sysconf(_SC_PAGESIZE)};
}

struct result {
  std::vector<duration> after;  // Of each crash, sorted.
  std::int64_t begun = 0, answered = 0, lost = 0, other = 0;
  memory before, at_the_end;
  std::size_t actors_before = 0, actors_at_the_end = 0;
  int tracked_at_the_end = 0;
};

task<result> thousand_crashes(system& sys) {
  load l;
  l.crashed = std::make_shared<crash_times>();
  // The limit on restarts is out of the way. The pause before a restart, 50 ms doubled to 5 s by
  // default, is 1 ms: what is measured beside it is the supervisor's and the callers' own time.
  l.to = co_await sys.serve<mortal>({.name = "mortals",
                                     .replicas = replicas,
                                     .max_restarts = 2 * (crashes + warm_up_crashes),
                                     .backoff = 1ms,
                                     .backoff_limit = 1ms},
                                    l.crashed);
  result r;
  r.after.reserve(crashes);  // No memory of the test's own between the two measurements.
  co_await phase(l, warm_up_crashes, r.after);
  r.after.clear();
  co_await sleep_for(100ms);
  r.actors_before = sys.actors();
  r.before = measure();

  l.begun = l.answered = l.lost = l.other = 0;
  const auto error = co_await error_of(phase(l, crashes, r.after));
  if (error != "none") std::printf("crashes: %s\n", error.c_str());
  std::sort(r.after.begin(), r.after.end());
  r.begun = l.begun, r.answered = l.answered, r.lost = l.lost, r.other = l.other;
  co_await sleep_for(100ms);
  r.actors_at_the_end = sys.actors();
  r.at_the_end = measure();
  r.tracked_at_the_end = tracked::live;
  co_return r;
}

task<> wait_in(service<mortal> to) { co_await to.try_route<&mortal::wait_long>(); }

/// One replica, which dies again and again while it sleeps for an hour.
task<> crash_sleeping(group& g, service<mortal> to, int times) {
  for (int i = 0; i < times; ++i) {
    g.start(wait_in(to));
    co_await to.route<&mortal::add>();
    co_await to.try_route<&mortal::die>();
  }
  co_await g.join();
}

task<std::int64_t> heap_of_sleepers(system& sys) {
  auto one = co_await sys.serve<mortal>({.name = "sleepers",
                                         .max_restarts = 2 * (crashes + warm_up_crashes),
                                         .backoff = 1ms,
                                         .backoff_limit = 1ms},
                                        std::make_shared<crash_times>());
  const auto crash = [one](int times) {
    return with_group([one, times](group& g) { return crash_sleeping(g, one, times); });
  };
  co_await crash(warm_up_crashes);
  const auto before = measure();
  co_await crash(crashes);
  co_return measure().heap - before.heap;
}

double milliseconds(duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

/// Of the crashes' times, sorted.
duration quantile(const std::vector<duration>& after, double share) {
  return after[static_cast<std::size_t>(share * (crashes - 1))];
}

void print(const result& r) {
  std::printf(
      "crash to the replacement's first answer: p50 %.2f ms, p99 %.2f ms, max %.2f ms\n"
      "%lld calls: %lld answered, %lld lost with their replica, %lld ended otherwise\n"
      "actors %zu -> %zu; heap %+lld bytes; resident %+lld bytes\n",
      milliseconds(quantile(r.after, 0.5)), milliseconds(quantile(r.after, 0.99)),
      milliseconds(r.after.back()), static_cast<long long>(r.begun),
      static_cast<long long>(r.answered), static_cast<long long>(r.lost),
      static_cast<long long>(r.other), r.actors_before, r.actors_at_the_end,
      static_cast<long long>(r.at_the_end.heap - r.before.heap),
      static_cast<long long>(r.at_the_end.resident - r.before.resident));
}

/// What holds however slow the machine is.
void check_invariants(const result& r) {
  CHECK(r.answered + r.lost == r.begun);
  CHECK(r.other == 0);
  CHECK(r.lost > 0);  // It was under load.
  CHECK(r.actors_at_the_end == r.actors_before);
  CHECK(r.tracked_at_the_end == replicas);  // The roles that live, and no frame.
  CHECK(r.at_the_end.heap - r.before.heap <= heap_limit);
  CHECK(r.at_the_end.resident - r.before.resident <= resident_limit);
  CHECK(tracked::live == 0);
}

}  // namespace

TEST_CASE("crashes: a thousand under load are replaced within 50 ms, and nothing hangs or stays") {
  log_off();
  // The time is the best of up to three attempts: on a machine that others use, too, any thread can
  // be held up for that long. The invariants hold on each.
  auto best = duration::max();
  for (int attempt = 1; attempt <= 3 && best > answer_limit; ++attempt) {
    INFO("attempt " << attempt);
    result r;
    {
      system sys;
      r = sys.run(thousand_crashes(sys));
    }
    REQUIRE(r.after.size() == crashes);
    print(r);
    check_invariants(r);
    best = std::min(best, quantile(r.after, 0.99));
  }
  CHECK(best <= answer_limit);
}

TEST_CASE("crashes: a replica that has died is kept by nothing that it waited for") {
  log_off();
  system sys({.deterministic = true});
  CHECK(sys.run(heap_of_sleepers(sys)) <= heap_limit);
}

}  // namespace troupe
