#include "algorithms/program/http_get.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "runtime/base/utf8.hpp"
#include "runtime/net/host_resolver.hpp"

namespace troupe::command {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t body_bytes_max = 8 << 20;
constexpr std::size_t shown_bytes = 200;

/// Starts an asynchronous operation and runs it to its end. The stream's deadline applies to
/// asynchronous operations only, not to Asio's blocking calls.
template <class Start>
void finish(asio::io_context& io, Start start) {
  beast::error_code result;
  start([&](beast::error_code error, auto&&...) { result = error; });
  io.restart();
  io.run();
  if (result) throw beast::system_error(result);
}

/// Returns the addresses of a host. If the lookup has not ended by `until`, it throws, and `io` has
/// to be destroyed.
detail::host_resolver::results look_up(asio::io_context& io, const std::string& host,
                                       std::uint16_t port,
                                       std::chrono::steady_clock::time_point until) {
  const asio::executor_work_guard<asio::io_context::executor_type> runs(io.get_executor());
  detail::host_resolver resolver(io);
  std::optional<beast::error_code> result;
  detail::host_resolver::results found;
  resolver.async_resolve(host, std::to_string(port), [&](auto error, const auto& addresses) {
    result = error;
    found = addresses;
  });
  io.run_one_until(until);
  if (!result) throw std::runtime_error("the name was not found within the time limit");
  if (*result) throw beast::system_error(*result);
  return found;
}

/// Returns the host and the port as they are in a URL.
std::string place_of(const std::string& host, std::uint16_t port) {
  const auto shown = host.find(':') == host.npos ? host : '[' + host + ']';
  return shown + ':' + std::to_string(port);
}

/// Returns the field Host of a request. The zone of an IPv6 address means nothing to its server.
std::string host_field(const std::string& host, std::uint16_t port) {
  return place_of(host.substr(0, host.find('%')), port);
}

}  // namespace

std::string http_answer::first_line() const {
  return detail::printable(std::string_view(body).substr(0, body.find('\n')), shown_bytes);
}

http_answer http_get(const std::string& host, std::uint16_t port, const std::string& target,
                     std::chrono::milliseconds limit) {
  const auto refuse = [&](const std::string& why) {
    return std::runtime_error("http://" + place_of(host, port) + target + ": " + why);
  };
  try {
    const auto until = std::chrono::steady_clock::now() + limit;
    asio::io_context io;
    beast::tcp_stream stream(io);
    stream.expires_at(until);
    const auto addresses = look_up(io, host, port, until);
    finish(io, [&](auto done) { stream.async_connect(addresses, done); });

    http::request<http::empty_body> request(http::verb::get, target, 11);
    request.set(http::field::host, host_field(host, port));
    request.set(http::field::connection, "close");
    finish(io, [&](auto done) { http::async_write(stream, request, done); });

    beast::flat_buffer buffer;
    http::response_parser<http::string_body> answer;
    answer.body_limit(body_bytes_max);
    finish(io, [&](auto done) { http::async_read(stream, buffer, answer, done); });
    return {answer.get().result_int(), std::move(answer.get().body())};
  } catch (const boost::system::system_error& e) {
    throw refuse(e.code().message());
  } catch (const std::runtime_error& e) {
    throw refuse(e.what());
  }
}

}  // namespace troupe::command
