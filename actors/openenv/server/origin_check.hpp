#pragma once
// Prevents web pages in a browser from using a server that the browser can reach.

#include <string>
#include <string_view>
#include <vector>

namespace troupe::openenv_server {

/// Checks the origin of requests. Browsers send a page's origin with a request; other clients send
/// none. A page is served if its origin is the server itself or an allowed one. A server at a
/// loopback address also requires a loopback name as the Host, because a page may reach the server
/// through DNS under another name.
class origin_check {
 public:
  /// `address` is the address that the server listens at. `allowed` has origins such as
  /// "https://games.example", or "*" for all. Throws std::invalid_argument for another text.
  origin_check(const std::string& address, const std::vector<std::string>& allowed);

  /// Returns why a request with these header fields is refused, or an empty text if it is served.
  std::string refusal(std::string_view host, std::string_view origin) const;

 private:
  bool allows_origin(std::string_view origin, std::string_view host) const;
  bool allows_host(std::string_view host) const;

  bool is_local_ = false;
  bool allows_all_ = false;
  std::vector<std::string> origins_, hosts_;
};

}  // namespace troupe::openenv_server
