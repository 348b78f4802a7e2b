#include "actors/openenv/server/http_connection.hpp"

#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <nlohmann/json.hpp>

#include "actors/openenv/server/requests.hpp"
#include "actors/openenv/server/websocket_session.hpp"

namespace troupe::openenv_server {

namespace {

constexpr std::size_t header_bytes_max = std::size_t{16} << 10;
constexpr std::size_t read_bytes = std::size_t{64} << 10;
constexpr std::size_t kept_buffer_bytes = std::size_t{16} << 10;
constexpr std::size_t discard_bytes = std::size_t{4} << 10;
constexpr std::size_t discarded_bytes_max = std::size_t{4} << 20;
constexpr auto discard_time = std::chrono::seconds(1);
constexpr auto no_deadline = steady::time_point::max();

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

std::string_view path_of(beast::string_view target) {
  return view(target.substr(0, target.find('?')));
}

http_reply plain_reply(unsigned status) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(status));
  return {.status = status,
          .body = std::string(view(reason)),
          .content_type = "text/plain; charset=utf-8"};
}

}  // namespace

http_connection::http_connection(hub& of, tcp_socket socket, std::size_t& count)
    : hub_(of),
      place_(of, this),
      count_(count),
      socket_(std::move(socket)),
      bytes_(of.memory),
      buffer_(2 * header_bytes_max + read_bytes) {}

http_connection::~http_connection() {
  bytes_.shrink_to(0);
  hub_.show_memory();
}

void http_connection::refuse() {
  is_refused_ = true;
  write(plain_reply(503), false);
}

void http_connection::look_after(steady::time_point now) {
  if (now > deadline_) end();
}

void http_connection::send_away() { end(); }

std::size_t http_connection::yieldable_bytes() const { return is_waiting_ ? bytes_.count() : 0; }

void http_connection::yield_bytes() { end(); }

/// The operation under way ends at once, and with it the connection.
void http_connection::end() {
  is_waiting_ = false;
  count_.release();
  bytes_.shrink_to(0);
  hub_.show_memory();
  beast::error_code ignored;
  socket_.close(ignored);
}

void http_connection::await_request() {
  is_waiting_ = true;
  place_.move_to_end();
  if (buffer_.size() > 0) return read();  // the client did not wait for the answer before
  if (buffer_.capacity() > kept_buffer_bytes) buffer_.shrink_to_fit();
  release(response_.body());
  bytes_.shrink_to(0);
  hub_.show_memory();
  deadline_ = steady::now() + hub_.options.silence_timeout;
  socket_.async_wait(asio::socket_base::wait_read,
                     [self = shared_from_this()](beast::error_code error) {
                       if (!error) self->read();
                     });
}

void http_connection::read() {
  deadline_ = steady::now() + hub_.options.request_timeout;
  parser_.emplace();
  parser_->header_limit(header_bytes_max);
  parser_->body_limit(hub_.options.message_bytes_max);
  read_more();
}

/// Reads the header, and then a part of the body each time, so that memory is asked for before it
/// is taken.
void http_connection::read_more() {
  http::async_read_some(
      socket_, buffer_, *parser_,
      [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_some(error); });
}

void http_connection::on_some(beast::error_code error) {
  if (error) return on_read(error);
  parser_->eager(true);  // the header has come
  if (!is_waiting_) return;
  if (!hub_.hold(bytes_, bytes_of_request())) return refuse_for_memory();
  if (!parser_->is_done()) return read_more();
  on_read({});
}

/// Returns the bytes that the request takes, as far as they are known.
std::size_t http_connection::bytes_of_request() const {
  const auto length = parser_->content_length();
  const auto come = parser_->get().body().capacity();
  return buffer_.capacity() +
         std::max(come, length ? static_cast<std::size_t>(*length) : std::size_t{0});
}

void http_connection::refuse_for_memory() {
  parser_.reset();
  request_ = {};
  buffer_.clear();
  buffer_.shrink_to_fit();
  bytes_.shrink_to(0);
  hub_.show_memory();
  write(http_api::refuse(503, no_memory), false);
}

void http_connection::on_read(beast::error_code error) {
  is_waiting_ = false;
  deadline_ = no_deadline;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return;
  if (error == http::error::body_limit) return write(plain_reply(413), false);
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return write(plain_reply(431), false);
  if (error && error.category() == make_error_code(http::error{}).category())
    return write(plain_reply(400), false);
  if (error) return;  // the time limit has passed, or the server shuts down
  request_ = parser_->release();
  const auto misnamed = hub_.hosts.refusal(request_);
  if (!misnamed.empty()) return write(http_api::refuse(400, misnamed), false);
  const auto refusal = hub_.origins.refusal(view(request_[http::field::host]), origin());
  if (!refusal.empty()) return write(http_api::refuse(403, refusal), false);
  if (is_preflight()) return write({.status = 204}, request_.keep_alive());
  if (websocket::is_upgrade(request_)) return upgrade();
  answer();
}

/// Returns the origin of the page that makes the request, which was found to be allowed, or an
/// empty text if there is none.
std::string_view http_connection::origin() const { return view(request_[http::field::origin]); }

/// Returns whether a browser asks if a page may make a request.
bool http_connection::is_preflight() const {
  return request_.method() == http::verb::options && !origin().empty();
}

void http_connection::upgrade() {
  const auto path = path_of(request_.target());
  if (path != "/ws" && path != "/mcp") return write(plain_reply(403), false);
  if (hub_.is_draining) {
    hub_.metrics.refused(server_metrics::refusal::draining);
    return write(plain_reply(503), false);
  }
  begin_session(hub_, std::move(socket_), request_, path == "/mcp");
}

void http_connection::answer() {
  const auto asked = [this] {
    return http_question{.method = view(request_.method_string()),
                         .path = path_of(request_.target()),
                         .content_type = view(request_[http::field::content_type]),
                         .body = request_.body()};
  };
  const auto make = [this, asked, draining = hub_.is_draining] {
    reply_ = hub_.api.answer(asked(), draining);
  };
  const auto send = [self = shared_from_this()] {
    self->write(std::move(self->reply_), self->request_.keep_alive());
  };
  hub_.metrics.http_requests.increment();
  const auto needed = buffer_.capacity() + bytes_while_answered(request_.body().size());
  if (!hub_.hold(bytes_, needed)) return refuse_for_memory();
  if (asked().path == "/mcp" && request_.method() == http::verb::post) {
    const auto tell = [self = shared_from_this()](const nlohmann::json& response) {
      self->write({.body = to_text(response)}, self->request_.keep_alive());
    };
    if (hub_.named.answer(request_.body(), tell)) return;
  }
  if (http_api::asks_environment(asked())) return hub_.run(make, send);
  make();
  send();
}

void http_connection::write(http_reply what, bool keeps_open) {
  if (what.status >= 400) hub_.metrics.http_errors.increment();
  const bool is_head = request_.method() == http::verb::head;
  response_ = {};
  response_.result(what.status);
  response_.keep_alive(keeps_open);
  response_.set(http::field::content_type, what.content_type);
  if (!what.allow.empty()) response_.set(http::field::allow, what.allow);
  if (!origin().empty() && what.status != 403) {
    response_.set(http::field::access_control_allow_origin, request_[http::field::origin]);
    response_.set(http::field::access_control_allow_methods, "GET, POST");
    response_.set(http::field::access_control_allow_headers, "Content-Type");
    response_.set(http::field::vary, "Origin");
  }
  release(request_.body());
  const auto held = buffer_.capacity() + what.body.capacity();
  bytes_.shrink_to(held);
  if (!hub_.hold(bytes_, held)) {
    response_.result(503);
    response_.keep_alive(false);
    what.body = no_memory;
  }
  response_.content_length(what.body.size());
  if (!is_head) response_.body() = std::move(what.body);
  is_waiting_ = true;
  place_.move_to_end();
  deadline_ = steady::now() + hub_.options.write_timeout;
  http::async_write(socket_, response_,
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      if (error) return;
                      if (self->response_.keep_alive()) return self->await_request();
                      beast::error_code ignored;
                      self->socket_.shutdown(asio::socket_base::shutdown_send, ignored);
                      self->deadline_ = steady::now() + discard_time;
                      release(self->response_.body());
                      self->buffer_.clear();
                      self->discard_rest();
                    });
}

// Closing with unread bytes would reset the connection, and the client might never see its answer.
void http_connection::discard_rest() {
  socket_.async_read_some(buffer_.prepare(discard_bytes),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            self->discarded_ += bytes;
                            if (error || self->discarded_ > discarded_bytes_max) return;
                            self->discard_rest();
                          });
}

}  // namespace troupe::openenv_server
