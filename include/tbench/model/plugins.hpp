// Implementations from the user's own shared libraries (include/tbench/plugin.h) and packages (tools/export_kernel.py):
// what a plug-in joins, and its place beside the built-in implementations. Free of LibTorch in its interface.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tbench/model/device.hpp"

namespace tbench::model {

struct Plugin {
  std::string path;    // absolute
  std::string name;    // the value of `impl`
  std::string digest;  // SHA-256 of the file, 64 hexadecimal digits
  /// The families and operations that it joins: "Attention", "Gemm", "Kernel/op:swiglu".
  std::vector<std::string> parts;
};

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

/// The plug-in that an implementation comes from; null for one that is built in.
[[nodiscard]] const Plugin* find_plugin(std::string_view impl);

}  // namespace tbench::model
