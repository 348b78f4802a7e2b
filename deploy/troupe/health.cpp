#include <cstdio>
#include <exception>

#include "algorithms/program/http_get.hpp"
#include "deploy/troupe/commands.hpp"

namespace troupe::command {

int health(const health_arguments& arguments) {
  const auto* page = arguments.ready ? "/readyz" : "/livez";
  try {
    const auto answer =
        http_get("127.0.0.1", arguments.port, page, std::chrono::seconds(arguments.timeout_s));
    if (answer.status == 200) return 0;
    std::fprintf(stderr, "troupe health: %s says %s\n", page, answer.first_line().c_str());
  } catch (const std::exception& e) {
    const bool usual = arguments.port == metrics_place::usual_port;
    std::fprintf(stderr, "troupe health: %s%s\n", e.what(),
                 usual ? "; if the process serves metrics at another port, say --port PORT" : "");
  }
  return 1;
}

}  // namespace troupe::command
