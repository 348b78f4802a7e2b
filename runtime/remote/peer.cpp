#include "runtime/remote/peer.hpp"

#include <prometheus/metric_family.h>

#include <caf/logger.hpp>

#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/service/call/change.hpp"
#include "runtime/service/call/signal.hpp"
#include "runtime/wire/error_codec.hpp"

namespace troupe::detail {

ref<inbox> start_peer(remote_context& system, std::shared_ptr<connection> to, peer::side mine,
                      std::function<void(const std::string&)> closed) {
  // CAF lets the spawning thread hold its logger and waits for that thread at the end, but a link's
  // thread lives longer.
  const bool foreign = caf::logger::current_logger() == nullptr;
  auto& actors = system.actors();
  // A guest's peer answers pings and ends hung replicas. A host's peer makes the guest's calls.
  // Replicas that fill the pool, for example with constructors that load models, must not keep
  // them from that.
  const bool reserved = mine != link_side::host;
  const auto by = reserved ? host::turns::reserved : host::turns::assured;
  const auto actor =
      actors.spawn<peer>(std::ref(system), by, std::move(to), mine, std::move(closed));
  if (foreign) caf::logger::set_current_actor_system(nullptr);
  return make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
}

peer::peer(caf::actor_config& config, remote_context& system, turns by,
           std::shared_ptr<connection> to, side mine,
           std::function<void(const std::string&)> closed)
    : reserved_host(config, system, "peer", by),
      system_(system),
      to_(std::move(to)),
      mine_(mine),
      closed_(std::move(closed)),
      exports_(*this),
      granted_(*this),
      imports_(*this) {
  made();
}

void peer::starting() { to_->open(self(), mine_); }

void peer::heard(const message& m) {
  exports_.let_go();
  try {
    act_on(m);
  } catch (...) {
    to_->close("the other side sent " + describe(std::current_exception()));
  }
}

/// Handles a message of a kind that the other side may send; see rights.hpp.
void peer::act_on(const message& m) {
  switch (m.header.kind) {
    case message_kind::make:
      return exports_.make(m);
    case message_kind::import:
      return exports_.import(m);
    case message_kind::call:
      return exports_.call(m);
    case message_kind::cancel:
      return exports_.cancel(m);
    case message_kind::drop:
      return exports_.drop(m.header);
    case message_kind::ping:
      return exports_.answer_ping(m);
    case message_kind::ask_waits:
      return exports_.ask_waits(m.header.replica);
    case message_kind::end_wait:
      return exports_.end_wait(m);
    case message_kind::watch: {
      auto body = m.body();
      return watch_service(body.read<std::string>());
    }
    case message_kind::measure:
      start_root(tell_metrics(m.header.id, to_));
      return;
    case message_kind::open:
      return granted_.open(m);
    case message_kind::release:
      return granted_.release(m.header.id);
    case message_kind::opened:
      return imports_.sessions().opened(m);
    case message_kind::table:
      return imports_.learn_table(m);
    case message_kind::closed:
      return imports_.learn_closed(m);
    default:
      return;
  }
}

void peer::lost(const std::string& why) {
  if (mine_ == side::resident) {
    if (closed_) closed_(why);
    return rest();
  }
  imports_.close("the way to it is lost: " + why);
  if (const auto tell = std::exchange(closed_, nullptr)) tell(why);
  end();
}

/// Waits for the next link. Calls from here wait as well; calls of the controller have ended for
/// it.
void peer::rest() {
  resting_ = true;
  exports_.rest();
  imports_.rest();
  if (next_) join(std::move(next_));
}

void peer::join(std::shared_ptr<connection> to) {
  next_ = std::move(to);
  if (!resting_) return;
  resting_ = false;
  to_ = std::exchange(next_, nullptr);
  to_->open(self(), mine_);
  imports_.ask_again();
}

void peer::leave() {
  closed_ = nullptr;
  end();
}

void peer::ended() {
  granted_.end_all();
  exports_.end_all();
  imports_.end_all();
  to_->close("its peer has ended");
  if (const auto tell = std::exchange(closed_, nullptr)) tell("its peer has ended");
}

void peer::root_finished(std::exception_ptr error) {
  if (error) log::error("a forwarded call failed", {{"error", describe(error)}});
}

void peer::on_down(const inbox& who, const std::string&) {
  exports_.on_down(who);
  imports_.on_down(who);
}

void peer::watch_service(const std::string& name) {
  if (!to_->asked_for(name)) return;
  const auto given = to_->given_number(name);
  const auto service = system_.find_service(name);
  if (!service) return exports_.tell_closed(name, given, "there is none");
  const auto [known, is_new] = watched_.emplace(name, service->number);
  if (!is_new && known->second == service->number) return;
  known->second = service->number;
  start_root(tell_changes(name, service));
}

child_task peer::tell_changes(std::string name, std::shared_ptr<service_state> service) {
  for (;;) {
    change next(*service, change::as::watcher);
    next.enter();
    const auto replicas = service->table();
    // If the system stops, the end of the link reports that. The other side decides what ends
    // there.
    if (system_.stopping()) co_return;
    if (const auto reason = service->closed()) {
      const auto known = watched_.find(name);
      if (known != watched_.end() && known->second == service->number) watched_.erase(known);
      co_return exports_.tell_closed(name, service->number, *reason);
    }
    if (watched_[name] != service->number) co_return;  // Another service has the name now.
    exports_.tell_ends(*service);
    exports_.tell_table(name, *replicas);
    co_await next;
  }
}

namespace {

task<> hear(std::shared_ptr<signal> answered) { co_await signal::awaiter(answered); }

}  // namespace

/// Sends the metrics of this process and of the processes that run replicas for it.
child_task peer::tell_metrics(std::uint64_t id, std::shared_ptr<connection> to) {
  const auto answered = std::make_shared<signal>();
  system_.remote_metrics()->ask([answered] { signal::set(answered); });
  try {
    co_await with_timeout(hear(answered), remote_metrics::patience_between);
  } catch (const call_error&) {
    // The last answer of a late process is sent.
  }
  auto all = system_.metrics().families();
  if (wire_size(all) > remote_metrics::answer_max) {
    log::warn("the metrics of this process are too long to be sent to its controller",
              {{"bytes", wire_size(all)}, {"limit", remote_metrics::answer_max}});
    all.clear();
  }
  to->send({.kind = message_kind::measured, .control = 1, .id = id}, all);
}

}  // namespace troupe::detail
