#include "actors/openenv/protocol/url.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "runtime/base/utf8.hpp"

namespace troupe::openenv {

std::string server_url::authority() const {
  const bool v6 = host.find(':') != host.npos;
  return (v6 ? '[' + host + ']' : host) + ':' + port;
}

server_url parse_url(const std::string& text) {
  const auto refuse = [&](const std::string& got) -> std::invalid_argument {
    return std::invalid_argument(
        "openenv: expected the address of a server such as http://localhost:8000, got \"" +
        troupe::detail::printable(text, 200) + "\": " + got);
  };
  std::string rest = text;
  std::string scheme = "http";
  if (const auto at = rest.find("://"); at != rest.npos) {
    scheme = rest.substr(0, at);
    rest.erase(0, at + 3);
    if (scheme == "ws") scheme = "http";
    if (scheme == "wss") scheme = "https";
    if (scheme != "http" && scheme != "https") throw refuse("the scheme " + scheme);
  }
  while (rest.ends_with('/')) rest.pop_back();
  const bool clean = std::ranges::all_of(rest, [](unsigned char c) {
    return std::isgraph(c) && c != '?' && c != '#' && c != '@' && c != '\\';
  });
  if (!clean) throw refuse("characters that none of its parts may have");

  server_url url;
  url.tls = scheme == "https";
  const auto slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  std::string authority = rest.substr(0, slash);
  auto colon = authority.rfind(':');
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == authority.npos) throw refuse("a '[' without its ']'");
    url.host = authority.substr(1, close - 1);
    colon =
        close + 1 < authority.size() && authority[close + 1] == ':' ? close + 1 : authority.npos;
  } else {
    url.host = authority.substr(0, colon);
  }
  if (url.host.empty()) throw refuse("no host");
  url.port = colon == authority.npos ? (url.tls ? "443" : "80") : authority.substr(colon + 1);
  const bool digits =
      !url.port.empty() && url.port.size() <= 5 &&
      std::ranges::all_of(url.port, [](unsigned char c) { return std::isdigit(c); });
  if (!digits || std::stoi(url.port) < 1 || std::stoi(url.port) > 65535)
    throw refuse("no port from 1 to 65535");
  url.text = scheme + "://" + authority + url.path;
  return url;
}

}  // namespace troupe::openenv
