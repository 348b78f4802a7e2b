#include "runtime/cluster/link_client.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runtime/actor/splitmix.hpp"
#include "runtime/cluster/build_id.hpp"
#include "runtime/cluster/framed_link.hpp"
#include "runtime/cluster/stream_caller.hpp"
#include "runtime/cluster/ticker.hpp"
#include "runtime/net/own_hosts.hpp"

namespace troupe::detail {

namespace {

using time_point = std::chrono::steady_clock::time_point;
std::optional<credentials> own_credentials(const link_client_options& options) {
  if (options.certs.empty()) {
    const auto to = parse_host(options.address);
    if (to && is_loopback(to->host)) return {};
    throw std::invalid_argument("cannot join " + options.address +
                                " without certificates: expected --certs DIR, or a loopback "
                                "address such as 127.0.0.1:7777; `troupe certs init` and `troupe "
                                "certs add` make them");
  }
  auto loaded = load_credentials(options.certs, "node");
  if (options.metrics) show_expiry(loaded, *options.metrics);
  return loaded;
}

}  // namespace

class link_client::core final : public stream_owner, public std::enable_shared_from_this<core> {
 public:
  core(link_client_options options, link_client_events events)
      : options_(std::move(options)),
        events_(std::move(events)),
        own_{.build = options_.build.empty() ? build_id() : options_.build,
             .self = incarnation::random(),
             .name = options_.name,
             .role = "node",
             .slots = options_.slots},
        side_(own_credentials(options_), options_.join_secret),
        pause_(options_.retry_first) {
    check_peer_name(options_.name);
    std::memcpy(&jitter_, own_.self.bits.data(), sizeof jitter_);
  }

  void start() {
    pulse_.start([this](time_point now) { return look(now); });
  }

  void stop() {
    {
      const std::lock_guard held(mutex_);
      stopping_ = true;
    }
    pulse_.stop();  // No further call is begun.
    if (const auto way = link_there()) {
      way->close("the node is stopping");
    } else if (call_) {
      call_->cancel();
    }
    if (call_ && !wait_for_end()) {
      call_->cancel();
      if (!wait_for_end()) return;  // A listener blocks.
    }
    call_ = nullptr;
  }

  hello own_hello() override { return own_; }

  std::optional<join_refusal> find_refusal(const hello& theirs, const std::string&) override {
    if (auto text = disagreement(own_, theirs); !text.empty()) return join_refusal{"build", text};
    if (theirs.role != "controller") {
      return join_refusal{"role", "expected a controller, got a " + theirs.role};
    }
    return {};
  }

  void joined(const hello& theirs, std::shared_ptr<framed_link> way) override {
    way->when_gone([self = shared_from_this()] { self->ended(); });
    {
      const std::lock_guard held(mutex_);
      way_ = way;
      pause_ = options_.retry_first;
      if (stopping_) return way->close("the node is stopping");
    }
    events_.joined(theirs, way);
  }

  void left(const hello&) override {}

  void failed(const join_refusal& why) override {
    const bool refused = why.reason != "unreachable";
    bool stopping;
    {
      const std::lock_guard held(mutex_);
      stopping = stopping_;
    }
    if (!stopping && events_.failed) events_.failed(why.text, refused);
    ended();
  }

 private:
  /// Does what is due now.
  time_point look(time_point now) {
    if (call_) {
      std::unique_lock held(mutex_);
      if (!call_ended_) {
        const auto way = way_;
        held.unlock();
        if (way) {
          way->tick(now);
        } else if (now >= give_up_at_) {
          call_->cancel();
        }
        return now + link_tick;
      }
      const auto retry_at = retry_at_;
      held.unlock();
      if (now < retry_at) return retry_at;
      call_ = nullptr;
    }
    give_up_at_ = now + options_.join_within;
    {
      const std::lock_guard held(mutex_);
      if (stopping_) return now + link_tick;
      call_ended_ = false;
    }
    call_ = side_.call(options_.address, options_.link, shared_from_this());
    return now + link_tick;
  }

  std::shared_ptr<framed_link> link_there() {
    const std::lock_guard held(mutex_);
    return way_;
  }

  bool wait_for_end() {
    std::unique_lock held(mutex_);
    return ended_.wait_for(held, link_farewell, [this] { return call_ended_; });
  }

  /// Called when the attempt, or the link that it led to, has ended.
  void ended() {
    const auto now = std::chrono::steady_clock::now();
    {
      const std::lock_guard held(mutex_);
      const auto whole = static_cast<std::uint64_t>(pause_.count());
      // The pause is between half and all of the current one, so that nodes come back one after
      // another.
      const auto pause = whole / 2 + next_of(jitter_) % (whole / 2 + 1);
      retry_at_ = now + std::chrono::milliseconds(pause);
      pause_ = std::min(2 * pause_, options_.retry_max);
      call_ended_ = true;
      way_ = nullptr;
    }
    ended_.notify_all();
    pulse_.hurry();
  }

  const link_client_options options_;
  const link_client_events events_;
  const hello own_;

  stream_caller side_;

  // Used by the ticker's thread, and by the thread that stops it.
  std::unique_ptr<stream_call> call_;  ///< The attempt and, later, the stream of the link.
  time_point give_up_at_{};

  std::mutex mutex_;  // Guards everything below.
  std::condition_variable ended_;
  bool stopping_ = false;
  bool call_ended_ = true;
  std::shared_ptr<framed_link> way_;
  time_point retry_at_{};
  std::chrono::milliseconds pause_;
  std::uint64_t jitter_;
  ticker pulse_;
};

link_client::link_client(link_client_options options, link_client_events events)
    : core_(std::make_shared<core>(std::move(options), std::move(events))) {
  core_->start();
}

link_client::~link_client() { core_->stop(); }

}  // namespace troupe::detail
