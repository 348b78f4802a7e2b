#include "runtime/metrics/scraper.hpp"

#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

scraper::scraper(const metrics_registry& registry, boost::asio::io_context& io)
    : registry_(registry), io_(io) {}

scraper::ticket scraper::ask(told tell) {
  waiting_.emplace(++last_, std::move(tell));
  const auto mine = last_;
  if (!is_scraping_) begin();
  return mine;
}

void scraper::withdraw(ticket which) {
  waiting_.erase(which);
  served_.erase(which);
}

void scraper::begin() {
  is_scraping_ = true;
  served_ = std::exchange(waiting_, {});
  boost::asio::post(thread_.context(), [this] {
    std::shared_ptr<const std::string> text;
    try {
      text = std::make_shared<const std::string>(registry_.text());
    } catch (const std::exception&) {
      // No text is told.
    }
    boost::asio::post(io_, [this, text] { finish(text); });
  });
}

void scraper::finish(const std::shared_ptr<const std::string>& text) {
  is_scraping_ = false;
  const auto served = std::exchange(served_, {});
  for (const auto& [_, tell] : served) tell(text);
  if (!waiting_.empty() && !is_scraping_) begin();
}

}  // namespace troupe::detail
