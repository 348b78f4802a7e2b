#pragma once
// The names of hosts: which are this machine's own, and by which a server may be asked.

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::detail {

/// The parts of "localhost:80", "127.0.0.1" or "[::1]:80".
struct host_and_port {
  std::string host;  ///< In small letters, without brackets and without a dot at its end.
  std::string port;  ///< Digits; empty if the text has none.
};
/// Returns nullopt for a text of another form. An IPv6 address needs its brackets.
std::optional<host_and_port> parse_host(std::string_view text);

/// Returns whether a host, which has no port and no brackets, leads back to this machine:
/// "localhost", 127.0.0.0/8, ::1, and the second also as IPv4-mapped IPv6 addresses.
bool is_loopback(std::string_view host);

/// Decides whether the field Host of an HTTP request names this server. A page in a browser can
/// reach a server under a name of its own through DNS ("DNS rebinding"), and then counts as a page
/// of that server. The field tells the two apart.
///
/// A server at a loopback address is asked as localhost or by a loopback address. Another server is
/// asked by any IP address, as localhost, or by a name without a dot, such as that of a machine or
/// of a Compose service, because such names are in no public DNS. Other names must be allowed.
class own_hosts {
 public:
  /// `address` is the address that the server listens at. `allowed` has further names, such as
  /// "games.example", or "*" for all. `option` is how a user allows names, for messages. Throws
  /// std::invalid_argument for what is no name.
  own_hosts(const std::string& address, const std::vector<std::string>& allowed,
            std::string option);

  /// Returns whether a Host field with this value names the server.
  bool allows(std::string_view field) const;

  /// Returns why a request of Beast is refused with status 400, or an empty text if its Host is
  /// right. There must be one field; a request of HTTP/1.0 may have none.
  template <class Request>
  std::string refusal(const Request& request) const {
    const auto [first, last] = request.equal_range("Host");
    const auto count = std::distance(first, last);
    if (count == 0 && request.version() < 11) return {};
    if (count != 1) return wrong_number(static_cast<std::size_t>(count));
    const auto value = first->value();
    const std::string_view field(value.data(), value.size());
    return allows(field) ? std::string() : wrong_name(field);
  }

 private:
  static std::string wrong_number(std::size_t count);
  std::string wrong_name(std::string_view field) const;

  bool is_local_ = false;
  bool allows_all_ = false;
  std::vector<std::string> names_;
  std::string option_;
};

}  // namespace troupe::detail
