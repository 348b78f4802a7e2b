// What each side of a link may have the other do: every kind of message, at every side, in every
// state that matters. docs/operations/security.md has the table.

#include <prometheus/metric_family.h>

#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/remote/remote_replica.hpp"
#include "runtime/remote/table_entry.hpp"
#include "runtime/remote/wait_report.hpp"
#include "tests/runtime/remote/link_fuzzer.hpp"
#include "tests/runtime/remote/raw_peer.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using detail::message_header;
using detail::message_kind;
using side = detail::peer::side;
using names = std::pair<std::string, std::string>;
using entries = std::vector<detail::table_entry>;

int constructed = 0;
int opened = 0;
int finished = 0;

class intruder {
 public:
  explicit intruder(int) { ++constructed; }
};

/// A service that the other side is given.
struct shelf {
  int twice(int n) { return 2 * n; }
  task<int> later(int n) {
    co_await sleep_for(1s);
    ++finished;
    co_return n;
  }
};
/// One that it is not.
struct vault {
  int open() { return ++opened; }
};
/// Calls what it is told to.
struct courier {
  task<int> visit(service<vault> to) { co_return co_await to.route<&vault::open>(); }
};
/// A role of a guest.
struct asker {
  explicit asker(service<shelf> from) : from_(from) { ++constructed; }
  task<int> ask(int n) { co_return co_await from_.route<&shelf::twice>(n); }
  int add(int n) { return total_ += n; }
  task<int> later(int n) {
    co_await sleep_for(1s);
    ++finished;
    co_return n;
  }
  service<shelf> from_;
  int total_ = 0;
};

/// Until everybody has done what there was to do.
task<> settled() { co_await sleep_for(1ms); }

void play_as(side theirs, task<> (*main)(system&, side)) {
  log_off();
  constructed = opened = finished = 0;
  system sys({.deterministic = true, .seed = 1});
  sys.run(main(sys, theirs));
}

/// Every kind, well-formed, with numbers that are in no use.
void say_any(raw_peer& peer, message_kind kind) {
  const std::string name = "shelves";
  message_header header{.kind = kind, .replica = 99, .id = 99};
  switch (kind) {
    case message_kind::make:
      header = make_of<intruder, int>(99);
      return peer.say(header, about("intruders"), std::tuple(7));
    case message_kind::import:
      return peer.say(header, std::pair(name, std::uint64_t{1}));
    case message_kind::call:
      return peer.call<&shelf::twice>(99, 99, 7);
    case message_kind::watch:
      return peer.say(header, name);
    case message_kind::table:
      return peer.say(header, std::pair(name, entries{{0, 1, 0}}));
    case message_kind::closed:
      return peer.say(header, names(name, "it was stopped"));
    case message_kind::open:
      return peer.say(header, std::tuple(name, true, true));
    case message_kind::opened:
      return peer.say(header, detail::table_entry{0, 1, 0});
    case message_kind::result:
      return peer.say(header, 14);
    case message_kind::error:
      return peer.say(header, std::make_exception_ptr(std::runtime_error("no")));
    case message_kind::ended:
      return peer.say(header, std::string("it has ended"));
    case message_kind::end_wait:
      return peer.say(header, std::string("a -> a"));
    case message_kind::waits:
      return peer.say(header, detail::wait_report());
    case message_kind::measured:
      return peer.say(header, std::vector<prometheus::MetricFamily>());
    default:
      return peer.say(header);
  }
}

// ---- kinds

struct refused_kind {
  side at;
  message_kind kind;
  const char* why;
};

const std::vector<refused_kind> refused_kinds{
    {side::host, message_kind::make, "make, which only a controller may send"},
    {side::host, message_kind::measure, "measure, which only a controller may send"},
    {side::host, message_kind::ask_waits, "ask_waits, which only a controller may send"},
    {side::host, message_kind::end_wait, "end_wait, which only a controller may send"},
    {side::host, message_kind::table, "table, which only a controller may send"},
    {side::host, message_kind::closed, "closed, which only a controller may send"},
    {side::host, message_kind::opened, "opened, which only a controller may send"},
    {side::host, message_kind::measured, "measured, which it was not asked for"},
    {side::host, message_kind::open, "open of a session of service shelves, which it was not"},
    {side::host, message_kind::import, "import of a replica of service shelves that it was not"},
    {side::guest, message_kind::watch, "watch, which only a node or a child may send"},
    {side::guest, message_kind::import, "import, which only a node or a child may send"},
    {side::guest, message_kind::measured, "measured, which only a node or a child may send"},
    {side::guest, message_kind::waits, "waits, which only a node or a child may send"},
    {side::guest, message_kind::open, "open, which only a node or a child may send"},
    {side::guest, message_kind::release, "release, which only a node or a child may send"},
    {side::resident, message_kind::watch, "watch, which only a node or a child may send"},
    {side::resident, message_kind::import, "import, which only a node or a child may send"},
    {side::resident, message_kind::measured, "measured, which only a node or a child may send"},
    {side::resident, message_kind::waits, "waits, which only a node or a child may send"},
    {side::resident, message_kind::open, "open, which only a node or a child may send"},
    {side::resident, message_kind::release, "release, which only a node or a child may send"}};

message_kind kind_of_number(int number) { return static_cast<message_kind>(number); }
constexpr int kinds = static_cast<int>(message_kind::measured) + 1;

task<> say_each_kind(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  for (int number = 0; number < kinds; ++number) {
    const auto peer = raw_peer::against(sys, theirs);
    co_await settled();
    say_any(*peer, kind_of_number(number));
    co_await settled();
    CAPTURE(static_cast<int>(theirs), number);
    const auto refused = std::ranges::find_if(refused_kinds, [&](const auto& r) {
      return r.at == theirs && r.kind == kind_of_number(number);
    });
    if (refused == refused_kinds.end()) {
      CHECK(peer->why.empty());
    } else {
      CHECK_THAT(peer->why, has_text(std::string("the other side sent ") + refused->why));
    }
    const bool makes = kind_of_number(number) == message_kind::make && theirs != side::host;
    CHECK(constructed == (makes ? 1 : 0));
    const bool measures = kind_of_number(number) == message_kind::measure && theirs != side::host;
    CHECK(peer->heard.size() == (makes || measures ? 1 : 0));
    constructed = 0;
  }
}

TEST_CASE("rights: a node can't have its controller make a role") {
  play_as(side::host, say_each_kind);
}
TEST_CASE("rights: a child does and refuses what it must, whatever comes first") {
  play_as(side::guest, say_each_kind);
}
TEST_CASE("rights: a node does and refuses what it must, whatever comes first") {
  play_as(side::resident, say_each_kind);
}

task<> say_no_kind(system& sys, side theirs) {
  for (const int number : {kinds, kinds + 1, 128, 255}) {
    const auto peer = raw_peer::against(sys, theirs);
    peer->say({.kind = kind_of_number(number), .replica = 1});
    co_await settled();
    CHECK_THAT(peer->why, has_text("kind " + std::to_string(number) + ": there is none"));
  }
  for (const int control : {2, 3, 255}) {
    const auto peer = raw_peer::against(sys, theirs);
    peer->say({.kind = message_kind::ping, .control = static_cast<std::uint8_t>(control)});
    co_await settled();
    CHECK_THAT(peer->why, has_text("there is none"));
  }
}

TEST_CASE("rights: a kind or an urgency that there is not closes the link") {
  for (const auto theirs : {side::host, side::guest, side::resident}) play_as(theirs, say_no_kind);
}

// ---- a host: what it tells of its services

task<> watch_services(system& sys, side) {
  auto shelves = co_await sys.serve<shelf>({.name = "shelves", .replicas = 2});
  const auto vaults = co_await sys.serve<vault>({.name = "vaults"});
  const auto node = raw_peer::against(sys, side::host);
  const auto other = raw_peer::against(sys, side::host);
  other->give(vaults);
  node->say({.kind = message_kind::watch}, std::string("vaults"));
  node->say({.kind = message_kind::watch}, std::string("shelves"));
  node->say({.kind = message_kind::watch}, std::string("no such service"));
  co_await settled();
  CHECK(node->heard.empty());
  node->give(shelves);
  co_await settled();
  CHECK(node->count(message_kind::table) == 1);
  node->say({.kind = message_kind::watch}, std::string("shelves"));
  co_await settled();
  CHECK(node->count(message_kind::table) == 1);  // It is told already.
  sys.stop(shelves);
  co_await settled();
  CHECK(node->count(message_kind::closed) == 1);
  node->say({.kind = message_kind::watch}, std::string("shelves"));
  co_await settled();
  CHECK(node->count(message_kind::closed) == 2);
  CHECK(node->count(message_kind::table) == 1);
  CHECK(node->why.empty());
  CHECK(other->count(message_kind::table) == 0);
}

TEST_CASE("rights: a host tells of a service only where it has given a handle of it") {
  play_as(side::host, watch_services);
}

task<> watch_too_much(system& sys, side) {
  const auto node = raw_peer::against(sys, side::host);
  for (std::size_t i = 0; i < detail::exported_services::early_max; ++i) {
    node->say({.kind = message_kind::watch}, std::to_string(i));
  }
  node->say({.kind = message_kind::watch}, std::string("7"));
  co_await settled();
  CHECK(node->why.empty());
  node->say({.kind = message_kind::watch}, std::string("one more"));
  co_await settled();
  CHECK_THAT(node->why, has_text("watch for more than 4096 services"));
  const auto long_winded = raw_peer::against(sys, side::host);
  long_winded->say({.kind = message_kind::watch}, std::string(5000, 'x'));
  co_await settled();
  CHECK_THAT(long_winded->why, has_text("more than 4096 bytes"));
}

TEST_CASE("rights: what a host is asked for too early is bounded") {
  play_as(side::host, watch_too_much);
}

/// The serials of the last table that came.
std::vector<std::uint64_t> serials_in(const raw_peer& peer) {
  auto body = peer.last(message_kind::table).body();
  std::vector<std::uint64_t> serials;
  for (const auto& e : body.read<std::pair<std::string, entries>>().second)
    serials.push_back(e.serial);
  return serials;
}

void import(raw_peer& by, std::uint32_t number, const std::string& name, std::uint64_t serial) {
  by.say({.kind = message_kind::import, .replica = number}, std::pair(name, serial));
}

/// A node that was given shelves, and has been told of their replicas.
task<std::shared_ptr<raw_peer>> with_shelves(system& sys, service<shelf> shelves) {
  auto node = raw_peer::against(sys, side::host);
  node->give(shelves);
  node->say({.kind = message_kind::watch}, std::string("shelves"));
  co_await settled();
  co_return node;
}

task<> import_replicas(system& sys, side) {
  auto shelves = co_await sys.serve<shelf>({.name = "shelves", .replicas = 2});
  auto vaults = co_await sys.serve<vault>({.name = "vaults"});
  const auto node = co_await with_shelves(sys, shelves);
  const auto serials = serials_in(*node);
  const auto other = raw_peer::against(sys, side::host);
  other->give(vaults);
  other->say({.kind = message_kind::watch}, std::string("vaults"));
  co_await settled();
  const auto vault_serial = serials_in(*other).at(0);

  import(*node, 1, "shelves", serials.at(0));
  co_await settled();
  CHECK(node->count(message_kind::serves) == 1);
  // Of another service's replica, by its own service's name and by that of another.
  const auto thief = co_await with_shelves(sys, shelves);
  import(*thief, 1, "shelves", vault_serial);
  co_await settled();
  CHECK_THAT(thief->why, has_text("import of a replica of service shelves"));
  const auto second = co_await with_shelves(sys, shelves);
  import(*second, 1, "vaults", vault_serial);
  co_await settled();
  CHECK_THAT(second->why, has_text("import of a replica of service vaults"));
  CHECK(thief->count(message_kind::serves) + second->count(message_kind::serves) == 0);

  co_await sys.scale(shelves, 1);
  co_await settled();
  import(*node, 2, "shelves", serials.at(1));
  co_await settled();
  CHECK(node->count(message_kind::serves) == 1);
  auto why = node->last(message_kind::ended).body();
  CHECK(why.read<std::string>() == "it has gone");
  CHECK(node->why.empty());
  import(*node, 1, "shelves", serials.at(0));
  co_await settled();
  CHECK_THAT(node->why, has_text("import with number 1, which is in use"));
}

TEST_CASE("rights: a host lets only replicas be imported that it has told of on that link") {
  play_as(side::host, import_replicas);
}

task<> import_too_much(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto node = co_await with_shelves(sys, shelves);
  const auto serial = serials_in(*node).at(0);
  for (std::uint32_t number = 1; number <= 65'536; ++number)
    import(*node, number, "shelves", serial);
  co_await settled();
  CHECK(node->why.empty());
  import(*node, 70'000, "shelves", serial);
  co_await settled();
  CHECK_THAT(node->why, has_text("import of more than 65536 replicas"));
}

TEST_CASE("rights: what a node has imported from a host is bounded") {
  play_as(side::host, import_too_much);
}

// ---- a host: calls of its services

std::string error_in(const raw_peer& peer) {
  auto body = peer.last(message_kind::error).body();
  return describe(body.read<std::exception_ptr>());
}

task<> call_a_host(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto node = co_await with_shelves(sys, shelves);
  const auto other = co_await with_shelves(sys, shelves);
  import(*node, 1, "shelves", serials_in(*node).at(0));
  co_await settled();
  node->call<&shelf::twice>(1, 1, 7);
  other->call<&shelf::twice>(1, 1, 7);  // It has imported none.
  node->call<&shelf::twice>(2, 2, 7);
  co_await settled();
  REQUIRE(node->count(message_kind::result) == 1);
  auto result = node->last(message_kind::result).body();
  CHECK(result.read<int>() == 14);
  CHECK(other->count(message_kind::result) + other->count(message_kind::error) == 0);

  node->call<&vault::open>(1, 3);
  co_await settled();
  CHECK_THAT(error_in(*node), has_text("shelves has no such endpoint"));
  node->call<&shelf::later>(1, 4, 7);
  node->call<&shelf::later>(1, 4, 7);
  co_await settled();
  CHECK_THAT(node->why, has_text("call with number 4 of replica 1, which is in use"));
  CHECK(other->why.empty());
}

TEST_CASE("rights: a host is called only at what that link has imported") {
  play_as(side::host, call_a_host);
}

task<> name_services(system& sys, side) {
  const auto vaults = co_await sys.serve<vault>({.name = "vaults"});
  const auto couriers = co_await sys.serve<courier>({.name = "couriers"});
  const auto node = raw_peer::against(sys, side::host);
  node->give(couriers);
  node->say({.kind = message_kind::watch}, std::string("couriers"));
  co_await settled();
  import(*node, 1, "couriers", serials_in(*node).at(0));
  const auto other = raw_peer::against(sys, side::host);
  other->give(vaults);
  node->call<&courier::visit>(1, 1, vaults);
  co_await settled();
  CHECK(opened == 0);
  CHECK_THAT(error_in(*node), has_text("a handle of service vaults, which it was not given"));
  node->give(vaults);
  node->call<&courier::visit>(1, 2, vaults);
  co_await settled();
  CHECK(opened == 1);
  CHECK(node->count(message_kind::result) == 1);
  CHECK(node->why.empty());
}

TEST_CASE("rights: a host's roles call no service for a node that was not given it") {
  play_as(side::host, name_services);
}

task<> call_too_much(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto node = co_await with_shelves(sys, shelves);
  import(*node, 1, "shelves", serials_in(*node).at(0));
  for (std::uint64_t id = 1; id <= 65'536; ++id) node->call<&shelf::later>(1, id, 7);
  co_await settled();
  CHECK(node->count(message_kind::error) == 0);
  node->call<&shelf::later>(1, 65'537, 7);
  co_await settled();
  CHECK_THAT(error_in(*node), has_text("more than 65536 calls over one link are under way"));
  CHECK(node->why.empty());
}

TEST_CASE("rights: what a node has under way at a host is bounded") {
  play_as(side::host, call_too_much);
}

task<> end_calls_of_a_host(system& sys, side) {
  auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto node = co_await with_shelves(sys, shelves);
  const auto other = co_await with_shelves(sys, shelves);
  import(*node, 1, "shelves", serials_in(*node).at(0));
  import(*other, 1, "shelves", serials_in(*node).at(0));
  node->call<&shelf::later>(1, 1, 7);
  co_await settled();
  // Somebody else's, and none.
  other->say({.kind = message_kind::cancel, .replica = 1, .id = 1});
  node->say({.kind = message_kind::cancel, .replica = 2, .id = 1});
  node->say({.kind = message_kind::cancel, .replica = 1, .id = 2});
  other->say({.kind = message_kind::drop, .replica = 1});
  node->say({.kind = message_kind::drop, .replica = 2});
  co_await sleep_for(2s);
  CHECK(finished == 1);
  CHECK(node->count(message_kind::result) == 1);

  node->say({.kind = message_kind::ping, .control = 1, .replica = 1});
  node->say({.kind = message_kind::ping, .control = 1, .replica = 2});
  co_await settled();
  CHECK(node->count(message_kind::pong) == 1);
  node->call<&shelf::later>(1, 2, 7);
  co_await settled();
  node->say({.kind = message_kind::cancel, .replica = 1, .id = 2});
  co_await sleep_for(2s);
  CHECK(finished == 1);
  node->say({.kind = message_kind::drop, .replica = 1});
  node->say({.kind = message_kind::ping, .control = 1, .replica = 1});
  node->call<&shelf::twice>(1, 3, 7);
  co_await settled();
  CHECK(node->count(message_kind::pong) == 1);
  CHECK(node->count(message_kind::result) == 1);
  const int still = co_await shelves.route<&shelf::twice>(2);  // It was never the node's to end.
  CHECK(still == 4);
  CHECK(node->why + other->why == "");
}

TEST_CASE("rights: a node ends, asks and lets go only of its own calls and imports at a host") {
  play_as(side::host, end_calls_of_a_host);
}

// ---- a host: what its remote replicas hear

/// Where remote replicas find their replicas: at the other end of a link.
class one_link final : public detail::slot_provider {
 public:
  one_link(detail::remote_context& system, std::shared_ptr<detail::connection> to)
      : slot_provider(system), to_(std::move(to)) {}
  void allocate(const detail::service_state&, const replica_info&, answer got) override {
    got(std::make_shared<detail::remote_slot>(to_), nullptr);
  }
  void close() override {}

 private:
  std::shared_ptr<detail::connection> to_;
};

/// A replica of a host's at the other end of a link.
struct placed {
  placed(system& sys, const std::shared_ptr<detail::connection>& to)
      : where(detail::core_of(sys), to),
        service(std::make_shared<detail::service_state>(1, serve_options{.name = "placed"})) {
    auto ready = [this](std::shared_ptr<detail::replica_slot> s) {
      ++served;
      slot = std::move(s);
    };
    inbox = where.start_replica(service, detail::make_factory<shelf>(std::tuple()), replica_info{},
                                std::make_shared<detail::replica_slot>(0), ready);
  }
  ~placed() { inbox->kill("the test ends"); }

  task<outcome<int>> twice(int n) {
    using call_type = detail::call_of<&shelf::twice, shelf>;
    detail::ref<detail::call_base> made(
        new call_type(*detail::keep_direct_access<shelf>(*service), n));
    return detail::settle(std::make_unique<detail::routed_call<&shelf::twice, shelf>>(
        *service, call_options{}, std::move(made), slot, true));
  }

  one_link where;
  std::shared_ptr<detail::service_state> service;
  std::shared_ptr<detail::replica_slot> slot;
  detail::ref<detail::inbox> inbox;
  int served = 0;
};

using peer = std::shared_ptr<raw_peer>;

void say_answer(raw_peer& by, message_kind kind, std::uint32_t replica, std::uint64_t id) {
  const message_header header{.kind = kind, .replica = replica, .id = id};
  if (kind == message_kind::result) return by.say(header, 14);
  by.say(header, std::make_exception_ptr(std::runtime_error("so it is")));
}

/// Answers the call that has come last, after all that is no answer to it.
task<> answer(peer right, peer wrong, message_kind kind) {
  co_await settled();
  const auto asked = right->last(message_kind::call).header;
  const auto other = kind == message_kind::result ? message_kind::error : message_kind::result;
  say_answer(*wrong, other, asked.replica, asked.id);
  say_answer(*right, other, asked.replica, asked.id + 1);
  say_answer(*right, other, asked.replica + 1, asked.id);
  co_await settled();
  say_answer(*right, kind, asked.replica, asked.id);
  say_answer(*right, other, asked.replica, asked.id);  // It is answered.
  co_await settled();
}

task<> hear_of_replicas(system& sys, side) {
  const auto node = raw_peer::against(sys, side::host);
  const auto other = raw_peer::against(sys, side::host);
  co_await settled();
  placed mine(sys, node->theirs);
  co_await settled();
  const auto number = node->last(message_kind::make).header.replica;
  other->say({.kind = message_kind::serves, .replica = number});
  node->say({.kind = message_kind::serves, .replica = number + 1});
  other->say({.kind = message_kind::pong, .replica = number});
  node->say({.kind = message_kind::pong, .replica = number + 1});
  co_await settled();
  CHECK(mine.served == 0);
  node->say({.kind = message_kind::serves, .replica = number});
  node->say({.kind = message_kind::serves, .replica = number});
  node->say({.kind = message_kind::pong, .replica = number});
  co_await settled();
  REQUIRE(mine.served == 1);

  const auto [ok, none] = co_await all(mine.twice(7), answer(node, other, message_kind::result));
  CHECK(ok.value() == 14);
  const auto [bad, nothing] = co_await all(mine.twice(7), answer(node, other, message_kind::error));
  CHECK(describe(bad.error()).find("so it is") != std::string::npos);
  other->say({.kind = message_kind::ended, .replica = number}, std::string("it was shot"));
  node->say({.kind = message_kind::ended, .replica = number + 1}, std::string("it was shot"));
  co_await settled();
  CHECK_FALSE(mine.slot->ended());
  node->say({.kind = message_kind::ended, .replica = number}, std::string("it was shot"));
  co_await settled();
  CHECK(mine.slot->ended());
  CHECK(node->why + other->why == "");
}

TEST_CASE("rights: a host's remote replicas hear only their own replicas") {
  play_as(side::host, hear_of_replicas);
}

task<> hear_a_forged_end(system& sys, side) {
  const auto node = raw_peer::against(sys, side::host);
  co_await settled();
  placed mine(sys, node->theirs);
  co_await settled();
  const auto number = node->last(message_kind::make).header.replica;
  node->say({.kind = message_kind::serves, .replica = number});
  co_await settled();
  REQUIRE(mine.served == 1);
  const std::string forged = "\x1b]0;title\x07\n13:00:00.000 error a forged line ";
  node->say({.kind = message_kind::ended, .replica = number}, forged + std::string(1 << 20, 'x'));
  co_await settled();
  CHECK(mine.slot->ended());
  const auto why = mine.service->last_crash();
  CHECK_THAT(why, has_text("\\u001b]0;title\\u0007\\u000a13:00:00.000 error a forged line xx"));
  CHECK(why.size() < 4100);
  CHECK(why.find_first_of("\x1b\x07\n") == why.npos);
}

TEST_CASE("rights: what is told of a replica's end is printable and short") {
  play_as(side::host, hear_a_forged_end);
}

// ---- a host: metrics

task<> ask_for_metrics(system& sys, side) {
  const auto node = raw_peer::against(sys, side::host);
  const auto counted = detail::core_of(sys).remote_metrics();
  counted->add(node->theirs, {"node", "raw"}, "the only one");
  co_await settled();
  const auto answered = std::make_shared<bool>(false);
  counted->ask([answered] { *answered = true; });
  co_await settled();
  const auto id = node->last(message_kind::measure).header.id;
  prometheus::ClientMetric counter;
  counter.counter.value = 7;
  const std::vector<prometheus::MetricFamily> all{
      {"told_total", "What was told.", prometheus::MetricType::Counter, {counter}}};
  node->say({.kind = message_kind::measured, .control = 1, .id = id}, all);
  co_await settled();
  CHECK(*answered);
  CHECK_THAT(sys.metrics().text(), has_text("told_total{node=\"raw\"} 7"));
  CHECK(node->why.empty());
  node->say({.kind = message_kind::measured, .control = 1, .id = id}, all);
  co_await settled();
  CHECK_THAT(node->why, has_text("measured, which it was not asked for"));
}

TEST_CASE("rights: a host takes metrics once where it has asked for them") {
  play_as(side::host, ask_for_metrics);
}

/// Answers the request for metrics with a counter and a gauge of that value.
task<> tell(std::shared_ptr<raw_peer> node, std::shared_ptr<detail::remote_metrics> to,
            double value) {
  to->ask([] {});
  co_await settled();
  const auto id = node->last(message_kind::measure).header.id;
  prometheus::ClientMetric counter, gauge;
  counter.counter.value = gauge.gauge.value = value;
  const std::vector<prometheus::MetricFamily> all{
      {"told_total", "What was told.", prometheus::MetricType::Counter, {counter}},
      {"told", "What was told.", prometheus::MetricType::Gauge, {gauge}}};
  node->say({.kind = message_kind::measured, .control = 1, .id = id}, all);
  co_await settled();
}

task<> come_and_go(system& sys, side) {
  const auto counted = detail::core_of(sys).remote_metrics();
  const auto shown = [&] { return sys.metrics().text(); };
  const std::string total = "told_total{node=\"raw\"} ", gauge = "told{node=\"raw\"} ";
  const auto first = raw_peer::against(sys, side::host);
  counted->add(first->theirs, {"node", "raw"}, "a");
  co_await settled();
  co_await tell(first, counted, 3);
  CHECK_THAT(shown(), has_text(total + "3") && has_text(gauge + "3"));
  counted->remove(*first->theirs);
  CHECK_THAT(shown(), has_text(total + "3") && !has_text(gauge));

  // The process comes back before the loss of its second link is known.
  const auto second = raw_peer::against(sys, side::host);
  counted->add(second->theirs, {"node", "raw"}, "a");
  co_await settled();
  CHECK_THAT(shown(), has_text(total + "3"));
  co_await tell(second, counted, 5);
  CHECK_THAT(shown(), has_text(total + "5"));
  const auto third = raw_peer::against(sys, side::host);
  counted->add(third->theirs, {"node", "raw"}, "a");
  co_await settled();
  counted->remove(*second->theirs);
  CHECK_THAT(shown(), has_text(total + "5"));
  counted->remove(*third->theirs);

  // Another process of the same name counts from 0.
  const auto fourth = raw_peer::against(sys, side::host);
  counted->add(fourth->theirs, {"node", "raw"}, "b");
  co_await settled();
  CHECK_THAT(shown(), has_text(total + "5"));
  co_await tell(fourth, counted, 1);
  CHECK_THAT(shown(), has_text(total + "6") && has_text(gauge + "1"));
}

TEST_CASE("remote metrics: counters never fall when a node goes and comes back") {
  play_as(side::host, come_and_go);
}

/// Does something once, in the middle of a scrape.
struct scrape_hook final : prometheus::Collectable {
  std::vector<prometheus::MetricFamily> Collect() const override {
    if (const auto now = std::exchange(action, nullptr)) now();
    return {};
  }
  mutable std::function<void()> action;
};

/// Registered before everything that a system shows.
const std::shared_ptr<scrape_hook>& hook_of_scrapes() {
  static const auto hook = std::make_shared<scrape_hook>();
  return hook;
}

task<> end_during_a_scrape(system& sys, std::string process) {
  const auto counted = detail::core_of(sys).remote_metrics();
  const auto first = raw_peer::against(sys, side::host);
  counted->add(first->theirs, {"node", "raw"}, process);
  co_await settled();
  co_await tell(first, counted, 3);
  hook_of_scrapes()->action = [&] { counted->remove(*first->theirs); };
  CHECK_THAT(sys.metrics().text(), has_text("told_total{node=\"raw\"} 3"));
  CHECK_THAT(sys.metrics().text(), has_text("told_total{node=\"raw\"} 3"));

  // Another process takes the name during a scrape, which keeps the first one's counts.
  const auto second = raw_peer::against(sys, side::host);
  hook_of_scrapes()->action = [&] { counted->add(second->theirs, {"node", "raw"}, "another"); };
  CHECK_THAT(sys.metrics().text(), has_text("told_total{node=\"raw\"} 3"));
  co_await settled();
  co_await tell(second, counted, 1);
  CHECK_THAT(sys.metrics().text(), has_text("told_total{node=\"raw\"} 4"));
}

TEST_CASE("remote metrics: counters don't fall in a scrape during which a process ends") {
  log_off();
  const auto metrics = std::make_shared<metrics_registry>();
  metrics->add(hook_of_scrapes());
  system sys({.deterministic = true, .seed = 1, .metrics = metrics});
  SECTION("for good") { sys.run(end_during_a_scrape(sys, "")); }
  SECTION("and may come back") { sys.run(end_during_a_scrape(sys, "a")); }
}

// ---- a guest and a resident

/// One that has made an asker under number 1, whose handle names the controller's shelves.
task<peer> with_asker(system& sys, side theirs, service<shelf> shelves) {
  auto controller = raw_peer::against(sys, theirs);
  controller->say(make_of<asker, service<shelf>>(1), about("askers"), std::tuple(shelves));
  co_await settled();
  co_return controller;
}

task<> call_a_guest(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = co_await with_asker(sys, theirs, shelves);
  const auto other = raw_peer::against(sys, side::guest);
  CHECK(constructed == 1);
  CHECK(controller->count(message_kind::serves) == 1);
  controller->call<&asker::add>(1, 1, 7);
  controller->call<&asker::add>(2, 2, 7);
  other->call<&asker::add>(1, 3, 7);
  co_await settled();
  CHECK(controller->count(message_kind::result) == 1);
  controller->call<&asker::later>(1, 4, 7);
  co_await settled();
  other->say({.kind = message_kind::cancel, .replica = 1, .id = 4});
  other->say({.kind = message_kind::drop, .replica = 1});
  other->say({.kind = message_kind::ping, .replica = 1});
  controller->say({.kind = message_kind::drop, .replica = 2});
  controller->say({.kind = message_kind::ping, .replica = 1});
  co_await sleep_for(2s);
  CHECK(finished == 1);
  CHECK(controller->count(message_kind::result) == 2);
  CHECK(controller->count(message_kind::pong) == 1);
  CHECK(other->heard.empty());
  controller->call<&asker::later>(1, 5, 7);
  co_await settled();
  controller->say({.kind = message_kind::cancel, .replica = 1, .id = 5});
  co_await sleep_for(2s);
  CHECK(finished == 1);
  controller->say({.kind = message_kind::measure, .control = 1, .id = 9});
  co_await sleep_for(1s);
  CHECK(controller->last(message_kind::measured).header.id == 9);
  controller->say({.kind = message_kind::drop, .replica = 1});
  controller->call<&asker::add>(1, 6, 7);
  co_await settled();
  CHECK(controller->count(message_kind::result) == 2);
  CHECK(controller->why + other->why == "");
}

TEST_CASE("rights: a guest is called at what was made for that controller") {
  for (const auto theirs : {side::guest, side::resident}) play_as(theirs, call_a_guest);
}

task<> make_twice(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = co_await with_asker(sys, theirs, shelves);
  const auto& constructor = make_of<intruder, int>(2);
  controller->say(constructor, std::string("no options"));
  co_await settled();
  auto why = controller->last(message_kind::ended).body();
  CHECK_THAT(why.read<std::string>(), has_text("its role could not be read"));
  CHECK(controller->why.empty());
  controller->say(make_of<intruder, int>(1), about("intruders"), std::tuple(7));
  co_await settled();
  CHECK_THAT(controller->why, has_text("make with number 1, which is in use"));
  CHECK(constructed == 1);
}

TEST_CASE("rights: a guest makes nothing under a number that is in use") {
  for (const auto theirs : {side::guest, side::resident}) play_as(theirs, make_twice);
}

task<> make_one_after_the_other(system& sys, side theirs) {
  const auto controller = raw_peer::against(sys, theirs);
  for (std::uint32_t number = 1; number <= 50; ++number) {
    controller->say(make_of<intruder, int>(number), about("intruders"), std::tuple(7));
    co_await settled();
    controller->say({.kind = message_kind::drop, .replica = number});
  }
  co_await settled();
  CHECK(controller->count(message_kind::serves) == 50);
  CHECK(controller->count(message_kind::ended) == 0);
}

TEST_CASE("rights: a replica that is made while another ends is not taken for it") {
  for (const auto theirs : {side::guest, side::resident}) play_as(theirs, make_one_after_the_other);
}

void tell_table(raw_peer& by, const std::string& name, std::uint64_t serial) {
  by.say({.kind = message_kind::table}, std::pair(name, entries{{0, serial, any_version}}));
}

task<> tell_of_services(system& sys, side theirs) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = co_await with_asker(sys, theirs, shelves);
  const auto other = raw_peer::against(sys, side::guest);
  CHECK(controller->count(message_kind::watch) == 1);
  tell_table(*other, "shelves", 77);
  tell_table(*controller, "vaults", 77);
  controller->say({.kind = message_kind::closed}, names("vaults", "it was stopped"));
  other->say({.kind = message_kind::closed}, names("shelves", "it was stopped"));
  co_await settled();
  CHECK(controller->count(message_kind::import) + other->count(message_kind::import) == 0);
  tell_table(*controller, "shelves", 77);
  co_await settled();
  const auto number = controller->last(message_kind::import).header.replica;
  other->say({.kind = message_kind::serves, .replica = number});
  controller->say({.kind = message_kind::serves, .replica = number + 1});
  controller->call<&asker::ask>(1, 1, 7);
  co_await settled();
  CHECK(controller->count(message_kind::call) == 0);
  controller->say({.kind = message_kind::serves, .replica = number});
  co_await answer(controller, other, message_kind::result);
  CHECK(controller->count(message_kind::result) == 1);
  controller->call<&asker::ask>(1, 2, 7);
  co_await answer(controller, other, message_kind::error);
  CHECK_THAT(error_in(*controller), has_text("so it is"));
  other->say({.kind = message_kind::ended, .replica = number}, std::string("it was shot"));
  controller->say({.kind = message_kind::ended, .replica = number + 1}, std::string("shot"));
  co_await settled();
  CHECK(controller->count(message_kind::drop) == 0);
  controller->say({.kind = message_kind::ended, .replica = number}, std::string("it was shot"));
  co_await settled();
  CHECK(controller->count(message_kind::drop) == 1);
  controller->say({.kind = message_kind::closed}, names("shelves", "it was stopped"));
  tell_table(*controller, "shelves", 78);
  co_await settled();
  CHECK(controller->count(message_kind::import) == 1);
  CHECK(controller->why + other->why == "");
}

TEST_CASE("rights: a guest believes its controller only of what it has asked it") {
  for (const auto theirs : {side::guest, side::resident}) play_as(theirs, tell_of_services);
}

task<> come_back(system& sys, side) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves"});
  const auto controller = co_await with_asker(sys, side::resident, shelves);
  CHECK(controller->count(message_kind::watch) == 1);
  controller->come_back();
  co_await settled();
  REQUIRE(controller->count(message_kind::watch) == 1);
  auto body = controller->last(message_kind::watch).body();
  CHECK(body.read<std::string>() == "shelves");
  controller->call<&asker::add>(1, 1, 7);  // Of the controller before.
  co_await settled();
  CHECK(controller->count(message_kind::result) + controller->count(message_kind::error) == 0);
}

TEST_CASE("rights: a node that comes back asks for what it knew, and runs nothing of before") {
  play_as(side::resident, come_back);
}

// ---- and at random

TEST_CASE("rights: 3,000 random messages bring nothing about that they may not") {
  log_off();
  const auto report = fuzz_links(7, 3000);
  for (const auto& [what, times] : report.outside) FAIL_CHECK(what << ": " << times);
  CHECK(report.messages == 3000);
  CHECK(report.made > 10);
  CHECK(report.executed > 10);
}

}  // namespace
}  // namespace troupe
