#pragma once
// Internal to this folder: the connection of one HTTP client.

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <memory>
#include <optional>

#include "actors/openenv/server/beast_names.hpp"
#include "actors/openenv/server/hub.hpp"

namespace troupe::openenv_server {

/// The connection of one HTTP client, until it becomes a WebSocket. Its pending operations keep it
/// alive:
///
///   silent -> reading a request -> making its answer -> writing it -> silent ...
///      |             |                                     `-> discarding further bytes -> closed
///      |             `-> a WebSocket (websocket_session), or closed: time-out, end of file
///      `-> closed: time-out, end of file
class http_connection : public guest, public std::enable_shared_from_this<http_connection> {
 public:
  /// `count` is the member of the hub in which the connection is counted.
  http_connection(hub& of, tcp_socket socket, std::size_t& count);
  ~http_connection() override;

  void start() { await_request(); }
  /// Answers, instead of `start`, that the server is full, whatever the client asks for.
  void refuse();
  void look_after(steady::time_point now) override;
  bool awaits_client() const override { return is_waiting_ && !is_refused_; }
  std::size_t yieldable_bytes() const override;
  void yield_bytes() override;
  void send_away() override;

 private:
  void await_request();
  void read();
  void read_more();
  void on_some(beast::error_code error);
  void on_read(beast::error_code error);
  std::size_t bytes_of_request() const;
  void refuse_for_memory();
  std::string_view origin() const;
  bool is_preflight() const;
  void upgrade();
  void answer();
  void write(http_reply what, bool keeps_open);
  void discard_rest();
  void end();

  hub& hub_;
  guest_place place_;
  counted_in count_;
  tcp_socket socket_;
  held_bytes bytes_;         ///< of the request and its answer
  bool is_waiting_ = false;  ///< for a request, for the rest of one, or for its answer to be taken
  bool is_refused_ = false;  ///< so that its place is none that another connection may get
  steady::time_point deadline_;  ///< the time limit of the current operation
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http_request request_;
  http_reply reply_;
  http::response<http::string_body> response_;
  std::size_t discarded_ = 0;  ///< the number of bytes discarded
};

}  // namespace troupe::openenv_server
