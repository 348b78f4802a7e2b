#pragma once
// Prevents web pages in a browser from using a server that the browser can reach.

#include <string>
#include <string_view>
#include <vector>

namespace troupe::openenv_server {

/// Checks the origin of requests. Browsers send a page's origin with a request; other clients send
/// none. A page is served if its origin is the server itself or an allowed one. The Host must have
/// been checked (own_hosts), because a page may reach the server through DNS under another name.
class origin_check {
 public:
  /// `allowed` has origins such as "https://games.example", or "*" for all. Throws
  /// std::invalid_argument for another text.
  explicit origin_check(const std::vector<std::string>& allowed);

  /// Returns why a request with these header fields is refused, or an empty text if it is served.
  std::string refusal(std::string_view host, std::string_view origin) const;
  /// Returns the hosts of the allowed origins, by which the server may be asked, too; "*" for all.
  const std::vector<std::string>& hosts() const { return hosts_; }

 private:
  bool allows_origin(std::string_view origin, std::string_view host) const;

  bool allows_all_ = false;
  std::vector<std::string> origins_, hosts_;
};

}  // namespace troupe::openenv_server
