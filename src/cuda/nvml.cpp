// NVML without its header, which not every CUDA toolkit contains. The few types and numbers that are needed are
// declared here as in the NVML API Reference (docs.nvidia.com/deploy/nvml-api).
#include "tbench/cuda/nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace tbench::cuda {

namespace {

using NvmlReturn = int;
constexpr NvmlReturn kSuccess = 0;           // NVML_SUCCESS
constexpr NvmlReturn kInsufficientSize = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr int kClockSm = 1;                  // NVML_CLOCK_SM
constexpr int kTemperatureGpu = 0;           // NVML_TEMPERATURE_GPU
constexpr std::size_t kVersionLength = 80;   // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
constexpr std::size_t kNameLength = 96;      // NVML_DEVICE_NAME_V2_BUFFER_SIZE

using Device = void*;  // nvmlDevice_t

struct ProcessInfo {  // nvmlProcessInfo_t, as nvmlDeviceGetComputeRunningProcesses_v3 fills it
  unsigned int pid;
  unsigned long long used_gpu_memory;
  unsigned int gpu_instance_id;
  unsigned int compute_instance_id;
};
static_assert(sizeof(ProcessInfo) == 24);

struct Temperature {  // nvmlTemperature_t
  unsigned int version;
  int sensor;
  int temperature;
};
constexpr unsigned int kTemperatureVersion = sizeof(Temperature) | (1U << 24U);  // NVML_STRUCT_VERSION(Temperature, 1)

struct FieldValue {  // nvmlFieldValue_t
  unsigned int field;
  unsigned int scope;
  long long timestamp;
  long long latency_us;
  int value_type;
  NvmlReturn result;
  union {
    unsigned int unsigned_int;
    unsigned long long widest;
  } value;
};
static_assert(sizeof(FieldValue) == 40);
constexpr unsigned int kPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT, in mW; scope 0 is the GPU
constexpr int kUnsignedInt = 1;              // NVML_VALUE_TYPE_UNSIGNED_INT

}  // namespace

class NvmlLibrary {
 public:
  explicit NvmlLibrary(const std::string& file_name) : handle_{dlopen(file_name.c_str(), RTLD_NOW | RTLD_LOCAL)} {
    if (handle_ == nullptr) {
      return;
    }
    bind(get_handle_by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
    bind(get_handle_by_uuid, "nvmlDeviceGetHandleByUUID");
    bind(get_handle_by_index, "nvmlDeviceGetHandleByIndex_v2");
    bind(device_name, "nvmlDeviceGetName");
    bind(driver_version, "nvmlSystemGetDriverVersion");
    bind(clock_info, "nvmlDeviceGetClockInfo");
    bind(max_clock_info, "nvmlDeviceGetMaxClockInfo");
    bind(temperature, "nvmlDeviceGetTemperature");
    bind(temperature_v, "nvmlDeviceGetTemperatureV");
    bind(power_usage, "nvmlDeviceGetPowerUsage");
    bind(field_values, "nvmlDeviceGetFieldValues");
    bind(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    bind(total_energy, "nvmlDeviceGetTotalEnergyConsumption");
    bind(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    if (event_reasons == nullptr) {  // the function's name before driver 535
      bind(event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    bind(ecc_mode, "nvmlDeviceGetEccMode");
    bind(mig_mode, "nvmlDeviceGetMigMode");
    bind(compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");

    NvmlReturn (*initialise)() = nullptr;
    bind(initialise, "nvmlInit_v2");
    initialised_ = initialise != nullptr && initialise() == kSuccess;
  }

  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  ~NvmlLibrary() {
    if (initialised_) {
      NvmlReturn (*shut_down)() = nullptr;
      bind(shut_down, "nvmlShutdown");
      if (shut_down != nullptr && shut_down() != kSuccess) {
        std::fprintf(stderr, "nvmlShutdown failed\n");
      }
    }
    if (handle_ != nullptr && dlclose(handle_) != 0) {
      std::fprintf(stderr, "unloading NVML failed: %s\n", dlerror());
    }
  }

  [[nodiscard]] bool is_usable() const noexcept { return initialised_; }

  NvmlReturn (*get_handle_by_pci_bus_id)(const char*, Device*) = nullptr;
  NvmlReturn (*get_handle_by_uuid)(const char*, Device*) = nullptr;
  NvmlReturn (*get_handle_by_index)(unsigned int, Device*) = nullptr;
  NvmlReturn (*device_name)(Device, char*, unsigned int length) = nullptr;
  NvmlReturn (*driver_version)(char*, unsigned int length) = nullptr;
  NvmlReturn (*clock_info)(Device, int type, unsigned int* mhz) = nullptr;
  NvmlReturn (*max_clock_info)(Device, int type, unsigned int* mhz) = nullptr;
  NvmlReturn (*temperature)(Device, int sensor, unsigned int* celsius) = nullptr;
  NvmlReturn (*temperature_v)(Device, Temperature*) = nullptr;
  NvmlReturn (*power_usage)(Device, unsigned int* milliwatts) = nullptr;
  NvmlReturn (*field_values)(Device, int count, FieldValue*) = nullptr;
  NvmlReturn (*power_limit)(Device, unsigned int* milliwatts) = nullptr;
  NvmlReturn (*total_energy)(Device, unsigned long long* millijoules) = nullptr;
  NvmlReturn (*event_reasons)(Device, unsigned long long* mask) = nullptr;
  NvmlReturn (*ecc_mode)(Device, int* current, int* pending) = nullptr;
  NvmlReturn (*mig_mode)(Device, unsigned int* current, unsigned int* pending) = nullptr;
  NvmlReturn (*compute_processes)(Device, unsigned int* count, ProcessInfo*) = nullptr;

 private:
  template <class Function>
  void bind(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
  }

  void* handle_;
  bool initialised_{};
};

namespace {

using Library = std::shared_ptr<const NvmlLibrary>;

/// Returns the value that `function(device, arguments..., &value)` writes; nullopt if the query fails.
template <class Value, class Function, class... Arguments>
std::optional<Value> query(Function NvmlLibrary::*function, const Library& library, Device device,
                           Arguments... arguments) {
  if (library == nullptr || device == nullptr || (*library).*function == nullptr) {
    return std::nullopt;
  }
  Value value{};
  if (((*library).*function)(device, arguments..., &value) != kSuccess) {
    return std::nullopt;
  }
  return value;
}

template <class Mode>
std::optional<bool> query_mode(NvmlReturn (*NvmlLibrary::*function)(Device, Mode*, Mode*), const Library& library,
                               Device device) {
  if (library == nullptr || device == nullptr || (*library).*function == nullptr) {
    return std::nullopt;
  }
  Mode current{};
  Mode pending{};
  if (((*library).*function)(device, &current, &pending) != kSuccess) {
    return std::nullopt;
  }
  return current == Mode{1};
}

std::optional<Hertz> from_megahertz(std::optional<unsigned int> mhz) {
  return mhz ? std::optional{Hertz{*mhz * 1e6}} : std::nullopt;
}

std::optional<Watts> from_milliwatts(std::optional<unsigned int> milliwatts) {
  return milliwatts ? std::optional{Watts{*milliwatts * 1e-3}} : std::nullopt;
}

}  // namespace

std::shared_ptr<const NvmlLibrary> load_nvml(const std::string& file_name) {
  auto library = std::make_shared<const NvmlLibrary>(file_name);
  return library->is_usable() ? library : nullptr;
}

std::optional<std::string> nvml_driver_version(const std::shared_ptr<const NvmlLibrary>& library) {
  if (library == nullptr || library->driver_version == nullptr) {
    return std::nullopt;
  }
  std::array<char, kVersionLength + 1> text{};
  if (library->driver_version(text.data(), kVersionLength) != kSuccess) {
    return std::nullopt;
  }
  return std::string{text.data()};
}

NvmlDevice NvmlDevice::by_pci_bus_id(std::shared_ptr<const NvmlLibrary> library, const std::string& pci_bus_id) {
  Device device{};
  if (library == nullptr || library->get_handle_by_pci_bus_id == nullptr ||
      library->get_handle_by_pci_bus_id(pci_bus_id.c_str(), &device) != kSuccess) {
    return {};
  }
  return {std::move(library), device};
}

NvmlDevice NvmlDevice::by_uuid(std::shared_ptr<const NvmlLibrary> library, const std::string& uuid) {
  Device device{};
  if (library == nullptr || library->get_handle_by_uuid == nullptr ||
      library->get_handle_by_uuid(uuid.c_str(), &device) != kSuccess) {
    return {};
  }
  return {std::move(library), device};
}

NvmlDevice NvmlDevice::by_index(std::shared_ptr<const NvmlLibrary> library, unsigned int index) {
  Device device{};
  if (library == nullptr || library->get_handle_by_index == nullptr ||
      library->get_handle_by_index(index, &device) != kSuccess) {
    return {};
  }
  return {std::move(library), device};
}

std::optional<std::string> NvmlDevice::name() const {
  if (!is_known() || library_->device_name == nullptr) return std::nullopt;
  std::array<char, kNameLength + 1> text{};
  if (library_->device_name(handle_, text.data(), kNameLength) != kSuccess) return std::nullopt;
  return std::string{text.data()};
}

std::optional<Hertz> NvmlDevice::sm_clock() const {
  return from_megahertz(query<unsigned int>(&NvmlLibrary::clock_info, library_, handle_, kClockSm));
}

std::optional<Hertz> NvmlDevice::max_sm_clock() const {
  return from_megahertz(query<unsigned int>(&NvmlLibrary::max_clock_info, library_, handle_, kClockSm));
}

std::optional<double> NvmlDevice::temperature_c() const {
  if (const auto celsius = query<unsigned int>(&NvmlLibrary::temperature, library_, handle_, kTemperatureGpu)) {
    return static_cast<double>(*celsius);
  }
  // nvmlDeviceGetTemperatureV replaces the function above, which is deprecated since NVML 12.9.
  if (!is_known() || library_->temperature_v == nullptr) {
    return std::nullopt;
  }
  Temperature answer{.version = kTemperatureVersion, .sensor = kTemperatureGpu, .temperature = 0};
  if (library_->temperature_v(handle_, &answer) != kSuccess) {
    return std::nullopt;
  }
  return static_cast<double>(answer.temperature);
}

std::optional<Watts> NvmlDevice::power() const {
  if (is_known() && library_->field_values != nullptr) {
    FieldValue instant{};
    instant.field = kPowerInstant;
    const bool is_answered = library_->field_values(handle_, 1, &instant) == kSuccess && instant.result == kSuccess;
    if (is_answered && instant.value_type == kUnsignedInt) return from_milliwatts(instant.value.unsigned_int);
  }
  return from_milliwatts(query<unsigned int>(&NvmlLibrary::power_usage, library_, handle_));
}

std::optional<Watts> NvmlDevice::power_limit() const {
  return from_milliwatts(query<unsigned int>(&NvmlLibrary::power_limit, library_, handle_));
}

std::optional<Joules> NvmlDevice::total_energy() const {
  const auto millijoules = query<unsigned long long>(&NvmlLibrary::total_energy, library_, handle_);
  return millijoules ? std::optional{Joules{static_cast<double>(*millijoules) * 1e-3}} : std::nullopt;
}

std::optional<std::uint64_t> NvmlDevice::clock_event_reasons() const {
  return query<unsigned long long>(&NvmlLibrary::event_reasons, library_, handle_);
}

std::optional<bool> NvmlDevice::ecc() const { return query_mode(&NvmlLibrary::ecc_mode, library_, handle_); }

std::optional<bool> NvmlDevice::mig() const { return query_mode(&NvmlLibrary::mig_mode, library_, handle_); }

std::optional<std::int64_t> NvmlDevice::other_compute_processes() const {
  if (!is_known() || library_->compute_processes == nullptr) {
    return std::nullopt;
  }
  std::vector<ProcessInfo> processes(64);
  NvmlReturn result = kInsufficientSize;
  // NVML returns the number of processes, but more may have started before the next call.
  for (int attempt = 0; attempt < 4 && result == kInsufficientSize; ++attempt) {
    auto count = static_cast<unsigned int>(processes.size());
    result = library_->compute_processes(handle_, &count, processes.data());
    processes.resize(result == kInsufficientSize ? std::size_t{count} + 16 : std::size_t{count});
  }
  if (result != kSuccess) {
    return std::nullopt;
  }
  const auto own = static_cast<unsigned int>(getpid());
  return std::count_if(processes.begin(), processes.end(),
                       [own](const ProcessInfo& process) { return process.pid != own; });
}

}  // namespace tbench::cuda
