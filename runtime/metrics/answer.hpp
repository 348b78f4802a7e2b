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

/// Returns the server's answer to a request with this method and target.
answer make_answer(std::string_view method, std::string_view target,
                   const metrics_registry& registry, const metrics_server_options& options);

/// Returns an answer whose text names the status, such as "431 Request Header Fields Too Large".
answer make_refusal(unsigned status);

/// The content of status_page.html, which is compiled in.
extern const char* const status_page;

}  // namespace troupe::detail
