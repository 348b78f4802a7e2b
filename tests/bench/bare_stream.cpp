#include "tests/bench/bare_stream.hpp"

#include <string>

namespace troupe::detail {

namespace {

class bare_answer final : public grpc::ServerGenericBidiReactor {
 public:
  bare_answer() { StartRead(&heard_); }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    said_ = heard_;
    if (heard_.Length() > bare_ping_size) {
      const grpc::Slice one("1");
      said_ = grpc::ByteBuffer(&one, 1);
    }
    heard_.Clear();
    StartWrite(&said_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    StartRead(&heard_);
  }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer heard_, said_;
};

}  // namespace

class bare_server::service final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new bare_answer;
  }
};

bare_server::bare_server() : service_(std::make_unique<service>()) {
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(service_.get());
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  server_ = builder.BuildAndStart();
}

bare_server::~bare_server() = default;

bare_stream::bare_stream(int port)
    : stub_(grpc::CreateChannel("localhost:" + std::to_string(port),
                                grpc::InsecureChannelCredentials())) {
  stub_.PrepareBidiStreamingCall(&context_, "/bare/stream", {}, this);
  AddHold();
  StartRead(&heard_);
  StartCall();
}

bare_stream::~bare_stream() {
  context_.TryCancel();
  RemoveHold();
  ended_.acquire();
}

void bare_stream::OnReadDone(bool ok) {
  heard_.Clear();
  if (!ok) return;
  StartRead(&heard_);
  answers_.release();
}

cost bare_stream::ping(pid_t server, int times) { return stream(server, times, bare_ping_size, 1); }

cost bare_stream::stream(pid_t server, int times, std::size_t size, int window) {
  from_.resize(size, std::byte{1});
  return measure({server}, times, [&] {
    for (int i = 0; i < times; ++i) {
      if (i >= window) answers_.acquire();
      send(size);
    }
    for (int i = 0; i < window; ++i) answers_.acquire();
  });
}

void bare_stream::send(std::size_t size) {
  written_.acquire();
  const grpc::Slice slice(from_.data(), size);
  said_ = grpc::ByteBuffer(&slice, 1);
  StartWrite(&said_);
}

}  // namespace troupe::detail
