#include "tests/runtime/remote/link_fuzzer.hpp"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/base/utf8.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/remote/table_entry.hpp"
#include "runtime/system/system.hpp"
#include "tests/resident_memory.hpp"
#include "tests/runtime/remote/raw_peer.hpp"
#include "tests/runtime/simulation/dice.hpp"

namespace troupe::testing {

namespace {

using namespace std::chrono_literals;
using detail::message_header;
using detail::message_kind;
using simulation::dice;
using side = detail::peer::side;
using bytes = std::vector<std::byte>;

constexpr int kinds = static_cast<int>(message_kind::measured) + 1;
/// Messages of one system, and of one link unless it closes before.
constexpr int of_a_system = 1000, of_a_link = 100;
/// Long texts have up to so many bytes. The links of a system send several megabytes of them.
constexpr int text_bytes_max = 1 << 18;
/// The most bytes that a system may keep of a link that has ended.
constexpr std::size_t kept_bytes_max = std::size_t{1} << 19;

/// What has been done in the system that is being played.
struct effects {
  int constructed = 0;
  int shelved = 0;
  int opened = 0;   ///< Nobody may.
  int touched = 0;  ///< The same.
} done;

/// Given to the link that is played at.
struct shelf {
  int twice(int n) {
    ++done.shelved;
    return 2 * n;
  }
  task<int> later(int n) {
    co_await sleep_for(5ms);
    co_return twice(n);
  }
  /// Its calls hold their texts meanwhile.
  task<int> store(std::string text) {
    co_await sleep_for(5ms);
    co_return twice(static_cast<int>(text.size()));
  }
};
/// Never given to it.
struct vault {
  int open() { return ++done.opened; }
};
/// Given to it: calls what it is told to.
struct courier {
  task<int> visit(service<vault> to) { co_return co_await to.route<&vault::open>(); }
};
/// What a guest makes.
struct asker {
  asker(service<shelf> from, int) : from_(from) { ++done.constructed; }
  task<int> ask(int n) { co_return co_await from_.route<&shelf::twice>(n); }
  int add(int n) {
    ++done.shelved;
    return n;
  }
  task<int> reserve(int n) {
    const auto mine = co_await from_.with({.deadline = 5ms}).session({.exclusive = n % 2 == 0});
    co_return co_await mine.route<&shelf::twice>(n);
  }
  service<shelf> from_;
};
/// On another link.
struct bystander {
  explicit bystander(int) {}
  ~bystander() { ++done.touched; }
  int touch(int) { return ++done.touched; }
};

template <class... T>
bytes bytes_of(const T&... values) {
  bytes made((std::size_t{0} + ... + wire_size(values)));
  wire_writer to(made);
  (to.write(values), ...);
  return made;
}

/// One link, and what its other side says.
class assault {
 public:
  assault(system& sys, side at, dice random, service<shelf> shelves, service<vault> vaults,
          service<courier> couriers, std::uint64_t kept)
      : at_(at),
        random_(random),
        shelves_(shelves),
        vaults_(vaults),
        couriers_(couriers),
        kept_(kept),
        peer_(raw_peer::against(sys, at)) {}

  void begin() {
    if (at_ == side::host) {
      peer_->give(shelves_);
      peer_->give(couriers_);
    }
  }

  void say_something() {
    auto [header, body] = draw();
    header.control = random_.once_in(300) ? static_cast<std::uint8_t>(random_.below(256))
                                          : static_cast<std::uint8_t>(random_.once_in(4));
    if (random_.once_in(10)) {
      body = mutilated(std::move(body));
      // It may have become an import of what was told, or an open of what was given.
      allowed_.insert(header.replica);
      allowed_opens_.insert(header.id);
    }
    auto& sent = peer_->sent(header.control);
    if (random_.once_in(100)) {  // Before its turn, and what comes before it behind it.
      header.sequence = sent + 2;
      peer_->put(header, body);
      std::tie(header, body) = draw();
      header.sequence = ++sent;
      ++sent;
    } else if (random_.once_in(100) && sent > 0) {  // Twice.
      header.sequence = sent;
    }
    peer_->put(header, body);
  }

  void learn() {
    for (; heard_ < peer_->heard.size(); ++heard_) learn(peer_->heard[heard_]);
  }

  /// Another link to the same resident.
  void come_back() {
    peer_->come_back();
    heard_ = 0;
  }
  bool closed() const { return !peer_->why.empty(); }
  std::uint64_t answers() const { return peer_->heard.size(); }
  /// What the other side has sent that it may not have.
  std::vector<std::string> outside;

 private:
  /// Mostly what may be sent: a link that is closed at once hears nothing more.
  message_kind draw_kind() {
    if (random_.once_in(40)) return static_cast<message_kind>(random_.below(kinds + 2));
    for (;;) {
      const auto kind = static_cast<message_kind>(random_.below(kinds));
      if (!detail::may_receive(at_, kind) || kind == message_kind::measured) continue;
      if (kind == message_kind::drop && !random_.once_in(5)) continue;
      if (kind == message_kind::import && told_.empty() && !random_.once_in(20)) continue;
      return random_.once_in(3) ? message_kind::call : kind;
    }
  }

  std::pair<message_header, bytes> draw() {
    const auto kind = draw_kind();
    const bool is_new = kind == message_kind::make || kind == message_kind::import;
    const bool of_session = kind == message_kind::opened || kind == message_kind::release;
    message_header header{.kind = kind, .replica = number(is_new), .id = id()};
    if (of_session && !opens_.empty() && !random_.once_in(5)) header.id = one_of(opens_);
    const auto written =
        random_.once_in(30) ? static_cast<message_kind>(random_.below(kinds)) : kind;
    auto body = body_of(header, written);
    header.kind = kind;
    return {header, body};
  }

  /// May change the header's what and hash.
  bytes body_of(message_header& header, message_kind kind) {
    switch (kind) {
      case message_kind::make:
        return make(header);
      case message_kind::import:
        return import(header);
      case message_kind::call:
        return call(header);
      case message_kind::watch:
        return bytes_of(name());
      case message_kind::table: {
        std::vector<detail::table_entry> entries;
        while (!random_.once_in(3)) entries.push_back({number(), serial(), random_.below(5)});
        return bytes_of(std::pair(name(), entries));
      }
      case message_kind::closed:
        return bytes_of(std::pair(name(), text("it was stopped")));
      case message_kind::open:
        return open(header);
      case message_kind::opened:
        header.what = static_cast<std::uint32_t>(random_.below(3));
        if (header.what == static_cast<std::uint32_t>(detail::answer_to_open::granted)) {
          return bytes_of(detail::table_entry{number(), serial(), random_.below(5)});
        }
        return bytes_of(an_error());
      case message_kind::result:
        return bytes_of(random_.below(100));
      case message_kind::error:
        header.what = static_cast<std::uint32_t>(random_.below(5));
        return bytes_of(an_error());
      case message_kind::ended:
        return bytes_of(text("it has ended"));
      case message_kind::measured:
        return bytes_of(std::vector<prometheus::MetricFamily>());
      default:
        header.what = static_cast<std::uint32_t>(random_.below(3));
        return {};
    }
  }

  bytes make(message_header& header) {
    auto asked = about(name());
    if (random_.once_in(50)) asked.origin.build = name();
    if (random_.once_in(3)) asked.options.outlive_controller = 1'000'000'000;
    const auto& constructor = detail::constructor_of<asker, service<shelf>, int>;
    header.set_key(constructor.key + (random_.once_in(20) ? 1 : 0));
    return bytes_of(asked, std::tuple(shelves_, random_.below(3)));
  }

  bytes import(message_header& header) {
    auto wanted = std::pair(name(), serial());
    if (!told_.empty() && !random_.once_in(8)) wanted = one_told();
    const bool may = told_.contains(wanted);
    if (!may) forbidden_.insert(header.replica);
    if (may) allowed_.insert(header.replica);
    return bytes_of(wanted);
  }

  bytes open(message_header& header) {
    const std::string given = random_.once_in(2) ? "shelves" : "couriers";
    const auto wanted = random_.once_in(30) ? name() : given;
    const bool may = wanted == "shelves" || wanted == "couriers";
    (may ? allowed_opens_ : forbidden_opens_).insert(header.id);
    opens_.push_back(header.id);
    if (random_.once_in(2)) header.deadline = random_.below(10'000'000) - 100;
    return bytes_of(std::tuple(wanted, random_.once_in(2), !random_.once_in(4)));
  }

  std::exception_ptr an_error() {
    return random_.once_in(5) ? std::exception_ptr()
                              : std::make_exception_ptr(std::runtime_error(text("no")));
  }

  bytes call(message_header& header) {
    const auto replica = header.replica;
    const auto id = header.id;
    const int likely = at_ == side::host ? random_.below(5) : 5 + random_.below(3);
    switch (random_.once_in(10) ? random_.below(8) : likely) {
      case 0:
        header = raw_peer::call_of<&shelf::twice>(replica, id, 1);
        return bytes_of(std::tuple(random_.below(9)));
      case 1:
        header = raw_peer::call_of<&shelf::later>(replica, id, 1);
        return bytes_of(std::tuple(random_.below(9)));
      case 2:
        header = raw_peer::call_of<&vault::open>(replica, id);
        return {};
      case 3:
        header = raw_peer::call_of<&courier::visit>(replica, id, vaults_);
        return bytes_of(std::tuple(vaults_));
      case 4:
        header = raw_peer::call_of<&shelf::store>(replica, id, std::string());
        return bytes_of(std::tuple(text("short")));
      case 5:
        header = raw_peer::call_of<&asker::ask>(replica, id, 1);
        return bytes_of(std::tuple(random_.below(9)));
      case 6:
        header = raw_peer::call_of<&asker::reserve>(replica, id, 1);
        return bytes_of(std::tuple(random_.below(9)));
      default:
        header = raw_peer::call_of<&asker::add>(replica, id, 1);
        return bytes_of(std::tuple(random_.below(9)));
    }
  }

  bytes mutilated(bytes body) {
    if (random_.once_in(3)) body.resize(static_cast<std::size_t>(random_.below(64)));
    for (auto times = random_.below(4); times > 0 && !body.empty(); --times) {
      body[static_cast<std::size_t>(random_.below(static_cast<int>(body.size())))] =
          static_cast<std::byte>(random_.below(256));
    }
    return body;
  }

  /// The usual text, or a long one.
  std::string text(const char* usual) {
    if (!random_.once_in(10)) return usual;
    return std::string(static_cast<std::size_t>(random_.below(text_bytes_max)), 'x');
  }
  std::string name() {
    if (random_.once_in(200)) return text("no such");
    static const std::vector<std::string> names{"shelves", "shelves", "couriers",  "vaults",
                                                "",        "no such", "bystanders"};
    return names[static_cast<std::size_t>(random_.below(static_cast<int>(names.size())))];
  }
  std::uint32_t number(bool is_new = false) {
    if (is_new && !random_.once_in(30)) return ++last_number_;
    if (random_.once_in(30)) return static_cast<std::uint32_t>(random_.below(1 << 30));
    if (!random_.once_in(3) && !numbers_.empty()) return one_of(numbers_);
    return static_cast<std::uint32_t>(random_.below(12));
  }
  std::uint64_t id() {
    if (random_.once_in(10) && !ids_.empty()) return one_of(ids_);
    return random_.once_in(30) ? static_cast<std::uint64_t>(random_.below(200)) : ++last_id_;
  }
  std::uint64_t serial() {
    if (!told_.empty() && !random_.once_in(4)) return one_told().second;
    if (!random_.once_in(3)) return kept_;
    return static_cast<std::uint64_t>(random_.below(random_.once_in(2) ? 200 : 1 << 30));
  }
  std::pair<std::string, std::uint64_t> one_told() {
    auto one = told_.begin();
    std::advance(one, random_.below(static_cast<int>(told_.size())));
    return *one;
  }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(random_.below(static_cast<int>(values.size())))];
  }

  void learn(const detail::message& m) {
    const auto& header = m.header;
    if (header.replica != 0) numbers_.push_back(header.replica);
    if (header.kind == message_kind::call) ids_.push_back(header.id);
    if (header.kind == message_kind::open) opens_.push_back(header.id);
    if (header.kind == message_kind::opened) {
      if (forbidden_opens_.contains(header.id) && !allowed_opens_.contains(header.id)) {
        outside.push_back("a session opened that was not given");
      }
    }
    if (header.kind == message_kind::table || header.kind == message_kind::closed) learn_service(m);
    const bool imported = header.kind == message_kind::serves && at_ == side::host;
    if (imported && forbidden_.contains(header.replica) && !allowed_.contains(header.replica)) {
      outside.push_back("a replica shown that was not told");
    }
  }

  void learn_service(const detail::message& m) {
    auto body = m.body();
    const auto of = body.read<std::string>();
    if (at_ != side::host || (of != "shelves" && of != "couriers")) {
      outside.push_back("a table told of " + detail::printable(of, 20));
    }
    if (m.header.kind != message_kind::table) return;
    for (const auto& e : body.read<std::vector<detail::table_entry>>())
      told_.insert({of, e.serial});
  }

  const side at_;
  dice random_;
  service<shelf> shelves_;
  service<vault> vaults_;
  service<courier> couriers_;
  const std::uint64_t kept_;  ///< The serial of a vault.
  std::shared_ptr<raw_peer> peer_;
  std::size_t heard_ = 0;
  std::uint64_t last_id_ = 100;
  std::uint32_t last_number_ = 0;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::uint64_t> opens_;  ///< Sessions that were asked for.
  std::set<std::pair<std::string, std::uint64_t>> told_;
  std::set<std::uint32_t> allowed_, forbidden_;  ///< Numbers of imports of what was told, and not.
  std::set<std::uint64_t> allowed_opens_, forbidden_opens_;  ///< The same of what was given.
};

/// Links of others, in the same system: a node that has a session of the vault, a child with a
/// role.
struct neighbours {
  explicit neighbours(system& sys)
      : node(raw_peer::against(sys, side::host)), child(raw_peer::against(sys, side::guest)) {}

  void begin(service<vault> vaults) {
    node->give(vaults);
    node->say({.kind = message_kind::watch}, std::string("vaults"));
    node->say({.kind = message_kind::open, .id = 1}, std::tuple(std::string("vaults"), true, true));
    child->say(make_of<bystander, int>(1), about("bystanders"), std::tuple(1));
  }
  /// The serial of the vault that the node has been told of.
  std::uint64_t vault() const {
    auto body = node->last(message_kind::table).body();
    return body.read<std::pair<std::string, std::vector<detail::table_entry>>>()
        .second.at(0)
        .serial;
  }
  void note() { heard = node->heard.size() + child->heard.size(); }
  bool disturbed() const {
    return node->heard.size() + child->heard.size() != heard || !(node->why + child->why).empty();
  }

  std::shared_ptr<raw_peer> node, child;
  std::size_t heard = 0;
};

void judge(side at, const assault& one, const neighbours& others, fuzz_report& report) {
  const auto note = [&](bool happened, const std::string& what) {
    if (happened) ++report.outside[what];
  };
  note(at == side::host && done.constructed > 0, "a role made on a host");
  note(done.opened > 0, "an endpoint run that was not given");
  note(done.touched > 0 || others.disturbed(), "a role on another link touched");
  for (const auto& what : one.outside) note(true, what);
}

/// Nobody has ended the session that the node of the neighbours has of the only vault.
task<bool> is_kept(service<vault> vaults) {
  try {
    const auto mine = co_await vaults.with({.wait = false}).session();
  } catch (const call_error&) {
    co_return true;
  }
  co_return false;
}

task<> play_link(system& sys, side at, std::shared_ptr<assault> one, dice random, int count,
                 fuzz_report* report) {
  one->begin();
  ++report->links;
  for (int i = 0; i < count; ++i) {
    if (at == side::resident && (one->closed() || random.once_in(40))) one->come_back();
    if (one->closed()) break;
    one->say_something();
    ++report->messages;
    if (random.once_in(3)) co_await sleep_for(1ms);
    one->learn();
  }
  co_await sleep_for(20ms);
  one->learn();
}

task<> play_system(system& sys, side at, dice random, int count, fuzz_report* report) {
  const auto shelves = co_await sys.serve<shelf>({.name = "shelves", .replicas = 2});
  const auto vaults = co_await sys.serve<vault>({.name = "vaults"});
  const auto couriers = co_await sys.serve<courier>({.name = "couriers"});
  neighbours others(sys);
  others.begin(vaults);
  co_await sleep_for(1ms);
  others.note();
  const auto before = allocated_bytes();
  const auto until = report->messages + static_cast<std::uint64_t>(count);
  while (report->messages < until) {
    const auto left = static_cast<int>(until - report->messages);
    auto one = std::make_shared<assault>(sys, at, random.fork(), shelves, vaults, couriers,
                                         others.vault());
    co_await play_link(sys, at, one, random.fork(), std::min(of_a_link, left), report);
    report->answers += one->answers();
    judge(at, *one, others, *report);
    one.reset();
    co_await sleep_for(2s);  // Roles that outlive their link end within a second.
    const auto allocated = allocated_bytes();
    const auto kept = allocated - std::min(before, allocated);
    report->kept_bytes = std::max<std::uint64_t>(report->kept_bytes, kept);
    if (kept > kept_bytes_max) ++report->outside["memory kept of links that have ended"];
    const bool still_open = co_await is_kept(vaults);
    if (!still_open) ++report->outside["a session of another link ended"];
    if (report->effects_outside() > 0) co_return;
  }
}

}  // namespace

std::uint64_t fuzz_report::effects_outside() const {
  std::uint64_t all = 0;
  for (const auto& [what, times] : outside) all += times;
  return all;
}

fuzz_report fuzz_links(std::uint64_t seed, std::uint64_t messages) {
  fuzz_report report;
  dice random(seed);
  const side sides[] = {side::host, side::guest, side::resident};
  for (int turn = 0; report.messages < messages; ++turn) {
    done = {};
    const auto left =
        static_cast<int>(std::min<std::uint64_t>(of_a_system, messages - report.messages));
    {
      system sys(
          {.deterministic = true, .seed = static_cast<std::uint64_t>(random.below(1 << 30))});
      sys.run(play_system(sys, sides[turn % 3], random.fork(), left, &report));
    }
    report.made += static_cast<std::uint64_t>(done.constructed);
    report.executed += static_cast<std::uint64_t>(done.shelved);
  }
  return report;
}

}  // namespace troupe::testing
