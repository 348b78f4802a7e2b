#include "actors/torch.hpp"

#include "actors/policy/model_file.hpp"

#include <caffe2/serialize/inline_container.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "actors/checkpoint/sha256.hpp"
#include "actors/policy/actor_critic.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view digest_name = "sha256:";
constexpr std::size_t digest_digits = 64;
constexpr std::size_t comment_size = digest_name.size() + digest_digits;

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw model_file_error("model file " + path.string() + ": " + what);
}

c10::List<std::int64_t> to_list(const std::vector<int>& numbers) {
  c10::List<std::int64_t> list;
  for (int number : numbers) list.push_back(number);
  return list;
}

std::vector<int> to_ints(const c10::IValue& value) {
  std::vector<int> numbers;
  for (auto number : value.toIntVector()) numbers.push_back(static_cast<int>(number));
  return numbers;
}

// A zip ends with the length of its comment, so far zero, and the comment.
std::string with_digest(std::vector<char> zip) {
  zip[zip.size() - 2] = static_cast<char>(comment_size);
  std::string bytes(zip.begin(), zip.end());
  bytes += digest_name;
  bytes += sha256({zip.data(), zip.size()});
  return bytes;
}

std::string serialise(const saved_model& model) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("format", std::int64_t{1});
  dict.insert("obs_size", std::int64_t{model.shape.obs_size});
  dict.insert("discrete_actions", std::int64_t{model.shape.discrete_actions});
  dict.insert("continuous_size", std::int64_t{model.shape.continuous_size});
  dict.insert("multi_discrete", to_list(model.shape.multi_discrete));
  dict.insert("image", to_list(model.shape.image));
  dict.insert("body", to_string(model.options.body));
  dict.insert("cnn_channels", to_list(model.options.cnn.channels));
  dict.insert("cnn_kernels", to_list(model.options.cnn.kernels));
  dict.insert("cnn_strides", to_list(model.options.cnn.strides));
  dict.insert("cnn_features", std::int64_t{model.options.cnn.features});
  dict.insert("hidden", to_list(model.options.hidden));
  dict.insert("activation", to_string(model.options.hidden_activation));
  if (model.options.critic_hidden) {
    dict.insert("critic_hidden", to_list(*model.options.critic_hidden));
  }
  dict.insert("normalize_obs", model.options.normalize_obs);
  dict.insert("use_sde", model.options.use_sde);
  dict.insert("use_expln", model.options.use_expln);
  dict.insert("kind", to_string(model.options.kind));
  dict.insert("policy_version", static_cast<std::int64_t>(model.policy_version));
  if (model.score) dict.insert("score", *model.score);
  dict.insert("parameters", model.parameters.detach().contiguous());
  return with_digest(torch::pickle_save(dict));
}

// Closes on every way out; `text` says what was tried when a call fails.
class output_file {
 public:
  explicit output_file(const fs::path& path)
      : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (fd_ < 0) fail(path_, std::string("cannot be created: ") + std::strerror(errno));
  }
  ~output_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_, std::string("cannot be written: ") + std::strerror(errno));
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void flush_and_close() {
    const bool flushed = ::fsync(fd_) == 0;
    const int error = errno;
    const bool closed = ::close(fd_) == 0;
    fd_ = -1;
    if (!flushed || !closed) {
      fail(path_, std::string("cannot be flushed: ") + std::strerror(flushed ? errno : error));
    }
  }

 private:
  fs::path path_;
  int fd_;
};

void replace_file(const fs::path& path, std::string_view bytes) {
  fs::path temporary = path;
  temporary += ".part" + std::to_string(::getpid());
  try {
    output_file file(temporary);
    file.write(bytes);
    file.flush_and_close();
    fs::rename(temporary, path);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    if (dynamic_cast<const model_file_error*>(&error)) throw;
    fail(path, error.what());
  }
  // The rename itself reaches the disk with the folder; a file system that cannot, need not.
  const auto folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  if (const int fd = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC); fd >= 0) {
    ::fsync(fd);
    ::close(fd);
  }
}

std::vector<char> read_verified(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.size() <= comment_size) fail(path, "damaged: too short for a model");
  const std::string_view comment(bytes.data() + bytes.size() - comment_size, comment_size);
  const auto expected =
      std::string(digest_name) + sha256({bytes.data(), bytes.size() - comment_size});
  if (comment != expected) {
    fail(path, "damaged: its content has " + expected + ", the file says otherwise");
  }
  return bytes;
}

/// What the dictionary calls the parameters, copied from the file's bytes. libtorch takes a place
/// and sizes from the dictionary without a look at how many bytes there are.
at::Tensor copy_parameters(const at::Tensor& told, const std::vector<char>& bytes) {
  std::istringstream file(std::string(bytes.begin(), bytes.end()));
  caffe2::serialize::PyTorchStreamReader records(&file);
  const auto [data, size] = records.getRecord("data/0");  // the only tensor's
  const auto there = static_cast<std::int64_t>(size / sizeof(float));
  TORCH_CHECK(told.scalar_type() == at::kFloat && told.dim() == 1 && told.is_contiguous(),
              "parameters: expected float [P], got ", told.scalar_type(), " ", told.sizes());
  const auto begin = told.storage_offset(), count = told.numel();
  TORCH_CHECK(begin >= 0 && count >= 0 && begin <= there && count <= there - begin,
              "parameters: expected numbers that are in the file, of ", there, ", got ", count,
              " from ", begin, " on");
  auto copy = at::empty({count}, at::kFloat);
  std::memcpy(copy.data_ptr<float>(), static_cast<const float*>(data.get()) + begin, copy.nbytes());
  return copy;
}

}  // namespace

void save_model(const fs::path& path, const saved_model& model) {
  replace_file(path, serialise(model));
}

void save_model(const fs::path& path, const actor_critic& model, std::uint64_t policy_version) {
  save_model(path, {model.shape(), model.options(), model.parameters(), policy_version});
}

saved_model load_model(const fs::path& path) {
  const auto bytes = read_verified(path);
  try {
    const auto dict = torch::pickle_load(bytes).toGenericDict();
    const auto number = [&](const char* key) { return static_cast<int>(dict.at(key).toInt()); };
    TORCH_CHECK(number("format") == 1, "format ", number("format"), ", expected 1");
    saved_model model;
    model.shape = {number("obs_size"), number("discrete_actions"), number("continuous_size"),
                   to_ints(dict.at("multi_discrete"))};
    if (dict.contains("body")) {  // files without are older, and of perceptrons
      model.shape.image = to_ints(dict.at("image"));
      model.options.body = network_body_of(dict.at("body").toStringRef());
      model.options.cnn = {to_ints(dict.at("cnn_channels")), to_ints(dict.at("cnn_kernels")),
                           to_ints(dict.at("cnn_strides")), number("cnn_features")};
    }
    model.options.hidden = to_ints(dict.at("hidden"));
    model.options.hidden_activation = activation_named(dict.at("activation").toStringRef());
    if (dict.contains("critic_hidden")) {
      model.options.critic_hidden = to_ints(dict.at("critic_hidden"));
    }
    for (const auto& [key, option] : {std::pair("normalize_obs", &model.options.normalize_obs),
                                      std::pair("use_sde", &model.options.use_sde),
                                      std::pair("use_expln", &model.options.use_expln)}) {
      if (dict.contains(key)) *option = dict.at(key).toBool();
    }
    if (dict.contains("kind")) {  // files without are PPO's
      model.options.kind = network_kind_of(dict.at("kind").toStringRef());
    }
    model.policy_version = static_cast<std::uint64_t>(dict.at("policy_version").toInt());
    if (dict.contains("score")) model.score = dict.at("score").toDouble();
    model.parameters = copy_parameters(dict.at("parameters").toTensor(), bytes);
    return model;
  } catch (const std::exception& error) {
    fail(path, std::string("not a model of this program: ") + error.what());
  }
}

std::uint64_t load_model(const fs::path& path, actor_critic& model) {
  const auto saved = load_model(path);
  const auto found = to_string(saved.shape, saved.options);
  const auto expected = to_string(model.shape(), model.options());
  if (found != expected) fail(path, "holds (" + found + "), expected (" + expected + ")");
  model.load_parameters(saved.parameters);
  return saved.policy_version;
}

std::string weights_sha256(const at::Tensor& parameters) {
  const auto bytes = parameters.detach().contiguous();
  return sha256({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
}

}  // namespace troupe
