#pragma once
// The other side of a link as no peer plays it: it says whatever a test wants.

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/build_stamp.hpp"
#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_options.hpp"
#include "runtime/remote/simulated_link.hpp"
#include "runtime/service/service.hpp"
#include "runtime/system/system_core.hpp"

namespace troupe::testing {

/// A peer of the side `theirs` in a deterministic system, and a hand at the other end of its
/// link.
class raw_peer final : public detail::link_listener {
 public:
  explicit raw_peer(system& sys) : core_(detail::core_of(sys)) {}
  ~raw_peer() override {
    way_->close("the test ends");
    peer->post([] { detail::peer::here().leave(); });
  }

  static std::shared_ptr<raw_peer> against(system& sys, detail::peer::side theirs) {
    auto made = std::make_shared<raw_peer>(sys);
    made->connect();
    made->peer = detail::start_peer(made->core_, made->theirs, theirs,
                                    [made = std::weak_ptr(made)](const std::string& why) {
                                      if (const auto me = made.lock()) me->why = why;
                                    });
    return made;
  }

  /// A new link to the same resident, which may have lost the one before.
  void come_back() {
    way_->close("once more");
    heard.clear();
    why.clear();
    sent_[0] = sent_[1] = 0;
    connect();
    peer->post([to = theirs] { detail::peer::here().join(to); });
  }

  template <class... T>
  void say(detail::message_header header, const T&... body) {
    std::vector<std::byte> bytes((std::size_t{0} + ... + wire_size(body)));
    wire_writer to(bytes);
    (to.write(body), ...);
    put(header, bytes);
  }
  /// A message with any body, under the next number of its urgency unless it has one.
  void put(detail::message_header header, const std::vector<std::byte>& body) {
    if (header.sequence == 0) header.sequence = ++sent_[header.control & 1];
    detail::block bytes(sizeof(header) + body.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    if (!body.empty()) std::memcpy(bytes.data() + sizeof(header), body.data(), body.size());
    way_->send(std::move(bytes), priority::normal);
  }

  /// Calls an endpoint of the replica that has that number.
  template <auto F, class... A>
  void call(std::uint32_t replica, std::uint64_t id, const A&... arguments) {
    say(call_of<F>(replica, id, arguments...),
        typename detail::endpoint_of<F>::arguments(arguments...));
  }
  template <auto F, class... A>
  static detail::message_header call_of(std::uint32_t replica, std::uint64_t id,
                                        const A&... arguments) {
    using role = typename detail::endpoint_of<F>::role;
    static const detail::direct_access<role> access;
    const detail::ref<detail::call_base> made(new detail::call_of<F, role>(access, arguments...));
    detail::message_header header{.kind = detail::message_kind::call, .replica = replica, .id = id};
    header.set_key(made->kind().key);
    return header;
  }
  /// The peer's side sends a handle.
  template <class Role>
  void give(const service<Role>& handle) {
    theirs->send({.kind = detail::message_kind::call}, handle);
  }

  std::size_t count(detail::message_kind kind) const {
    std::size_t found = 0;
    for (const auto& m : heard) found += m.header.kind == kind;
    return found;
  }
  /// The last one of that kind; throws if none has come.
  const detail::message& last(detail::message_kind kind) const {
    for (auto m = heard.rbegin(); m != heard.rend(); ++m) {
      if (m->header.kind == kind) return *m;
    }
    throw std::runtime_error("no message of kind " + std::to_string(static_cast<int>(kind)));
  }

  // As a listener.
  void received(detail::block bytes) override { heard.emplace_back(std::move(bytes)); }
  void writable() override {}
  void closed(const std::string&) override {}

  /// The number of the last message of an urgency.
  std::uint64_t& sent(int control) { return sent_[control & 1]; }

  std::vector<detail::message> heard;
  std::string why;  ///< Why the peer's link has closed; empty while it has not.
  std::shared_ptr<detail::connection> theirs;
  detail::ref<detail::inbox> peer;

 private:
  void connect() {
    auto [mine, other] = detail::simulated_link::make(core_);
    way_ = mine;
    theirs = std::make_shared<detail::connection>(other);
    way_->open(std::shared_ptr<detail::link_listener>(std::shared_ptr<void>(), this));  // No owner.
  }

  detail::system_core& core_;
  std::shared_ptr<detail::link> way_;
  std::uint64_t sent_[2] = {};
};

/// What `make` says of a role and its service before the arguments.
struct about_role {
  detail::role_origin origin;
  detail::remote_options options;
};
inline about_role about(const std::string& service) {
  return {{detail::build_stamp(), "a role"},
          detail::remote_options(detail::service_state(0, {.name = service}))};
}

/// `make` of Role(arguments...), under that number.
template <class Role, class... A>
detail::message_header make_of(std::uint32_t number) {
  const auto& constructor = detail::constructor_of<Role, A...>;
  detail::message_header header{.kind = detail::message_kind::make, .replica = number};
  header.set_key(constructor.key);
  return header;
}

}  // namespace troupe::testing
