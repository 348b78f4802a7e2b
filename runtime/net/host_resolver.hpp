#pragma once
// Finds the addresses of hosts by their names. Internal to the project.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

namespace troupe::detail {

/// The largest number of names that are looked up at once in this process.
inline constexpr std::size_t lookups_max = 64;

/// Looks up the addresses of a host. A lookup asks name servers, which takes half a minute where
/// none answers, and can't be cancelled. So each name has a thread of its own, for which neither
/// another lookup nor the end of the process waits. Whoever asks for a name that is being looked up
/// gets the result of that lookup.
class host_resolver {
 public:
  using results = boost::asio::ip::tcp::resolver::results_type;
  using told = std::function<void(boost::system::error_code error, const results& found)>;

  explicit host_resolver(boost::asio::io_context& io);
  ~host_resolver() { cancel(); }
  host_resolver(const host_resolver&) = delete;

  /// Calls `then` once, on a thread that runs the io_context, unless the io_context is destroyed
  /// before. A lookup doesn't keep the io_context running. One lookup is under way at a time. The
  /// error is try_again where `lookups_max` other names are being looked up.
  void async_resolve(const std::string& host, const std::string& port, told then);
  /// Ends the wait for a lookup, whose error is operation_aborted.
  void cancel();

 private:
  class home;
  class service;
  struct waiter;
  struct lookup;
  static void run(const std::shared_ptr<lookup>& what);

  const std::shared_ptr<home> home_;
  std::weak_ptr<waiter> waiter_;
};

}  // namespace troupe::detail
