// A library with NVML's names and documented signatures, for tests without a driver. It has two devices: "full" answers
// every query, and "bare" supports none. nvmlDeviceGetTemperature and nvmlDeviceGetCurrentClocksEventReasons are
// missing, as in newer and in older drivers; their replacements are here.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int full_device;
int bare_device;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;

template <class Value>
int answer(void* device, Value* target, Value value) {
  if (device != &full_device) {
    return kNotSupported;
  }
  *target = value;
  return 0;
}
}  // namespace

extern "C" {

struct FakeProcess {
  unsigned int pid;
  unsigned long long memory;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

struct FakeTemperature {
  unsigned int version;
  int sensor;
  int temperature;
};

struct FakeFieldValue {
  unsigned int field;
  unsigned int scope;
  long long timestamp;
  long long latency_us;
  int value_type;
  int result;
  unsigned long long value;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }

int nvmlSystemGetDriverVersion(char* text, unsigned int length) {
  return std::snprintf(text, length, "580.159.03") > 0 ? 0 : 1;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  if (std::strcmp(bus_id, "0000:0F:00.0") == 0) {
    *device = &full_device;
  } else if (std::strcmp(bus_id, "0000:10:00.0") == 0) {
    *device = &bare_device;
  } else {
    return kNotFound;
  }
  return 0;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &full_device;
  return std::strcmp(uuid, "GPU-full") == 0 ? 0 : kNotFound;
}

/// Device 0 is "full" and device 1 is "bare".
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  *device = index == 0 ? &full_device : &bare_device;
  return index < 2 ? 0 : kNotFound;
}

int nvmlDeviceGetName(void* device, char* text, unsigned int length) {
  if (device != &full_device) return kNotSupported;
  return std::snprintf(text, length, "NVIDIA Full 80GB") > 0 ? 0 : 1;
}

int nvmlDeviceGetClockInfo(void* device, int type, unsigned int* mhz) {
  return answer(device, mhz, type == 1 ? 1755U : 9999U);
}
int nvmlDeviceGetMaxClockInfo(void* device, int type, unsigned int* mhz) {
  return answer(device, mhz, type == 1 ? 1980U : 9999U);
}
int nvmlDeviceGetTemperatureV(void* device, FakeTemperature* target) {
  if (target->version != 0x0100000CU || target->sensor != 0) {
    return 2;
  }
  return answer(device, &target->temperature, 54);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned int* milliwatts) { return answer(device, milliwatts, 612345U); }
/// Reports only the instantaneous power, and not even that if TBENCH_FAKE_NVML_AVERAGE is in the environment.
int nvmlDeviceGetFieldValues(void* device, int count, FakeFieldValue* values) {
  if (device != &full_device) {
    return kNotSupported;
  }
  for (int i = 0; i < count; ++i) {
    const bool is_known =
        values[i].field == 186 && values[i].scope == 0 && getenv("TBENCH_FAKE_NVML_AVERAGE") == nullptr;
    values[i].result = is_known ? 0 : kNotSupported;
    values[i].value_type = 1;
    values[i].value = 698'765;
  }
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned int* milliwatts) {
  return answer(device, milliwatts, 700000U);
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  return answer(device, millijoules, 8'000'000'123ULL);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* mask) {
  return answer(device, mask, 0x44ULL);
}
int nvmlDeviceGetEccMode(void* device, int* current, int* pending) {
  *pending = 0;
  return answer(device, current, 1);
}
int nvmlDeviceGetMigMode(void* device, unsigned int* current, unsigned int* pending) {
  *pending = 1;
  return answer(device, current, 0U);
}

/// Reports 70 processes. The fifth is the caller.
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count, FakeProcess* processes) {
  if (device != &full_device) {
    return kNotSupported;
  }
  const unsigned int room = *count;
  *count = 70;
  if (room < 70) {
    return kInsufficientSize;
  }
  for (unsigned int i = 0; i < 70; ++i) {
    processes[i] = {i == 4 ? static_cast<unsigned int>(getpid()) : 4'000'000'000U + i, 0, 0, 0};
  }
  return 0;
}

}  // extern "C"
