#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// How long each replica takes for a call, and whether it dies of it.
struct pace {
  duration pause;
  bool dies = false;
};

struct runner {
  runner(const replica_info& info, std::vector<pace> paces)
      : info(info), mine(paces.at(info.index)) {}
  task<std::size_t> fetch() {
    tracked here;
    co_await sleep_for(mine.pause);
    if (mine.dies) throw fatal("asked to");
    co_return info.index;
  }
  std::size_t index() { return info.index; }
  const replica_info info;
  const pace mine;
};

task<service<runner>> serve(system& sys, std::vector<pace> paces) {
  serve_options options{.name = "runners", .replicas = paces.size()};
  options.idempotent = {endpoint<&runner::fetch>};
  options.hedged = {endpoint<&runner::fetch>};
  options.hedge_after = 20ms;
  options.max_queued = 2;
  options.backoff = 1h;
  options.router = routing::least_loaded();  // The first of equals: replica 0.
  return sys.serve<runner>(std::move(options), std::move(paces));
}

time_point now() { return detail::strand::current().now(); }

task<> fetch_routed(service<runner> from) { co_await from.route<&runner::fetch>(); }
task<> occupy(session<runner> mine) { co_await mine.route<&runner::fetch>(); }

task<> the_second_is_quicker(system& sys) {
  auto runners = co_await serve(sys, {{1h}, {1ms}});
  const auto start = now();
  const auto index = co_await runners.route<&runner::fetch>();
  CHECK(index == 1);
  CHECK(now() - start >= 21ms);
  CHECK(now() - start <= 26ms);  // Deadlines and the like are 5 ms fine.
  CHECK(metric(sys, "troupe_hedges_total", "runners") == 1);
  CHECK(metric(sys, "troupe_hedges_won_total", "runners") == 1);
  CHECK(metric(sys, "troupe_retries_total", "runners") == 0);
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);  // The first was cancelled where it waited.
  CHECK(metric(sys, "troupe_requests_in_flight", "runners") == 0);
}

task<> the_first_is_quicker(system& sys) {
  auto runners = co_await serve(sys, {{40ms}, {1h}});
  const auto start = now();
  const auto index = co_await runners.route<&runner::fetch>();
  CHECK(index == 0);
  CHECK(now() - start == 40ms);
  CHECK(metric(sys, "troupe_hedges_total", "runners") == 1);
  CHECK(metric(sys, "troupe_hedges_won_total", "runners") == 0);
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);
  CHECK(metric(sys, "troupe_requests_in_flight", "runners") == 0);
}

task<> none_is_needed_or_possible(system& sys) {
  auto quick = co_await serve(sys, {{19ms}, {1ms}});
  const auto index = co_await quick.route<&runner::fetch>();
  CHECK(index == 0);
  CHECK(metric(sys, "troupe_hedges_total", "runners") == 0);
  sys.stop(quick);
  auto alone = co_await serve(sys, {{100ms}});
  const auto only = co_await alone.route<&runner::fetch>();
  CHECK(only == 0);
  CHECK(metric(sys, "troupe_hedges_total", "runners") == 0);
}

task<> the_others_are_full(system& sys) {
  auto runners = co_await serve(sys, {{100ms}, {1h}});
  std::vector<session<runner>> open;
  for (int i = 0; i < 2; ++i) open.push_back(co_await runners.session());
  const auto& second = open[open[0].replica() == 1 ? 0 : 1];
  const auto asks = [](service<runner> runners) -> task<> {
    const auto index = co_await runners.route<&runner::fetch>();
    CHECK(index == 0);
  };
  const auto beside = [asks](group& g, service<runner> runners, session<runner> second) {
    for (int i = 0; i < 2; ++i) g.start(occupy(second));
    return asks(runners);
  };
  co_await with_group(beside, runners, second);
  CHECK(metric(sys, "troupe_hedges_total", "runners") == 0);
}

task<> deadlines_hold(system& sys) {
  auto runners = co_await serve(sys, {{1h}, {1h}});
  const auto start = now();
  const auto late = co_await error_of(fetch_routed(runners.with({.deadline = 50ms})));
  CHECK(late == "deadline_exceeded: runners.runner::fetch: no answer within 50 ms");
  CHECK(now() - start <= 56ms);
  CHECK(metric(sys, "troupe_hedges_total", "runners") == 1);
  CHECK(metric(sys, "troupe_requests_failed_total", "runners", R"(reason="deadline",)") == 1);
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);  // Both are cancelled.
  co_await error_of(with_timeout(fetch_routed(runners), 50ms));
  co_await sleep_for(1ms);
  CHECK(tracked::live == 0);
  CHECK(metric(sys, "troupe_requests_in_flight", "runners") == 0);
}

task<> a_death_leaves_the_other(system& sys) {
  auto runners = co_await serve(sys, {{30ms, true}, {60ms}});
  const auto start = now();
  const auto index = co_await runners.route<&runner::fetch>();
  CHECK(index == 1);
  CHECK(now() - start <= 86ms);  // It goes on; no other attempt is made.
  CHECK(metric(sys, "troupe_retries_total", "runners") == 0);
  sys.stop(runners);
  auto reversed = co_await serve(sys, {{60ms}, {10ms, true}});
  const auto first = co_await reversed.route<&runner::fetch>();
  CHECK(first == 0);
  CHECK(metric(sys, "troupe_retries_total", "runners") == 0);
}

task<> two_deaths_are_poison(system& sys) {
  auto runners = co_await serve(sys, {{50ms, true}, {50ms, true}, {1ms}});
  const auto refused = co_await error_of(fetch_routed(runners));
  CHECK(refused == "poison: runners.runner::fetch: this call has killed 2 replicas");
  CHECK(metric(sys, "troupe_hedges_total", "runners") == 1);
  CHECK(metric(sys, "troupe_retries_total", "runners") == 0);
  co_await sleep_for(1ms);
  CHECK(metric(sys, "troupe_replica_restarts_total", "runners") == 2);
  CHECK(metric(sys, "troupe_requests_in_flight", "runners") == 0);
}

task<> refuses_what_may_not_be_repeated(system& sys) {
  serve_options options{.name = "runners"};
  options.hedged = {endpoint<&runner::index>};
  options.hedge_after = 1ms;
  const auto paces = std::vector<pace>{{1ms}};
  const auto unsafe = co_await error_of(sys.serve<runner>(options, paces));
  CHECK(unsafe ==
        "service \"runners\": hedged: expected only idempotent endpoints, got runner::index");
  options.idempotent = options.hedged;
  options.hedge_after = duration(0);
  const auto when = co_await error_of(sys.serve<runner>(options, paces));
  CHECK(when == "service \"runners\": hedge_after: expected a time > 0, got 0 s");
}

}  // namespace

TEST_CASE("hedge: the second copy answers where the first takes long, and the first is cancelled") {
  testing::play(the_second_is_quicker);
}
TEST_CASE("hedge: the first may still answer first, and the second is cancelled") {
  testing::play(the_first_is_quicker);
}
TEST_CASE("hedge: an answer in time and a service of one replica get no second copy") {
  testing::play(none_is_needed_or_possible);
}
TEST_CASE("hedge: no second copy goes where there is no room") {
  testing::play(the_others_are_full);
}
TEST_CASE("hedge: the deadline holds for both copies") { testing::play(deadlines_hold); }
TEST_CASE("hedge: when one copy's replica dies the other copy goes on, and nothing is retried") {
  testing::play(a_death_leaves_the_other);
}
TEST_CASE("hedge: a call whose two copies kill two replicas is poison") {
  testing::play(two_deaths_are_poison);
}
TEST_CASE("hedge: only idempotent endpoints, and only with a time") {
  testing::play(refuses_what_may_not_be_repeated);
}

}  // namespace troupe
