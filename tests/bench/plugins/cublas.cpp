// cuBLAS's products in bf16 as a plug-in, `cublas_plugin`. `aten` calls the same library, so the difference between the
// two is the cost of the plug-in interface.
#include <cublas_v2.h>

#include "tbench/plugin.h"

namespace {

cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t handle{};
    cublasCreate(&handle);
    return handle;
  }();
  return made;
}

/// cuBLAS stores matrices by columns, so y = x w^T stored by rows is y^T = w x^T.
const char* launch(const tbench_gemm_problem* problem, const tbench_gemm_arguments* in) {
  const float one = 1.0F, zero = 0.0F;
  const auto m = static_cast<int>(problem->m), n = static_cast<int>(problem->n), k = static_cast<int>(problem->k);
  cublasSetStream(handle(), static_cast<cudaStream_t>(in->launch.stream));
  const cublasStatus_t status =
      cublasGemmEx(handle(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, in->w.data, CUDA_R_16BF, k, in->x.data,
                   CUDA_R_16BF, k, &zero, in->y.data, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  return status == CUBLAS_STATUS_SUCCESS ? nullptr : cublasGetStatusString(status);
}

const char* unsupported(const tbench_gemm_problem* problem) {
  return problem->device == TBENCH_CUDA && problem->precision == TBENCH_BF16 ? nullptr : "bf16 on a GPU alone";
}

const tbench_gemm kGemm{.unsupported = &unsupported, .workspace_bytes = nullptr, .launch = &launch};

const tbench_plugin_description kDescription{.abi = TBENCH_PLUGIN_ABI,
                                             .bytes = sizeof(tbench_plugin_description),
                                             .name = "cublas_plugin",
                                             .attention = nullptr,
                                             .gemm = &kGemm,
                                             .kernel = nullptr};

}  // namespace

const tbench_plugin_description* tbench_plugin(void) { return &kDescription; }
