#pragma once
// A bidirectional gRPC stream and no more than that: what everything else is measured against. The
// generic callback API, with buffers.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <semaphore>
#include <vector>

#include "tests/bench/two_clocks.hpp"

namespace troupe::detail {

/// Sends back messages of up to so many bytes, and one byte for longer ones.
inline constexpr std::size_t bare_ping_size = 64;

/// The other end, on a loopback port.
class bare_server {
 public:
  bare_server();
  ~bare_server();
  int port() const { return port_; }

 private:
  class service;
  std::unique_ptr<service> service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

class bare_stream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit bare_stream(int port);
  ~bare_stream() override;

  /// Seconds of one message of bare_ping_size there and back.
  cost ping(pid_t server, int times);
  /// Seconds a message of `size` bytes; `window` are under way.
  cost stream(pid_t server, int times, std::size_t size, int window);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool) override { written_.release(); }
  void OnDone(const grpc::Status&) override { ended_.release(); }

 private:
  void send(std::size_t size);

  std::vector<std::byte> from_;
  std::counting_semaphore<> answers_{0}, written_{1}, ended_{0};
  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  grpc::ByteBuffer said_, heard_;
};

}  // namespace troupe::detail
