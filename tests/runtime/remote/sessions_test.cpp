// Sessions of one service in several processes: its owner grants them all.

#include <map>
#include <set>

#include "runtime/coroutine/combine.hpp"
#include "tests/runtime/remote/everywhere.hpp"
#include "tests/runtime/room.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

constexpr int no_patience = 0;  ///< In milliseconds: it asks without waiting.
constexpr int patient = 20'000;

/// Opens sessions in a process of its own.
class visitor {
 public:
  explicit visitor(service<room> rooms) : rooms_(rooms) {}

  /// Until its process knows the rooms.
  task<> catch_up() { co_await rooms_.route<&room::was_overlapped>(); }
  /// Where it has got a session, or why it has none.
  task<std::string> enter(bool exclusive, int patience_ms) {
    const bool waits = patience_ms != no_patience;
    const call_options how{.deadline = duration(1ms) * (waits ? patience_ms : patient),
                           .wait = waits};
    try {
      auto mine = co_await rooms_.with(how).session({.exclusive = exclusive});
      mine_.emplace(std::move(mine));
    } catch (const std::exception& e) {
      co_return e.what();
    }
    co_return "room " + std::to_string(mine_->replica());
  }
  void leave() { mine_.reset(); }
  task<std::string> visit(int guest) {
    const auto mine = *mine_;
    const auto seen = co_await mine.try_route<&room::visit>(guest);
    co_return seen ? "seen" : describe(seen.error());
  }
  task<> stay_often(int guest, int times) {
    for (int i = 0; i < times; ++i) {
      const auto mine = co_await rooms_.session({.exclusive = true});
      co_await stay(mine, guest);
    }
  }
  /// Opens one and holds it; its caller may lose patience at any time.
  task<> hold(bool exclusive, int hold_ms) {
    const auto mine = co_await rooms_.session({.exclusive = exclusive});
    co_await sleep_for(duration(1ms) * hold_ms);
  }
  void die() { throw fatal("asked to"); }

 private:
  service<room> rooms_;
  std::optional<session<room>> mine_;
};

task<service<visitor>> visitor_in(system& sys, std::string name, service<room> rooms) {
  return sys.serve<visitor>({.name = std::move(name), .placement = elsewhere(sys)}, rooms);
}

// ---- everywhere

task<> keep_each_other_out(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms"});
  auto left = co_await visitor_in(sys, "left", rooms);
  auto right = co_await visitor_in(sys, "right", rooms);
  const auto at_once = rooms.with({.wait = false});
  const auto first = co_await left.route<&visitor::enter>(true, patient);
  CHECK(first == "room 0");
  const auto second = co_await right.route<&visitor::enter>(true, no_patience);
  CHECK(second == "overloaded: rooms: every replica has a session");
  const auto shared = co_await right.route<&visitor::enter>(false, no_patience);
  CHECK(shared == "overloaded: rooms: every replica has an exclusive session");
  const auto own = co_await error_of(at_once.session());
  CHECK(own == "overloaded: rooms: every replica has an exclusive session");
  const auto seen = co_await left.route<&visitor::visit>(1);
  CHECK(seen == "seen");

  co_await left.route<&visitor::leave>();
  const auto third = co_await right.route<&visitor::enter>(true, patient);
  CHECK(third == "room 0");
  co_await right.route<&visitor::leave>();
  std::optional mine = co_await rooms.session({.exclusive = true});
  const auto fourth = co_await left.route<&visitor::enter>(true, no_patience);
  CHECK(fourth == "overloaded: rooms: every replica has a session");
  mine.reset();
  const auto fifth = co_await left.route<&visitor::enter>(false, patient);
  const auto sixth = co_await right.route<&visitor::enter>(false, patient);
  CHECK(fifth + ", " + sixth == "room 0, room 0");
  const auto seventh = co_await error_of(at_once.session({.exclusive = true}));
  CHECK(seventh == "overloaded: rooms: every replica has a session");
}

TEST_CASE("remote sessions: two processes never hold an exclusive one of the same replica") {
  run_everywhere(keep_each_other_out);
}

task<> lose_a_holder(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms"});
  auto left = co_await visitor_in(sys, "left", rooms);
  const auto first = co_await left.route<&visitor::enter>(true, patient);
  CHECK(first == "room 0");
  const auto died = co_await left.try_route<&visitor::die>();
  CHECK(is_kind(died.error(), error_kind::replica_lost));
  const auto mine = co_await rooms.with({.deadline = 20s}).session({.exclusive = true});
  CHECK(mine.replica() == 0);
}

TEST_CASE("remote sessions: one ends with the process that holds it") {
  run_everywhere(lose_a_holder);
}

task<> lose_a_replica(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms"});
  auto left = co_await visitor_in(sys, "left", rooms);
  const auto first = co_await left.route<&visitor::enter>(true, patient);
  CHECK(first == "room 0");
  const auto died = co_await rooms.try_route<&room::die>();
  CHECK(is_kind(died.error(), error_kind::replica_lost));
  const auto lost = co_await left.route<&visitor::visit>(1);
  CHECK_THAT(lost, has_text("session_lost"));
  const auto next = co_await left.route<&visitor::enter>(true, patient);
  CHECK(next == "room 0");
  const auto seen = co_await left.route<&visitor::visit>(1);
  CHECK(seen == "seen");
}

TEST_CASE("remote sessions: one whose replica dies is lost, and the replica's successor is free") {
  run_everywhere(lose_a_replica);
}

// ---- in virtual time

task<> note(service<visitor> who, std::vector<std::string>* log, std::string name, duration first,
            duration then) {
  co_await sleep_for(first);
  const auto where = co_await who.route<&visitor::enter>(true, patient);
  log->push_back(name + " in " + where);
  co_await sleep_for(then);
  co_await who.route<&visitor::leave>();
}

task<> note_own(service<room> rooms, std::vector<std::string>* log, duration first, duration then) {
  co_await sleep_for(first);
  const auto mine = co_await rooms.session({.exclusive = true});
  log->push_back("own in room " + std::to_string(mine.replica()));
  co_await sleep_for(then);
}

task<> wait_in_order(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms"});
  auto left = co_await visitor_in(sys, "left", rooms);
  auto right = co_await visitor_in(sys, "right", rooms);
  std::vector<std::string> log;
  const auto start = detail::strand::current().now();
  std::vector<task<>> guests;
  guests.push_back(note(left, &log, "left", 0ms, 20ms));
  guests.push_back(note(right, &log, "right", 1ms, 20ms));
  guests.push_back(note_own(rooms, &log, 2ms, 20ms));
  guests.push_back(note(left, &log, "left again", 21ms, 20ms));
  co_await all(std::move(guests));
  CHECK(log == std::vector<std::string>{"left in room 0", "right in room 0", "own in room 0",
                                        "left again in room 0"});
  CHECK(detail::strand::current().now() - start == 80ms);
}

TEST_CASE("remote sessions: they are granted in the order of asking, whichever process asks") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) play(wait_in_order, seed);
}

task<> come_from(service<visitor> who, int guest) {
  co_await who.route<&visitor::stay_often>(guest, 4);
}

task<> come(service<room> rooms, int guest) {
  for (int i = 0; i < 4; ++i) {
    const auto mine = co_await rooms.session({.exclusive = true});
    co_await stay(mine, guest);
  }
}

task<> come_and_go(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  std::vector<task<>> guests;
  for (int i = 1; i <= 4; ++i) {
    const auto from = co_await visitor_in(sys, "visitor " + std::to_string(i), rooms);
    guests.push_back(come_from(from, 10 * i));
    guests.push_back(come_from(from, 10 * i + 1));
  }
  guests.push_back(come(rooms, 1));
  co_await all(std::move(guests));
  const auto overlapped = co_await rooms.fanout<&room::was_overlapped>();
  CHECK(overlapped == std::vector<bool>{false, false});
}

TEST_CASE("remote sessions: exclusive ones never overlap, in whatever order messages come") {
  log_off();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    system sys({.deterministic = true,
                .seed = seed,
                .faults = fault_plan::parse("delay=0.2:20ms,duplicate=0.1")});
    sys.run(come_and_go(sys));
  }
}

/// Knows whether a conversation with it went on after another had begun.
class booth {
 public:
  task<> talk(int conversation) {
    note(conversation);
    co_await sleep_for(5ms);
    note(conversation);
  }
  bool was_overlapped() { return overlapped_; }

 private:
  void note(int conversation) {
    if (conversation == now_) return;
    if (over_.contains(conversation)) overlapped_ = true;
    over_.insert(now_);
    now_ = conversation;
  }

  std::set<int> over_;
  int now_ = 0;
  bool overlapped_ = false;
};

int conversations = 0;

class talker {
 public:
  explicit talker(service<booth> with) : with_(with) {}

  task<> converse() {
    const auto mine = co_await with_.session({.exclusive = true});
    const int conversation = ++conversations;
    for (int i = 0; i < 4; ++i) co_await mine.route<&booth::talk>(conversation);
  }

 private:
  service<booth> with_;
};

/// Some lose patience, and of some the link is lost.
task<> converse_often(service<talker> who, int first, std::map<error_kind, int>* ends) {
  for (int i = 0; i < 20; ++i) {
    const auto patience = i % 3 == 0 ? duration(1ms) * ((first + i * 7) % 50 + 1) : duration(1h);
    const auto end = co_await who.with({.deadline = patience}).try_route<&talker::converse>();
    for (const auto kind : {error_kind::deadline_exceeded, error_kind::replica_lost}) {
      if (is_kind(end.error(), kind)) ++(*ends)[kind];
    }
  }
}

std::map<error_kind, int> conversation_ends;

task<> lose_links(system& sys) {
  // What is lost here are links alone.
  auto with = co_await sys.serve<booth>({.name = "booths", .replicas = 2, .faults = false});
  std::vector<task<>> beside;
  for (int i = 0; i < 4; ++i) {
    const auto who = co_await sys.serve<talker>({.name = "talkers " + std::to_string(i),
                                                 .placement = placement::process,
                                                 .max_restarts = 1'000'000,
                                                 .backoff_limit = 20ms},
                                                with);
    for (int n = 0; n < 2; ++n) {
      beside.push_back(converse_often(who, 13 * (2 * i + n), &conversation_ends));
    }
  }
  co_await all(std::move(beside));
  const auto overlapped = co_await with.fanout<&booth::was_overlapped>();
  CHECK(overlapped == std::vector<bool>{false, false});
  const auto soon = with.with({.deadline = 20s});  // A link that is lost is noticed after a while.
  const auto first = co_await soon.session({.exclusive = true});
  const auto second = co_await soon.session({.exclusive = true});
  CHECK(first.replica() != second.replica());
}

TEST_CASE(
    "remote sessions: exclusive ones never overlap where links are lost, and none is leaked") {
  log_off();
  conversation_ends.clear();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    system sys({.deterministic = true,
                .seed = seed,
                .faults = fault_plan::parse("drop=0.005,delay=0.2:20ms,duplicate=0.1")});
    sys.run(lose_links(sys));
  }
  CHECK(conversation_ends[error_kind::deadline_exceeded] > 20);
  CHECK(conversation_ends[error_kind::replica_lost] > 20);
}

task<> scale_to_one(system& sys, service<room> rooms, bool* scaled) {
  co_await sys.scale(rooms, 1);
  *scaled = true;
}

task<> visit_and_leave(service<visitor> who, const bool* scaled) {
  for (int i = 0; i < 10; ++i) {
    const auto seen = co_await who.route<&visitor::visit>(1);
    CHECK(seen == "seen");
    CHECK(!*scaled);
  }
  co_await who.route<&visitor::leave>();
}

task<> drain_a_room(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  auto left = co_await visitor_in(sys, "left", rooms);
  const auto own = co_await rooms.session({.exclusive = true});
  CHECK(own.replica() == 0);
  const auto where = co_await left.route<&visitor::enter>(false, patient);
  CHECK(where == "room 1");
  const auto start = detail::strand::current().now();
  bool scaled = false;
  co_await all(scale_to_one(sys, rooms, &scaled), visit_and_leave(left, &scaled));
  CHECK(detail::strand::current().now() - start == 100ms);
}

TEST_CASE("remote sessions: scale waits for those of other processes") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) play(drain_a_room, seed);
}

task<> outstay_the_drain(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2, .drain_timeout = 50ms});
  auto left = co_await visitor_in(sys, "left", rooms);
  const auto own = co_await rooms.session({.exclusive = true});
  const auto where = co_await left.route<&visitor::enter>(false, patient);
  CHECK(where == "room 1");
  const auto start = detail::strand::current().now();
  co_await sys.scale(rooms, 1);
  CHECK(detail::strand::current().now() - start == 50ms);
  const auto lost = co_await left.route<&visitor::visit>(1);
  CHECK_THAT(lost, has_text("session_lost"));
}

TEST_CASE("remote sessions: after drain_timeout one on a removed replica is lost") {
  play(outstay_the_drain);
}

task<> lose_patience(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms"});
  auto left = co_await visitor_in(sys, "left", rooms);
  std::optional mine = co_await rooms.session({.exclusive = true});
  const auto start = detail::strand::current().now();
  const auto late = co_await left.route<&visitor::enter>(true, 50);
  CHECK(late ==
        "deadline_exceeded: rooms: every replica has a session; a session was awaited for 50 ms");
  CHECK(detail::strand::current().now() - start == 50ms);
  mine.reset();
  const auto again = co_await rooms.with({.deadline = 1s}).session({.exclusive = true});
  CHECK(again.replica() == 0);
}

TEST_CASE("remote sessions: a caller's deadline ends the wait") { play(lose_patience); }

task<> hold_at(service<visitor> who, bool exclusive) {
  co_await who.route<&visitor::hold>(exclusive, 10);
}

task<> give_up_often(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .replicas = 2});
  auto left = co_await visitor_in(sys, "left", rooms);
  auto right = co_await visitor_in(sys, "right", rooms);
  for (int i = 1; i < 30; ++i) {
    std::vector<task<std::string>> guests;
    for (int n = 0; n < 6; ++n) {
      const auto patience = duration(1ms) * (1 + (i * 7 + n * 13) % 40);
      const auto& who = n % 2 == 0 ? left : right;
      guests.push_back(error_of(hold_at(who.with({.deadline = patience}), n % 3 != 0)));
    }
    co_await all(std::move(guests));
  }
  const auto soon = rooms.with({.deadline = 1s});  // What they have given up may be on its way.
  const auto first = co_await soon.session({.exclusive = true});
  const auto second = co_await soon.session({.exclusive = true});
  CHECK(first.replica() != second.replica());
}

TEST_CASE("remote sessions: who gives up waiting takes no replica with it") {
  log_off();
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    system sys({.deterministic = true,
                .seed = seed,
                .faults = fault_plan::parse("delay=0.3:20ms,duplicate=0.1")});
    sys.run(give_up_often(sys));
  }
}

task<std::string> enter_after(service<visitor> who, duration pause) {
  co_await sleep_for(pause);
  const auto end = co_await who.route<&visitor::enter>(true, patient);
  co_return end;
}

task<std::string> stop_after(system& sys, service<room> rooms, duration pause) {
  co_await sleep_for(pause);
  sys.stop(rooms);
  co_return "stopped";
}

task<> hear_of_the_end(system& sys) {
  auto rooms = co_await sys.serve<room>({.name = "rooms", .max_waiting = 1});
  auto left = co_await visitor_in(sys, "left", rooms);
  auto right = co_await visitor_in(sys, "right", rooms);
  const auto mine = co_await rooms.session({.exclusive = true});
  std::vector<task<std::string>> ends;
  ends.push_back(enter_after(left, 0ms));
  ends.push_back(enter_after(right, 1ms));
  ends.push_back(stop_after(sys, rooms, 10ms));
  const auto errors = co_await all(std::move(ends));
  CHECK_THAT(errors[0], has_text("service_down: rooms: it was stopped"));
  CHECK(errors[1] == "overloaded: rooms: 1 wait for a session already (max_waiting)");
}

TEST_CASE("remote sessions: who waits for one hears of the service's end, and that too many wait") {
  play(hear_of_the_end);
}

}  // namespace
}  // namespace troupe
