#include "algorithms/program/http_get.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <stdexcept>

namespace troupe::command {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t body_bytes_max = 8 << 20;

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

}  // namespace

http_answer http_get(const std::string& host, std::uint16_t port, const std::string& target,
                     std::chrono::milliseconds limit) {
  try {
    asio::io_context io;
    beast::tcp_stream stream(io);
    stream.expires_after(limit);
    const auto addresses = asio::ip::tcp::resolver(io).resolve(host, std::to_string(port));
    finish(io, [&](auto done) { stream.async_connect(addresses, done); });

    http::request<http::empty_body> request(http::verb::get, target, 11);
    request.set(http::field::host, host);
    request.set(http::field::connection, "close");
    finish(io, [&](auto done) { http::async_write(stream, request, done); });

    beast::flat_buffer buffer;
    http::response_parser<http::string_body> answer;
    answer.body_limit(body_bytes_max);
    finish(io, [&](auto done) { http::async_read(stream, buffer, answer, done); });
    return {answer.get().result_int(), std::move(answer.get().body())};
  } catch (const boost::system::system_error& e) {
    const auto shown = host.find(':') == host.npos ? host : '[' + host + ']';
    throw std::runtime_error("http://" + shown + ':' + std::to_string(port) + target + ": " +
                             e.code().message());
  }
}

}  // namespace troupe::command
