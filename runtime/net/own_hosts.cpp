#include "runtime/net/own_hosts.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <stdexcept>
#include <utility>

#include "runtime/base/utf8.hpp"

namespace troupe::detail {

namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t shown_bytes = 200;
constexpr unsigned port_max = 65535;

char to_small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_';
}

std::optional<ip::address> read_address(std::string_view host) {
  if (host.find('\0') != host.npos) return std::nullopt;  // make_address would stop there
  boost::system::error_code error;
  const auto address = ip::make_address(std::string(host), error);
  return error ? std::nullopt : std::optional(address);
}

bool is_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || !std::ranges::all_of(text, is_digit)) return false;
  return std::stoul(std::string(text)) <= port_max;
}

/// Reads "[HOST]" or "[HOST]:PORT".
std::optional<host_and_port> parse_bracketed(std::string_view text) {
  const auto end = text.find(']');
  if (end == text.npos) return std::nullopt;
  const auto host = text.substr(1, end - 1);
  const bool is_v6 = host.find_first_not_of("0123456789abcdef:.") == host.npos &&
                     host.find(':') != host.npos && read_address(host);
  const auto rest = text.substr(end + 1);
  if (!is_v6 || (!rest.empty() && (rest[0] != ':' || !is_port(rest.substr(1)))))
    return std::nullopt;
  return host_and_port{std::string(host), std::string(rest.substr(rest.empty() ? 0 : 1))};
}

}  // namespace

std::optional<host_and_port> parse_host(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), to_small);
  if (small.starts_with('[')) return parse_bracketed(small);
  const auto colon = small.find(':');
  host_and_port parts{small.substr(0, colon), ""};
  if (colon != small.npos) {
    parts.port = small.substr(colon + 1);
    if (!is_port(parts.port)) return std::nullopt;
  }
  if (parts.host.ends_with('.')) parts.host.pop_back();
  if (parts.host.empty() || !std::ranges::all_of(parts.host, may_be_in_name)) return std::nullopt;
  return parts;
}

bool is_loopback(std::string_view host) {
  if (host == "localhost") return true;
  const auto address = read_address(host);
  if (!address) return false;
  if (address->is_v6() && address->to_v6().is_v4_mapped())
    return ip::make_address_v4(ip::v4_mapped, address->to_v6()).is_loopback();
  return address->is_loopback();
}

own_hosts::own_hosts(const std::string& address, const std::vector<std::string>& allowed,
                     std::string option)
    : is_local_(is_loopback(address)), option_(std::move(option)) {
  for (const auto& name : allowed) {
    if (name == "*") {
      allows_all_ = true;
      continue;
    }
    auto read = parse_host(name);
    if (!read || !read->port.empty()) {
      throw std::invalid_argument(
          option_ + ": expected the name of a host such as games.example, or *, got \"" +
          printable(name, shown_bytes) + '"');
    }
    names_.push_back(std::move(read->host));
  }
}

bool own_hosts::allows(std::string_view field) const {
  if (allows_all_) return true;
  const auto read = parse_host(field);
  if (!read) return false;
  const auto& host = read->host;
  if (is_loopback(host) || std::ranges::find(names_, host) != names_.end()) return true;
  if (is_local_) return false;
  return host.find('.') == host.npos || read_address(host);
}

std::string own_hosts::wrong_number(std::size_t count) {
  return "expected one field Host, got " + (count == 0 ? "none" : std::to_string(count));
}

std::string own_hosts::wrong_name(std::string_view field) const {
  return std::string("expected ") +
         (is_local_ ? "localhost, 127.0.0.1 or [::1]" : "an IP address or a name without a dot") +
         " as the Host, or a name that " + option_ + " allows, got \"" +
         printable(field, shown_bytes) + '"';
}

}  // namespace troupe::detail
