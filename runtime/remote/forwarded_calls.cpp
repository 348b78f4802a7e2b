#include "runtime/remote/forwarded_calls.hpp"

#include "runtime/remote/peer.hpp"
#include "runtime/service/call/pending_call.hpp"

namespace troupe::detail {

namespace {

/// A forwarded call. Like a session's call it goes to its replica only, also while the replica
/// drains.
class forwarded_call final : public pending_call {
 public:
  forwarded_call(service_state& service, const call_options& options, ref<call_base> call,
                 std::shared_ptr<replica_slot> slot)
      : pending_call(service, options, std::move(call), std::move(slot), true) {}
  using pending_call::call;

  void await_resume() const noexcept {}
  /// Returns the error, or null if the call has its value.
  std::exception_ptr error() {
    try {
      check();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
};

message_header answer_to(const message_header& asked) {
  return {.kind = message_kind::error,
          .control = asked.control,
          .replica = asked.replica,
          .id = asked.id};
}

}  // namespace

void forwarded_calls::start(const message_header& asked, std::shared_ptr<service_state> service,
                            std::shared_ptr<replica_slot> slot, ref<call_base> call) {
  call_options options{.deadline = no_limit};
  if (asked.deadline != message_header::no_deadline) options.deadline = duration(asked.deadline);
  if (asked.control != 0) options.priority = priority::control;
  auto& running = running_[{asked.replica, asked.id}];
  running.call = call.get();
  // What the other side awaits the call with stands for the caller here; see cycle_watch.
  by_.slice = asked.slice();
  auto& coroutine = by_.start_root(forward_call(answer_to(asked), std::move(service),
                                                std::move(slot), options, std::move(call)));
  by_.slice = 0;
  running.coroutine = &coroutine;
}

void forwarded_calls::refuse(const message_header& asked, const std::exception_ptr& error) {
  send_error(answer_to(asked), ending::refused, error);
}

child_task forwarded_calls::forward_call(message_header reply,
                                         std::shared_ptr<service_state> service,
                                         std::shared_ptr<replica_slot> slot, call_options options,
                                         ref<call_base> call) {
  forwarded_call pending(*service, options, std::move(call), slot);
  co_await pending;
  running_.erase({reply.replica, reply.id});
  reply.version = slot->version.load();
  if (const auto error = pending.error()) {
    auto& done = pending.call();
    if (done.overran) co_return send_error(reply, ending::overran, done.error);
    if (done.error) {
      co_return send_error(reply, done.refused ? ending::refused : ending::threw, done.error);
    }
    // The replica's end is reported to the other side separately.
    if (!is_kind(error, error_kind::session_lost)) send_error(reply, ending::refused, error);
    co_return;
  }
  send_result(reply, pending.call());
}

void forwarded_calls::send_result(message_header header, call_base& call) {
  header.kind = message_kind::result;
  try {
    by_.way().send(header, call.result_size(), [&](wire_writer& out) { call.write_result(out); });
  } catch (...) {
    send_error(header, ending::refused,
               std::make_exception_ptr(std::runtime_error(
                   std::string(call.endpoint.name) +
                   ": its result could not be sent: " + describe(std::current_exception()))));
  }
}

void forwarded_calls::send_error(message_header header, ending how,
                                 const std::exception_ptr& error) {
  header.kind = message_kind::error;
  header.what = static_cast<std::uint32_t>(how);
  by_.way().send(header, error);
}

void forwarded_calls::check_number(const message_header& asked) const {
  if (!running_.contains({asked.replica, asked.id})) return;
  throw wire_error("call with number " + std::to_string(asked.id) + " of replica " +
                   std::to_string(asked.replica) + ", which is in use");
}

void forwarded_calls::cancel(const message_header& asked) {
  const auto place = running_.find({asked.replica, asked.id});
  if (place == running_.end()) return;
  by_.cancel_root(*place->second.coroutine);
  running_.erase(place);
}

void forwarded_calls::cancel_all() {
  for (const auto& [call, running] : running_) by_.cancel_root(*running.coroutine);
  running_.clear();
}

std::map<const call_base*, std::uint64_t> forwarded_calls::ids_of(std::uint32_t replica) const {
  std::map<const call_base*, std::uint64_t> ids;
  for (auto at = running_.lower_bound({replica, 0});
       at != running_.end() && at->first.first == replica; ++at) {
    ids.emplace(at->second.call, at->first.second);
  }
  return ids;
}

bool forwarded_calls::any_of(std::uint32_t replica) const {
  const auto next = running_.lower_bound({replica, 0});
  return next != running_.end() && next->first.first == replica;
}

}  // namespace troupe::detail
