#pragma once
// One end of a link: numbers messages, keeps their order, and hands each to whom it concerns. Any
// thread. Internal to runtime/.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/actor/inbox.hpp"
#include "runtime/remote/given_services.hpp"
#include "runtime/remote/link.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/remote/rights.hpp"

namespace troupe::detail {

class stand_in;
class porter;

class connection final : public link_listener, public std::enable_shared_from_this<connection> {
 public:
  explicit connection(std::shared_ptr<link> way);
  /// Of all connections of this process; kept by no other. > 0.
  std::uint64_t serial() const { return serial_; }

  /// Begins to hear, as that side: what the other one asks goes to `porter`, an actor of that kind.
  /// When the link has closed, that is told `porter` and every stand-in. A message that the other
  /// side must not send closes it.
  void open(ref<inbox> porter, link_side mine);
  void close(const std::string& why) { link_->close(why); }
  /// The link has closed: whatever is asked for over it is lost.
  bool is_closed() const;

  /// Sends a message whose body is what `write` puts into `size` bytes. Throws std::length_error
  /// for one above max_message, and what `write` throws.
  void send(message_header header, std::size_t size = 0,
            const std::function<void(wire_writer&)>& write = nullptr);
  /// The same with one value as its body.
  template <class T>
  void send(const message_header& header, const T& body) {
    send(header, wire_size(body), [&](wire_writer& to) { to.write(body); });
  }
  bool full() const { return link_->full(); }

  /// A handle of that service has been sent.
  bool has_given(const std::string& service) const { return given_.has(service); }
  /// The other side asks for a service's replicas. If it has no handle of it, the porter is told to
  /// watch it once that is sent. Throws wire_error where it asks for too many.
  bool asked_for(const std::string& service) { return given_.asked_for(service); }

  /// A number for a stand-in, which hears of its replica from here on. If the link has closed it
  /// hears that.
  std::uint32_t add(ref<inbox> stand_in);
  void remove(std::uint32_t replica);

  /// Hears what the other side has measured, on the link's thread: it must not wait.
  using measured_function = std::function<void(std::shared_ptr<const message>)>;
  void on_measured(measured_function tell);

  // As a listener.
  void received(block bytes) override;
  void writable() override;
  void closed(const std::string& why) override;

 private:
  /// Messages of one direction and urgency.
  struct lane {
    std::uint64_t sent = 0;
    std::uint64_t heard = 0;
    std::map<std::uint64_t, message> early;  ///< Came before their turn.
  };

  /// Answers to `measure` that are awaited; the oldest is forgotten where there are more.
  static constexpr std::size_t unanswered_max = 1024;

  void note_sent(const message_header& header, const given_services::names& handles);
  void sort_in(message m);
  void deliver(message m);
  void deliver_measured(std::shared_ptr<const message> m);

  const std::shared_ptr<link> link_;
  const std::uint64_t serial_;
  given_services given_;
  link_side mine_ = link_side::host;
  bool broken_ = false;  ///< The link's thread's alone: nothing more is heard.

  std::mutex sending_;  ///< Messages are handed to the link in the order of their numbers.
  lane outward_[2];
  lane inward_[2];  ///< The link's thread's alone.

  mutable std::mutex mutex_;
  ref<inbox> porter_;
  std::map<std::uint32_t, ref<inbox>> stand_ins_;
  measured_function measured_;
  std::set<std::uint64_t> unanswered_;  ///< Ids of `measure`.
  std::uint64_t forgotten_ = 0;  ///< The last that is awaited no more: its answer is passed over.
  std::uint32_t last_ = 0;
  bool closed_ = false;
  std::string why_;
};

}  // namespace troupe::detail
