# Finds CUDA and LibTorch. LibTorch comes with the torch wheel: ci/setup.sh installs it into .venv and tells CMake
# where.

# Torch's CMake ignores CMAKE_CUDA_ARCHITECTURES, and without this list it runs a program to look for a GPU.
set(TORCH_CUDA_ARCH_LIST ${TBENCH_CUDA_ARCHITECTURES})
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
# The flags that Torch's CMake adds to each target tell nvcc which machine code to make.
set(CMAKE_CUDA_ARCHITECTURES OFF)
enable_language(CUDA)
find_package(CUDAToolkit 12.8 REQUIRED)
if(NOT TARGET CUDA::cublasLt)
  message(FATAL_ERROR "The CUDA toolkit in ${CUDAToolkit_LIBRARY_ROOT} has no cuBLAS: install its cuBLAS package (in "
                      "NVIDIA's repositories libcublas-dev-13-0), or the wheels of ci/requirements-cuda.txt by ci/setup.sh")
endif()

if(NOT Torch_DIR AND NOT DEFINED ENV{Torch_DIR})
  find_package(Python3 COMPONENTS Interpreter)
  foreach(python ${PROJECT_SOURCE_DIR}/.venv/bin/python3 ${Python3_EXECUTABLE})
    if(EXISTS ${python})
      execute_process(COMMAND ${python} -c "import torch; print(torch.utils.cmake_prefix_path)"
                      OUTPUT_VARIABLE torch_prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      if(torch_prefix)
        list(APPEND CMAKE_PREFIX_PATH ${torch_prefix})
        break()
      endif()
    endif()
  endforeach()
endif()
find_package(Torch 2.11 REQUIRED)
get_filename_component(TBENCH_TORCH_LIB_DIR ${TORCH_LIBRARY} DIRECTORY)

# LibTorch's headers cause our warnings, so they are system headers.
add_library(tbench_torch INTERFACE)
target_include_directories(tbench_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_link_libraries(tbench_torch INTERFACE ${TORCH_LIBRARIES})
# LibTorch has its own fmt headers, which precede the system's and have no library. All other targets link fmt::fmt,
# because a source that instantiates fmt's templates takes 3 s to compile.
target_link_libraries(tbench_torch INTERFACE fmt::fmt-header-only)
separate_arguments(torch_cxx_flags NATIVE_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(tbench_torch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${torch_cxx_flags}>)

# c10d's backends. LibTorch's wheel has gloo's library without its headers. NCCL comes in a wheel by NVIDIA; its header
# precedes the system's, which may be of any version. A program that is built without nccl.h runs ranks only on CPUs.
find_path(TBENCH_GLOO_INCLUDE_DIR gloo/context.h REQUIRED)
find_path(TBENCH_NCCL_INCLUDE_DIR nccl.h PATHS ${TBENCH_TORCH_LIB_DIR}/../../nvidia/nccl/include NO_DEFAULT_PATH)
find_path(TBENCH_NCCL_INCLUDE_DIR nccl.h)
add_library(tbench_c10d INTERFACE)
target_include_directories(tbench_c10d SYSTEM INTERFACE ${TBENCH_GLOO_INCLUDE_DIR})
target_compile_definitions(tbench_c10d INTERFACE USE_C10D_GLOO)
if(TBENCH_NCCL_INCLUDE_DIR)
  target_include_directories(tbench_c10d SYSTEM INTERFACE ${TBENCH_NCCL_INCLUDE_DIR})
  target_compile_definitions(tbench_c10d INTERFACE USE_C10D_NCCL)
endif()

# A process has one cuBLAS, one cuBLASLt and one CUDA runtime: the first that it loads. These must be LibTorch's own
# libraries, not the toolkit's. They are next to LibTorch or, if LibTorch comes from the wheel, in a wheel by NVIDIA.
get_filename_component(torch_wheel_libs ${TBENCH_TORCH_LIB_DIR}/../../nvidia/cu13/lib ABSOLUTE)
set(TBENCH_CUDA_LIB_DIRS ${CUDAToolkit_LIBRARY_DIR})
if(EXISTS ${torch_wheel_libs})
  list(PREPEND TBENCH_CUDA_LIB_DIRS ${torch_wheel_libs})
endif()
set(CMAKE_BUILD_RPATH ${TBENCH_TORCH_LIB_DIR} ${TBENCH_CUDA_LIB_DIRS})
