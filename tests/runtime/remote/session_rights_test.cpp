// What each side of a link may have the other do about sessions. docs/operations/security.md has
// the table.

#include "runtime/coroutine/sleep.hpp"
#include "runtime/remote/table_entry.hpp"
#include "tests/runtime/remote/raw_peer.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using detail::answer_to_open;
using detail::message_header;
using detail::message_kind;
using detail::table_entry;
using side = detail::peer::side;
using peer = std::shared_ptr<raw_peer>;

/// A service that the other side is given.
struct shelf {
  int twice(int n) { return 2 * n; }
};
/// A role of a guest.
class reader {
 public:
  explicit reader(service<shelf> from) : from_(from) {}

  task<std::string> open(bool wait) {
    const auto shelves = from_.with({.wait = wait});
    try {
      auto mine = co_await shelves.session({.exclusive = true});
      mine_.emplace(std::move(mine));
    } catch (const std::exception& e) {
      co_return e.what();
    }
    co_return "shelf " + std::to_string(mine_->replica());
  }
  task<std::string> read(int n) {
    const auto mine = *mine_;
    const auto twice = co_await mine.try_route<&shelf::twice>(n);
    co_return twice ? std::to_string(twice.value()) : describe(twice.error());
  }
  void close() { mine_.reset(); }

 private:
  service<shelf> from_;
  std::optional<session<shelf>> mine_;
};

/// Until everybody has done what there was to do.
task<> settled() { co_await sleep_for(1ms); }

void play_as(side theirs, task<> (*main)(system&, side)) {
  log_off();
  system sys({.deterministic = true, .seed = 1});
  sys.run(main(sys, theirs));
}
void play_as_guests(task<> (*main)(system&, side)) {
  for (const auto theirs : {side::guest, side::resident}) play_as(theirs, main);
}

// ---- a host

struct wanted {
  bool exclusive = true;
  bool wait = true;
  duration deadline = no_limit;
};

void open(raw_peer& by, std::uint64_t id, const wanted& how = {},
          const std::string& name = "shelves") {
  message_header header{.kind = message_kind::open, .id = id};
  if (how.deadline != no_limit) header.deadline = how.deadline.count();
  by.say(header, std::tuple(name, how.exclusive, how.wait));
}

void release(raw_peer& by, std::uint64_t id) { by.say({.kind = message_kind::release, .id = id}); }

/// "1: replica 0" or "1: why there is none", of the last session that was answered.
std::string last_opened(const raw_peer& peer) {
  const auto& m = peer.last(message_kind::opened);
  const auto id = std::to_string(m.header.id) + ": ";
  auto body = m.body();
  if (m.header.what == static_cast<std::uint32_t>(answer_to_open::granted)) {
    return id + "replica " + std::to_string(body.read<table_entry>().index);
  }
  return id + describe(body.read<std::exception_ptr>());
}

peer node_with(system& sys, const service<shelf>& shelves) {
  auto node = raw_peer::against(sys, side::host);
  node->give(shelves);
  return node;
}

task<> open_what_was_given(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto other = co_await sys.serve<shelf>({.name = "others"});
  const auto node = node_with(sys, shelves);
  const auto thief = node_with(sys, shelves);
  open(*node, 1);
  co_await settled();
  CHECK(last_opened(*node) == "1: replica 0");
  open(*thief, 1, {}, "others");
  co_await settled();
  CHECK_THAT(thief->why,
             has_text("the other side sent open of a session of service others, which it was not"));
  CHECK(thief->count(message_kind::opened) == 0);
  const auto mine = co_await other.with({.wait = false}).session({.exclusive = true});
  CHECK(mine.replica() == 0);
  CHECK(node->why.empty());
}

TEST_CASE("session rights: a host opens sessions only of services that this link was given") {
  play_as(side::host, open_what_was_given);
}

task<> use_numbers_twice(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto holder = node_with(sys, shelves);
  const auto waiter = node_with(sys, shelves);
  open(*holder, 1);
  co_await settled();
  open(*waiter, 1);
  co_await settled();
  open(*waiter, 1);
  co_await settled();
  CHECK_THAT(waiter->why, has_text("open with number 1, which is in use"));
  open(*holder, 1);
  co_await settled();
  CHECK_THAT(holder->why, has_text("open with number 1, which is in use"));
}

TEST_CASE("session rights: a number that is in use closes the link") {
  play_as(side::host, use_numbers_twice);
}

task<> release_sessions(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto at_once = shelves.with({.wait = false});
  const auto node = node_with(sys, shelves);
  const auto other = node_with(sys, shelves);
  open(*node, 1);
  co_await settled();
  release(*other, 1);
  release(*node, 2);
  co_await settled();
  const auto occupied = co_await error_of(at_once.session());
  CHECK_THAT(occupied, has_text("every replica has an exclusive session"));
  open(*other, 7);
  co_await settled();
  CHECK(other->count(message_kind::opened) == 0);
  release(*node, 1);
  release(*node, 1);
  co_await settled();
  CHECK(last_opened(*other) == "7: replica 0");
  open(*node, 3);
  release(*node, 3);  // While it waits.
  co_await settled();
  release(*other, 7);
  co_await settled();
  CHECK(node->count(message_kind::opened) == 1);
  const auto mine = co_await at_once.session({.exclusive = true});
  CHECK(mine.replica() == 0);
  CHECK(node->why + other->why == "");
}

TEST_CASE("session rights: a node ends only its own sessions and its own waits") {
  play_as(side::host, release_sessions);
}

task<> lose_links(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  auto holder = node_with(sys, shelves);
  auto waiter = node_with(sys, shelves);
  const auto last = node_with(sys, shelves);
  open(*holder, 1);
  co_await settled();
  open(*waiter, 1);
  co_await settled();
  open(*last, 1);
  co_await settled();
  waiter = nullptr;
  holder = nullptr;
  co_await settled();
  CHECK(last_opened(*last) == "1: replica 0");
}

TEST_CASE("session rights: a link that is lost ends what it held and what it waited for") {
  play_as(side::host, lose_links);
}

task<> wait_as_long_as_asked(system& sys, side) {
  auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto node = node_with(sys, shelves);
  const auto mine = co_await shelves.session({.exclusive = true});
  open(*node, 1, {.exclusive = false, .wait = false});
  co_await settled();
  CHECK(last_opened(*node) == "1: overloaded: shelves: every replica has an exclusive session");
  open(*node, 2, {.deadline = 50ms});
  co_await sleep_for(49ms);
  CHECK(node->count(message_kind::opened) == 1);
  co_await sleep_for(2ms);
  CHECK(last_opened(*node) ==
        "2: deadline_exceeded: shelves: every replica has a session; a session was awaited for "
        "50 ms");
  open(*node, 3);
  co_await settled();
  sys.stop(shelves);
  co_await settled();
  CHECK(last_opened(*node) == "3: service_down: shelves: it was stopped");
  open(*node, 4);
  co_await settled();
  CHECK(last_opened(*node) == "4: service_down: shelves: there is none");
  CHECK(node->why.empty());
}

TEST_CASE("session rights: a host answers every wait that ends, with the reason") {
  play_as(side::host, wait_as_long_as_asked);
}

task<> use_what_was_opened(system& sys, side) {
  auto shelves = co_await sys.serve<shelf>({.name = "shelves", .replicas = 2});
  const auto node = node_with(sys, shelves);
  open(*node, 1);
  co_await settled();
  auto body = node->last(message_kind::opened).body();
  const auto serial = body.read<table_entry>().serial;
  node->say({.kind = message_kind::import, .replica = 5},
            std::pair(std::string("shelves"), serial));
  co_await settled();
  node->call<&shelf::twice>(5, 1, 7);
  co_await settled();
  auto result = node->last(message_kind::result).body();
  CHECK(result.read<int>() == 14);
  CHECK(node->why.empty());
}

TEST_CASE("session rights: the replica of a session may be imported, whatever tables have told") {
  play_as(side::host, use_what_was_opened);
}

task<> open_too_many(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto node = node_with(sys, shelves);
  for (std::uint64_t id = 1; id <= 65'536; ++id) open(*node, id, {.exclusive = false});
  co_await settled();
  CHECK(last_opened(*node) == "65536: replica 0");
  open(*node, 70'000, {.exclusive = false});
  co_await settled();
  CHECK(last_opened(*node) ==
        "70000: overloaded: shelves: more than 65536 sessions are held or waited for over one "
        "link");
  release(*node, 7);
  open(*node, 70'001, {.exclusive = false});
  co_await settled();
  CHECK(last_opened(*node) == "70001: replica 0");
  CHECK(node->why.empty());
}

TEST_CASE("session rights: what a node holds and waits for at a host is bounded") {
  play_as(side::host, open_too_many);
}

// ---- a guest and a resident

constexpr std::uint64_t serial = 77;

void tell_table(raw_peer& by) {
  by.say({.kind = message_kind::table},
         std::pair(std::string("shelves"), std::vector<table_entry>{{0, serial, any_version}}));
}

/// Says that the replica which was imported last serves.
void serve(raw_peer& by) {
  by.say({.kind = message_kind::serves, .replica = by.last(message_kind::import).header.replica});
}

/// Tells of the one replica, and says that it serves once it is imported.
task<> show_replica(raw_peer& by) {
  co_await settled();
  tell_table(by);
  co_await settled();
  serve(by);
}

void grant(raw_peer& by, std::uint64_t id, std::uint64_t replica = serial) {
  by.say({.kind = message_kind::opened, .id = id}, table_entry{0, replica, any_version});
}

/// One that has had a reader made under number 1.
peer controller_with_reader(system& sys, side theirs, const service<shelf>& shelves) {
  auto controller = raw_peer::against(sys, theirs);
  controller->say(make_of<reader, service<shelf>>(1), about("readers"), std::tuple(shelves));
  return controller;
}

std::string text_of_result(const raw_peer& peer) {
  auto body = peer.last(message_kind::result).body();
  return body.read<std::string>();
}

task<> grant_what_is_asked(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = controller_with_reader(sys, theirs, shelves);
  const auto other = raw_peer::against(sys, theirs);
  co_await show_replica(*controller);
  grant(*controller, 1);  // Nobody has asked.
  co_await settled();
  controller->call<&reader::open>(1, 1, true);
  co_await settled();
  const auto id = controller->last(message_kind::open).header.id;
  grant(*other, id);
  grant(*controller, id + 1);
  controller->say({.kind = message_kind::opened,
                   .id = id + 1,
                   .what = static_cast<std::uint32_t>(answer_to_open::refused)},
                  std::make_exception_ptr(std::runtime_error("no")));
  co_await settled();
  CHECK(controller->count(message_kind::result) == 0);
  grant(*controller, id);
  grant(*controller, id);
  co_await settled();
  CHECK(text_of_result(*controller) == "shelf 0");
  CHECK(controller->count(message_kind::release) == 0);
  controller->call<&reader::close>(1, 2);
  co_await settled();
  CHECK(controller->count(message_kind::release) == 1);
  CHECK(controller->last(message_kind::release).header.id == id);
  CHECK(controller->why + other->why == "");
}

TEST_CASE("session rights: a guest takes a session once where it has asked for it") {
  play_as_guests(grant_what_is_asked);
}

task<> refuse_what_is_asked(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = controller_with_reader(sys, theirs, shelves);
  co_await settled();
  controller->call<&reader::open>(1, 1, false);
  co_await settled();
  CHECK(text_of_result(*controller) == "overloaded: shelves: no replica is ready");
  CHECK(controller->count(message_kind::open) == 0);
  tell_table(*controller);
  controller->call<&reader::open>(1, 2, true);
  co_await settled();
  controller->say({.kind = message_kind::opened,
                   .id = controller->last(message_kind::open).header.id,
                   .what = static_cast<std::uint32_t>(answer_to_open::refused)},
                  std::make_exception_ptr(call_error(error_kind::overloaded, "too many")));
  co_await settled();
  CHECK(text_of_result(*controller) == "overloaded: too many");
  CHECK(controller->count(message_kind::release) == 0);
  CHECK(controller->why.empty());
  controller->call<&reader::open>(1, 3, true);
  co_await settled();
  controller->say({.kind = message_kind::opened,
                   .id = controller->last(message_kind::open).header.id,
                   .what = static_cast<std::uint32_t>(answer_to_open::refused)},
                  std::exception_ptr());
  co_await settled();
  CHECK_THAT(controller->why, has_text("opened with an error that is none"));
}

TEST_CASE("session rights: a guest's opener gets the error with which it is refused") {
  play_as_guests(refuse_what_is_asked);
}

task<> give_up_waiting(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = controller_with_reader(sys, theirs, shelves);
  co_await settled();
  tell_table(*controller);
  controller->call<&reader::open>(1, 1, true);
  co_await settled();
  const auto id = controller->last(message_kind::open).header.id;
  controller->say({.kind = message_kind::cancel, .replica = 1, .id = 1});
  co_await settled();
  CHECK(controller->count(message_kind::release) == 1);
  CHECK(controller->last(message_kind::release).header.id == id);
  CHECK(controller->why.empty());
}

TEST_CASE("session rights: a guest says that nobody waits any more") {
  play_as_guests(give_up_waiting);
}

task<> grant_what_is_given_up(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = controller_with_reader(sys, theirs, shelves);
  co_await settled();
  tell_table(*controller);
  controller->call<&reader::open>(1, 1, true);
  co_await settled();
  serve(*controller);
  const auto id = controller->last(message_kind::open).header.id;
  controller->say({.kind = message_kind::cancel, .replica = 1, .id = 1});
  grant(*controller, id);  // On its way while the caller gives up.
  co_await settled();
  CHECK(controller->count(message_kind::release) == 1);
  CHECK(controller->last(message_kind::release).header.id == id);
  CHECK(controller->why.empty());
}

TEST_CASE("session rights: a guest releases a session that comes for who has given up") {
  play_as_guests(grant_what_is_given_up);
}

task<> grant_a_replica_that_is_gone(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = controller_with_reader(sys, theirs, shelves);
  co_await show_replica(*controller);
  controller->call<&reader::open>(1, 1, true);
  co_await settled();
  const auto id = controller->last(message_kind::open).header.id;
  grant(*controller, id, serial + 1);  // No table has told of it.
  co_await settled();
  CHECK(controller->count(message_kind::import) == 2);
  CHECK(controller->count(message_kind::result) == 0);
  controller->say({.kind = message_kind::ended,
                   .replica = controller->last(message_kind::import).header.replica},
                  std::string("it has gone"));
  co_await settled();
  CHECK(controller->count(message_kind::release) == 1);
  CHECK(controller->count(message_kind::open) == 2);
  grant(*controller, controller->last(message_kind::open).header.id);
  co_await settled();
  CHECK(text_of_result(*controller) == "shelf 0");
  CHECK(controller->why.empty());
}

TEST_CASE("session rights: a guest asks again where the replica is gone before it was used") {
  play_as_guests(grant_a_replica_that_is_gone);
}

task<> close_what_is_held(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = controller_with_reader(sys, theirs, shelves);
  co_await show_replica(*controller);
  controller->call<&reader::open>(1, 1, true);
  co_await settled();
  grant(*controller, controller->last(message_kind::open).header.id);
  co_await settled();
  controller->say({.kind = message_kind::closed},
                  std::pair(std::string("shelves"), std::string("it was stopped")));
  co_await settled();
  CHECK(controller->count(message_kind::release) == 1);
  controller->call<&reader::close>(1, 2);
  co_await settled();
  CHECK(controller->count(message_kind::release) == 1);
}

TEST_CASE("session rights: a guest releases what it holds of a service that has ended") {
  play_as_guests(close_what_is_held);
}

task<> come_back(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  auto readers = about("readers");
  readers.options.outlive_controller = duration(1h).count();
  const auto make = [&](raw_peer& by) {
    by.say(make_of<reader, service<shelf>>(1), readers, std::tuple(shelves));
  };
  const auto controller = raw_peer::against(sys, side::resident);
  make(*controller);
  co_await show_replica(*controller);
  controller->call<&reader::open>(1, 1, true);
  co_await settled();
  grant(*controller, controller->last(message_kind::open).header.id);
  co_await settled();
  CHECK(text_of_result(*controller) == "shelf 0");

  controller->come_back();
  co_await settled();
  make(*controller);
  controller->call<&reader::read>(1, 2, 7);
  co_await settled();
  CHECK_THAT(text_of_result(*controller), has_text("session_lost"));
  controller->call<&reader::open>(1, 3, true);
  co_await settled();
  // It has not been told of shelves on this link.
  CHECK(controller->count(message_kind::open) + controller->count(message_kind::release) == 0);
  tell_table(*controller);
  co_await settled();
  serve(*controller);
  REQUIRE(controller->count(message_kind::open) == 1);
  grant(*controller, controller->last(message_kind::open).header.id);
  co_await settled();
  CHECK(text_of_result(*controller) == "shelf 0");
}

TEST_CASE("session rights: a node that comes back has lost its sessions, and opens others") {
  play_as(side::resident, come_back);
}

}  // namespace
}  // namespace troupe
