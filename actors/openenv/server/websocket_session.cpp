#include "actors/openenv/server/websocket_session.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "actors/openenv/server/conversation.hpp"
#include "actors/openenv/server/requests.hpp"
#include "runtime/base/random_bits.hpp"
#include "runtime/net/query_value.hpp"

namespace troupe::openenv_server {

namespace {

/// The largest number of requests that wait while another one is under way. They are answered in
/// order. While that many wait, no more are read.
constexpr std::size_t waiting_max = 8;
constexpr std::size_t piece_bytes = std::size_t{4} << 10;
constexpr auto close_time = std::chrono::seconds(5);  // includes the client's closing

/// A session always reads, so that pings are answered and a disconnected client is noticed while
/// the environment steps. At most one request is under way.
class session : public guest, public std::enable_shared_from_this<session> {
 public:
  session(hub& of, tcp_socket socket, bool is_rpc);
  ~session() override;

  void start(const http_request& request);
  void look_after(steady::time_point now) override;
  std::size_t yieldable_bytes() const override;
  void yield_bytes() override;
  void send_away() override;

 private:
  using drop = server_metrics::drop;

  void on_accept();
  void join();
  void make_environment();
  void read();
  void on_read(beast::error_code error, std::size_t bytes);
  bool add_piece(std::size_t bytes);
  void take_message();
  void work();
  void send();
  void on_sent(beast::error_code error);
  void heard();
  void ping();
  bool begin_closing();
  void close(websocket::close_code code, const char* reason = "");
  void drop_for(drop why, websocket::close_code code, const char* reason);
  void drop_for_memory();
  void cut();
  std::size_t bytes_now() const;
  bool hold() { return hub_.hold(bytes_, bytes_now()); }
  void give_back();
  void forget_request();
  void forget_answer();

  hub& hub_;
  guest_place place_;
  counted_in waiting_connection_;                ///< until it has a slot
  websocket::stream<tcp_socket, false> socket_;  // without compression
  const bool is_rpc_;
  std::unique_ptr<conversation> conversation_;
  bool has_slot_ = false;
  std::string id_;           ///< that of the query, or of JSON-RPC
  bool has_joined_ = false;  ///< it plays in a session that HTTP has made, which has the slot

  held_bytes bytes_;                     ///< what the messages below take
  std::array<char, piece_bytes> piece_;  ///< what has just come
  std::string message_;                  ///< the message that comes
  std::deque<std::string> waiting_;      ///< at most waiting_max requests
  std::size_t waiting_bytes_ = 0;        ///< of these
  std::string text_;                     ///< the request under way
  answer answer_;
  /// A worker may use the request and the answer, so the server's thread has their bytes here:
  /// those of the request, of its JSON, and of the answer that is sent.
  std::size_t text_bytes_ = 0, work_bytes_ = 0, answer_bytes_ = 0;

  bool is_reading_ = false;
  bool is_busy_ = true;  ///< a request, or the beginning of the session, is under way
  bool is_sending_ = false;
  bool is_pinging_ = false;  ///< a ping is being sent
  bool awaits_pong_ = false;
  bool is_closing_ = false;
  bool is_cut_ = false;         ///< Nothing is sent or read any more.
  steady::time_point begun_;    ///< when the message began to come, unless that is empty
  steady::time_point since_;    ///< when it began to connect, to send or to close
  steady::time_point heard_;    ///< the time of the last frame of any kind
  steady::time_point request_;  ///< the time of the last request
};

session::session(hub& of, tcp_socket socket, bool is_rpc)
    : hub_(of),
      place_(of, this),
      waiting_connection_(of.connections),
      socket_(std::move(socket)),
      is_rpc_(is_rpc),
      bytes_(of.memory),
      since_(steady::now()) {}

session::~session() {
  bytes_.shrink_to(0);
  hub_.show_memory();
  if (has_joined_) {
    hub_.named.detach(id_, std::move(conversation_));
    return;
  }
  if (has_slot_) hub_.free_slot();
  hub_.discard(std::move(conversation_));
}

void session::start(const http_request& request) {
  socket_.read_message_max(hub_.options.message_bytes_max);
  socket_.auto_fragment(false);
  socket_.text(true);
  socket_.control_callback([this](websocket::frame_type kind, beast::string_view) {
    heard();
    if (kind == websocket::frame_type::close) begin_closing();  // the stream sends the answer
  });
  const std::string_view target(request.target().data(), request.target().size());
  id_ = troupe::detail::query_value(target, "session_id");
  socket_.async_accept(request, [self = shared_from_this()](beast::error_code error) {
    if (!error) self->on_accept();
  });
}

void session::on_accept() {
  heard();
  request_ = heard_;
  if (!is_rpc_ && !id_.empty()) return join();
  if (hub_.sessions >= hub_.options.sessions_max) {
    hub_.metrics.refused(server_metrics::refusal::capacity);
    answer_ = capacity_answer(hub_.sessions, hub_.options.sessions_max);
    return send();
  }
  has_slot_ = true;
  waiting_connection_.release();
  hub_.take_slot();
  if (is_rpc_) {
    id_ = troupe::detail::random_uuid();
    is_busy_ = false;
    return read();
  }
  make_environment();
}

void session::join() {
  try {
    conversation_ = hub_.named.attach(id_);
  } catch (const std::runtime_error& e) {
    answer_ = session_answer(e.what());
    return send();
  }
  has_joined_ = has_slot_ = true;
  waiting_connection_.release();
  is_busy_ = false;
  read();
}

void session::make_environment() {
  const auto self = shared_from_this();
  const auto make = [this] {
    try {
      conversation_ = std::make_unique<conversation>(hub_.make());
    } catch (const std::exception& e) {
      answer_ = factory_answer(e.what(), hub_.api.id());
    }
  };
  hub_.run(make, [this, self] {
    if (conversation_) {
      is_busy_ = false;
      work();
    } else {
      hub_.metrics.refused(server_metrics::refusal::environment);
      send();
    }
  });
  read();
}

void session::read() {
  if (is_reading_ || is_closing_ || waiting_.size() >= waiting_max) return;
  is_reading_ = true;
  socket_.async_read_some(asio::buffer(piece_),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            self->on_read(error, bytes);
                          });
}

void session::on_read(beast::error_code error, std::size_t bytes) {
  is_reading_ = false;
  if (error) {
    // The stream has reported the error to the client and has closed.
    if (error == websocket::condition::protocol_violation ||
        error == websocket::error::message_too_big)
      hub_.metrics.dropped(drop::bad_frame);
    begin_closing();
    return;
  }
  heard();
  if (is_closing_) return;
  if (!add_piece(bytes)) return drop_for_memory();
  if (socket_.is_message_done()) {
    request_ = heard_;
    take_message();
    work();
  }
  read();
}

/// Appends what has come to the message. Returns false, and appends nothing, if there is no memory
/// for it.
bool session::add_piece(std::size_t bytes) {
  if (message_.empty()) begun_ = steady::now();
  const auto size = message_.size() + bytes;
  if (size > message_.capacity()) {
    const auto longest = std::max(size, hub_.options.message_bytes_max);
    const auto grown = std::min(std::max(size, 2 * message_.capacity()), longest);
    if (!hub_.hold(bytes_, bytes_now() - message_.capacity() + grown)) return false;
    message_.reserve(grown);
  }
  message_.append(piece_.data(), bytes);
  return true;
}

void session::take_message() {
  if (socket_.got_text()) {
    waiting_.push_back(std::exchange(message_, std::string()));
    waiting_bytes_ += waiting_.back().capacity();
  } else if (!is_busy_) {
    is_busy_ = true;
    answer_ = binary_answer();
    send();
  } else {
    close(websocket::close_code::normal);  // another message is being sent
  }
  release(message_);
}

void session::work() {
  if (is_busy_ || is_closing_ || waiting_.empty()) return;
  is_busy_ = true;
  text_ = std::move(waiting_.front());
  waiting_.pop_front();
  text_bytes_ = text_.capacity();
  waiting_bytes_ -= text_bytes_;
  work_bytes_ = bytes_while_answered(text_.size()) - text_.size();
  if (!hold()) {
    forget_request();
    return drop_for_memory();
  }
  const auto self = shared_from_this();
  const auto reply = [this] {
    answer_ = is_rpc_ ? rpc_answer(text_, id_) : conversation_->to(text_);
  };
  hub_.run(reply, [this, self] { send(); });
}

void session::send() {
  forget_request();
  hub_.metrics.count(answer_.request, answer_.error);
  if (is_closing_) {  // the answer can't be sent any more
    forget_answer();
    return give_back();
  }
  answer_bytes_ = answer_.text.capacity();
  if (!hold()) {
    forget_answer();
    return drop_for_memory();
  }
  if (answer_.text.empty()) return close(websocket::close_code::normal);
  is_sending_ = true;
  since_ = steady::now();
  socket_.async_write(
      asio::buffer(answer_.text),
      [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_sent(error); });
}

void session::on_sent(beast::error_code error) {
  is_sending_ = false;
  if (error) return cut();
  if (answer_.closes) return close(websocket::close_code::normal);
  forget_answer();
  give_back();
  is_busy_ = false;
  work();
  read();
}

void session::heard() {
  heard_ = steady::now();
  awaits_pong_ = false;
}

void session::ping() {
  if (is_pinging_) return;
  is_pinging_ = true;
  awaits_pong_ = true;
  socket_.async_ping({},
                     [self = shared_from_this()](beast::error_code) { self->is_pinging_ = false; });
}

/// Begins to close. From now on the client has `close_time`, whatever is left to do.
bool session::begin_closing() {
  if (std::exchange(is_closing_, true)) return false;
  since_ = steady::now();
  release(message_);
  waiting_.clear();
  waiting_bytes_ = 0;
  give_back();
  return true;
}

void session::close(websocket::close_code code, const char* reason) {
  if (!begin_closing()) return;
  socket_.async_close({code, reason}, [self = shared_from_this()](beast::error_code) {});
}

void session::drop_for(drop why, websocket::close_code code, const char* reason) {
  hub_.metrics.dropped(why);
  close(code, reason);
}

void session::drop_for_memory() {
  drop_for(drop::memory, websocket::close_code::try_again_later, no_memory);
}

void session::cut() {
  is_cut_ = true;
  begin_closing();
  give_back();
  beast::error_code ignored;
  socket_.next_layer().close(ignored);
}

void session::forget_request() {
  release(text_);
  text_bytes_ = work_bytes_ = 0;
}

void session::forget_answer() {
  release(answer_.text);
  answer_ = {};
  answer_bytes_ = 0;
}

/// Returns the bytes of all messages. An answer that is cut off is given back at once.
std::size_t session::bytes_now() const {
  return message_.capacity() + waiting_bytes_ + text_bytes_ + work_bytes_ +
         (is_cut_ ? 0 : answer_bytes_);
}

void session::give_back() {
  bytes_.shrink_to(bytes_now());
  hub_.show_memory();
}

std::size_t session::yieldable_bytes() const {
  if (is_closing_) return 0;
  return message_.capacity() + waiting_bytes_ + (is_sending_ ? answer_bytes_ : 0);
}

/// A client that does not take its answer would not read a reason behind it, either.
void session::yield_bytes() {
  if (!is_sending_) return drop_for_memory();
  hub_.metrics.dropped(drop::memory);
  cut();
}

void session::look_after(steady::time_point now) {
  const auto& limits = hub_.options;
  if (!has_slot_ && !is_closing_) {  // it is connecting or being refused
    if (now - since_ > limits.request_timeout) cut();
  } else if (is_closing_) {
    if (now - since_ > close_time) cut();
  } else if (is_sending_ && now - since_ > limits.write_timeout) {
    hub_.metrics.dropped(drop::slow_reader);
    cut();
  } else if (!message_.empty() && now - begun_ > limits.request_timeout) {
    drop_for(drop::slow_message, websocket::close_code::policy_error,
             "the message did not come in time");
  } else if (!is_reading_) {
    heard_ = now;  // no frames are read, so silence does not count
  } else if (now - heard_ > limits.ping_interval + limits.ping_timeout && awaits_pong_) {
    drop_for(drop::no_pong, websocket::close_code::internal_error, "keepalive ping timeout");
  } else if (now - heard_ > limits.ping_interval && !awaits_pong_) {
    ping();
  }
  if (!is_closing_ && has_slot_ && !is_busy_ && now - request_ > limits.idle_timeout)
    drop_for(drop::idle, websocket::close_code::policy_error, "no request for too long");
}

void session::send_away() {
  if (!has_slot_) return cut();
  if (!is_closing_)
    drop_for(drop::drained, websocket::close_code::going_away, "the server is shutting down");
}

}  // namespace

void begin_session(hub& of, tcp_socket socket, const http_request& request, bool is_rpc) {
  std::make_shared<session>(of, std::move(socket), is_rpc)->start(request);
}

}  // namespace troupe::openenv_server
