#include "runtime/cluster/stream_listener.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <list>
#include <utility>
#include <vector>

#include "runtime/base/freed_memory.hpp"
#include "runtime/cluster/accepted_stream.hpp"
#include "runtime/cluster/link_thread.hpp"
#include "runtime/cluster/listen_address.hpp"
#include "runtime/net/accept_loop.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// The time in which the links of a listener that is destroyed tell their end.
constexpr std::chrono::seconds ends_within(2);

/// The address of a connection's other side, of which a stranger can't have many: all of IPv4, and
/// the network of IPv6.
using origin = std::array<unsigned char, 8>;

origin origin_of(const asio::ip::address& address) {
  origin of{};
  if (address.is_v4()) {
    std::ranges::copy(address.to_v4().to_bytes(), of.begin());
  } else if (const auto v6 = address.to_v6(); v6.is_v4_mapped()) {
    std::ranges::copy(asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_bytes(), of.begin());
  } else {
    std::ranges::copy_n(v6.to_bytes().begin(), of.size(), of.begin());
  }
  return of;
}

std::optional<listening_contexts> contexts_of(const std::optional<credentials>& own) {
  if (!own) return {};
  return listening_contexts(*own);
}

}  // namespace

/// The port and its connections. Used on the thread of link_context().
class stream_listener::entrance : public std::enable_shared_from_this<entrance> {
 public:
  entrance(listener_options options, std::shared_ptr<stream_owner> owner)
      : options_(std::move(options)),
        owner_(std::move(owner)),
        loop_(link_context(),
              listen_for_peers(link_context(), options_.address, options_.own.has_value()),
              [this](accept_loop::socket socket) { admit(std::move(socket)); }),
        port_(loop_.port()),
        watch_(link_context()),
        by_(trust_by(options_.own, options_.secret_file)),
        contexts_(contexts_of(options_.own)) {}

  std::uint16_t port() const { return port_; }
  /// Ready once the port is closed and every stream has ended.
  std::future<void> all_gone() { return all_gone_->get_future(); }

  void open() { loop_.accept(); }

  void close() {
    loop_.close();
    watch_.cancel();
    closed_ = true;
    presence_.reset();
    while (!unproven_.empty()) unproven_.front().stream->expire();
    for (const auto& joined : joined_) {
      if (const auto stream = joined.lock()) stream->end_link();
    }
    // The handlers of the loop and of the timer, which end now, refer to this object.
    asio::post(link_context(), [self = shared_from_this()] {});
  }

 private:
  using clock = std::chrono::steady_clock;
  struct visitor {
    std::shared_ptr<accepted_stream> stream;
    origin from;
    clock::time_point until;
  };
  using visitors = std::list<visitor>;

  void admit(accept_loop::socket socket) {
    error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    if (error) return;  // It has gone.
    const auto from = origin_of(endpoint.address());
    make_room(from);
    visitors one(1);
    const auto at = one.begin();
    const auto when_settled = [self = weak_from_this(), at] {
      if (const auto here = self.lock()) here->settled(at);
    };
    *at = {std::make_shared<accepted_stream>(std::move(socket), options_.link, by_, owner_,
                                             when_settled, presence_),
           from, clock::now() + options_.hello_within};
    unproven_.splice(unproven_.end(), one);
    if (unproven_.size() == 1) watch();
    at->stream->begin(contexts_ ? &*contexts_ : nullptr);
  }

  void make_room(const origin& from) {
    const auto same = [&](const visitor& each) { return each.from == from; };
    const auto of_address =
        static_cast<std::size_t>(std::count_if(unproven_.begin(), unproven_.end(), same));
    if (of_address >= options_.unproven_of_one_address_max) {
      std::find_if(unproven_.begin(), unproven_.end(), same)->stream->make_room();
    } else if (unproven_.size() >= options_.unproven_max) {
      unproven_.front().stream->make_room();
    }
  }

  void settled(visitors::iterator at) {
    const auto stream = std::move(at->stream);
    unproven_.erase(at);
    std::erase_if(joined_, [](const auto& each) { return each.expired(); });
    joined_.push_back(stream);
  }

  /// Closes late connections. All have the same time, so the first one is late first.
  void watch() {
    watch_.expires_at(unproven_.front().until);
    watch_.async_wait([this](error_code error) {
      if (error || closed_) return;  // Another wait has replaced this one, or the port is closed.
      const auto now = clock::now();
      while (!unproven_.empty() && unproven_.front().until <= now) {
        unproven_.front().stream->expire();
      }
      if (!unproven_.empty()) watch();
    });
  }

  const listener_options options_;
  const std::shared_ptr<stream_owner> owner_;
  accept_loop loop_;
  const std::uint16_t port_;
  asio::steady_timer watch_;
  const trust by_;
  std::optional<listening_contexts> contexts_;
  visitors unproven_;  ///< The connections without a proof, ordered by time, the oldest first.
  std::vector<std::weak_ptr<accepted_stream>> joined_;
  bool closed_ = false;
  const std::shared_ptr<std::promise<void>> all_gone_ = std::make_shared<std::promise<void>>();
  /// Shared by the streams. The last one to release it fulfils all_gone_.
  std::shared_ptr<const void> presence_{nullptr,
                                        [gone = all_gone_](const void*) { gone->set_value(); }};
};

stream_listener::stream_listener(listener_options options, std::shared_ptr<stream_owner> owner)
    : entrance_(std::make_shared<entrance>(std::move(options), std::move(owner))) {
  keep_freed_memory();
  asio::post(link_context(), [at = entrance_] { at->open(); });
}

stream_listener::~stream_listener() {
  auto all_gone = entrance_->all_gone();
  asio::post(link_context(), [at = entrance_] { at->close(); });
  // A listener of a link that blocks in another thread doesn't keep this thread.
  all_gone.wait_for(ends_within);
}

std::uint16_t stream_listener::port() const { return entrance_->port(); }

}  // namespace troupe::detail
