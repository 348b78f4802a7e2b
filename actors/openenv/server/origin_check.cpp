#include "actors/openenv/server/origin_check.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <optional>
#include <stdexcept>

#include "actors/openenv/protocol/url.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::openenv_server {

namespace {

constexpr std::size_t shown_bytes = 200;

bool is_loopback(const std::string& host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return error ? host == "localhost" : address.is_loopback();
}

/// Returns whether a name or an address may contain the character.
bool may_be_in_host(unsigned char c) {
  return std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == ':';
}

/// Parses an origin: "HTTP://Here" becomes {scheme: http, host: here, port: 80}. Returns nullopt if
/// the text is no origin.
std::optional<openenv::server_url> parse_origin(std::string_view origin) {
  std::string text(origin);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!text.starts_with("http://") && !text.starts_with("https://")) return std::nullopt;
  try {
    auto url = openenv::parse_url(text);
    if (url.path.empty() && std::ranges::all_of(url.host, may_be_in_host)) return url;
  } catch (const std::invalid_argument&) {
  }
  return std::nullopt;
}

/// Returns the origin as a browser sends it.
std::string text_of(const openenv::server_url& url) {
  return (url.tls ? "https://" : "http://") + url.authority();
}

}  // namespace

origin_check::origin_check(const std::string& address, const std::vector<std::string>& allowed)
    : is_local_(is_loopback(address)) {
  for (const auto& origin : allowed) {
    if (origin == "*") {
      allows_all_ = true;
      continue;
    }
    const auto url = parse_origin(origin);
    if (!url) {
      throw std::invalid_argument(
          "OpenEnv server: expected the origin of a page such as https://games.example, or *, "
          "got \"" +
          troupe::detail::printable(origin, shown_bytes) + '"');
    }
    origins_.push_back(text_of(*url));
    hosts_.push_back(url->host);
  }
}

bool origin_check::allows_host(std::string_view host) const {
  if (!is_local_ || allows_all_) return true;
  const auto url = parse_origin("http://" + std::string(host));
  return url && (is_loopback(url->host) || std::ranges::find(hosts_, url->host) != hosts_.end());
}

bool origin_check::allows_origin(std::string_view origin, std::string_view host) const {
  if (origin.empty() || allows_all_) return true;
  const auto page = parse_origin(origin);
  if (!page) return false;
  if (std::ranges::find(origins_, text_of(*page)) != origins_.end()) return true;
  const auto here = parse_origin((page->tls ? "https://" : "http://") + std::string(host));
  return here && text_of(*here) == text_of(*page);
}

std::string origin_check::refusal(std::string_view host, std::string_view origin) const {
  if (!allows_host(host)) {
    return "expected localhost, 127.0.0.1 or [::1] as the Host, or that of an allowed origin "
           "(--allow-origin), got \"" +
           troupe::detail::printable(host, shown_bytes) + '"';
  }
  if (!allows_origin(origin, host)) {
    return "expected no Origin, this server's or an allowed one (--allow-origin), got \"" +
           troupe::detail::printable(origin, shown_bytes) + '"';
  }
  return {};
}

}  // namespace troupe::openenv_server
