#include "runtime/service/supervision/wait_graph.hpp"

#include "tests/test.hpp"

namespace troupe::detail {
namespace {

using stage = awaited_call::stage;

/// Services 1, 2, 3 with replicas 10, 20, 30 that are full of one call each, whose number is 1.
wait_graph three_full() {
  return {.busy = {{.id = 10, .ongoing = 1, .full = true},
                   {.id = 20, .ongoing = 1, .full = true},
                   {.id = 30, .ongoing = 1, .full = true}},
          .ready = {{1, {10}}, {2, {20}}, {3, {30}}},
          .calls = {}};
}

awaited_call for_room(std::size_t from, std::size_t to) {
  return {.by = {from * 10, 1}, .from = from, .to = to};
}
awaited_call in_queue(std::size_t from, std::size_t to) {
  return {.by = {from * 10, 1}, .from = from, .to = to, .at = to * 10, .where = stage::in_queue};
}
awaited_call in_endpoint(std::size_t from, std::size_t to) {
  return {.by = {from * 10, 1},
          .from = from,
          .to = to,
          .at = to * 10,
          .where = stage::in_endpoint,
          .work = 1};
}

std::vector<std::vector<std::size_t>> services_of(const wait_graph& graph) {
  std::vector<std::vector<std::size_t>> all;
  for (const auto& cycle : cycles_of(graph)) all.push_back(cycle.services);
  return all;
}

using cycles = std::vector<std::vector<std::size_t>>;
const auto none = cycles{};

}  // namespace

TEST_CASE("wait graph: two services that wait for each other's room or queue are a cycle") {
  for (const auto one : {for_room, in_queue}) {
    for (const auto other : {for_room, in_queue}) {
      auto graph = three_full();
      graph.calls = {one(1, 2), other(2, 1)};
      const auto found = cycles_of(graph);
      REQUIRE(found.size() == 1);
      CHECK(found[0].services.size() == 2);
      CHECK(found[0].calls == std::vector<std::size_t>{0, 1});
    }
  }
}

TEST_CASE("wait graph: of a cycle the calls that have begun don't end") {
  auto graph = three_full();
  graph.calls = {in_endpoint(1, 2), in_endpoint(2, 3), for_room(3, 1)};
  const auto found = cycles_of(graph);
  REQUIRE(found.size() == 1);
  CHECK(found[0].services == std::vector<std::size_t>{1, 2, 3});
  CHECK(found[0].calls == std::vector<std::size_t>{2});
}

TEST_CASE("wait graph: a service that waits for itself is a cycle of one") {
  auto graph = three_full();
  graph.calls = {in_queue(2, 2)};
  CHECK(services_of(graph) == cycles{{2}});
}

TEST_CASE("wait graph: a way that passes a service twice is cut to what leads back to it") {
  auto graph = three_full();
  graph.busy[0].ongoing = 2;
  auto back = in_endpoint(2, 1);
  back.work = 2;
  auto again = for_room(1, 1);
  again.by.second = 2;
  graph.calls = {in_endpoint(1, 2), back, again};
  const auto found = cycles_of(graph);
  REQUIRE(found.size() == 1);
  CHECK(found[0].services == std::vector<std::size_t>{1});
  CHECK(found[0].calls == std::vector<std::size_t>{2});
}

TEST_CASE("wait graph: who waits for a cycle without being in it is left alone") {
  auto graph = three_full();
  graph.calls = {for_room(1, 2), for_room(2, 1), for_room(3, 1)};
  const auto found = cycles_of(graph);
  REQUIRE(found.size() == 1);
  CHECK(found[0].calls == std::vector<std::size_t>{0, 1});
}

TEST_CASE("wait graph: two cycles that share nothing are both found") {
  auto graph = three_full();
  graph.calls = {for_room(1, 1), for_room(2, 3), for_room(3, 2)};
  CHECK(services_of(graph) == cycles{{1}, {2, 3}});
}

TEST_CASE("wait graph: a cycle that ends with another is left out") {
  auto graph = three_full();
  graph.busy[0].ongoing = 2;
  auto other = for_room(1, 3);
  other.by.second = 2;
  graph.calls = {for_room(1, 2), for_room(2, 1), other, for_room(3, 1)};
  CHECK(cycles_of(graph).size() == 1);
}

TEST_CASE("wait graph: a chain of calls that ends with one at work is no cycle") {
  auto graph = three_full();
  graph.calls = {for_room(1, 2), in_endpoint(2, 3)};
  CHECK(services_of(graph) == none);
  graph.calls = {in_endpoint(1, 2)};
  CHECK(services_of(graph) == none);
}

TEST_CASE("wait graph: a replica of which one call goes on is not stuck") {
  auto graph = three_full();
  graph.calls = {for_room(1, 2), for_room(2, 1)};
  graph.busy[0].ongoing = 2;
  CHECK(services_of(graph) == none);
  auto second = for_room(1, 2);
  graph.calls.push_back(second);  // The same work awaits two calls: the other goes on still.
  CHECK(services_of(graph) == none);
  graph.calls.back().by.second = 2;
  CHECK(services_of(graph).size() == 1);
}

TEST_CASE("wait graph: a replica that could begin another call is not stuck") {
  auto graph = three_full();
  graph.calls = {for_room(1, 2), in_queue(2, 1)};
  graph.busy.erase(graph.busy.begin());
  CHECK(services_of(graph) == none);
}

TEST_CASE("wait graph: room may come from another replica, or from a call that is no coroutine") {
  auto graph = three_full();
  graph.calls = {for_room(1, 2), for_room(2, 1)};
  graph.ready[1].push_back(11);
  CHECK(services_of(graph) == none);
  graph.calls[1].at = 10;  // A session's: for it no other will do.
  CHECK(services_of(graph).size() == 1);
  graph.ready[1] = {};  // No replica serves: one is started.
  graph.calls[1].at = awaited_call::any_replica;
  CHECK(services_of(graph) == none);

  graph = three_full();
  graph.busy[0].full = false;
  graph.calls = {for_room(1, 2), for_room(2, 1)};
  CHECK(services_of(graph) == none);
  graph.calls = {for_room(1, 2), in_queue(2, 1)};  // It has its room already.
  CHECK(services_of(graph).size() == 1);
}

TEST_CASE("wait graph: calls that await each other in endpoints, which can't be, end the search") {
  auto graph = three_full();
  graph.calls = {in_endpoint(1, 2), in_endpoint(2, 1)};
  CHECK(services_of(graph) == none);
}

TEST_CASE("wait graph: work that holds a session and awaits another one's is a cycle with it") {
  wait_graph graph{.busy = {}, .ready = {{1, {10}}, {2, {20}}, {3, {30}}, {4, {40}}}, .calls = {}};
  const auto for_session = [](std::uint64_t by, std::size_t to) {
    return awaited_call{
        .by = {by * 10, 1}, .from = by, .to = to, .where = stage::for_session, .exclusive = true};
  };
  graph.calls = {for_session(1, 3), for_session(2, 4)};
  graph.sessions = {{.by = {10, 1}, .replica = 40, .exclusive = true},
                    {.by = {20, 1}, .replica = 30, .exclusive = true}};
  CHECK(services_of(graph) == cycles{{1, 3, 2, 4}});

  SECTION("unless another replica has no session") {
    graph.ready[3].push_back(31);
    CHECK(services_of(graph) == none);
  }
  SECTION("also if it has, but two are needed") {
    graph.ready[3].push_back(31);
    graph.calls[0].count = 2;
    CHECK(services_of(graph) == cycles{{1, 3, 2, 4}});
  }
  SECTION("unless a holder goes on") {
    graph.calls.pop_back();
    CHECK(services_of(graph) == none);
  }
  SECTION("unless shared sessions are awaited where the open ones are shared") {
    graph.calls[0].exclusive = false;
    graph.sessions[1].exclusive = false;
    CHECK(services_of(graph) == none);
  }
}

}  // namespace troupe::detail
