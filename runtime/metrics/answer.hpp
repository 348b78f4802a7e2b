#pragma once

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

/// What the endpoint says to a request, apart from how bytes travel.
answer make_answer(std::string_view method, std::string_view target,
                   const metrics_registry& registry, const metrics_server_options& options);

/// A short text for a status, such as "431 Request Header Fields Too Large".
answer make_refusal(unsigned status);

/// status_page.html, compiled in.
extern const char* const status_page;

}  // namespace troupe::detail
