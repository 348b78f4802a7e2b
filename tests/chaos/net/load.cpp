#include "tests/chaos/net/load.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "tests/chaos/net/history.hpp"

namespace troupe::chaos {

namespace {

using namespace std::chrono_literals;

constexpr auto pause = 20ms;  // Between two calls of one client.
constexpr auto publish_every = 250ms;
constexpr int steps_of_session = 12;
constexpr double deadline_s = std::chrono::duration<double>(call_deadline).count();

std::string next_id(net_load& l) { return fmt::format("c{}-{}", l.life, ++l.calls); }

/// Ends the operation, and notes the time at which an answered one began.
template <class T>
bool settle(net_load& l, operation& of, const std::string& kind, const outcome<T>& got,
            std::int64_t expected) {
  const bool ok = of.end(got, expected);
  if (ok) l.answered[kind] = std::max(l.answered[kind], of.begun_at());
  return ok;
}

task<> call_work(net_load& l) {
  const auto to = l.to.workers.with({.deadline = call_deadline});
  while (!l.ending) {
    const auto id = next_id(l);
    const auto number = l.calls;
    operation working(id, "work", true, deadline_s);
    const auto got = co_await to.try_route<&worker::work>(id, number);
    settle(l, working, "work", got, number + 1);
    co_await sleep_for(pause);
  }
}

task<> call_ask(net_load& l) {
  const auto to = l.to.workers.with({.deadline = call_deadline});
  while (!l.ending) {
    const auto id = next_id(l);
    const auto number = l.calls;
    operation asking(id, "ask", false, deadline_s);
    const auto got = co_await to.try_route<&worker::ask>(id, number);
    settle(l, asking, "ask", got, number + 1);
    co_await sleep_for(pause);
  }
}

task<> call_read(net_load& l) {
  while (!l.ending) {
    const auto to = l.to.readers.with({.deadline = call_deadline});
    operation reading(next_id(l), "read", false, deadline_s);
    const auto got = co_await to.try_route<&reader::read>();
    settle(l, reading, "read", got, 0);
    co_await sleep_for(pause);
  }
}

task<> call_produce(net_load& l) {
  const auto to = l.to.producers.with({.deadline = call_deadline});
  while (!l.ending) {
    const auto id = next_id(l);
    const auto number = l.calls;
    operation producing(id, "produce", true, deadline_s);
    const auto got = co_await to.try_route<&producer::produce>(id, number);
    settle(l, producing, "produce", got, number + 1);
    co_await sleep_for(pause);
  }
}

std::filesystem::path version_file() { return history_folder() / "version"; }

/// Publishes a version after the other. Each is in a file before, for the next controller.
task<> publish_versions(net_load& l) {
  const auto to = l.to.readers.with({.deadline = call_deadline});
  while (!l.ending) {
    const auto version = ++l.version;
    const auto text = std::to_string(version);
    replace_file(version_file(), text);
    operation publishing(next_id(l), "publish", false, deadline_s);
    try {
      co_await to.publish<&reader::learn>(version);
      publishing.answered(version, version);
      write_record({.what = record_kind::acknowledged, .value = version});
      l.acknowledged = version;
      l.answered["publish"] = publishing.begun_at();
    } catch (const call_error&) {
      publishing.failed(std::current_exception());
    }
    co_await sleep_for(publish_every);
  }
}

/// Lives as long as its holder believes to hold the session.
class hold {
 public:
  hold(std::string session, std::string where)
      : session_(std::move(session)), where_(std::move(where)) {
    write_record({.what = record_kind::held, .where = where_, .session = session_});
  }
  hold(const hold&) = delete;
  ~hold() { write_record({.what = record_kind::released, .where = where_, .session = session_}); }

 private:
  const std::string session_, where_;
};

task<> step_guest(net_load& l, const session<guest>& mine, const std::string& name) {
  for (std::int64_t step = 1; step <= steps_of_session && !l.ending; ++step) {
    const auto id = next_id(l);
    operation stepping(id, "step", true, deadline_s);
    const auto got = co_await mine.try_route<&guest::step>(id, name);
    if (!settle(l, stepping, "step", got, step)) co_return;
    co_await sleep_for(pause);
  }
}

/// One session: it is acquired, used and released.
task<> use_guest(net_load& l) {
  const auto to = l.to.guests.with({.deadline = call_deadline});
  const auto name = fmt::format("s{}-{}", l.life, ++l.calls);
  std::optional<session<guest>> mine;
  {
    operation acquiring(next_id(l), "acquire", false, deadline_s);
    try {
      mine = co_await to.session({.exclusive = true});
      acquiring.answered(0, 0);
    } catch (const call_error&) {
      acquiring.failed(std::current_exception());
      co_return;
    }
  }
  const auto id = next_id(l);
  std::string where;
  {
    operation entering(id, "enter", true, deadline_s);
    const auto got = co_await mine->try_route<&guest::enter>(id, name);
    if (!got.ok()) {
      entering.failed(got.error());
      co_return;
    }
    entering.answered(0, 0);
    l.answered["enter"] = std::max(l.answered["enter"], entering.begun_at());
    where = got.value();
  }
  const hold holding(name, where);
  co_await step_guest(l, *mine, name);
}

task<> use_guests(net_load& l) {
  while (!l.ending) {
    co_await use_guest(l);
    co_await sleep_for(pause);
  }
}

}  // namespace

std::int64_t read_version() {
  std::int64_t version = 0;
  std::ifstream(version_file()) >> version;
  return version;
}

void start_net_load(group& g, net_load& l, int callers) {
  for (int i = 0; i < callers; ++i) {
    g.start(call_work(l));
    g.start(call_ask(l));
    g.start(call_read(l));
    g.start(call_produce(l));
    g.start(use_guests(l));
  }
  g.start(publish_versions(l));
}

}  // namespace troupe::chaos
