// Plug-ins: implementations from the user's own shared libraries (include/tbench/plugin.h) and packages
// (tools/export_kernel.py). Functions here describe plug-ins and add them to the built-in implementations. The
// interface is free of LibTorch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tbench/model/device.hpp"

namespace tbench::model {

struct Plugin {
  std::string path;    // absolute; ends with `:FUNCTION` for a Python function
  std::string name;    // the value of `impl`
  std::string digest;  // SHA-256 of the file, 64 hexadecimal digits
  /// The families and operations that the plug-in has implementations for: "Attention", "Gemm", "Kernel/op:swiglu".
  std::vector<std::string> parts;
  /// The packages that a Python function was exported to, each for some extents and precisions.
  std::vector<Plugin> packages{};
  std::string fault{};  // why cases that no package serves cannot run; if empty, the packages' own reasons are reported
};

/// Whether `path` is a Python function, `FILE.py:FUNCTION`.
[[nodiscard]] bool is_python_function(std::string_view path);
/// Returns the file that a plug-in's path names: `FILE.py` for a Python function, else the path itself.
[[nodiscard]] std::string file_of_plugin(std::string_view path);

/// The PyTorch version and machine of this process. A package must be made for the same ones.
struct PackageOrigin {
  std::string torch;    // "2.11.0"
  std::string machine;  // "sm90", "cpu AVX512"
};
[[nodiscard]] PackageOrigin package_origin(DeviceKind device);

/// Returns the SHA-256 of a file, in hexadecimal.
/// @throws  std::runtime_error  if the file cannot be read
[[nodiscard]] std::string digest_of_file(const std::string& path);

/// Loads a library into this process, for good, and describes it. Runs the library's code: a library that crashes takes
/// the process with it. For a package (FILE.pt2) it reads the metadata, and runs nothing.
/// @param device  the device of the run
/// @throws        UsageError  with the fault. A library cannot be opened, or has no tbench_plugin(), another ABI
///                            version, no valid name or no implementation, or lacks a function. A package is not from
///                            tools/export_kernel.py, or is for another format version, PyTorch version or machine
[[nodiscard]] Plugin describe_plugin(const std::string& path, DeviceKind device);

/// Adds the plug-in's implementations to the families, for as long as the process runs. Does not load the plug-in: the
/// first case that uses one of its implementations does. Not thread-safe.
/// @throws  UsageError  if another plug-in, or an implementation in any family that plug-ins can extend, already has
///                      the name; if the plug-in is for an unknown operation
void add_plugin(const Plugin& plugin);

/// Sets the packages and the fault of a Python function that was added before, from `plugin`.
void complete_plugin(const Plugin& plugin);

/// Returns the plug-in that an implementation comes from, or null for a built-in implementation.
[[nodiscard]] const Plugin* find_plugin(std::string_view impl);

}  // namespace tbench::model
