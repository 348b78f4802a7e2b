#include "runtime/metrics/answer.hpp"

#include <boost/beast/http/status.hpp>
#include <exception>

#include "runtime/metrics/registry.hpp"
#include "runtime/net/query_value.hpp"

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

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

bool reads_only(std::string_view method) { return method == "GET" || method == "HEAD"; }

/// Compares in a time that does not tell how much of the token is right.
bool is_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size() || token.empty()) return false;
  unsigned differing = 0;
  for (std::size_t i = 0; i < token.size(); ++i)
    differing |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i]);
  return differing == 0;
}

}  // namespace

answer make_refusal(unsigned status, const std::string& why) {
  const auto reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  return {status, plain_text,
          (why.empty() ? std::to_string(status) + " " + std::string(reason) : why) + "\n"};
}

bool asks_scrape(std::string_view method, std::string_view target) {
  return reads_only(method) && path_of(target) == "/metrics";
}

answer answer_scrape(const std::string* text) {
  if (!text) return make_refusal(500);
  return {200, "text/plain; version=0.0.4; charset=utf-8", *text};
}

answer make_answer(std::string_view method, std::string_view target, const answer_sources& from) {
  if (!reads_only(method)) return make_refusal(405);
  const auto path = path_of(target);
  if (path == "/livez") return probe(from.options.is_live);
  if (path == "/readyz") return probe(from.options.is_ready);
  if (path == "/boards") {
    const bool is_user = is_token(query_value(target, "token"), from.token);
    const auto reader = is_user ? board_readers::user : board_readers::everybody;
    return {200, "application/json", from.registry.boards(reader)};
  }
  if (path == "/") return {200, "text/html; charset=utf-8", status_page};
  return make_refusal(404);
}

}  // namespace troupe::detail
