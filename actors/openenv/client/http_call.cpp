#include "actors/openenv/client/http_call.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "actors/openenv/client/client_stream.hpp"
#include "actors/openenv/client/io_thread.hpp"
#include "actors/openenv/client/link.hpp"
#include "actors/openenv/protocol/error.hpp"
#include "runtime/net/host_resolver.hpp"

namespace troupe::openenv {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using beast::error_code;
using troupe::detail::host_resolver;

class http_call_under_way final : public http_call,
                                  public std::enable_shared_from_this<http_call_under_way> {
 public:
  http_call_under_way(io_thread& thread, outgoing_request request,
                      std::function<void(outcome<http_answer>)> tell)
      : thread_(thread),
        wanted_(std::move(request)),
        tell_(std::move(tell)),
        resolver_(thread.context()),
        stream_(make_client_stream(thread.context(),
                                   wanted_.url.tls ? wanted_.trust.get() : nullptr)) {}

  void start() {
    deadline_.passed = [this] {
      fail(failure::timeout, std::string(late_reply) + wanted_.timeout.text());
    };
    thread_.watch(deadline_, std::chrono::steady_clock::now() + wanted_.timeout.time);
    const auto& url = wanted_.url;
    request_.method(wanted_.body.empty() ? http::verb::get : http::verb::post);
    request_.target(url.path + wanted_.path);
    request_.version(11);
    request_.keep_alive(false);
    request_.set(http::field::host, url.authority());
    request_.set(http::field::accept, "application/json");
    if (!wanted_.body.empty()) request_.set(http::field::content_type, "application/json");
    for (const auto& [name, value] : wanted_.headers) request_.set(name, value);
    request_.body() = wanted_.body;
    request_.prepare_payload();
    parser_.body_limit(wanted_.reply_bytes_max);

    resolver_.async_resolve(
        url.host, url.port,
        [self = shared_from_this()](error_code error, const host_resolver::results& found) {
          if (self->step(failure::connect, error)) self->connect(found);
        });
  }

  void cancel() override { end(); }

 private:
  void connect(const host_resolver::results& found) {
    connection().async_connect(
        found, [self = shared_from_this()](error_code error, const tcp::endpoint&) {
          if (!self->tell_) return;
          if (error)
            return self->end_with(unavailable(failure::connect, self->at(error.message())));
          self->shake_hands();
        });
  }

  void shake_hands() {
    stream_->secure(wanted_.url,
                    [self = shared_from_this()](error_code error, const std::string& why) {
                      if (!self->tell_) return;
                      error ? self->fail(failure::connect, why) : self->send();
                    });
  }

  void send() {
    http::async_write(*stream_, request_,
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (self->step(failure::closed, error)) self->read();
                      });
  }

  void read() {
    http::async_read(
        *stream_, buffer_, parser_, [self = shared_from_this()](error_code error, std::size_t) {
          const bool large = error == http::error::body_limit;
          if (!self->step(large ? failure::too_large : failure::closed, error)) return;
          auto& answer = self->parser_.get();
          http_answer reply{static_cast<int>(answer.result_int()), std::move(answer.body())};
          if (auto tell = self->end()) tell(std::move(reply));
        });
  }

  /// Ends the call with an error if there is one. Returns whether the call continues.
  bool step(failure reason, error_code error) {
    if (!tell_) return false;
    if (error) fail(reason, error.message());
    return !error;
  }

  void fail(failure reason, const std::string& why) { end_with(error(reason, at(why))); }

  std::string at(const std::string& why) const {
    return "openenv: " + wanted_.url.text + ": " + wanted_.path + ": " + why;
  }

  template <class Error>
  void end_with(Error what) {
    if (auto tell = end()) tell(std::make_exception_ptr(std::move(what)));
  }

  std::function<void(outcome<http_answer>)> end() {
    deadline_.leave();
    resolver_.cancel();
    connection().close();
    return std::exchange(tell_, nullptr);
  }

  beast::tcp_stream& connection() { return stream_->connection(); }

  io_thread& thread_;
  const outgoing_request wanted_;
  std::function<void(outcome<http_answer>)> tell_;  ///< Null after it was called.
  host_resolver resolver_;
  std::unique_ptr<client_stream> stream_;
  http::request<http::string_body> request_;
  http::response_parser<http::string_body> parser_;
  beast::flat_buffer buffer_;
  io_thread::deadline deadline_;
};

}  // namespace

std::shared_ptr<http_call> start_http_call(io_thread& thread, outgoing_request request,
                                           std::function<void(outcome<http_answer>)> tell) {
  const auto call =
      std::make_shared<http_call_under_way>(thread, std::move(request), std::move(tell));
  asio::post(thread.context(), [call] { call->start(); });
  return call;
}

}  // namespace troupe::openenv
