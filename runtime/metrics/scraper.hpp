#pragma once
// The thread that makes the texts of scrapes. Internal to runtime/metrics/.

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "runtime/net/io_thread.hpp"

namespace troupe {

class metrics_registry;

namespace detail {

/// Makes the texts of a registry's scrapes on a thread of its own, because a scrape asks other
/// processes and may wait for them. One scrape is made at a time. Those who ask meanwhile share the
/// next one, so the work does not grow with their number.
class scraper {
 public:
  /// It gets null if the text could not be made.
  using told = std::function<void(const std::shared_ptr<const std::string>&)>;
  /// Names one call of ask.
  using ticket = std::uint64_t;

  /// `io` is the context of the thread that asks. The registry and the context must outlive this
  /// object.
  scraper(const metrics_registry& registry, boost::asio::io_context& io);
  /// Waits for the scrape under way. The thread of `io` must have ended.
  ~scraper() = default;
  scraper(const scraper&) = delete;

  /// Has a text made that is not older than this call, and passes it to `tell` later. Only the
  /// thread of `io` may call it, and `tell` is called there.
  ticket ask(told tell);
  /// Destroys the `tell` of this ticket without calling it, unless it has been called. The scrape
  /// goes on. Only the thread of `io` may call it.
  void withdraw(ticket which);

 private:
  void begin();
  void finish(const std::shared_ptr<const std::string>& text);

  const metrics_registry& registry_;
  boost::asio::io_context& io_;
  std::map<ticket, told> waiting_;  ///< They get the text of the next scrape.
  std::map<ticket, told> served_;   ///< They get the text of the scrape under way.
  bool is_scraping_ = false;
  ticket last_ = 0;
  io_thread thread_{"troupe-scrape"};
};

}  // namespace detail
}  // namespace troupe
