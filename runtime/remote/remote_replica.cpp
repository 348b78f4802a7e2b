#include "runtime/remote/remote_replica.hpp"

#include "runtime/actor/ticks.hpp"
#include "runtime/base/build_stamp.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/remote_options.hpp"
#include "runtime/remote/wait_report.hpp"
#include "runtime/wire/error_codec.hpp"

namespace troupe::detail {

namespace {

remote_replica& here() {
  return static_cast<remote_replica&>(static_cast<host&>(strand::current()));
}

/// A process that is silent for max_call_time, within these bounds, is given up.
constexpr duration silence_min = std::chrono::seconds(2);
constexpr duration silence_max = std::chrono::seconds(10);
/// The least number of pings in that time.
constexpr int pings = 10;
constexpr duration ping_pause_min = std::chrono::milliseconds(10);

/// The largest size of the reason that a process tells of a replica's end, in bytes.
constexpr std::size_t ended_text_max = 4000;

bool executes_at_once(const call_base& call) {
  return call.endpoint.kind != endpoint_kind::coroutine;
}

}  // namespace

remote_replica::remote_replica(caf::actor_config& config, remote_context& system,
                               std::shared_ptr<service_state> service,
                               std::shared_ptr<const role_factory> factory,
                               const replica_info& info, std::shared_ptr<replica_slot> slot,
                               ready_function ready, slot_provider& there)
    : replica(config, system, "remote replica", std::move(service), info, std::move(slot),
              std::move(ready), turns::assured),
      remote_(system),
      factory_(std::move(factory)),
      there_(&there) {
  made();
}

remote_replica::remote_replica(caf::actor_config& config, remote_context& system,
                               std::shared_ptr<service_state> service, const replica_info& info,
                               std::shared_ptr<replica_slot> slot, ready_function ready,
                               std::shared_ptr<connection> to, std::uint64_t serial)
    : replica(config, system, "remote replica", std::move(service), info, std::move(slot),
              std::move(ready), turns::assured),
      remote_(system),
      serial_(serial),
      to_(std::move(to)) {
  made();
}

// ---- the way to serving

void remote_replica::starting() {
  replica::starting();
  slot_->elsewhere = true;
  if (!there_) return join(to_);
  there_->allocate(
      *service_, info_,
      [me = self()](std::shared_ptr<remote_slot> place, std::exception_ptr error) {
        me->post([place = std::move(place), error] { here().allocated(place, error); });
      });
}

void remote_replica::allocated(std::shared_ptr<remote_slot> place, std::exception_ptr error) {
  if (error) return crash("it found no place: " + describe(error));
  begin_start();
  place_ = std::move(place);
  join(place_->to);
}

void remote_replica::join(std::shared_ptr<connection> to) {
  to_ = std::move(to);
  number_ = to_->add(self());
  if (number_ == 0) return;  // A call of `lost` follows.
  message_header header{.replica = number_};
  if (!factory_) {
    header.kind = message_kind::import;
    return to_->send(header, std::make_pair(service_->options.name, serial_));
  }
  header.kind = message_kind::make;
  header.set_key(factory_->constructor->key);
  const role_origin origin{build_stamp(), factory_->constructor->name};
  const remote_options options(*service_, info_);
  const auto size = wire_size(origin) + wire_size(options) + factory_->arguments_size();
  try {
    to_->send(header, size, [&](wire_writer& out) {
      out.write(origin);
      out.write(options);
      factory_->write_arguments(out);
    });
  } catch (...) {
    return crash("its role's arguments could not be sent: " + describe(std::current_exception()));
  }
  // Where nothing can hang, whoever has nothing to do must not seem busy in virtual time.
  if (remote_.turns_take_time()) start_root(watch_over());
}

/// Pings the role that was made for this actor. A process that sends nothing is frozen. A replica
/// that stays in one turn for longer than max_call_time although it has no call is stuck. The
/// supervisor judges a replica that has calls.
child_task remote_replica::watch_over() {
  const auto limit = service_->options.max_call_time;
  const auto silence = std::clamp(limit, silence_min, silence_max);
  // The supervisor judges by max_call_time, so the state must be known several times in that time.
  const auto pause = std::clamp(limit / 4, ping_pause_min, silence / pings);
  const auto most = silence / pause;
  // Without a limit, a turn of any length may be for a call that its caller has given up.
  const auto patience = std::max<duration>(limit, silence);
  const auto most_stuck = patience / pause;
  for (duration::rep silent = 0, stuck = 0; !crashed();) {
    to_->send({.kind = message_kind::ping, .control = 1, .replica = number_});
    co_await sleep_for(pause);
    const bool heard = std::exchange(heard_process_, false);
    silent = heard ? 0 : silent + 1;
    // It is unknown what the replica does now, and max_call_time is for a replica that is known to
    // be busy.
    if (!heard) note_busy();
    // Calls that wait for each other in a cycle may wait there rather than here.
    const auto& most_at_once = service_->options;
    if (in_flight_.size() >= std::min(most_at_once.max_ongoing, most_at_once.max_queued)) {
      service_->note_wait();
    }
    const bool may_be_busy = !serves_ || !in_flight_.empty();
    stuck = std::exchange(goes_on_, false) || may_be_busy ? 0 : stuck + 1;
    // A process that is lost takes all replicas behind its link with it.
    if (silent == most) {
      slot_->lost_link.store(to_->serial(), std::memory_order_relaxed);
      crash("its process has been silent for " + to_text(silence));
    }
    if (stuck == most_stuck && silent < most) {
      crash("it has been in one turn without a call for " + to_text(patience));
    }
  }
}

// ---- calls

void remote_replica::on_request(ref<call_base> call) {
  if (std::exchange(call->received, true)) return;
  if (call->cancelled.load(std::memory_order_relaxed)) return give_room_back();
  if (!unsent_.empty() || to_->full()) {
    call->hold();  // The list holds the call.
    unsent_.push_back(*call);
    return;
  }
  send(std::move(call));
}

void remote_replica::writable() {
  while (!unsent_.empty() && !to_->full()) {
    const ref<call_base> call(&unsent_.pop_front());
    call->drop();
    if (call->cancelled.load(std::memory_order_relaxed)) {
      give_room_back();
    } else {
      send(call);
    }
  }
}

void remote_replica::send(ref<call_base> call) {
  const auto& kind = call->kind();
  message_header header{
      .kind = message_kind::call, .control = call->urgent, .replica = number_, .id = ++last_id_};
  header.set_key(kind.key);
  header.set_slice(call->by_slice);
  if (call->limited) {
    const auto left = call->deadline - now();
    header.deadline = std::max<std::int64_t>(1, left.count());
  }
  try {
    if (!kind.not_encodable.empty()) {
      throw std::invalid_argument(kind.not_encodable + " can't be encoded, and the replica is in " +
                                  "another process");
    }
    to_->send(header, call->arguments_size(),
              [&](wire_writer& out) { call->write_arguments(out); });
  } catch (const std::length_error& e) {
    return refuse(*call, std::make_exception_ptr(std::length_error(
                             std::string(call->endpoint.name) + ": " + e.what())));
  } catch (...) {
    return refuse(*call, std::current_exception());
  }
  if (executes_at_once(*call)) {
    if (executing_++ == 0) note_busy();
  }
  in_flight_.emplace(last_id_, std::move(call));
}

/// Answers a call that could not be sent with an error.
void remote_replica::refuse(call_base& call, std::exception_ptr error) {
  call.error = std::move(error);
  call.refused = true;
  answer(call, now());
}

ref<call_base> remote_replica::take(std::uint64_t id) {
  const auto place = in_flight_.find(id);
  if (place == in_flight_.end()) return nullptr;
  auto call = std::move(place->second);
  in_flight_.erase(place);
  if (executes_at_once(*call)) {
    --executing_;
    note_busy();
  }
  return call;
}

/// Records the time since which the replica is busy, which is that of the last message from it as
/// far as is known here.
void remote_replica::note_busy() {
  if (service_->options.max_call_time == no_limit) return;
  slot_->busy_since.store(executing_ > 0 ? ticks_of(now()) : 0, std::memory_order_relaxed);
}

void remote_replica::stop_working(call_base& call) {
  if (call.linked()) {
    call.unlink();
    call.drop();
    return give_room_back();
  }
  const auto place = std::find_if(in_flight_.begin(), in_flight_.end(),
                                  [&](const auto& entry) { return entry.second.get() == &call; });
  if (place == in_flight_.end()) return;
  to_->send({.kind = message_kind::cancel, .replica = number_, .id = place->first});
  take(place->first);
  give_room_back();
}

// ---- cycles

void remote_replica::tell_waits(waits_function tell) {
  // Who imports a replica doesn't look for its cycles; the process that serves it does.
  if (!factory_ || crashed()) return;
  asked_waits_.push_back(std::move(tell));
  if (asked_waits_.size() > 1) return;
  to_->send({.kind = message_kind::ask_waits, .control = 1, .replica = number_});
}

void remote_replica::read_waits(const message& m) {
  auto body = m.body();
  const auto report = body.read<wait_report>();
  replica_waits mine;
  mine.ongoing = report.ongoing;
  for (const auto& [id, slice] : report.begun) {
    const auto place = in_flight_.find(id);
    if (place != in_flight_.end()) mine.begun.push_back({place->second, slice});
  }
  for (const auto id : report.queued) {
    const auto place = in_flight_.find(id);
    if (place != in_flight_.end()) mine.queued.push_back(place->second);
  }
  for (const auto& [slice, service] : report.for_room) mine.for_room.push_back({slice, service});
  mine.full = report.full &&
              slot_->in_flight() <= static_cast<std::int64_t>(mine.ongoing + mine.queued.size());
  mine.spokesman = to_->peer_here();
  for (const auto& tell : std::exchange(asked_waits_, {})) tell(mine);
}

void remote_replica::end_room_wait(std::uint64_t slice, const std::string& members) {
  if (!factory_ || crashed()) return;
  to_->send({.kind = message_kind::end_wait, .control = 1, .replica = number_, .id = slice},
            members);
}

// ---- what comes back

void remote_replica::leave_place() {
  if (!place_ || number_ == 0 || crashed()) return end();
  leaves_place_ = true;
  slot_->end();
  to_->send({.kind = message_kind::drop,
             .replica = number_,
             .what = static_cast<std::uint32_t>(drop_as::replaced)});
}

/// Called when the role has ended there, so that its place is free.
void remote_replica::has_left() {
  to_->remove(std::exchange(number_, 0));
  there_->keep(*service_, info_, std::exchange(place_, nullptr));
  end();
}

void remote_replica::heard(const message& m) {
  if (leaves_place_ && m.header.kind == message_kind::ended) return has_left();
  if (crashed()) return;
  heard_process_ = true;
  try {
    switch (m.header.kind) {
      case message_kind::pong:
        goes_on_ = m.header.what == static_cast<std::uint32_t>(alive::replica);
        // The replica's calls may wait for a thread there, which is no hang.
        if (goes_on_) note_busy();
        return;
      case message_kind::waits:
        return read_waits(m);
      case message_kind::serves:
        if (std::exchange(serves_, true)) return;
        service_->note_version(*slot_, m.header.version);
        return serve();
      case message_kind::result:
      case message_kind::error:
        return finish(m);
      case message_kind::ended: {
        auto body = m.body();
        // The text may forge lines of a log, or be as long as a message.
        const auto why = printable(body.read<std::string>(), ended_text_max);
        if (remote_.stopping()) return lost(why);
        return factory_ ? crash(why)
                        : end_import(why);  // The process that made it tells of a crash.
      }
      default:
        return;
    }
  } catch (...) {
    crash("its process sent " + describe(std::current_exception()));
  }
}

void remote_replica::finish(const message& m) {
  const auto call = take(m.header.id);
  if (!call) return;  // Nobody awaits the call any more.
  try {
    read_answer(m, *call);
  } catch (...) {
    call->error = std::make_exception_ptr(std::runtime_error(
        std::string(call->endpoint.name) +
        ": its answer could not be read: " + describe(std::current_exception())));
    call->refused = true;
  }
  service_->note_version(*slot_, m.header.version);
  answer(*call, now());
}

void remote_replica::read_answer(const message& m, call_base& call) {
  auto body = m.body({&remote_.metrics()});
  if (m.header.kind == message_kind::error) {
    const auto how = static_cast<ending>(m.header.what);
    call.error = body.read<std::exception_ptr>();
    if (!call.error) throw wire_error("an error that is none");
    call.overran = how == ending::overran;
    call.refused = how == ending::refused;
  } else {
    call.read_result(body);
    body.finish(call.endpoint.name);
  }
}

void remote_replica::lost(const std::string& why) {
  if (leaves_place_) return end();
  if (crashed()) return;
  slot_->lost_link.store(to_->serial(), std::memory_order_relaxed);
  // A system that stops closes every way itself.
  if (factory_ && !remote_.stopping()) return crash(why);
  end_import(why);  // It lives on; mostly the run has ended.
}

/// Called when an imported replica has ended where it was made, or can't be reached any more.
void remote_replica::end_import(const std::string& why) {
  service_->note_crash(why);
  slot_->end();
  log::debug("a replica of another process has gone",
             {{"service", service_->options.name}, {"reason", why}});
  end();
}

/// Marks the calls that the replica may have begun when it died, since the truth isn't known here.
/// A replica takes plain calls in the order of sending, so only the oldest can have begun; of the
/// other calls, as many as it may work on at once.
void remote_replica::note_begun() {
  const auto& options = service_->options;
  std::size_t coroutines = 0, batched = 0;
  bool plain = false;
  for (const auto& [id, call] : in_flight_) {
    const auto kind = call->endpoint.kind;
    bool begun = false;
    if (kind == endpoint_kind::plain) begun = !std::exchange(plain, true);
    if (kind == endpoint_kind::coroutine) begun = coroutines++ < options.max_ongoing;
    if (kind == endpoint_kind::batched) begun = batched++ < options.max_batch;
    if (begun) call->begun.store(true, std::memory_order_release);
  }
}

void remote_replica::ended() {
  note_begun();
  asked_waits_.clear();
  in_flight_.clear();
  while (!unsent_.empty()) unsent_.pop_front().drop();
  if (to_ && number_ != 0) {
    to_->remove(number_);
    // Of a system that stops the link closes; who outlives the controller doesn't end with it.
    if (!remote_.stopping()) to_->send({.kind = message_kind::drop, .replica = number_});
  }
  to_ = nullptr;
  place_ = nullptr;
  factory_ = nullptr;
  replica::ended();
}

}  // namespace troupe::detail
