# Sourced by the scripts next to it: puts the project's CMake, Python and CUDA on PATH. Installs nothing.

tbench_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tbench_venv=$tbench_root/.venv
[ -d "$tbench_venv/bin" ] && PATH=$tbench_venv/bin:$PATH

# Prints the folder of the CUDA 13 toolkit: the system's, or the one that the wheels make. Prints nothing if there is
# none.
tbench_find_cuda() {
  local candidate
  for candidate in "${CUDA_HOME:-}" "$(dirname "$(dirname "$(command -v nvcc 2>/dev/null)")" 2>/dev/null)" /usr/local/cuda \
    "$tbench_venv"/lib/python3*/site-packages/nvidia/cu13; do
    if [ -x "$candidate/bin/nvcc" ] && "$candidate/bin/nvcc" --version 2>/dev/null | grep -q 'release 13'; then
      echo "$candidate"
      return
    fi
  done
}

tbench_cuda=$(tbench_find_cuda)
tbench_cmake_arguments=()
if [ -n "$tbench_cuda" ]; then
  PATH=$tbench_cuda/bin:$PATH
  tbench_cmake_arguments+=("-DCUDA_TOOLKIT_ROOT_DIR=$tbench_cuda" "-DCUDAToolkit_ROOT=$tbench_cuda"
    "-DCMAKE_CUDA_COMPILER=$tbench_cuda/bin/nvcc")
fi
export PATH
