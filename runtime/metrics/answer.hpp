#pragma once
// The answers of the metrics server to HTTP requests. Internal to runtime/metrics/.

#include <functional>
#include <string>
#include <string_view>

#include "runtime/metrics/metrics_server.hpp"

namespace troupe::detail {

struct answer {
  unsigned status;  ///< The HTTP status code.
  std::string content_type;
  std::string body;
};

/// What the answers of one server are made of.
struct answer_sources {
  const metrics_registry& registry;
  const metrics_server_options& options;
  std::string token;  ///< Who sends it is the user; see metrics_server::page().
};

/// Returns whether the request is one for the metrics, whose text takes time to make.
bool asks_scrape(std::string_view method, std::string_view target);
/// Returns the answer to such a request. No text means that it could not be made.
answer answer_scrape(const std::string* text);
/// Returns the server's answer to another request with this method and target.
answer make_answer(std::string_view method, std::string_view target, const answer_sources& from);

/// Returns an answer whose text names the status, such as "431 Request Header Fields Too Large", or
/// says `why`.
answer make_refusal(unsigned status, const std::string& why = {});

/// The content of status_page.html, which is compiled in.
extern const char* const status_page;

}  // namespace troupe::detail
