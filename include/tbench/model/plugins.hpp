// Implementations from the user's own shared libraries (include/tbench/plugin.h) and packages (tools/export_kernel.py):
// what a plug-in joins, and its place beside the built-in implementations. Free of LibTorch in its interface.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tbench/model/device.hpp"

namespace tbench::model {

struct Plugin {
  std::string path;    // absolute; with `:FUNCTION` behind it, a function in Python
  std::string name;    // the value of `impl`
  std::string digest;  // SHA-256 of the file, 64 hexadecimal digits
  /// The families and operations that it joins: "Attention", "Gemm", "Kernel/op:swiglu".
  std::vector<std::string> parts;
  /// The packages that a function in Python was exported to, each for some extents and precisions.
  std::vector<Plugin> packages{};
  std::string fault{};  // why cases that none of these serves cannot run; empty: each package says that itself
};

/// Whether a plug-in is a function in Python, `FILE.py:FUNCTION`.
[[nodiscard]] bool is_python_function(std::string_view path);

/// The facts of this program and its device that a package has to be made for.
struct PackageOrigin {
  std::string torch;    // "2.11.0"
  std::string machine;  // "sm90", "cpu AVX512"
};
[[nodiscard]] PackageOrigin package_origin(DeviceKind device);

/// SHA-256 of a file, in hexadecimal.
/// @throws  std::runtime_error  if it cannot be read
[[nodiscard]] std::string digest_of_file(const std::string& path);

/// Loads a library into this process, for good, and describes it. Runs the library's code: a library that crashes takes
/// the process with it. For a package (FILE.pt2) it reads the metadata, and runs nothing.
/// @param device  that the run is on
/// @throws        UsageError  that says what is wrong. A library: it cannot be opened, has no tbench_plugin(), another
///                            ABI version, no valid name, joins nothing, or lacks a function. A package: it is none of
///                            tools/export_kernel.py, of another format, PyTorch or machine
[[nodiscard]] Plugin describe_plugin(const std::string& path, DeviceKind device);

/// Adds the plug-in's implementations to the implementations of the families, for as long as the process runs. Loads
/// nothing: that is left to the first case that asks for one of them. Not thread-safe.
/// @throws  UsageError  if an implementation of any family that plug-ins join has the name, or another plug-in; if it
///                      is for an operation that there is not
void add_plugin(const Plugin& plugin);

/// Gives a function in Python that was added the packages and the fault of `plugin`.
void complete_plugin(const Plugin& plugin);

/// The plug-in that an implementation comes from; null for one that is built in.
[[nodiscard]] const Plugin* find_plugin(std::string_view impl);

}  // namespace tbench::model
