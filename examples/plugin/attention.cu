// Attention of one's own, forward and backward with online softmax, on a GPU and on the CPU: a row of q, or of k and v,
// belongs to LANES neighbouring threads, each of which has every LANES-th element of it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>

#include "tbench/plugin.h"

namespace {

#ifdef __CUDA_ARCH__
#define LANE_SUM(x) \
  for (int o = LANES / 2; o > 0; o /= 2) (x) += __shfl_xor_sync(~0U, x, o)
#else
#define LANE_SUM(x) static_cast<void>(x)
#endif

template <class T>
struct Arguments {
  const T *q, *k, *v, *grad_o;  // [batch * heads, seq, head_dim]
  T *o, *dq, *dk, *dv;
  float *lse, *delta;  // [batch * heads, seq]; delta is the sum of o * grad_o of a row
  int64_t rows, seq;   // batch * heads * seq; queries of a head, and keys
  float scale;
  bool causal;
};

template <int D, int LANES, class T>
struct Row {
  float x[D / LANES];
  __host__ __device__ Row() : x{} {}
  __host__ __device__ Row(const T* from, int64_t row, int lane) {
    for (int i = 0; i < D / LANES; ++i) x[i] = static_cast<float>(from[row * D + i * LANES + lane]);
  }
  __host__ __device__ float dot(const Row& other) const {
    float sum = 0;
    for (int i = 0; i < D / LANES; ++i) sum += x[i] * other.x[i];
    LANE_SUM(sum);
    return sum;
  }
  __host__ __device__ void add(float factor, const Row& other, float shrink = 1) {
    for (int i = 0; i < D / LANES; ++i) x[i] = x[i] * shrink + factor * other.x[i];
  }
  __host__ __device__ void store(T* to, int64_t row, int lane, float factor) const {
    for (int i = 0; i < D / LANES; ++i) to[row * D + i * LANES + lane] = static_cast<T>(x[i] * factor);
  }
};

// One row of the output: `row` counts over all heads.
struct Forward {
  template <int D, int LANES, class T>
  __host__ __device__ static void run(const Arguments<T>& a, int64_t row, int lane) {
    const int64_t head = row / a.seq * a.seq, keys = a.causal ? row - head + 1 : a.seq;
    const Row<D, LANES, T> q{a.q, row, lane};
    Row<D, LANES, T> o;
    float top = -INFINITY, sum = 0;
    for (int64_t j = head; j < head + keys; ++j) {
      const float score = q.dot({a.k, j, lane}) * a.scale, new_top = fmaxf(top, score);
      const float p = expf(score - new_top), shrink = expf(top - new_top);
      o.add(p, {a.v, j, lane}, shrink);
      sum = sum * shrink + p;
      top = new_top;
    }
    o.store(a.o, row, lane, 1 / sum);
    if (lane == 0) a.lse[row] = top + logf(sum);
  }
};

// One row of dq, and of delta.
struct BackwardQuery {
  template <int D, int LANES, class T>
  __host__ __device__ static void run(const Arguments<T>& a, int64_t row, int lane) {
    const int64_t head = row / a.seq * a.seq, keys = a.causal ? row - head + 1 : a.seq;
    const Row<D, LANES, T> q{a.q, row, lane}, grad{a.grad_o, row, lane};
    const float delta = grad.dot({a.o, row, lane});
    Row<D, LANES, T> dq;
    for (int64_t j = head; j < head + keys; ++j) {
      const Row<D, LANES, T> k{a.k, j, lane};
      const float p = expf(q.dot(k) * a.scale - a.lse[row]);
      dq.add(p * (grad.dot({a.v, j, lane}) - delta), k);
    }
    dq.store(a.dq, row, lane, a.scale);
    if (lane == 0) a.delta[row] = delta;
  }
};

// One row of dk and dv, after all of delta.
struct BackwardKey {
  template <int D, int LANES, class T>
  __host__ __device__ static void run(const Arguments<T>& a, int64_t row, int lane) {
    const int64_t head = row / a.seq * a.seq;
    const Row<D, LANES, T> k{a.k, row, lane}, v{a.v, row, lane};
    Row<D, LANES, T> dk, dv;
    for (int64_t i = a.causal ? row : head; i < head + a.seq; ++i) {
      const Row<D, LANES, T> q{a.q, i, lane}, grad{a.grad_o, i, lane};
      const float p = expf(q.dot(k) * a.scale - a.lse[i]);
      dk.add(p * (grad.dot(v) - a.delta[i]), q);
      dv.add(p, grad);
    }
    dk.store(a.dk, row, lane, a.scale);
    dv.store(a.dv, row, lane, 1);
  }
};

constexpr int kLanes = 8, kThreads = 128;

template <class Pass, int D, class T>
__global__ void rows_kernel(Arguments<T> a) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x, row = thread / kLanes;
  // Lanes behind the last row compute that again: whole warps take part in the sums.
  Pass::template run<D, kLanes>(a, row < a.rows ? row : a.rows - 1, static_cast<int>(thread % kLanes));
}

template <class Pass, int D, class T>
const char* run(const Arguments<T>& a, const tbench_launch& launch, int32_t device) {
  if (device == TBENCH_CPU) {
    for (int64_t row = 0; row < a.rows; ++row) Pass::template run<D, 1>(a, row, 0);
    return nullptr;
  }
  const auto blocks = static_cast<unsigned>((a.rows * kLanes + kThreads - 1) / kThreads);
  rows_kernel<Pass, D><<<blocks, kThreads, 0, static_cast<cudaStream_t>(launch.stream)>>>(a);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

template <class T>
T* pointer(const tbench_tensor& tensor) {
  return static_cast<T*>(tensor.data);
}

template <int D, class T>
struct Problem {
  static const char* forward(const tbench_attention_problem* p, const tbench_attention_forward* f) {
    Arguments<T> a = arguments(p, f->q, f->k, f->v, f->o, f->lse);
    return run<Forward, D>(a, f->launch, p->device);
  }

  static const char* backward(const tbench_attention_problem* p, const tbench_attention_backward* b) {
    Arguments<T> a = arguments(p, b->q, b->k, b->v, b->o, b->lse);
    a.grad_o = pointer<T>(b->grad_o);
    a.dq = pointer<T>(b->dq), a.dk = pointer<T>(b->dk), a.dv = pointer<T>(b->dv);
    a.delta = static_cast<float*>(b->launch.workspace);
    const char* const error = run<BackwardQuery, D>(a, b->launch, p->device);
    return error != nullptr ? error : run<BackwardKey, D>(a, b->launch, p->device);
  }

 private:
  static Arguments<T> arguments(const tbench_attention_problem* p, const tbench_tensor& q, const tbench_tensor& k,
                                const tbench_tensor& v, const tbench_tensor& o, const tbench_tensor& lse) {
    Arguments<T> a{};
    a.q = pointer<T>(q), a.k = pointer<T>(k), a.v = pointer<T>(v), a.o = pointer<T>(o);
    a.lse = pointer<float>(lse);
    a.rows = p->batch * p->heads * p->seq_q, a.seq = p->seq_q;
    a.scale = static_cast<float>(p->scale), a.causal = p->causal != 0;
    return a;
  }
};

// Calls `use` with the problem's head_dim and type: a Problem.
template <class Use>
const char* for_problem(const tbench_attention_problem* p, Use use) {
  const auto of_type = [&](auto bf16, auto fp16, auto fp32) -> const char* {
    if (p->precision == TBENCH_BF16) return use(bf16);
    return p->precision == TBENCH_FP16 ? use(fp16) : use(fp32);
  };
  if (p->head_dim == 32) {
    return of_type(Problem<32, __nv_bfloat16>{}, Problem<32, __half>{}, Problem<32, float>{});
  }
  if (p->head_dim == 64) {
    return of_type(Problem<64, __nv_bfloat16>{}, Problem<64, __half>{}, Problem<64, float>{});
  }
  return of_type(Problem<128, __nv_bfloat16>{}, Problem<128, __half>{}, Problem<128, float>{});
}

// A reason here makes the case `unsupported`.
const char* unsupported(const tbench_attention_problem* p) {
  if (p->seq_q != p->seq_kv) return "this kernel needs as many keys as queries";
  const bool has_dim = p->head_dim == 32 || p->head_dim == 64 || p->head_dim == 128;
  return has_dim ? nullptr : "this kernel has head_dim 32, 64 and 128 alone";
}

int64_t delta_bytes(const tbench_attention_problem* p) {
  return p->batch * p->heads * p->seq_q * static_cast<int64_t>(sizeof(float));
}

const char* forward(const tbench_attention_problem* p, const tbench_attention_forward* f) {
  return for_problem(p, [&](auto problem) { return decltype(problem)::forward(p, f); });
}

const char* backward(const tbench_attention_problem* p, const tbench_attention_backward* b) {
  return for_problem(p, [&](auto problem) { return decltype(problem)::backward(p, b); });
}

const tbench_attention kAttention{
    1,  // forward writes lse
    &unsupported,
    nullptr,  // forward needs no workspace
    &delta_bytes,
    nullptr,  // nothing saved but lse
    &forward,
    &backward,
};

const tbench_plugin_description kDescription{
    TBENCH_PLUGIN_ABI,
    sizeof(tbench_plugin_description),
    "mine",  // the cases are called Attention/.../impl:mine
    &kAttention,
    nullptr,  // joins neither Gemm
    nullptr,  // nor Kernel
};

}  // namespace

const tbench_plugin_description* tbench_plugin(void) { return &kDescription; }
