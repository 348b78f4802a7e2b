#include "runtime/remote/simulated_link.hpp"

#include "runtime/actor/timed_action.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

namespace {

/// How long a side that hears nothing takes the other for alive.
constexpr auto silence_limit = std::chrono::seconds(5);

class simulated_link final : public link, public std::enable_shared_from_this<simulated_link> {
 public:
  explicit simulated_link(system_core& system) : system_(system) {}
  void connect(const std::shared_ptr<simulated_link>& other) { other_ = other; }

  void open(std::shared_ptr<link_listener> listener) override {
    listener_ = std::move(listener);
    for (auto& early : std::exchange(early_, {})) arrive(std::move(early));
    if (closed_) tell_closed();
  }

  void send(block message, priority) override {
    auto* faults = system_.faults();
    if (closed_ || cut_) return;
    if (faults && faults->drops()) return cut();
    if (faults && faults->duplicates()) {
      block copy(message.size());
      std::memcpy(copy.data(), message.data(), message.size());
      carry(std::move(copy), faults->delay());
    }
    carry(std::move(message), faults ? faults->delay() : duration(0));
  }

  bool full() const override { return false; }
  bool needs_checksum() const override { return false; }

  void close(const std::string& why) override {
    if (closed_) return;
    end(why);
    if (const auto other = other_.lock(); other && !cut_)
      other->end("the other side has closed it");
  }

 private:
  void carry(block message, duration pause) {
    const auto other = other_.lock();
    if (!other) return;
    if (pause == duration(0)) return other->arrive(std::move(message));
    const auto kept = std::make_shared<block>(std::move(message));
    at(pause, [other, kept] { other->arrive(std::move(*kept)); });
  }

  void arrive(block message) {
    if (closed_ || cut_) return;
    if (!listener_) return early_.push_back(std::move(message));
    listener_->received(std::move(message));
  }

  /// Nothing passes any more, in either direction; both sides notice after a while.
  void cut() {
    for (const auto& side : {shared_from_this(), other_.lock()}) {
      if (!side || std::exchange(side->cut_, true)) continue;
      at(silence_limit, [side] { side->end("nothing was heard of it for 5 s"); });
    }
  }

  void end(const std::string& why) {
    if (std::exchange(closed_, true)) return;
    why_ = why;
    tell_closed();
  }
  void tell_closed() {
    if (const auto listener = std::exchange(listener_, nullptr)) listener->closed(why_);
  }

  void at(duration pause, std::function<void()> action) {
    auto& clock = system_.clock();
    clock.wake_at(later(clock.now(), pause), ref<inbox>(new timed_action(std::move(action))));
  }

  system_core& system_;
  std::weak_ptr<simulated_link> other_;
  std::shared_ptr<link_listener> listener_;
  std::vector<block> early_;
  bool cut_ = false;
  bool closed_ = false;
  std::string why_;
};

}  // namespace

std::pair<std::shared_ptr<link>, std::shared_ptr<link>> make_simulated_link(system_core& system) {
  auto one = std::make_shared<simulated_link>(system);
  auto other = std::make_shared<simulated_link>(system);
  one->connect(other);
  other->connect(one);
  return {one, other};
}

}  // namespace troupe::detail
