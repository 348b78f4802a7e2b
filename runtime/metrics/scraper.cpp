#include "runtime/metrics/scraper.hpp"

#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

scraper::scraper(const metrics_registry& registry, boost::asio::io_context& io)
    : registry_(registry), io_(io) {}

void scraper::ask(told tell) {
  waiting_.push_back(std::move(tell));
  if (served_.empty()) begin();
}

void scraper::begin() {
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
  const auto served = std::exchange(served_, {});
  for (const auto& tell : served) tell(text);
  if (!waiting_.empty() && served_.empty()) begin();
}

}  // namespace troupe::detail
