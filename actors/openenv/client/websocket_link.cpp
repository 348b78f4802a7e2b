// The current protocol, where a WebSocket is a session:
//
//   closed -> connecting -> idle -> asked -> idle ...
//                 |           |       `-> closed (time-out, bad reply, close)
//                 |           `-> closed (an unexpected message, close)
//                 `-> closed (no server, no WebSocket)
//
// A read is pending from the handshake to the end, so pings are answered also while no request is
// open, such as during a model's long generation.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "actors/openenv/client/client_stream.hpp"
#include "actors/openenv/client/io_thread.hpp"
#include "actors/openenv/client/link.hpp"
#include "actors/openenv/protocol/error.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/net/host_resolver.hpp"

namespace troupe::openenv {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using beast::error_code;
using troupe::detail::host_resolver;

/// The largest number of turns of the I/O thread until data that Beast has read ahead becomes a
/// message.
constexpr int turns_to_surface = 4;

class websocket_link final : public link, public std::enable_shared_from_this<websocket_link> {
 public:
  websocket_link(io_thread& thread, const server_url& url, const link_options& options)
      : thread_(thread),
        url_(url),
        options_(options),
        resolver_(thread_.context()),
        below_(make_client_stream(thread_.context(), url.tls ? options.trust.get() : nullptr)),
        stream_(*below_) {}

  void open(told tell) override {
    asio::post(thread_.context(), [self = shared_from_this(), tell = std::move(tell)]() mutable {
      self->begin(std::move(tell), self->options_.connect_timeout);
      self->resolve();
    });
  }

  void ask(request_kind kind, std::string data, named_limit timeout, told tell) override {
    asio::post(thread_.context(), [self = shared_from_this(), text = request_text(kind, data),
                                   timeout, tell = std::move(tell)]() mutable {
      self->request_ = std::move(text);
      self->begin(std::move(tell), timeout);
      self->send_when_settled(0);
    });
  }

  void close() override {
    asio::post(thread_.context(), [self = shared_from_this()] { self->say_goodbye(); });
  }

 private:
  enum class stage { connecting, open, closed };

  void begin(told tell, named_limit timeout) {
    tell_ = std::move(tell);
    timeout_ = std::move(timeout);
    deadline_.passed = [this] { expire(); };
    thread_.watch(deadline_, std::chrono::steady_clock::now() + timeout_.time);
  }

  void end(outcome<std::string> with) {
    deadline_.leave();
    if (auto tell = std::exchange(tell_, nullptr)) tell(std::move(with));
  }

  /// Ends the session. The open request and all later ones get this error.
  void fail(failure reason, const std::string& why, nlohmann::json details = nullptr) {
    fail_with(error(reason, "openenv: " + url_.text + ": " + why, std::move(details)));
  }
  /// The same for a server that may be back a moment later.
  void fail_for_now(failure reason, const std::string& why) {
    fail_with(unavailable(reason, "openenv: " + url_.text + ": " + why));
  }

  template <class Error>
  void fail_with(Error what) {
    if (stage_ == stage::closed) return;
    stage_ = stage::closed;
    silence_.leave();
    error_ = std::make_exception_ptr(std::move(what));
    resolver_.cancel();
    connection().close();
    end(error_);
  }

  void expire() {
    const auto limit = timeout_.text();
    if (stage_ == stage::connecting)
      return fail(failure::connect, std::string(late_connection) + limit);
    fail(failure::timeout, std::string(late_reply) + limit);
  }

  // ---- Connecting.

  void resolve() {
    resolver_.async_resolve(
        url_.host, url_.port,
        [self = shared_from_this()](error_code error, const host_resolver::results& found) {
          if (self->stage_ == stage::closed) return;
          if (error) return self->fail(failure::connect, error.message());
          self->connect(found);
        });
  }

  void connect(const host_resolver::results& found) {
    connection().async_connect(found,
                               [self = shared_from_this()](error_code error, const tcp::endpoint&) {
                                 if (self->stage_ == stage::closed) return;
                                 if (error)
                                   return self->fail_for_now(failure::connect, error.message());
                                 self->shake_hands();
                               });
  }

  void shake_hands() {
    error_code ignored;
    connection().socket().set_option(tcp::no_delay(true), ignored);
    below_->secure(url_, [self = shared_from_this()](error_code error, const std::string& why) {
      if (self->stage_ == stage::closed) return;
      if (error) return self->fail(failure::connect, why);
      self->ask_for_websocket();
    });
  }

  void ask_for_websocket() {
    stream_.read_message_max(options_.reply_bytes_max);
    stream_.text(true);
    stream_.auto_fragment(false);
    stream_.set_option(websocket::stream_base::decorator(
        [headers = options_.headers](websocket::request_type& request) {
          for (const auto& [name, value] : headers) request.set(name, value);
        }));
    stream_.async_handshake(response_, url_.authority(), url_.path + "/ws",
                            [self = shared_from_this()](error_code error) {
                              if (self->stage_ == stage::closed) return;
                              const auto where = "GET " + self->url_.path + "/ws: ";
                              if (error == websocket::error::upgrade_declined)
                                return self->refuse_status(where, self->response_.result_int());
                              if (error && error.category() == asio::error::get_system_category())
                                return self->fail_for_now(failure::connect,
                                                          where + error.message());
                              if (error)
                                return self->fail(failure::handshake, where + error.message());
                              self->stage_ = stage::open;
                              self->watch_silence();
                              self->read();
                              self->end(std::string());
                            });
  }

  void refuse_status(const std::string& where, unsigned status) {
    const auto why = where + "expected a WebSocket, got status " + std::to_string(status);
    const bool is_passing = status == 429 || (status >= 502 && status <= 504);
    is_passing ? fail_for_now(failure::handshake, why) : fail(failure::handshake, why);
  }

  // ---- Silence.

  /// Begins to watch for signs of life: messages, pings and pongs.
  void watch_silence() {
    stream_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind == websocket::frame_type::pong) *options_.answers_pings = true;
      note_life();
    });
    silence_.passed = [this] { mind_silence(); };
    note_life();
  }

  void note_life() {
    if (stage_ != stage::open) return;
    is_pinged_ = false;
    thread_.watch(silence_, std::chrono::steady_clock::now() + options_.keepalive / 2);
  }

  /// Pings a server that is silent. One that doesn't answer is left, unless it never has answered:
  /// then pings are lost on the way, and the limit of a reply has to do.
  void mind_silence() {
    if (stage_ != stage::open) return;
    if (is_pinged_ && *options_.answers_pings)
      return fail(failure::closed,
                  "no sign of life for " + std::to_string(options_.keepalive.count()) + " ms");
    is_pinged_ = true;
    thread_.watch(silence_, std::chrono::steady_clock::now() + options_.keepalive / 2);
    if (std::exchange(is_pinging_, true)) return;
    stream_.async_ping({}, [self = shared_from_this()](error_code) { self->is_pinging_ = false; });
  }

  // ---- Requests.

  /// A message that has arrived before the request is sent does not answer it. Data in the kernel
  /// shows at once, and data that Beast has read ahead after a few turns.
  void send_when_settled(int turn) {
    if (stage_ != stage::open) return end(error_ ? error_ : not_open());
    error_code ignored;
    const bool more_to_read = connection().socket().available(ignored) > 0;
    if (more_to_read || turn < turns_to_surface) {
      asio::post(thread_.context(), [self = shared_from_this(), turn] {
        if (self->tell_) self->send_when_settled(turn + 1);
      });
      return;
    }
    sent_ = true;
    stream_.async_write(asio::buffer(request_),
                        [self = shared_from_this()](error_code error, std::size_t) {
                          // The pending read reports the cause in more detail.
                          if (error) self->connection().cancel();
                        });
  }

  std::exception_ptr not_open() const {
    return std::make_exception_ptr(
        error(failure::closed, "openenv: " + url_.text + ": the connection is not open"));
  }

  // ---- Replies.

  void read() {
    stream_.async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t) {
      if (self->stage_ == stage::closed) return;
      if (error) return self->lose(error);
      self->note_life();
      self->hear();
    });
  }

  void hear() {
    if (stream_.got_binary())
      return fail(failure::wrong_type, "expected a text message, got a binary one");
    std::string text = beast::buffers_to_string(buffer_.data());
    buffer_.consume(buffer_.size());
    if (!std::exchange(sent_, false)) return refuse_unasked(text);
    read();
    end(std::move(text));
  }

  /// Handles a message without a request. A server that refuses a session sends the reason before
  /// it closes the session.
  void refuse_unasked(const std::string& text) {
    try {
      auto what = parse_reply(text, options_.reply_bytes_max);
      if (what.kind == reply_kind::error && !openenv::keeps_session(what.error.code)) {
        return fail(to_failure(what.error.code),
                    std::string(to_string(what.error.code)) + ": " +
                        troupe::detail::printable(what.error.message, 1000),
                    std::move(what.error.details));
      }
    } catch (const bad_text&) {
    }
    fail(failure::unexpected, "expected nothing, as nothing was asked, got \"" +
                                  troupe::detail::printable(text, 120) + '"');
  }

  void lose(error_code error) {
    if (error == websocket::error::message_too_big || error == websocket::error::buffer_overflow)
      return fail(failure::too_large, "expected a reply of at most " +
                                          std::to_string(options_.reply_bytes_max) +
                                          " bytes, got a longer one");
    if (error == websocket::error::bad_frame_payload)
      return fail(failure::not_utf8, "expected a reply in UTF-8, got other bytes");
    if (error == websocket::error::closed) {
      const auto& why = stream_.reason();
      return fail(failure::closed,
                  "the server closed the session with code " + std::to_string(why.code) + " \"" +
                      troupe::detail::printable(
                          std::string_view(why.reason.data(), why.reason.size()), 123) +
                      '"' + advice_for(std::string_view(why.reason.data(), why.reason.size())));
    }
    fail(failure::closed, "the connection was lost: " + error.message());
  }

  /// A server whose pings are lost on the way closes sessions in its turn.
  static std::string advice_for(std::string_view reason) {
    return reason.find("ping timeout") == reason.npos
               ? ""
               : "; its pings were not answered in time: where a tunnel drops them, start the "
                 "server with uvicorn's --ws-ping-interval 300 --ws-ping-timeout 300";
  }

  // ---- Closing.

  /// Closes the session in order: "close" ends the environment at once, and the close frame and
  /// then the socket follow.
  void say_goodbye() {
    const bool quiet = stage_ == stage::open && !sent_;
    if (!quiet) return fail(failure::cancelled, "the session was closed");
    stage_ = stage::closed;
    silence_.leave();
    error_ = std::make_exception_ptr(
        error(failure::cancelled, "openenv: " + url_.text + ": the session was closed"));
    end(error_);
    deadline_.passed = [this] { connection().close(); };
    thread_.watch(deadline_, std::chrono::steady_clock::now() + std::chrono::seconds(1));
    request_ = request_text(request_kind::close, "");
    stream_.async_write(asio::buffer(request_),
                        [self = shared_from_this()](error_code error, std::size_t) {
                          if (error) return self->leave();
                          self->stream_.async_close(websocket::close_code::normal,
                                                    [self](error_code) { self->leave(); });
                        });
  }

  void leave() {
    deadline_.leave();
    connection().close();
  }

  beast::tcp_stream& connection() { return below_->connection(); }

  io_thread& thread_;
  const server_url url_;
  const link_options options_;

  // These members are used only on the I/O thread.
  host_resolver resolver_;
  std::unique_ptr<client_stream> below_;
  websocket::stream<client_stream&, /*deflateSupported=*/false> stream_;
  websocket::response_type response_;
  beast::flat_buffer buffer_;
  stage stage_ = stage::connecting;
  std::string request_;
  bool sent_ = false;  ///< Whether a request was sent and not yet answered.
  told tell_;          ///< Called with the connection or with the reply; null when idle.
  named_limit timeout_{std::chrono::milliseconds(0)};
  io_thread::deadline deadline_;
  io_thread::deadline silence_;  ///< The next ping, or the end of the wait for its answer.
  bool is_pinged_ = false;       ///< Whether a ping was sent since the last sign of life.
  bool is_pinging_ = false;      ///< Whether Beast is sending a ping.
  std::exception_ptr error_;
};

}  // namespace

std::shared_ptr<link> make_websocket_link(io_thread& thread, const server_url& url,
                                          const link_options& options) {
  return std::make_shared<websocket_link>(thread, url, options);
}

}  // namespace troupe::openenv
