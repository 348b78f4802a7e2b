#include "actors/openenv/server/origin_check.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>

#include "actors/openenv/protocol/url.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::openenv_server {

namespace {

constexpr std::size_t shown_bytes = 200;

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

origin_check::origin_check(const std::vector<std::string>& allowed) {
  for (const auto& origin : allowed) {
    if (origin == "*") {
      allows_all_ = true;
      hosts_.push_back(origin);
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
    hosts_.push_back(url->host.find(':') == url->host.npos ? url->host : '[' + url->host + ']');
  }
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
  if (!allows_origin(origin, host)) {
    return "expected no Origin, this server's or an allowed one (--allow-origin), got \"" +
           troupe::detail::printable(origin, shown_bytes) + '"';
  }
  return {};
}

}  // namespace troupe::openenv_server
