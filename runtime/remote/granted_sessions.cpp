#include "runtime/remote/granted_sessions.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/table_entry.hpp"
#include "runtime/service/service.hpp"
#include "runtime/wire/error_codec.hpp"

namespace troupe::detail {

void granted_sessions::open(const message& m) {
  const auto id = m.header.id;
  auto body = m.body();
  const auto [name, exclusive, wait] = body.read<std::tuple<std::string, bool, bool>>();
  if (!by_.way().has_given(name)) {
    throw wire_error("open of a session of service " + shown(name) + ", which it was not given");
  }
  if (waiting_.contains(id) || held_.contains(id)) {
    throw wire_error("open with number " + std::to_string(id) + ", which is in use");
  }
  try {
    if (waiting_.size() + held_.size() >= sessions_max) {
      throw call_error(error_kind::overloaded,
                       name + ": more than " + std::to_string(sessions_max) +
                           " sessions are held or waited for over one link");
    }
    auto service = by_.system().find_service(name);
    if (!service) throw call_error(error_kind::service_down, name + ": there is none");
    call_options how{.deadline = no_limit, .wait = wait};
    if (m.header.deadline != message_header::no_deadline) {
      how.deadline = std::max(duration(1), duration(m.header.deadline));
    }
    by_.slice = m.header.slice();
    waiting_[id] = &by_.start_root(
        answer(id, std::move(service), how, session_options{.exclusive = exclusive}));
    by_.slice = 0;
  } catch (const call_error&) {
    refuse(id, std::current_exception());
  }
}

child_task granted_sessions::answer(std::uint64_t id, std::shared_ptr<service_state> service,
                                    call_options how, session_options options) {
  std::exception_ptr error;
  std::shared_ptr<session_lease> lease;
  try {
    auto leases = co_await open_sessions(service, how, options, 1);
    lease = std::move(leases.front());
  } catch (...) {
    error = std::current_exception();
  }
  waiting_.erase(id);
  if (error) co_return refuse(id, error);
  const auto& slot = *lease->slot;
  by_.exported().note_told(service->options.name, slot);
  by_.way().send({.kind = message_kind::opened,
                  .id = id,
                  .what = static_cast<std::uint32_t>(answer_to_open::granted)},
                 table_entry{slot.index, slot.serial, slot.version.load()});
  held_[id] = std::move(lease);
}

void granted_sessions::refuse(std::uint64_t id, const std::exception_ptr& error) {
  by_.way().send({.kind = message_kind::opened,
                  .id = id,
                  .what = static_cast<std::uint32_t>(answer_to_open::refused)},
                 error);
}

void granted_sessions::release(std::uint64_t id) {
  if (const auto place = waiting_.find(id); place != waiting_.end()) {
    auto& answering = *place->second;
    waiting_.erase(place);
    return by_.cancel_root(answering);
  }
  held_.erase(id);
}

void granted_sessions::end_all() {
  waiting_.clear();
  held_.clear();
}

}  // namespace troupe::detail
