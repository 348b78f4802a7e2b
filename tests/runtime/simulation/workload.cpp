#include "tests/runtime/simulation/workload.hpp"

#include "runtime/system/system.hpp"
#include "runtime/system/system_core.hpp"
#include "tests/runtime/metrics/series.hpp"
#include "tests/runtime/simulation/dice.hpp"
#include "tests/runtime/simulation/holdings.hpp"
#include "tests/runtime/simulation/rooms.hpp"
#include "tests/runtime/simulation/versions.hpp"

namespace troupe::simulation {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_replicas = 4;

/// Bounds that the role can see being kept.
struct bounds {
  int max_ongoing;
  std::size_t max_batch;
};

class worker {
 public:
  worker(ledger* book, bounds limits) : book_(*book), limits_(limits), alive_(*book) {}

  int add(int id) {
    book_.executed(id);
    return id;
  }
  int read(int id) { return add(id); }
  int stumble(int id, int how) {
    book_.executed(id);
    if (how == 0) throw fatal("the workload asked for it");
    if (how == 1) throw std::runtime_error("the workload asked for it");
    return id;
  }
  task<int> slow(int id, duration pause) {
    counted_frame here(book_);
    book_.executed(id);
    const auto place = begin();
    co_await sleep_for(pause);
    co_return id;
  }
  task<int> look(int id, duration pause) {
    counted_frame here(book_);
    const int same = co_await slow(id, pause);
    co_return same;
  }
  /// Calls another service on the way; how that ends is in the ledger.
  task<int> relay(int id, service<worker> other, int inner) {
    counted_frame here(book_);
    book_.executed(id);
    const auto place = begin();
    const auto result = co_await other.try_route<&worker::slow>(inner, duration(2ms));
    book_.ended(inner, result);
    co_return id;
  }
  batch<int> gather(batch<int> ids) {
    book_.require(ids.size() <= limits_.max_batch, "no bound exceeded",
                  std::to_string(ids.size()) + " calls in a batch");
    for (const int id : ids) book_.executed(id);
    return ids;
  }
  batch<int> score(batch<int> ids) { return gather(std::move(ids)); }

 private:
  /// One of the coroutine calls at work, for as long as it lives: also one that is cancelled.
  class ongoing_call {
   public:
    explicit ongoing_call(int& count) : count_(++count) {}
    ongoing_call(const ongoing_call&) = delete;
    ~ongoing_call() { --count_; }

   private:
    int& count_;
  };

  ongoing_call begin() {
    book_.require(ongoing_ < limits_.max_ongoing, "no bound exceeded",
                  std::to_string(ongoing_ + 1) + " coroutine calls at once");
    return ongoing_call(ongoing_);
  }

  ledger& book_;
  const bounds limits_;
  counted_frame alive_;
  int ongoing_ = 0;
};

using pending = task<outcome<int>>;

task<> write_down(pending call, int id, ledger& book) {
  counted_frame here(book);
  const auto result = co_await call;
  book.ended(id, result);
}

pending in_session(session<worker> mine, int id, duration pause) {
  try {
    const int value = co_await mine.route<&worker::slow>(id, pause);
    co_return outcome<int>(value);
  } catch (...) {
    co_return outcome<int>(std::current_exception());
  }
}

task<> talk(service<worker> to, int sentences, ledger& book) {
  counted_frame here(book);
  std::optional<session<worker>> mine;
  try {
    mine = co_await to.session();
  } catch (const call_error& e) {
    ++book.ends["no session: " + std::string(to_string(e.kind()))];
    co_return;
  }
  for (int i = 0; i < sentences; ++i) {
    const int id = book.begin(1);
    co_await write_down(in_session(*mine, id, duration(1ms) * i), id, book);
  }
}

task<> ask_all(service<worker> to, ledger& book) {
  counted_frame here(book);
  const int id = book.begin(static_cast<int>(most_replicas));
  try {
    const auto results = co_await to.fanout_settled<&worker::add>(id);
    for (const auto& each : results) book.answer(id, each);
  } catch (const call_error& e) {
    book.answer(id, outcome<int>(std::current_exception()));
  }
  book.all_answered(id);
}

/// Makes the call, and gives it up after `patience`.
task<> impatient(pending call, int id, duration patience, ledger& book) {
  counted_frame here(book);
  try {
    co_await with_timeout(write_down(std::move(call), id, book), patience);
  } catch (const call_error&) {
    book.given_up(id);
  }
}

struct stage {
  service<worker> front;
  service<worker> back;
};

/// One call of one endpoint, and its number.
std::pair<int, pending> draw_call(const stage& on, const service<worker>& to, dice& random,
                                  ledger& book) {
  const auto pause = duration(1ms) * random.below(10);
  const int kind = random.below(8);
  const bool idempotent = kind < 3;
  const int id = book.begin(idempotent ? 0 : 1);
  switch (kind) {
    case 0:
      return {id, to.try_route<&worker::read>(id)};
    case 1:
      return {id, to.try_route<&worker::look>(id, pause)};
    case 2:
      return {id, to.try_route<&worker::score>(id)};
    case 3:
      return {id, to.try_route<&worker::add>(id)};
    case 4:
      return {id, to.try_route<&worker::slow>(id, pause)};
    case 5:
      return {id, to.try_route<&worker::gather>(id)};
    case 6:
      return {id, to.try_route<&worker::stumble>(id, random.below(10))};
    default:
      return {id, on.front.try_route<&worker::slow>(id, pause)};
  }
}

/// Calls the back through the front. An inner call that was never made was given up.
task<> through_front(const stage& on, ledger& book) {
  counted_frame here(book);
  const int id = book.begin(1);
  const int inner = book.begin_inside(1);
  co_await write_down(on.front.try_route<&worker::relay>(id, on.back, inner), id, book);
  book.given_up(inner);
}

task<> call_at_random(const stage& on, dice random, ledger& book) {
  counted_frame here(book);
  for (int i = 0; i < 12; ++i) {
    call_options how;
    if (random.once_in(3)) how.deadline = duration(1ms) * (1 + random.below(60));
    how.wait = !random.once_in(4);
    const auto to = on.back.with(how);
    const int what = random.below(10);
    if (what == 0) {
      co_await ask_all(to, book);
    } else if (what == 1) {
      co_await talk(to, 1 + random.below(4), book);
    } else if (what == 2) {
      co_await through_front(on, book);
    } else {
      auto [id, call] = draw_call(on, to, random, book);
      if (what == 3) {
        co_await impatient(std::move(call), id, duration(1ms) * random.below(15), book);
      } else {
        co_await write_down(std::move(call), id, book);
      }
    }
  }
}

/// Calls in flight at most, callers that wait at most.
void check_bounds(system& sys, ledger& book, std::size_t in_flight, std::size_t waiting) {
  const auto metrics = sys.metrics().text();
  const auto check = [&](const char* name, std::size_t most) {
    const auto value = metric(metrics, name, "back");
    book.require(value >= 0 && value <= static_cast<double>(most), "no bound exceeded",
                 std::string(name) + " is " + std::to_string(value));
  };
  check("troupe_requests_in_flight", in_flight);
  check("troupe_callers_waiting", waiting);
}

/// Looks often at first: a caller that hangs shall not cost an hour of looking.
task<> watch_bounds(system& sys, const serve_options& back, ledger& book) {
  counted_frame here(book);
  for (duration pause = 10ms;; pause = std::min<duration>(pause + pause / 8, 10s)) {
    check_bounds(sys, book, most_replicas * back.max_queued, back.max_waiting);
    co_await sleep_for(pause);
  }
}

std::size_t draw_replicas(dice& random) {
  return static_cast<std::size_t>(1 + random.below(static_cast<int>(most_replicas)));
}

serve_options draw_options(const char* name, dice& random) {
  const auto draw = [&](int n) { return static_cast<std::size_t>(1 + random.below(n)); };
  serve_options options{.name = name};
  options.replicas = draw_replicas(random);
  options.max_queued = draw(5);
  options.max_waiting = 4 + draw(20);
  options.max_ongoing = draw(3);
  options.max_batch = draw(4);
  options.max_delay = duration(1ms) * random.below(4);
  options.on_throw = random.once_in(3) ? on_throw::restart : on_throw::keep_serving;
  options.max_restarts = 1'000'000;
  options.backoff = 2ms;
  options.backoff_limit = 20ms;
  options.idempotent = {endpoint<&worker::read>, endpoint<&worker::look>, endpoint<&worker::score>};
  if (random.once_in(2)) {
    options.hedged = options.idempotent;
    options.hedge_after = duration(1ms) * draw(20);
  }
  if (random.once_in(3)) options.run_to_end = {endpoint<&worker::slow>};
  if (random.once_in(4)) options.max_call_time = 20ms + duration(1ms) * random.below(40);
  options.drain_timeout = duration(1ms) * random.below(200);
  if (random.once_in(2)) options.placement = placement::process;
  return options;
}

task<service<worker>> serve(system& sys, serve_options options, ledger& book) {
  const bounds limits{static_cast<int>(options.max_ongoing), options.max_batch};
  return sys.serve<worker>(std::move(options), &book, limits);
}

task<> all_callers(const stage& on, int callers, std::uint64_t seed, ledger& book) {
  std::vector<task<>> all_of_them;
  for (int i = 0; i < callers; ++i) {
    const dice own(seed * 1000 + static_cast<std::uint64_t>(i));
    all_of_them.push_back(call_at_random(on, own, book));
  }
  co_await all(std::move(all_of_them));
}

/// Adds and removes replicas, often at first, until it is cancelled.
task<> scale_at_random(system& sys, service<worker> which, dice random, ledger& book) {
  counted_frame here(book);
  for (int longest = 60;; longest = std::min(longest + longest / 20, 5000)) {
    co_await sleep_for(duration(1ms) * random.below(longest));
    co_await sys.scale(which, draw_replicas(random));
    ++book.ends["scaled"];
  }
}

task<> call_under_watch(group& beside, system& sys, const stage* on, const serve_options* back,
                        std::uint64_t seed, ledger* book) {
  beside.start(watch_bounds(sys, *back, *book));
  beside.start(scale_at_random(sys, on->back, dice(seed * 1000 + 999), *book));
  try {
    std::vector<task<>> parts;
    parts.push_back(all_callers(*on, 16, seed, *book));
    parts.push_back(push_versions(sys, dice(seed * 1000 + 998), *book));
    parts.push_back(share_rooms(sys, dice(seed * 1000 + 997), *book));
    parts.push_back(hold_and_wait(sys, dice(seed * 1000 + 996), *book));
    co_await with_timeout(all(std::move(parts)), 10min);
  } catch (const call_error& e) {
    book->require(false, "no hung caller", e.what());
  }
}

task<> main_of(system& sys, std::uint64_t seed, ledger& book) {
  counted_frame here(book);
  dice random(~seed);
  auto front_options = draw_options("front", random);
  if (random.once_in(2)) {
    front_options.autoscale = {.max = most_replicas,
                               .target_queue_wait = 1ms,
                               .metrics_interval = 5ms,
                               .upscale_delay = 5ms,
                               .downscale_delay = 20ms};
  }
  const auto back_options = draw_options("back", random);
  auto front = co_await serve(sys, front_options, book);
  auto back = co_await serve(sys, back_options, book);
  const stage on{front, back};
  co_await with_group(call_under_watch, std::ref(sys), &on, &back_options, seed, &book);
  if (book.broken) co_return;
  if (auto* faults = detail::core_of(sys).faults()) faults->rest();
  const auto replicas = draw_replicas(random);
  co_await sys.scale(back, replicas);
  // Late messages come, links that were cut are noticed after 5 s, and what died is replaced.
  co_await sleep_for(7s);
  book.check_all_ended();
  check_bounds(sys, book, 0, 0);
  book.require(metric(sys, "troupe_replicas_ready", "back") == static_cast<double>(replicas),
               "every replica is replaced", "not all serve seven seconds after the last call");
  sys.stop(front);
  sys.stop(back);
  co_await sleep_for(6s);  // A simulated process whose link was cut notices after 5 s.
  book.require(sys.actors() == 1, "no actor left",
               std::to_string(sys.actors() - 1) + " live after their services' end");
}

}  // namespace

report play(std::uint64_t seed, const fault_plan& faults) {
  ledger book;
  {
    system sys({.deterministic = true, .seed = seed, .faults = faults});
    try {
      sys.run(main_of(sys, seed, book));
    } catch (const std::exception& e) {
      book.require(false, "no hung caller", e.what());
    }
  }
  book.require(book.frames == 0, "no frame left", std::to_string(book.frames) + " are left");
  return {book.broken, book.ends, detail::fault_source(faults, seed).plan().text()};
}

}  // namespace troupe::simulation
