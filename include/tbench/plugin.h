/* Implementations of your own, measured beside the built-in ones without rebuilding transformer_bench.
 *
 * A shared library exports tbench_plugin(), which describes the families that it joins: Attention, Gemm, Kernel. The
 * name in the description becomes the value of the cases' key `impl`. C11 and C++; nothing to link against.
 *
 *   nvcc -shared -Xcompiler -fPIC -O3 -I PREFIX/include mine.cu -o libmine.so
 *   transformer_bench --tb_plugin=./libmine.so --benchmark_filter='Kernel/op:swiglu/.*'
 *
 * The library is loaded where cases run, in a worker process that runs no cases of anybody else, and never unloaded. A
 * child process loads it once before, for the description. All functions are called on one thread. They must return: a
 * case that gives no sign of life for --tb_timeout seconds ends as `timeout`. A crash costs the case that it happens
 * in.
 *
 * Errors. Functions that return `const char*` return NULL if all is well, else a message of one line. The caller copies
 * it before the next call. A message of `unsupported` makes the case `unsupported`, any other one makes it `crashed`.
 *
 * Memory. Every pointer belongs to the caller and is valid during the call. On a GPU tensors, `workspace` and `saved`
 * lie on the current device, aligned to 256 bytes; on the CPU to 64. Contents of what is to be written are undefined.
 *
 * What is timed. Launches alone: on a GPU what they enqueue on `stream`, on the CPU until they return. The first launch
 * of a case is never timed and may initialise. Launches are repeated, on operands that are drawn again in place before each
 * of them: a launch reads all its operands, and writes all its outputs, every time. It leaves them unchanged, enqueues on `stream`
 * or on streams forked from it and joined to it again, never synchronises the device with the host, and leaves the
 * limits of the device (persisting L2 cache) as they are. Each of this is checked, before, during and after the timing,
 * and a case that fails a check is `incorrect`. bench/README.md of the sources says which data and tolerances are used.
 */
#ifndef TBENCH_PLUGIN_H
#define TBENCH_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by every change that makes an older library wrong. Another version is refused. */
#define TBENCH_PLUGIN_ABI 1

#define TBENCH_MAX_DIMS 8

/* Where pointers of a call lie, and where it has to run. */
enum tbench_device { TBENCH_CPU = 0, TBENCH_CUDA = 1 };

/* What a case computes in. fp32 has TF32 off; tf32 is float32 storage with products of TF32 inputs; bf16 and fp16 are
 * storage types, summed in float32; fp8_e4m3 (Gemm alone) has one float32 scale a tensor and a bf16 result. */
enum tbench_precision { TBENCH_FP32 = 0, TBENCH_TF32 = 1, TBENCH_BF16 = 2, TBENCH_FP16 = 3, TBENCH_FP8_E4M3 = 4 };

enum tbench_dtype {
  TBENCH_DTYPE_F32 = 0,
  TBENCH_DTYPE_BF16 = 1,
  TBENCH_DTYPE_F16 = 2,
  TBENCH_DTYPE_F8_E4M3 = 3,
  TBENCH_DTYPE_I64 = 4
};

enum tbench_pass { TBENCH_FORWARD = 0, TBENCH_BACKWARD = 1 };

typedef struct tbench_tensor {
  void* data;                       /* NULL: there is no such tensor */
  int32_t dtype;                    /* enum tbench_dtype */
  int32_t dims;                     /* 0 (a scalar) to TBENCH_MAX_DIMS */
  int64_t sizes[TBENCH_MAX_DIMS];   /* > 0; the first `dims` count */
  int64_t strides[TBENCH_MAX_DIMS]; /* in elements. This version passes contiguous tensors alone */
} tbench_tensor;

/* Of every launch. */
typedef struct tbench_launch {
  void* stream;            /* a cudaStream_t, NULL being the legacy default stream; on the CPU NULL */
  void* workspace;         /* as many bytes as asked for; NULL where that is 0. Undefined at every launch */
  int64_t workspace_bytes; /* their number */
} tbench_launch;

/* ---- Attention: o = softmax(scale q k^T, masked) v ---- */

typedef struct tbench_attention_problem {
  int32_t device;    /* enum tbench_device */
  int32_t precision; /* enum tbench_precision: not TBENCH_FP8_E4M3 */
  int64_t batch, heads, seq_q, seq_kv, head_dim;
  double scale;          /* of q k^T: 1 / sqrt(head_dim) */
  int32_t causal;        /* 1: query i sees keys 0 ... i, and seq_q is seq_kv */
  int32_t with_backward; /* 1: forward is followed by backward. 0: forward alone, and `saved` is NULL */
} tbench_attention_problem;

typedef struct tbench_attention_forward {
  tbench_launch launch;
  tbench_tensor q, k, v; /* read: [batch, heads, seq_q | seq_kv | seq_kv, head_dim] */
  tbench_tensor o;       /* written: [batch, heads, seq_q, head_dim], as q */
  tbench_tensor lse;     /* written: [batch, heads, seq_q] float32, the natural logarithm of the sum of
                            exp(scale q k^T) over the keys that are seen. No such tensor unless gives_lse */
  void* saved;           /* written: what backward reads besides, saved_bytes() of it; NULL where that is 0 */
} tbench_attention_forward;

typedef struct tbench_attention_backward {
  tbench_launch launch;
  tbench_tensor q, k, v, o, lse; /* read: as forward has read and left them */
  tbench_tensor grad_o;          /* read: as o */
  tbench_tensor dq, dk, dv;      /* written: as q, k, v */
  const void* saved;             /* read: as forward has left it */
} tbench_attention_backward;

typedef struct tbench_attention {
  int32_t gives_lse; /* 1: forward writes lse, which is verified and handed to backward */
  /* Why it cannot compute the problem, or NULL. May be NULL: it can compute all. */
  const char* (*unsupported)(const tbench_attention_problem*);
  /* Bytes, >= 0. Each may be NULL: none. */
  int64_t (*forward_workspace_bytes)(const tbench_attention_problem*);
  int64_t (*backward_workspace_bytes)(const tbench_attention_problem*);
  int64_t (*saved_bytes)(const tbench_attention_problem*);
  const char* (*forward)(const tbench_attention_problem*, const tbench_attention_forward*);
  /* Any number of times after one forward. May be NULL: cases with a backward pass are `unsupported`. */
  const char* (*backward)(const tbench_attention_problem*, const tbench_attention_backward*);
} tbench_attention;

/* ---- Gemm: y = x w^T ---- */

typedef struct tbench_gemm_problem {
  int32_t device;    /* enum tbench_device */
  int32_t precision; /* enum tbench_precision */
  int64_t m, n, k;
} tbench_gemm_problem;

typedef struct tbench_gemm_arguments {
  tbench_launch launch;
  tbench_tensor x;                /* read: [m, k] */
  tbench_tensor w;                /* read: [n, k] */
  tbench_tensor x_scale, w_scale; /* read: scalars, float32; x stands for x_scale x. No such tensors but of fp8_e4m3 */
  tbench_tensor y;                /* written: [m, n] */
} tbench_gemm_arguments;

typedef struct tbench_gemm {
  const char* (*unsupported)(const tbench_gemm_problem*); /* as of tbench_attention */
  int64_t (*workspace_bytes)(const tbench_gemm_problem*); /* may be NULL: none */
  const char* (*launch)(const tbench_gemm_problem*, const tbench_gemm_arguments*);
} tbench_gemm;

/* ---- Kernel: the models' operations one by one ----
 *
 * The formula, inputs and shapes of each operation stand in src/model/operations/kernels/ of the sources. Tensors come
 * in this order, tokens being batch * context:
 *
 *   op             inputs                                     results                     results of backward
 *   rmsnorm        x [tokens, d_model], w [d_model]           y                           dx, dw
 *   rope           q and k [batch, context, 2, heads,         the same                    the gradient of the input
 *                  head_dim]
 *   rope_qkv       [batch, context, 3, heads, head_dim]       [3, batch, heads, context,  the gradient of the input
 *                                                             head_dim]
 *   swiglu         gate, up [tokens, d_ff]                    h = silu(gate) up           dgate, dup
 *   swiglu_packed  [tokens, 2 d_ff], gate and then up         h [tokens, d_ff]            dgate, dup, h
 *   softmax        scores [batch, heads, context, context]    p, over the last dimension  dscores
 *   cross_entropy  logits [tokens, vocab_size],               the mean loss, a scalar     dlogits
 *                  targets [tokens] int64
 *   embedding      table [vocab_size, d_model],               rows [tokens, d_model]      the table's gradient
 *                  ids [tokens] int64
 *   cast           float32 [d_ff, d_model]                    the same in the precision   float32
 *   add            a, b [tokens, d_model]                     a + b                       -
 *   add_rmsnorm    x [tokens, d_model] float32, the           sum float32, normed         dx float32, the sublayer's
 *                  sublayer's output, w [d_model] float32                                 gradient, dw
 *
 * `gradients` are those of the results of forward, in their order. A scalar has 0 dimensions. Operations in place
 * (adamw, adamw_cast, cross_entropy_in_place) take no plug-ins.
 */

typedef struct tbench_kernel_problem {
  int32_t device;    /* enum tbench_device */
  int32_t precision; /* enum tbench_precision: not TF32, not FP8_E4M3 */
  int32_t pass;      /* enum tbench_pass: what is timed */
  int32_t reserved;
  const char* op; /* "rmsnorm" */
  int64_t batch, context, d_model, d_ff, heads, head_dim, vocab_size;
} tbench_kernel_problem;

/* `results` are written, the others read. Of a backward pass `outputs` are the results of the forward before it. */
typedef struct tbench_kernel_arguments {
  tbench_launch launch;
  int32_t num_inputs, num_gradients, num_outputs, num_results;
  const tbench_tensor* inputs;
  const tbench_tensor* gradients;
  const tbench_tensor* outputs;
  const tbench_tensor* results;
  void* saved; /* written by a forward for a backward, read by that; saved_bytes() of it, NULL where that is 0 and for
                  a forward pass alone */
} tbench_kernel_arguments;

typedef struct tbench_kernel {
  const char* const* ops;                                   /* names of the operations that it computes, then NULL */
  const char* (*unsupported)(const tbench_kernel_problem*); /* as of tbench_attention */
  int64_t (*workspace_bytes)(const tbench_kernel_problem*); /* of the problem's pass; may be NULL: none */
  int64_t (*saved_bytes)(const tbench_kernel_problem*);     /* may be NULL: none */
  const char* (*forward)(const tbench_kernel_problem*, const tbench_kernel_arguments*);
  /* Any number of times after one forward, for which the problem's pass is TBENCH_BACKWARD too. May be NULL. */
  const char* (*backward)(const tbench_kernel_problem*, const tbench_kernel_arguments*);
} tbench_kernel;

/* ---- The library ---- */

/* Everything in it is constant for as long as the process lives. */
typedef struct tbench_plugin_description {
  int32_t abi;      /* TBENCH_PLUGIN_ABI */
  int32_t bytes;    /* sizeof(tbench_plugin_description): a later header, with more families, tells this one by it */
  const char* name; /* value of the key `impl`: letters, digits, '_', '-' and '.', at most 32; none that is built in */
  /* The families that it joins, at least one. NULL: not joined. */
  const tbench_attention* attention;
  const tbench_gemm* gemm;
  const tbench_kernel* kernel;
} tbench_plugin_description;

#if defined(_WIN32)
#error "transformer_bench runs on Linux"
#endif
#define TBENCH_EXPORT __attribute__((visibility("default")))

/* The one symbol of the library. Called once a process, before any other function. */
TBENCH_EXPORT const tbench_plugin_description* tbench_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
