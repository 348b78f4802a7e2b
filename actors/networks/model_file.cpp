#include "actors/torch/torch.hpp"

#include "actors/networks/model_file.hpp"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/checkpoint/sha256.hpp"
#include "actors/environments/space_json.hpp"
#include "actors/networks/actor_critic.hpp"
#include "actors/networks/encoder_code.hpp"
#include "actors/networks/plain_pickle.hpp"
#include "runtime/base/regular_file.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view digest_name = "sha256:";
constexpr std::size_t digest_digits = 64;
constexpr std::size_t comment_size = digest_name.size() + digest_digits;

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw model_file_error("model file " + path.string() + ": " + what);
}

std::vector<std::int64_t> to_list(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// The dictionary of a model file, with accessors that check the type of a value.
class fields {
 public:
  explicit fields(plain_dictionary values) : values_(std::move(values)) {}

  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }

  template <class T>
  const T& at(std::string_view key) const {
    const auto found = values_.find(key);
    TORCH_CHECK(found != values_.end(), "it has no ", key);
    const auto* value = std::get_if<T>(&found->second);
    TORCH_CHECK(value, key, ": a value of another type than expected");
    return *value;
  }

  std::vector<std::pair<std::string, pickled_tensor>> tensors() const {
    std::vector<std::pair<std::string, pickled_tensor>> found;
    for (const auto& [key, value] : values_) {
      if (const auto* tensor = std::get_if<pickled_tensor>(&value))
        found.emplace_back(key, *tensor);
    }
    return found;
  }

  const std::string& text(std::string_view key) const { return at<std::string>(key); }
  int number(std::string_view key) const { return to_int(key, at<std::int64_t>(key)); }

  std::vector<int> numbers(std::string_view key) const {
    std::vector<int> numbers;
    for (auto each : at<std::vector<std::int64_t>>(key)) numbers.push_back(to_int(key, each));
    return numbers;
  }

 private:
  static int to_int(std::string_view key, std::int64_t number) {
    TORCH_CHECK(std::in_range<int>(number), key, ": expected a number of 32 bits, got ", number);
    return static_cast<int>(number);
  }

  plain_dictionary values_;
};

// Adds the digest as the zip's comment. A zip ends with the length of its comment, which is zero
// before, and the comment.
std::string with_digest(std::vector<char> zip) {
  zip[zip.size() - 2] = static_cast<char>(comment_size);
  std::string bytes(zip.begin(), zip.end());
  bytes += digest_name;
  bytes += sha256({zip.data(), zip.size()});
  return bytes;
}

// A zip in PyTorch's format.
class archive {
 public:
  // Adds the storage of a tensor of floats as a record, and returns how a pickle tells the tensor.
  pickled_tensor add(const at::Tensor& tensor) {
    const auto& storage = tensor.storage();
    pickled_tensor told{
        .storage = std::to_string(storages_++),
        .offset = tensor.storage_offset(),
        .sizes = tensor.sizes().vec(),
        .strides = tensor.strides().vec(),
        .storage_size = static_cast<std::int64_t>(storage.nbytes() / sizeof(float))};
    writer_.writeRecord("data/" + told.storage, storage.data(), storage.nbytes());
    return told;
  }

  std::vector<char> end(const std::string& pickle) && {
    writer_.writeRecord("data.pkl", pickle.data(), pickle.size());
    writer_.writeEndOfFile();
    return std::move(bytes_);
  }

 private:
  std::vector<char> bytes_;
  caffe2::serialize::PyTorchStreamWriter writer_{[this](const void* from, std::size_t size) {
    const auto* begin = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), begin, begin + size);
    return size;
  }};
  int storages_ = 0;
};

using dictionary_entries = std::vector<std::pair<std::string, plain_value>>;

// A part of an observation has an entry "obs_part.N", which is its name, and one of numbers.
std::string part_key(std::size_t i) { return "obs_part." + std::to_string(i); }

// The number by which an image is divided is there if it is not that of bytes.
void insert_high(dictionary_entries& to, const std::string& key, float high) {
  if (high != obs_part().image_high) to.emplace_back(key, double{high});
}
float high_in(const fields& dict, const std::string& key) {
  return dict.has(key) ? static_cast<float>(dict.at<double>(key)) : obs_part().image_high;
}

void insert_parts(dictionary_entries& to, const std::vector<obs_part>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i];
    auto numbers = to_list(part.image);
    numbers.insert(numbers.begin(), {part.offset, part.size, part.interleaved});
    to.emplace_back(part_key(i), part.name);
    to.emplace_back(part_key(i) + ".numbers", std::move(numbers));
    insert_high(to, part_key(i) + ".high", part.image_high);
  }
}

std::vector<obs_part> parts_in(const fields& dict) {
  std::vector<obs_part> parts;
  for (std::size_t i = 0; dict.has(part_key(i)); ++i) {
    const auto key = part_key(i) + ".numbers";
    const auto numbers = dict.numbers(key);
    TORCH_CHECK(numbers.size() == 3 || numbers.size() == 6, key,
                ": expected an offset, a size, the interleaved channels and perhaps an image, got ",
                numbers.size(), " numbers");
    parts.push_back({.name = dict.text(part_key(i)),
                     .offset = numbers[0],
                     .size = numbers[1],
                     .image = {numbers.begin() + 3, numbers.end()},
                     .interleaved = numbers[2],
                     .image_high = high_in(dict, part_key(i) + ".high")});
  }
  return parts;
}

// The policies and agents of a shape: each has an entry with its name and one with its numbers.
std::string policy_key(std::size_t i) { return "policy." + std::to_string(i); }
std::string agent_key(std::size_t i) { return "agent." + std::to_string(i); }

// The members of agent_view that are numbers, in the order in which files have them.
constexpr int agent_view::* agent_numbers[] = {
    &agent_view::policy,       &agent_view::obs_begin,
    &agent_view::obs_size,     &agent_view::id,
    &agent_view::ids,          &agent_view::mask_begin,
    &agent_view::critic_begin, &agent_view::integers_begin,
    &agent_view::floats_begin, &agent_view::active};
constexpr int policy_shape::* policy_numbers[] = {
    &policy_shape::scored,      &policy_shape::obs_size,         &policy_shape::critic_only,
    &policy_shape::mask_size,   &policy_shape::discrete_actions, &policy_shape::continuous_size,
    &policy_shape::multi_binary};

void insert_agents(dictionary_entries& to, const network_shape& shape) {
  for (std::size_t i = 0; i < shape.policies.size(); ++i) {
    const auto& policy = shape.policies[i];
    std::vector<std::int64_t> numbers;
    for (const auto member : policy_numbers) numbers.push_back(policy.*member);
    numbers.insert(numbers.end(), policy.multi_discrete.begin(), policy.multi_discrete.end());
    to.emplace_back(policy_key(i), policy.name);
    to.emplace_back(policy_key(i) + ".script", policy.script);
    to.emplace_back(policy_key(i) + ".numbers", std::move(numbers));
  }
  for (std::size_t i = 0; i < shape.agents.size(); ++i) {
    std::vector<std::int64_t> numbers;
    for (const auto member : agent_numbers) numbers.push_back(shape.agents[i].*member);
    to.emplace_back(agent_key(i), shape.agents[i].name);
    to.emplace_back(agent_key(i) + ".numbers", std::move(numbers));
  }
}

void read_agents(const fields& dict, network_shape& shape) {
  for (std::size_t i = 0; dict.has(policy_key(i)); ++i) {
    const auto numbers = dict.numbers(policy_key(i) + ".numbers");
    TORCH_CHECK(numbers.size() >= std::size(policy_numbers), policy_key(i), ": expected at least ",
                std::size(policy_numbers), " numbers, got ", numbers.size());
    policy_shape policy{.name = dict.text(policy_key(i)),
                        .script = dict.text(policy_key(i) + ".script")};
    auto next = numbers.begin();
    for (const auto member : policy_numbers) policy.*member = *next++;
    policy.multi_discrete.assign(next, numbers.end());
    shape.policies.push_back(std::move(policy));
  }
  for (std::size_t i = 0; dict.has(agent_key(i)); ++i) {
    const auto numbers = dict.numbers(agent_key(i) + ".numbers");
    TORCH_CHECK(numbers.size() == std::size(agent_numbers), agent_key(i), ": expected ",
                std::size(agent_numbers), " numbers, got ", numbers.size());
    agent_view agent{.name = dict.text(agent_key(i))};
    auto next = numbers.begin();
    for (const auto member : agent_numbers) agent.*member = *next++;
    TORCH_CHECK(std::cmp_less(agent.policy, shape.policies.size()) && agent.policy >= 0,
                agent_key(i), ": expected one of ", shape.policies.size(), " policies, got ",
                agent.policy);
    shape.agents.push_back(std::move(agent));
  }
}

std::string serialise(const saved_model& model) {
  dictionary_entries dict;
  const auto insert = [&](std::string key, plain_value value) {
    dict.emplace_back(std::move(key), std::move(value));
  };
  const auto number = [&](std::string key, std::int64_t value) { insert(std::move(key), value); };
  const auto text = [&](std::string key, std::string value) {
    insert(std::move(key), std::move(value));
  };
  number("format", 1);
  number("obs_size", model.shape.obs_size);
  number("discrete_actions", model.shape.discrete_actions);
  number("continuous_size", model.shape.continuous_size);
  insert("multi_discrete", to_list(model.shape.multi_discrete));
  insert("image", to_list(model.shape.image));
  insert_high(dict, "image_high", model.shape.image_high);
  number("interleaved", model.shape.interleaved);
  number("multi_binary", model.shape.multi_binary);
  insert_parts(dict, model.shape.parts);
  if (!model.shape.states.empty()) insert("states", to_list(model.shape.states));
  number("critic_only", model.shape.critic_only);
  number("mask_size", model.shape.mask_size);
  insert_agents(dict, model.shape);
  text("body", to_string(model.options.body));
  insert("cnn_channels", to_list(model.options.cnn.channels));
  insert("cnn_kernels", to_list(model.options.cnn.kernels));
  insert("cnn_strides", to_list(model.options.cnn.strides));
  number("cnn_features", model.options.cnn.features);
  insert("hidden", to_list(model.options.hidden));
  text("activation", to_string(model.options.hidden_activation));
  if (model.options.critic_hidden) insert("critic_hidden", to_list(*model.options.critic_hidden));
  if (!model.options.shared_hidden.empty()) {
    insert("shared_hidden", to_list(model.options.shared_hidden));
  }
  if (model.options.layer_norm) insert("layer_norm", true);
  if (!model.options.encoder.empty()) text("encoder", model.options.encoder);
  insert("normalize_obs", model.options.normalize_obs);
  insert("use_sde", model.options.use_sde);
  insert("use_expln", model.options.use_expln);
  text("kind", to_string(model.options.kind));
  number("policy_version", static_cast<std::int64_t>(model.policy_version));
  number("steps", model.steps);
  if (model.score) insert("score", *model.score);
  if (!model.algo.empty()) text("algo", model.algo);
  if (model.action_space) {
    text("action_space", space_to_json(*model.action_space)
                             .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }

  archive zip;
  const auto block = zip.add(model.parameters.detach().contiguous());
  insert("parameters", block);
  const auto layout = layout_of(model.shape, model.options);
  if (layout.count == model.parameters.numel()) {  // other blocks are told as they are
    for (const auto& each : layout.tensors) {
      auto view = block;
      view.offset += each.offset;
      view.sizes = each.sizes;
      view.strides = each.strides;
      insert(each.name, std::move(view));
    }
  }
  for (const auto& [name, tensor] : model.beside) {
    insert(name, zip.add(tensor.detach().to(at::kFloat).contiguous()));
  }
  return with_digest(std::move(zip).end(write_plain_pickle(dict)));
}

void replace_file(const fs::path& path, std::string_view bytes) {
  try {
    replace_durably(path, {&bytes, 1});
  } catch (const std::system_error& error) {
    fail(path, std::string("cannot be written: ") + error.what());
  }
}

// Returns the string under a key of the JSON file, or "" if the file does not have it.
std::string text_in(const fs::path& path, const char* key) {
  std::string text;
  try {
    constexpr std::uint64_t bytes_max = std::uint64_t{16} << 20;
    text = detail::read_regular_file(path, bytes_max);
  } catch (const std::system_error&) {
    return "";
  }
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains(key) || !document[key].is_string()) return "";
  return document[key].get<std::string>();
}

// Says what a folder, or a file in a folder of that kind, is instead of a model file; "" if that is
// not known.
std::string folder_kind(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder / "manifest.sha256", ignored)) {
    return "a checkpoint of " + text_in(folder / "manifest.json", "algorithm") + " on " +
           text_in(folder / "manifest.json", "environment") + ", from which --resume goes on";
  }
  if (fs::exists(folder / "model.safetensors", ignored)) {
    const auto algo = text_in(folder.parent_path() / "config.json", "algo");
    return "a language model" + (algo.empty() ? std::string() : " that " + algo + " has written");
  }
  const auto algo = text_in(folder / "config.json", "algo");
  return algo.empty() ? "" : "in a run directory of " + algo;
}

// Throws for what begins like no model file.
void require_model_file(const fs::path& path) {
  std::error_code ignored;
  const auto absolute = fs::absolute(path, ignored).lexically_normal();
  if (fs::is_directory(path, ignored)) {
    // A trailing slash makes an empty last name.
    const auto kind = folder_kind(absolute.has_filename() ? absolute : absolute.parent_path());
    const bool is_run = kind.starts_with("in a run directory");
    fail(path,
         "expected the model file of a policy, got a folder" +
             (kind.empty() ? std::string() : ", which is " + (is_run ? kind.substr(3) : kind)));
  }
  const auto kind = folder_kind(absolute.parent_path());
  const bool other = kind.starts_with("a checkpoint") || kind.starts_with("a language model");
  if (other && fs::exists(path, ignored)) {
    fail(path, "expected the model file of a policy, got a file of " + kind);
  }
}

std::string read_verified(const fs::path& path) {
  require_model_file(path);
  std::string bytes;
  try {
    bytes = detail::read_regular_file(path, detail::whole_file_bytes_max(),
                                      detail::file_kinds::regular_linked);
  } catch (const refused_file& error) {
    throw model_file_error("model file " + std::string(error.what()));  // It names the path.
  } catch (const std::system_error& error) {
    fail(path, "cannot be opened: " + error.code().message());
  }
  if (bytes.size() <= comment_size) fail(path, "damaged: too short for a model");
  const std::string_view comment(bytes.data() + bytes.size() - comment_size, comment_size);
  const auto expected =
      std::string(digest_name) + sha256({bytes.data(), bytes.size() - comment_size});
  if (!comment.starts_with(digest_name)) {
    fail(path, "damaged, or no model of Troupe: it doesn't end with its SHA-256");
  }
  if (comment != expected) {
    fail(path, "damaged: its content has " + expected + ", the file says otherwise");
  }
  return bytes;
}

std::string_view text_of(const std::tuple<at::DataPtr, std::size_t>& record) {
  return {static_cast<const char*>(std::get<0>(record).get()), std::get<1>(record)};
}

// Copies a tensor whose numbers lie one after another in their record. `key` is its name
// in messages.
at::Tensor copy_tensor(std::string_view key, const pickled_tensor& told,
                       caffe2::serialize::PyTorchStreamReader& records) {
  const auto [data, size] = records.getRecord("data/" + told.storage);
  const auto there = static_cast<std::int64_t>(size / sizeof(float));
  std::int64_t count = 1;
  TORCH_CHECK(told.strides.size() == told.sizes.size(), key, ": expected a stride for each of ",
              told.sizes.size(), " sizes, got ", told.strides.size());
  for (std::size_t i = told.sizes.size(); i-- > 0;) {
    const auto length = told.sizes[i];
    TORCH_CHECK(told.strides[i] == count, key, ": expected floats one after another, got ",
                at::IntArrayRef(told.sizes), " with strides of ", at::IntArrayRef(told.strides));
    TORCH_CHECK(length >= 0 && (length == 0 || count <= std::numeric_limits<int>::max() / length),
                key, ": expected numbers that are in the file, of ", there, ", got the sizes ",
                at::IntArrayRef(told.sizes));
    count *= length;
  }
  const auto begin = told.offset;
  TORCH_CHECK(begin >= 0 && begin <= there && count <= there - begin, key,
              ": expected numbers that are in the file, of ", there, ", got ", count, " from ",
              begin, " on");
  auto copy = at::empty(told.sizes, at::kFloat);
  std::memcpy(copy.data_ptr<float>(), static_cast<const float*>(data.get()) + begin, copy.nbytes());
  return copy;
}

at::Tensor copy_parameters(const pickled_tensor& told,
                           caffe2::serialize::PyTorchStreamReader& records) {
  TORCH_CHECK(told.sizes.size() == 1, "parameters: expected float [P], got ",
              at::IntArrayRef(told.sizes));
  return copy_tensor("parameters", told, records);
}

}  // namespace

void save_model(const fs::path& path, const saved_model& model) {
  replace_file(path, serialise(model));
}

void save_model(const fs::path& path, const actor_critic& model, std::uint64_t policy_version) {
  save_model(path, {model.shape(), model.options(), model.parameters(), policy_version});
}

namespace {

// Throws c10::Error, or another exception, for what is no model.
saved_model read_saved(std::istream& file) {
  caffe2::serialize::PyTorchStreamReader records(&file);
  const auto pickle = records.getRecord("data.pkl");
  const fields dict(read_plain_pickle(text_of(pickle)));
  TORCH_CHECK(dict.number("format") == 1, "format ", dict.number("format"), ", expected 1");
  saved_model model;
  model.shape = {dict.number("obs_size"), dict.number("discrete_actions"),
                 dict.number("continuous_size"), dict.numbers("multi_discrete")};
  if (dict.has("body")) {  // older files without a body have perceptrons
    model.shape.image = dict.numbers("image");
    model.shape.image_high = high_in(dict, "image_high");
    model.options.body = network_body_of(dict.text("body"));
    model.options.cnn = {dict.numbers("cnn_channels"), dict.numbers("cnn_kernels"),
                         dict.numbers("cnn_strides"), dict.number("cnn_features")};
  }
  if (dict.has("multi_binary")) {  // older files know one kind of action and name no parts
    model.shape.interleaved = dict.number("interleaved");
    model.shape.multi_binary = dict.number("multi_binary");
    model.shape.parts = parts_in(dict);
  }
  if (dict.has("states")) model.shape.states = dict.numbers("states");
  if (dict.has("critic_only")) {  // older files have a single agent without masks
    model.shape.critic_only = dict.number("critic_only");
    model.shape.mask_size = dict.number("mask_size");
    read_agents(dict, model.shape);
  }
  model.options.hidden = dict.numbers("hidden");
  model.options.hidden_activation = activation_named(dict.text("activation"));
  if (dict.has("critic_hidden")) model.options.critic_hidden = dict.numbers("critic_hidden");
  if (dict.has("shared_hidden")) model.options.shared_hidden = dict.numbers("shared_hidden");
  if (dict.has("encoder")) model.options.encoder = dict.text("encoder");
  for (const auto& [key, option] : {std::pair("layer_norm", &model.options.layer_norm),
                                    std::pair("normalize_obs", &model.options.normalize_obs),
                                    std::pair("use_sde", &model.options.use_sde),
                                    std::pair("use_expln", &model.options.use_expln)}) {
    if (dict.has(key)) *option = dict.at<bool>(key);
  }
  if (dict.has("kind")) {  // files without a kind are PPO's
    model.options.kind = network_kind_of(dict.text("kind"));
  }
  model.policy_version = static_cast<std::uint64_t>(dict.at<std::int64_t>("policy_version"));
  if (dict.has("score")) model.score = dict.at<double>("score");
  if (dict.has("steps")) model.steps = dict.at<std::int64_t>("steps");
  if (dict.has("algo")) model.algo = dict.text("algo");
  if (dict.has("action_space")) {
    model.action_space = space_from_json(nlohmann::json::parse(dict.text("action_space")));
  }
  const auto& block = dict.at<pickled_tensor>("parameters");
  model.parameters = copy_parameters(block, records);
  tensor_layout found;
  for (const auto& [name, tensor] : dict.tensors()) {
    if (tensor.storage == block.storage) {  // a view of the parameters
      if (name != "parameters") found.tensors.push_back({name, 0, tensor.sizes, {}});
      continue;
    }
    model.beside.emplace_back(name, copy_tensor(name, tensor, records));
  }
  TORCH_CHECK(
      !is_unloaded_plugin(model.options.encoder), "its encoder ", model.options.encoder,
      " is code of a plug-in; expected a run whose config.json names it beside the file, or "
      "a program that has loaded it, for a file has no code loaded");
  if (!model.options.encoder.empty()) {  // this program's network need not be the file's
    const auto differs = difference(found, layout_of(model.shape, model.options));
    TORCH_CHECK(differs.empty(), "its encoder ", model.options.encoder,
                " is another network than the one that is registered here: ", differs);
  }
  return model;
}

// Says which number of a tensor is not finite; "" if all are.
std::string not_finite_in(const std::string& name, const at::Tensor& tensor) {
  const auto flat = tensor.reshape({-1});
  const std::span<const float> numbers(flat.data_ptr<float>(),
                                       static_cast<std::size_t>(flat.numel()));
  const auto at = std::ranges::find_if(numbers, [](float x) { return !std::isfinite(x); });
  if (at == numbers.end()) return "";
  return name + ": expected finite numbers, got " + std::to_string(*at) + " at index " +
         std::to_string(at - numbers.begin());
}

// Says which tensor of a model has a number that is not finite, with which it can't act.
std::string not_finite_in(const saved_model& model) {
  auto found = not_finite_in("parameters", model.parameters);
  if (!found.empty()) {
    const auto layout = layout_of(model.shape, model.options);
    if (layout.count != model.parameters.numel()) return found;  // it has no names
    for (const auto& [name, tensor] : tensors_of(layout, model.parameters.data_ptr<float>()))
      if (const auto named = not_finite_in(name, tensor); !named.empty()) return named;
  }
  for (const auto& [name, tensor] : model.beside)
    if (found.empty()) found = not_finite_in(name, tensor);
  return found;
}

}  // namespace

saved_model load_model(const fs::path& path) {
  std::istringstream file(read_verified(path));
  std::string wrong;
  try {
    auto model = read_saved(file);
    wrong = not_finite_in(model);
    if (wrong.empty()) return model;
  } catch (const c10::Error& error) {  // what() would add the stack
    wrong = std::string("not a model of this program: ") + error.what_without_backtrace();
  } catch (const std::exception& error) {
    wrong = std::string("not a model of this program: ") + error.what();
  }
  fail(path, wrong);
}

std::string writer_of(const saved_model& model) {
  if (!model.algo.empty()) return model.algo;
  const std::string several = model.shape.policies.empty() ? "" : " for several agents";
  return "an algorithm with a network of kind " + std::string(to_string(model.options.kind)) +
         several;
}

std::uint64_t load_model(const fs::path& path, actor_critic& model) {
  const auto saved = load_model(path);
  if (saved.options.kind != network_kind::actor_critic || !saved.shape.policies.empty()) {
    fail(path,
         "was written by " + writer_of(saved) +
             ", expected an actor-critic network of a single agent, such as those of ppo, a2c "
             "and reinforce");
  }
  auto shape = saved.shape;
  if (fits(shape, model.shape())) shape = model.shape();
  const auto found = to_string(shape, saved.options);
  const auto expected = to_string(model.shape(), model.options());
  if (found != expected) fail(path, "holds (" + found + "), expected (" + expected + ")");
  if (saved.parameters.numel() != model.parameter_count()) {
    fail(path, "holds " + std::to_string(saved.parameters.numel()) + " parameters, expected " +
                   std::to_string(model.parameter_count()));
  }
  model.load_parameters(saved.parameters);
  return saved.policy_version;
}

std::string weights_sha256(const at::Tensor& parameters) {
  const auto bytes = parameters.detach().contiguous();
  return sha256({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
}

}  // namespace troupe
