#include "runtime/metrics/answer.hpp"

#include <boost/beast/http/status.hpp>
#include <exception>

#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

namespace {

constexpr auto plain_text = "text/plain; charset=utf-8";

answer probe(const std::function<bool()>& holds) {
  bool good = false;
  try {
    good = !holds || holds();
  } catch (const std::exception&) {
    good = false;  // A probe that throws counts as failed.
  }
  return good ? answer{200, plain_text, "ok\n"} : make_refusal(503);
}

}  // namespace

answer make_refusal(unsigned status) {
  const auto reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  return {status, plain_text, std::to_string(status) + " " + std::string(reason) + "\n"};
}

answer make_answer(std::string_view method, std::string_view target,
                   const metrics_registry& registry, const metrics_server_options& options) {
  if (method != "GET" && method != "HEAD") return make_refusal(405);
  const auto path = target.substr(0, target.find('?'));
  if (path == "/metrics") {
    return {200, "text/plain; version=0.0.4; charset=utf-8", registry.text()};
  }
  if (path == "/livez") return probe(options.is_live);
  if (path == "/readyz") return probe(options.is_ready);
  if (path == "/boards") return {200, "application/json", registry.boards()};
  if (path == "/") return {200, "text/html; charset=utf-8", status_page};
  return make_refusal(404);
}

}  // namespace troupe::detail
