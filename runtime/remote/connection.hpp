#pragma once
// One end of a link to another process. It numbers the messages, keeps their order, and delivers
// each to the actor that it is for. May be used on any thread. Internal to runtime/.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/remote/byte_count.hpp"
#include "runtime/remote/exported_services.hpp"
#include "runtime/remote/link.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/remote/rights.hpp"

namespace troupe::detail {

class remote_replica;
class peer;

class connection final : public link_listener, public std::enable_shared_from_this<connection> {
 public:
  explicit connection(std::shared_ptr<link> way);
  /// The connection's number in this process, > 0. No other connection ever has it.
  std::uint64_t serial() const { return serial_; }

  /// Begins to receive, as the side `mine`. Requests of the other side go to `peer`, which must
  /// be an actor of that class. When the link has closed, `peer` and every remote replica are told.
  /// The link is closed if the other side sends a message that it must not send.
  void open(ref<inbox> peer, link_side mine);
  void close(const std::string& why) { link_->close(why); }
  /// True if the link has closed, so that everything that was asked over it is lost.
  bool is_closed() const;
  /// Returns the actor here that acts for the other side; null before `open`.
  ref<inbox> peer_here() const;

  /// Sends a message. `write` writes its body, which has `size` bytes. Throws std::length_error if
  /// the message is longer than max_message, and what `write` throws.
  void send(message_header header, std::size_t size = 0,
            const std::function<void(wire_writer&)>& write = nullptr);
  /// Sends a message whose body is one value.
  template <class T>
  void send(const message_header& header, const T& body) {
    send(header, wire_size(body), [&](wire_writer& to) { to.write(body); });
  }
  bool full() const { return link_->full(); }

  /// True if a handle of that service has been sent to the other side.
  bool has_given(const std::string& service) const { return given_.has(service); }
  /// The number of the last service of that name whose handle was sent to the other side.
  std::optional<std::uint64_t> given_number(const std::string& service) const {
    return given_.number_of(service);
  }
  /// Tells the other side that the service with this given_number has ended. Does nothing and
  /// returns false if the other side has the handle of a later service of that name.
  bool tell_closed(const std::string& name, std::optional<std::uint64_t> number,
                   const std::string& reason);
  /// Reports that the other side asks for a service's replicas. Returns false if it has no handle
  /// of the service; the peer is then told to watch the service once a handle is sent. Throws
  /// wire_error if the other side asks for too many services.
  bool asked_for(const std::string& service) { return given_.asked_for(service); }

  /// Returns a number for a remote replica, which gets the messages of its replica from now on. If
  /// the link has closed, the remote replica is told so and the number is 0.
  std::uint32_t add(ref<inbox> remote_replica);
  void remove(std::uint32_t replica);

  /// The receiver of the other side's metrics. It is called on the link's thread and must not wait.
  using measured_function = std::function<void(std::shared_ptr<const message>)>;
  void on_measured(measured_function tell);

  /// The bound, in bytes, of the messages that have come and were not handled yet. Above it nothing
  /// more is read from the other side, whose link is then full.
  static constexpr std::size_t unhandled_max = std::size_t{64} << 20;
  /// The bytes that a message takes here beside its own.
  static constexpr std::size_t message_overhead = 400;
  /// The bytes of the messages that have come and were not handled yet.
  std::size_t unhandled_bytes() const { return unhandled_->bytes(); }
  /// The bytes of the messages that came before their turn. Only the link's thread may ask.
  std::size_t early_bytes() const { return inward_[0].early_bytes + inward_[1].early_bytes; }

  // These override link_listener.
  void received(block bytes) override;
  bool has_room() const override { return !unhandled_->is_above(); }
  void writable() override;
  void closed(const std::string& why) override;

 private:
  /// The messages of one direction and urgency.
  struct lane {
    std::uint64_t sent = 0;
    std::uint64_t heard = 0;
    /// Messages that came before their turn, over a link that doesn't keep the order.
    std::map<std::uint64_t, message> early;
    std::size_t early_bytes = 0;
  };

  /// The largest number of `measure` messages that wait for an answer. If there are more, the
  /// oldest is forgotten.
  static constexpr std::size_t unanswered_max = 1024;

  std::vector<std::string> note_sent(const message_header& header,
                                     const exported_services::handles& handles);
  void pass_on(block bytes, message_header header);
  void send_closed(const std::string& name, const std::string& reason, std::uint8_t control);
  void sort_in(message m);
  void keep_early(message m);
  void forget_early();
  void deliver(message m);
  void deliver_measured(std::shared_ptr<const message> m);

  const std::shared_ptr<link> link_;
  const std::uint64_t serial_;
  const std::shared_ptr<byte_count> unhandled_;
  exported_services given_;
  link_side mine_ = link_side::host;
  bool broken_ = false;  ///< True if nothing more is received. Only the link's thread uses this.

  /// Keeps the messages in the order of their numbers while they are given to the link.
  std::mutex sending_;
  lane outward_[2];
  lane inward_[2];  ///< Only the link's thread uses this.

  mutable std::mutex mutex_;
  ref<inbox> peer_;
  std::map<std::uint32_t, ref<inbox>> remote_replicas_;
  measured_function measured_;
  std::set<std::uint64_t> unanswered_;  ///< The ids of `measure` messages without an answer.
  std::uint64_t forgotten_ = 0;         ///< The last id that was forgotten. Its answer is ignored.
  std::uint32_t last_ = 0;
  bool closed_ = false;
  std::string why_;
};

}  // namespace troupe::detail
