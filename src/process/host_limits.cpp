#include "tbench/process/host_limits.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string_view>
#include <vector>

#include "tbench/core/text.hpp"

namespace tbench::process {
namespace {

namespace fs = std::filesystem;

/// An upper bound of the number of CPUs of the largest machines.
constexpr int kMaxCpus = 1 << 16;

std::string first_line(const fs::path& path) {
  std::string line;
  std::ifstream file{path};
  std::getline(file, line);
  return line;
}

/// Returns the folders of the process's group and of its ancestors, up to the mount point of the hierarchy. In a
/// container, the path may be a path on the host, of which only the mount point exists.
std::vector<fs::path> folders_of(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> folders;
  for (fs::path path = mount / fs::path{group}.relative_path();; path = path.parent_path()) {
    folders.push_back(path);
    if (path == mount || !path.has_relative_path()) return folders;
  }
}

/// Returns the folders of the groups that limit `controller` ("cpu", "memory"), in both versions.
std::vector<fs::path> groups_of(const fs::path& root, std::string_view controller) {
  std::vector<fs::path> folders;
  const auto add = [&](const std::string& mount, const std::string& group) {
    const std::vector<fs::path> more = folders_of(root / "sys/fs/cgroup" / mount, group);
    folders.insert(folders.end(), more.begin(), more.end());
  };
  std::ifstream file{root / "proc/self/cgroup"};
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string listed = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    while (group.ends_with('/')) group.pop_back();
    const std::vector<std::string> controllers = split(listed, ',');
    if (listed.empty()) {
      add("", group);
      add("unified", group);
    } else if (std::ranges::find(controllers, controller) != controllers.end()) {
      add(listed, group);
      add(std::string{controller}, group);
    }
  }
  return folders;
}

/// Returns the lowest limit of all groups, or nullopt if none has a limit.
template <class Value>
std::optional<Value> least_of(const std::vector<fs::path>& folders,
                              const std::function<std::optional<Value>(const fs::path&)>& limit_in) {
  std::optional<Value> least;
  for (const fs::path& folder : folders) {
    const std::optional<Value> limit = limit_in(folder);
    if (limit && (!least || *limit < *least)) least = limit;
  }
  return least;
}

std::optional<double> share(const std::string& quota, const std::string& period) {
  const std::optional<std::int64_t> used = parse_integer(quota);
  const std::optional<std::int64_t> of = parse_integer(period);
  if (!used || !of || *used <= 0 || *of <= 0) return std::nullopt;
  return static_cast<double>(*used) / static_cast<double>(*of);
}

std::optional<double> quota_in(const fs::path& folder) {
  const std::string both = first_line(folder / "cpu.max");  // "max 100000" or "150000 100000"
  const std::size_t space = both.find(' ');
  if (space != std::string::npos) return share(both.substr(0, space), both.substr(space + 1));
  return share(first_line(folder / "cpu.cfs_quota_us"), first_line(folder / "cpu.cfs_period_us"));
}

std::optional<std::int64_t> memory_in(const fs::path& folder) {
  const std::optional<std::int64_t> limit = parse_integer(first_line(folder / "memory.max"));
  return limit ? limit : parse_integer(first_line(folder / "memory.limit_in_bytes"));
}

std::optional<std::int64_t> machine_memory(const fs::path& root) {
  constexpr std::int64_t kKibi = 1024;
  std::ifstream file{root / "proc/meminfo"};
  std::string name;
  std::int64_t kibibytes{};
  while (file >> name >> kibibytes) {
    if (name == "MemTotal:") return kibibytes * kKibi;
    std::getline(file, name);
  }
  return std::nullopt;
}

/// Returns the CPUs that this thread may use. The kernel rejects sets shorter than its own, so longer ones are tried.
std::vector<int> allowed_cpus() {
  for (int count = CPU_SETSIZE; count <= kMaxCpus; count *= 2) {
    cpu_set_t* const set = CPU_ALLOC(count);
    if (set == nullptr) return {};
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    std::vector<int> cpus;
    if (::sched_getaffinity(0, bytes, set) == 0) {
      for (int cpu = 0; cpu < count; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
      }
    }
    CPU_FREE(set);
    if (!cpus.empty()) return cpus;
  }
  return {};
}

}  // namespace

std::string cpu_list(std::span<const int> cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[first]);
    if (last > first) text += fmt::format("-{}", cpus[last]);
    first = last + 1;
  }
  return text;
}

std::optional<double> cpu_quota(const fs::path& root) { return least_of<double>(groups_of(root, "cpu"), quota_in); }

std::optional<std::int64_t> memory_limit(const fs::path& root) {
  const std::optional<std::int64_t> machine = machine_memory(root);
  const std::optional<std::int64_t> groups = least_of<std::int64_t>(groups_of(root, "memory"), memory_in);
  if (!machine || !groups) return machine ? machine : groups;
  return std::min(*machine, *groups);
}

std::optional<CpuLimits> read_cpu_limits() {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.empty()) return std::nullopt;
  return CpuLimits{.affinity = cpu_list(cpus), .quota = cpu_quota()};
}

}  // namespace tbench::process
