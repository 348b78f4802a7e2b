#include "runtime/net/host_resolver.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <charconv>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/base/quiet_thread.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using results = host_resolver::results;

struct answer {
  error_code error;
  results found;
};

/// Returns the answer for an address in digits, which needs no lookup.
std::optional<answer> written_out(const std::string& host, const std::string& port) {
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  std::uint16_t number = 0;
  const auto end = port.data() + port.size();
  const auto [read, wrong] = std::from_chars(port.data(), end, number);
  if (error || wrong != std::errc() || read != end) return {};
  return answer{{}, results::create(tcp::endpoint(address, number), host, port)};
}

answer ask_system(const std::string& host, const std::string& port) {
  answer made;
  try {
    asio::io_context io;
    made.found = tcp::resolver(io).resolve(host, port, made.error);
  } catch (const boost::system::system_error& e) {  // For example, no descriptor is free.
    made.error = e.code();
  }
  return made;
}

}  // namespace

/// Someone who waits for a lookup.
struct host_resolver::waiter {
  std::weak_ptr<home> at;
  told then;
};

/// The waiters of one io_context, which ends with it.
class host_resolver::home {
 public:
  explicit home(asio::io_context& io) : io_(&io) {}

  std::shared_ptr<waiter> add(told then, const std::shared_ptr<home>& self) {
    const auto one = std::make_shared<waiter>(waiter{self, std::move(then)});
    const std::lock_guard held(mutex_);
    if (io_) waiters_.insert(one);
    return one;
  }

  /// Tells a waiter that has not been told yet.
  void tell(const std::shared_ptr<waiter>& one, answer with) {
    const std::lock_guard held(mutex_);
    if (waiters_.erase(one) == 0) return;
    asio::post(*io_, [then = std::move(one->then), with = std::move(with)] {
      then(with.error, with.found);
    });
  }

  void close() {
    std::set<std::shared_ptr<waiter>> forgotten;
    {
      const std::lock_guard held(mutex_);
      io_ = nullptr;
      std::swap(forgotten, waiters_);
    }
    // A thread that looks up a name may hold a waiter a moment longer, but not what it refers to.
    for (const auto& each : forgotten) each->then = nullptr;
  }

 private:
  std::mutex mutex_;
  asio::io_context* io_;  ///< Null after the io_context has begun to end.
  std::set<std::shared_ptr<waiter>> waiters_;
};

/// A name that a thread looks up.
struct host_resolver::lookup {
  /// The lookups under way, keyed by host and port. They are never destroyed, because a thread may
  /// still wait for a name server when the process ends.
  struct table {
    std::mutex mutex;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<lookup>> running;
  };
  static table& all() {
    static auto& made = *new table;
    return made;
  }

  std::pair<std::string, std::string> name;
  std::vector<std::weak_ptr<waiter>> waiters;  ///< Guarded by the table's mutex.
};

/// Tells the waiters' home when its io_context ends.
class host_resolver::service final : public asio::execution_context::service {
 public:
  using key_type = service;
  static inline asio::execution_context::id id;

  explicit service(asio::execution_context& of)
      : asio::execution_context::service(of),
        at(std::make_shared<home>(static_cast<asio::io_context&>(of))) {}
  void shutdown() noexcept override { at->close(); }

  const std::shared_ptr<home> at;
};

host_resolver::host_resolver(asio::io_context& io) : home_(asio::use_service<service>(io).at) {}

void host_resolver::async_resolve(const std::string& host, const std::string& port, told then) {
  const auto one = home_->add(std::move(then), home_);
  waiter_ = one;
  if (auto known = written_out(host, port)) return home_->tell(one, std::move(*known));
  auto& all = lookup::all();
  const std::lock_guard held(all.mutex);
  const auto name = std::make_pair(host, port);
  if (const auto found = all.running.find(name); found != all.running.end()) {
    found->second->waiters.push_back(one);
    return;
  }
  if (all.running.size() >= lookups_max) {
    return home_->tell(one, {asio::error::host_not_found_try_again, {}});
  }
  const auto what = std::make_shared<lookup>(lookup{name, {one}});
  try {
    quiet_thread([what] { run(what); }, "troupe-names").detach();
  } catch (const std::system_error& e) {
    return home_->tell(one, {error_code(e.code().value(), boost::system::system_category()), {}});
  }
  all.running.emplace(name, what);
}

void host_resolver::run(const std::shared_ptr<lookup>& what) {
  const auto found = ask_system(what->name.first, what->name.second);
  std::vector<std::weak_ptr<waiter>> waiters;
  {
    auto& all = lookup::all();
    const std::lock_guard held(all.mutex);
    all.running.erase(what->name);
    std::swap(waiters, what->waiters);
  }
  for (const auto& each : waiters) {
    const auto one = each.lock();
    if (!one) continue;
    if (const auto at = one->at.lock()) at->tell(one, found);
  }
}

void host_resolver::cancel() {
  if (const auto one = waiter_.lock()) home_->tell(one, {asio::error::operation_aborted, {}});
}

}  // namespace troupe::detail
