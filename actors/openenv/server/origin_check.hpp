#pragma once
// Keeps the pages that a browser shows from using a server that the browser can reach.

#include <string>
#include <string_view>
#include <vector>

namespace troupe::openenv_server {

/// Browsers send a page's origin with what it asks, other clients send none. A page is served if
/// the server itself is its origin or if its origin is allowed. A server at a loopback address also
/// wants a loopback name as the Host: under any other name a page may have been led to it by DNS.
class origin_check {
 public:
  /// `address` is what the server listens at; `allowed` are origins such as
  /// "https://games.example" or "*" for every one. Throws std::invalid_argument for another text.
  origin_check(const std::string& address, const std::vector<std::string>& allowed);

  /// Why a request with these header fields is refused; empty if it is served.
  std::string refusal(std::string_view host, std::string_view origin) const;

 private:
  bool allows_origin(std::string_view origin, std::string_view host) const;
  bool allows_host(std::string_view host) const;

  bool is_local_ = false;
  bool allows_all_ = false;
  std::vector<std::string> origins_, hosts_;
};

}  // namespace troupe::openenv_server
