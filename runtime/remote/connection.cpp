#include "runtime/remote/connection.hpp"

#include <atomic>
#include <stdexcept>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_replica.hpp"

namespace troupe::detail {

namespace {

/// The bound, in bytes, of the messages that a link which doesn't keep the order may deliver before
/// their turn; more of them mean a broken link.
constexpr std::size_t early_bytes_max = std::size_t{16} << 20;

/// A message that was not handled yet.
struct unhandled_message {
  unhandled_message(message m, const std::shared_ptr<byte_count>& in)
      : counted(in, m.size() + connection::message_overhead), it(std::move(m)) {}

  counted_bytes counted;
  message it;
};

template <class Actor>
Actor& here() {
  return static_cast<Actor&>(static_cast<host&>(strand::current()));
}

}  // namespace

connection::connection(std::shared_ptr<link> way)
    : link_(std::move(way)),
      serial_([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()),
      unhandled_(std::make_shared<byte_count>(unhandled_max, [way = std::weak_ptr(link_)] {
        if (const auto known = way.lock()) known->resume();
      })) {}

void connection::open(ref<inbox> peer, link_side mine) {
  {
    std::lock_guard lock(mutex_);
    peer_ = std::move(peer);
  }
  mine_ = mine;
  link_->open(shared_from_this());
}

bool connection::is_closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

void connection::send(message_header header, std::size_t size,
                      const std::function<void(wire_writer&)>& write) {
  const auto whole = sizeof(header) + size;
  if (whole > max_message) {
    throw std::length_error(std::to_string(whole) + " bytes; a message has at most " +
                            std::to_string(max_message));
  }
  auto bytes = link_->allocate(whole);
  exported_services::handles handles;
  if (write) {
    const exported_services::writing scope(handles);
    wire_writer to(bytes.bytes().subspan(sizeof(header)));
    write(to);
  }
  std::lock_guard lock(sending_);
  const auto replaced = note_sent(header, handles);
  // The other side knows services by their names. It must not take this handle for the earlier one.
  for (const auto& name : replaced) {
    if (mine_ == link_side::host) send_closed(name, "it was stopped", header.control);
  }
  pass_on(std::move(bytes), header);
}

/// Gives a message to the link. Requires sending_.
void connection::pass_on(block bytes, message_header header) {
  const auto urgency = header.control != 0 ? priority::control : priority::normal;
  header.sequence = ++outward_[header.control].sent;
  std::memcpy(bytes.data(), &header, sizeof(header));
  link_->send(std::move(bytes), urgency);
}

bool connection::tell_closed(const std::string& name, std::optional<std::uint64_t> number,
                             const std::string& reason) {
  std::lock_guard lock(sending_);
  const auto given = given_.number_of(name);
  if (given && (!number || *given > *number)) return false;
  send_closed(name, reason, 0);
  return true;
}

/// Requires sending_.
void connection::send_closed(const std::string& name, const std::string& reason,
                             std::uint8_t control) {
  const auto body = std::make_pair(name, reason);
  auto bytes = link_->allocate(sizeof(message_header) + wire_size(body));
  wire_writer to(bytes.bytes().subspan(sizeof(message_header)));
  to.write(body);
  pass_on(std::move(bytes), {.kind = message_kind::closed, .control = control});
}

/// Called before the message is sent, because the answer may come at once. Returns the names of
/// services that were given to the other side and are replaced by others in this message.
std::vector<std::string> connection::note_sent(const message_header& header,
                                               const exported_services::handles& handles) {
  auto [awaited, replaced] = given_.add(handles);
  if (awaited.empty() && header.kind != message_kind::measure) return std::move(replaced);
  std::lock_guard lock(mutex_);
  for (const auto& name : awaited) {
    if (peer_) peer_->post([name] { here<peer>().watch_service(name); });
  }
  if (header.kind != message_kind::measure) return std::move(replaced);
  unanswered_.insert(header.id);
  if (unanswered_.size() <= unanswered_max) return std::move(replaced);
  forgotten_ = *unanswered_.begin();
  unanswered_.erase(unanswered_.begin());
  return std::move(replaced);
}

ref<inbox> connection::peer_here() const {
  std::lock_guard lock(mutex_);
  return peer_;
}

std::uint32_t connection::add(ref<inbox> remote_replica) {
  std::lock_guard lock(mutex_);
  if (closed_) {
    remote_replica->post([why = why_] { here<class remote_replica>().lost(why); });
    return 0;
  }
  remote_replicas_.emplace(++last_, std::move(remote_replica));
  return last_;
}

void connection::remove(std::uint32_t replica) {
  ref<inbox> gone;  // The reference is dropped outside the lock.
  std::lock_guard lock(mutex_);
  const auto place = remote_replicas_.find(replica);
  if (place == remote_replicas_.end()) return;
  gone = std::move(place->second);
  remote_replicas_.erase(place);
}

void connection::on_measured(measured_function tell) {
  std::lock_guard lock(mutex_);
  measured_ = std::move(tell);
}

void connection::received(block bytes) {
  if (broken_) return;
  try {
    message m(std::move(bytes));
    check_right(mine_, m.header.kind);
    sort_in(std::move(m));
  } catch (const wire_error& e) {
    broken_ = true;
    forget_early();
    link_->close(std::string("the other side sent ") + e.what());
  }
}

/// Delivers a message in its turn. A link that doesn't keep the order may repeat a message or bring
/// it early; each is delivered once, in the order of sending within its urgency.
void connection::sort_in(message m) {
  auto& [sent, heard, early, early_bytes] = inward_[m.header.control];
  const auto number = m.header.sequence;
  if (number != heard + 1 && link_->keeps_order()) {
    throw wire_error("message " + std::to_string(number) + " after message " +
                     std::to_string(heard) + ", over a link that keeps the order");
  }
  if (number <= heard) return;
  if (number > heard + 1) return keep_early(std::move(m));
  deliver(std::move(m));
  for (++heard; !early.empty() && early.begin()->first == heard + 1; ++heard) {
    auto next = std::move(early.extract(early.begin()).mapped());
    early_bytes -= next.size() + message_overhead;
    deliver(std::move(next));
  }
}

void connection::keep_early(message m) {
  auto& to = inward_[m.header.control];
  const auto number = m.header.sequence;
  if (to.early.contains(number)) return;
  const auto size = m.size() + message_overhead;
  if (to.early_bytes + size > early_bytes_max) {
    throw wire_error("more than " + std::to_string(early_bytes_max) +
                     " bytes of messages before their turn");
  }
  to.early.emplace(number, std::move(m));
  to.early_bytes += size;
}

void connection::forget_early() {
  for (auto& each : inward_) {
    each.early.clear();
    each.early_bytes = 0;
  }
}

void connection::deliver(message m) {
  const auto kind = m.header.kind;
  const bool for_remote_replica = kind >= message_kind::serves && kind <= message_kind::ended;
  // The last answer of each process is kept.
  if (kind == message_kind::measured)
    return deliver_measured(std::make_shared<message>(std::move(m)));
  const auto unhandled = std::make_shared<unhandled_message>(std::move(m), unhandled_);
  const std::shared_ptr<const message> kept(unhandled, &unhandled->it);
  if (!for_remote_replica) {
    peer_->post([kept] { here<peer>().heard(*kept); });
    return;
  }
  ref<inbox> whom;
  {
    std::lock_guard lock(mutex_);
    const auto place = remote_replicas_.find(kept->header.replica);
    if (place == remote_replicas_.end()) return;  // The remote replica has ended meanwhile.
    whom = place->second;
  }
  whom->post([kept] { here<remote_replica>().heard(*kept); });
}

void connection::deliver_measured(std::shared_ptr<const message> m) {
  const auto id = m->header.id;
  measured_function tell;
  {
    std::lock_guard lock(mutex_);
    if (unanswered_.erase(id) > 0) {
      tell = measured_;
    } else if (id > forgotten_) {
      throw wire_error("measured, which it was not asked for");
    }
  }
  if (tell) tell(std::move(m));
}

void connection::writable() {
  // Remote replicas check the link with each new call; this wakes the calls that wait in them.
  std::lock_guard lock(mutex_);
  for (const auto& [number, whom] : remote_replicas_) {
    whom->post([] { here<remote_replica>().writable(); });
  }
}

void connection::closed(const std::string& why) {
  broken_ = true;
  forget_early();
  std::map<std::uint32_t, ref<inbox>> all;
  ref<inbox> last;  // The connection and the peer hold each other until here.
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    why_ = why;
    all.swap(remote_replicas_);
    last = std::exchange(peer_, nullptr);
  }
  for (const auto& [number, whom] : all) {
    whom->post([why] { here<remote_replica>().lost(why); });
  }
  // Nothing comes after this message.
  if (last) last->post([why] { here<class peer>().lost(why); });
}

}  // namespace troupe::detail
