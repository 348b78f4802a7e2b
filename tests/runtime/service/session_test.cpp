#include <set>

#include "tests/runtime/room.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct guest_book {
  std::vector<int> asked, entered;
};

task<> stay_often(service<room> rooms, int guest, int times, guest_book* book) {
  for (int i = 0; i < times; ++i) {
    book->asked.push_back(guest);
    const auto mine = co_await rooms.session({.exclusive = true});
    book->entered.push_back(guest);
    co_await stay(mine, guest);
  }
}

task<> hold(service<room> rooms, session_options how, duration pause) {
  const auto mine = co_await rooms.session(how);
  co_await sleep_for(pause);
}

task<> die_in(session<room> mine) { co_await mine.route<&room::die>(); }

task<> none_overlap(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  guest_book book;
  std::vector<task<>> guests;
  for (int guest = 1; guest <= 5; ++guest) guests.push_back(stay_often(rooms, guest, 4, &book));
  co_await all(std::move(guests));
  const auto overlapped = co_await rooms.fanout<&room::was_overlapped>();
  CHECK(overlapped == std::vector<bool>{false, false});
  CHECK(book.entered == book.asked);  // Who has just left asks after those who wait already.
}

task<> keep_out_shared_ones(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  std::optional mine = co_await rooms.session({.exclusive = true});
  for (int i = 0; i < 3; ++i) {
    const auto shared = co_await rooms.session();
    CHECK(shared.replica() != mine->replica());
  }
  const auto hurried = rooms.with({.deadline = 5ms});
  const auto second = co_await rooms.session({.exclusive = true});
  const auto late = co_await error_of(hurried.session());
  CHECK(late ==
        "deadline_exceeded: rooms: every replica has an exclusive session; a session was awaited "
        "for 5 ms");
  const auto refused = co_await error_of(rooms.with({.wait = false}).session({.exclusive = true}));
  CHECK(refused == "overloaded: rooms: every replica has a session");
  mine.reset();
  const auto shared = co_await rooms.with({.wait = false}).session();
  CHECK(shared.replica() != second.replica());
}

task<> wait_for_shared_ones(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms"});
  const auto start = detail::strand::current().now();
  std::vector<task<>> beside;
  beside.push_back(hold(rooms, {}, 10ms));
  beside.push_back(hold(rooms, {}, 30ms));
  beside.push_back(hold(rooms, {.exclusive = true}, 20ms));
  beside.push_back(hold(rooms, {}, 5ms));  // Doesn't wait behind the exclusive one.
  co_await all(std::move(beside));
  CHECK(detail::strand::current().now() - start == 50ms);
}

task<> outlive_a_death(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms"});
  const auto mine = co_await rooms.session({.exclusive = true});
  const auto lost = co_await error_of(die_in(mine));
  CHECK(starts_with(lost, "session_lost"));
  // The replica that was held is gone, and its successor is free.
  const auto next = co_await rooms.session({.exclusive = true});
  co_await stay(next, 1);
  const auto overlapped = co_await next.route<&room::was_overlapped>();
  CHECK(!overlapped);
}

task<> tell_the_error_in_the_outcome(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  const auto mine = co_await rooms.session({.exclusive = true});
  const auto other = co_await rooms.session({.exclusive = true});
  co_await mine.try_route<&room::visit>(1);
  const auto overlapped = co_await mine.try_route<&room::was_overlapped>();
  CHECK(overlapped.value() == false);
  const auto beside = co_await other.try_route<&room::visit>(2);
  CHECK(beside);
  const auto died = co_await mine.try_route<&room::die>();
  CHECK(is_kind(died.error(), error_kind::session_lost));
  const auto after = co_await mine.try_route<&room::was_overlapped>();  // It never moves.
  CHECK(is_kind(after.error(), error_kind::session_lost));
}

task<> are_not_lost_by_who_gives_up(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  for (int i = 1; i < 40; ++i) {
    std::vector<task<std::string>> guests;
    for (int n = 0; n < 6; ++n) {
      const auto patience = duration(1ms) * ((i * 7 + n * 13) % 40);
      guests.push_back(
          error_of(with_timeout(hold(rooms, {.exclusive = n % 3 != 0}, 10ms), patience)));
    }
    co_await all(std::move(guests));
  }
  const auto at_once = rooms.with({.wait = false});
  const auto first = co_await at_once.session({.exclusive = true});
  const auto second = co_await at_once.session({.exclusive = true});
  CHECK(first.replica() != second.replica());
}

task<> stop_soon(system& sys, service<room> which) {
  co_await sleep_for(10ms);
  sys.stop(which);
}

task<> hear_of_the_end(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .max_waiting = 2});
  const auto mine = co_await rooms.session({.exclusive = true});
  std::vector<task<std::string>> ends;
  for (int i = 0; i < 3; ++i) ends.push_back(error_of(hold(rooms, {.exclusive = true}, 1h)));
  ends.push_back(error_of(stop_soon(sys, rooms)));
  const auto errors = co_await all(std::move(ends));
  CHECK(errors[0] == "service_down: rooms: it was stopped");
  CHECK(errors[1] == "service_down: rooms: it was stopped");
  CHECK(errors[2] == "overloaded: rooms: 2 wait for a session already (max_waiting)");
}

/// Holds `count` sessions at once, some times.
task<> hold_several(service<room> rooms, std::size_t count, int times, int* held) {
  for (int i = 0; i < times; ++i) {
    const auto mine = co_await rooms.sessions(count);
    std::set<std::size_t> replicas;
    for (const auto& one : mine) replicas.insert(one.replica());
    CHECK(replicas.size() == count);
    *held += static_cast<int>(count);
    CHECK(*held <= 3);
    co_await sleep_for(1ms);
    *held -= static_cast<int>(count);
  }
}

task<> take_all_or_none(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 3});
  int held = 0;
  std::vector<task<>> guests;
  for (int i = 0; i < 3; ++i) guests.push_back(hold_several(rooms, 2, 20, &held));
  guests.push_back(hold_several(rooms, 1, 20, &held));
  guests.push_back(hold_several(rooms, 3, 20, &held));
  co_await with_timeout(all(std::move(guests)), 10s);
  CHECK(held == 0);
}

task<> refuse_several(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  const auto one = co_await rooms.session({.exclusive = true});
  const auto refused = co_await error_of(rooms.with({.wait = false}).sessions(2));
  CHECK(refused == "overloaded: rooms: fewer than 2 replicas are without a session");
  const auto late = co_await error_of(rooms.with({.deadline = 5ms}).sessions(2));
  CHECK(late ==
        "deadline_exceeded: rooms: fewer than 2 replicas are without a session; a session was "
        "awaited for 5 ms");
  const auto other = co_await rooms.with({.wait = false}).session({.exclusive = true});
  CHECK(other.replica() != one.replica());
  const auto none = co_await rooms.sessions(0);
  CHECK(none.empty());
}

/// A replica dies while two guests need both.
task<> wait_for_a_successor(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  std::optional mine = co_await rooms.sessions(2);
  int held = 0;
  std::vector<task<>> guests;
  guests.push_back(hold_several(rooms, 2, 1, &held));
  guests.push_back(hold_several(rooms, 2, 1, &held));
  const auto lost = co_await error_of(die_in(mine->front()));
  CHECK(starts_with(lost, "session_lost"));
  mine.reset();
  co_await with_timeout(all(std::move(guests)), 10s);
}

}  // namespace

TEST_CASE("session: exclusive ones never overlap, and are given in the order of asking") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) testing::play(none_overlap, seed);
}
TEST_CASE("session: no other session is opened beside an exclusive one") {
  testing::play(keep_out_shared_ones);
}
TEST_CASE("session: an exclusive one waits for shared ones, which don't wait behind it") {
  testing::play(wait_for_shared_ones);
}
TEST_CASE("session: the successor of a replica that died in an exclusive one is free") {
  testing::play(outlive_a_death);
}
TEST_CASE("session: try_route stays with its replica, and has the error in the outcome") {
  testing::play(tell_the_error_in_the_outcome);
}
TEST_CASE("session: who gives up waiting takes no replica with it") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    testing::play(are_not_lost_by_who_gives_up, seed);
  }
}
TEST_CASE("session: who waits for one hears of the service's end") {
  testing::play(hear_of_the_end);
}

TEST_CASE("session: who needs several gets all or holds none") { play(take_all_or_none); }

TEST_CASE("session: several are refused, or awaited until a deadline") { play(refuse_several); }

TEST_CASE("session: several are granted once a lost replica has a successor") {
  play(wait_for_a_successor);
}

}  // namespace troupe
