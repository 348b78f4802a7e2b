#pragma once
// What the tests of links share: listeners that remember, and a controller with a node beside it.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/cluster/link_client.hpp"
#include "runtime/cluster/link_server.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/eventually.hpp"
#include "tests/test.hpp"

namespace troupe::detail::testing {

using namespace std::chrono_literals;

/// What a test waits at most for what other threads do.
constexpr auto soon = 20s;

inline block block_of(const std::string& text) {
  block made(text.size());
  std::memcpy(made.data(), text.data(), text.size());
  return made;
}

inline std::string text_of(const block& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Values that other threads add, and a test waits for.
template <class T>
class mailbox {
 public:
  void put(T value) {
    {
      const std::lock_guard held(mutex_);
      values_.push_back(std::move(value));
    }
    changed_.notify_all();
  }
  /// The next one, the oldest first. Fails the test where none comes.
  T take() {
    std::unique_lock held(mutex_);
    const bool came = changed_.wait_for(held, soon, [this] { return !values_.empty(); });
    if (!came) throw std::runtime_error("nothing has come");
    T value = std::move(values_.front());
    values_.erase(values_.begin());
    return value;
  }
  std::size_t size() const {
    const std::lock_guard held(mutex_);
    return values_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

/// Keeps what it hears.
class hearer : public link_listener {
 public:
  void received(block message) override { messages.put(std::move(message)); }
  void writable() override { ++writables; }
  void closed(const std::string& why) override { ends.put(why); }

  mailbox<block> messages;
  mailbox<std::string> ends;
  std::atomic<int> writables{0};
};

/// One side of a link, opened.
struct side {
  hello other;
  std::shared_ptr<link> way;
  std::shared_ptr<hearer> heard;
};

/// Hears of links, and opens them.
class links {
 public:
  void add(const hello& other, std::shared_ptr<link> way) {
    const auto heard = std::make_shared<hearer>();
    way->open(heard);
    made.put({other, std::move(way), heard});
  }
  mailbox<side> made;
};

/// Silences the log: these tests join and leave by the dozen.
[[maybe_unused]] inline const bool quiet = [] {
  log::set_level(std::getenv("TROUPE_TEST_LOG") ? "debug" : "off");
  return true;
}();

inline std::string at_port(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

/// A controller on a free port of this machine.
struct controller_side {
  explicit controller_side(link_server_options options = {})
      : server(std::move(options), [this](const hello& who, std::shared_ptr<link> way) {
          joined.add(who, std::move(way));
        }) {}
  std::string address() const { return at_port(server.port()); }

  links joined;
  link_server server;
};

/// A node that joins it.
struct node_side {
  node_side(
      const std::string& address, const std::string& name,
      const std::function<void(link_client_options&)>& change = [](auto&) {})
      : client(options_of(address, name, change),
               {.joined = [this](const hello& who,
                                 std::shared_ptr<link> way) { joined.add(who, std::move(way)); },
                .failed = [this](const std::string& why, bool) { failures.put(why); }}) {}

  static link_client_options options_of(const std::string& address, const std::string& name,
                                        const std::function<void(link_client_options&)>& change) {
    link_client_options options{.address = address, .name = name};
    change(options);
    return options;
  }

  links joined;
  mailbox<std::string> failures;
  link_client client;
};

inline double refused(metrics_registry& metrics, const std::string& reason) {
  return metrics
      .counter("troupe_refused_peers_total", "Connections and peers that were not admitted.",
               {{"reason", reason}})
      .value();
}

/// Waits until so many were refused for that reason.
inline bool are_refused(metrics_registry& metrics, const std::string& reason, double count) {
  troupe::testing::eventually([&] { return refused(metrics, reason) >= count; }, soon);
  return refused(metrics, reason) == count;
}

/// Matches a text that holds `part`.
inline auto has_text(const std::string& part) { return Catch::Contains(part); }

}  // namespace troupe::detail::testing
