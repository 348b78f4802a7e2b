#include "tests/runtime/cluster/raw_listener.hpp"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <mutex>
#include <utility>

namespace troupe::detail::testing {

class raw_listener::service final : public grpc::CallbackGenericService {
 public:
  explicit service(std::function<std::string(const std::string&)> answer)
      : answer_(std::move(answer)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~service() override { server_->Shutdown(std::chrono::system_clock::now()); }

  int port() const { return port_; }
  std::vector<std::string> heard() const {
    const std::lock_guard held(mutex_);
    return heard_;
  }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new talk(*this);
  }

 private:
  class talk final : public grpc::ServerGenericBidiReactor {
   public:
    explicit talk(service& of) : of_(of) { StartRead(&in_); }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      const grpc::Slice slice(of_.answer_to(in_));
      out_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&out_);
    }
    void OnWriteDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      StartRead(&in_);
    }
    void OnDone() override { delete this; }

   private:
    service& of_;
    grpc::ByteBuffer in_, out_;
  };

  std::string answer_to(const grpc::ByteBuffer& said) {
    std::vector<grpc::Slice> slices;
    (void)said.Dump(&slices);
    std::string text;
    for (const auto& s : slices) text.append(reinterpret_cast<const char*>(s.begin()), s.size());
    const std::lock_guard held(mutex_);
    heard_.push_back(text);
    return answer_(text);
  }

  const std::function<std::string(const std::string&)> answer_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> heard_;
  std::unique_ptr<grpc::Server> server_;
};

raw_listener::raw_listener(std::function<std::string(const std::string&)> answer)
    : service_(std::make_unique<service>(std::move(answer))) {}

raw_listener::~raw_listener() = default;

std::string raw_listener::address() const {
  return "127.0.0.1:" + std::to_string(service_->port());
}

std::vector<std::string> raw_listener::heard() const { return service_->heard(); }

}  // namespace troupe::detail::testing
