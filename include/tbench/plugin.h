/* Implementations of your own, measured next to the built-in ones without rebuilding transformer_bench.
 *
 * A shared library exports tbench_plugin(), which describes the families that the library joins: Attention, Gemm and
 * Kernel. The name in the description becomes the value of the key `impl` in case names. Use C11 or C++; there is
 * nothing to link against.
 *
 *   nvcc -shared -Xcompiler -fPIC -O3 -I PREFIX/include mine.cu -o libmine.so
 *   transformer_bench --tb_plugin=./libmine.so --benchmark_filter='Kernel/op:swiglu/.*'
 *
 * The library is loaded into the process that runs its cases: a worker process that runs no cases of any other
 * implementation. It is never unloaded. Before that, a child process loads it once to read the description. All
 * functions are called on one thread. They must return: a case that gives no sign of life for --tb_timeout seconds ends
 * as `timeout`. A crash affects only the case in which it happens.
 *
 * Errors. Functions that return `const char*` return NULL on success and a message of one line on failure. The caller
 * copies the message before the next call. A message from `unsupported` makes the case `unsupported`; a message from
 * any other function makes it `crashed`.
 *
 * Memory. Every pointer belongs to the caller and is valid during the call. On a GPU, tensors, `workspace` and `saved`
 * are on the current device, aligned to 256 bytes; on a CPU they are aligned to 64 bytes. The initial contents of
 * memory that a function has to write are undefined.
 *
 * Timing. Only launches are timed: on a GPU, the work that they enqueue on `stream`; on a CPU, the call until it
 * returns. The first launch of a case is never timed and may initialise. Launches are repeated, and their operands are
 * drawn again in place before each of them: every launch has to read all of its operands and write all of its outputs.
 * A launch leaves its operands unchanged. It enqueues on `stream`, or on streams that are forked from `stream` and
 * joined to it again. It never synchronises the device with the host, and leaves the limits of the device (persisting
 * L2 cache) as they are. Each of these rules is checked before, during and after the timing, and a case that breaks one
 * is `incorrect`. bench/README.md in the sources states the data and the tolerances.
 */
#ifndef TBENCH_PLUGIN_H
#define TBENCH_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises with every change that breaks older libraries. A library with another version is refused. */
#define TBENCH_PLUGIN_ABI 1

#define TBENCH_MAX_DIMS 8

/* The device of a call: its pointers are on this device, and its work has to run there. */
enum tbench_device { TBENCH_CPU = 0, TBENCH_CUDA = 1 };

/* The precision of a case. fp32 has TF32 off. tf32 is float32 storage with products of TF32 inputs. bf16 and fp16 are
 * storage types with float32 sums. fp8_e4m3 (only for Gemm) has one float32 scale per tensor and a bf16 result. */
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
  int64_t strides[TBENCH_MAX_DIMS]; /* in elements. This version passes only contiguous tensors */
} tbench_tensor;

/* Arguments of every launch. */
typedef struct tbench_launch {
  void* stream;            /* a cudaStream_t, where NULL is the legacy default stream; NULL on a CPU */
  void* workspace;         /* the requested bytes; NULL if 0 were requested. Undefined at every launch */
  int64_t workspace_bytes; /* number of these bytes */
} tbench_launch;

/* ---- Attention: o = softmax(scale q k^T, masked) v ---- */

typedef struct tbench_attention_problem {
  int32_t device;    /* enum tbench_device */
  int32_t precision; /* enum tbench_precision: not TBENCH_FP8_E4M3 */
  int64_t batch, heads, seq_q, seq_kv, head_dim;
  double scale;          /* factor of q k^T: 1 / sqrt(head_dim) */
  int32_t causal;        /* 1: query i sees keys 0 to i, and seq_q equals seq_kv */
  int32_t with_backward; /* 1: backward follows forward. 0: forward only, and `saved` is NULL */
} tbench_attention_problem;

typedef struct tbench_attention_forward {
  tbench_launch launch;
  tbench_tensor q, k, v; /* read: [batch, heads, seq_q | seq_kv | seq_kv, head_dim] */
  tbench_tensor o;       /* written: [batch, heads, seq_q, head_dim], as q */
  tbench_tensor lse;     /* written: [batch, heads, seq_q] float32, the natural logarithm of the sum of
                            exp(scale q k^T) over the visible keys. No such tensor unless gives_lse */
  void* saved;           /* written: saved_bytes() bytes for backward to read; NULL if that is 0 */
} tbench_attention_forward;

typedef struct tbench_attention_backward {
  tbench_launch launch;
  tbench_tensor q, k, v, o, lse; /* read: as forward read and left them */
  tbench_tensor grad_o;          /* read: as o */
  tbench_tensor dq, dk, dv;      /* written: as q, k, v */
  const void* saved;             /* read: as forward left it */
} tbench_attention_backward;

typedef struct tbench_attention {
  int32_t gives_lse; /* 1: forward writes lse, which is verified and passed to backward */
  /* Returns why the library cannot compute the problem, or NULL if it can. A NULL pointer means it can compute all. */
  const char* (*unsupported)(const tbench_attention_problem*);
  /* Return a number of bytes, >= 0. Each pointer may be NULL, which means 0 bytes. */
  int64_t (*forward_workspace_bytes)(const tbench_attention_problem*);
  int64_t (*backward_workspace_bytes)(const tbench_attention_problem*);
  int64_t (*saved_bytes)(const tbench_attention_problem*);
  const char* (*forward)(const tbench_attention_problem*, const tbench_attention_forward*);
  /* Called any number of times after one forward. If NULL, cases with a backward pass are `unsupported`. */
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
  tbench_tensor x_scale, w_scale; /* read: float32 scalars for fp8_e4m3; x stands for x_scale * x */
  tbench_tensor y;                /* written: [m, n] */
} tbench_gemm_arguments;

typedef struct tbench_gemm {
  const char* (*unsupported)(const tbench_gemm_problem*); /* as in tbench_attention */
  int64_t (*workspace_bytes)(const tbench_gemm_problem*); /* may be NULL: 0 bytes */
  const char* (*launch)(const tbench_gemm_problem*, const tbench_gemm_arguments*);
} tbench_gemm;

/* ---- Kernel: the models' operations one by one ----
 *
 * src/model/operations/kernels/ in the sources defines the formula, inputs and shapes of each operation. Tensors have
 * this order, where tokens = batch * context:
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
 *   linear_cross_entropy
 *                  x [tokens, d_model],                       losses [tokens] float32,    -
 *                  weight [vocab_size, d_model],              dx and dweight of the sum
 *                  targets [tokens] int64                     of the losses
 *
 * `gradients` are the gradients of the results of forward, in the order of these results. A scalar has 0 dimensions.
 * Operations in place (adamw, adamw_cast, cross_entropy_in_place) do not support plug-ins.
 */

typedef struct tbench_kernel_problem {
  int32_t device;    /* enum tbench_device */
  int32_t precision; /* enum tbench_precision: not TF32, not FP8_E4M3 */
  int32_t pass;      /* enum tbench_pass: the timed pass */
  int32_t reserved;
  const char* op; /* "rmsnorm" */
  int64_t batch, context, d_model, d_ff, heads, head_dim, vocab_size;
} tbench_kernel_problem;

/* `results` are written, the other tensors are read. In a backward pass, `outputs` are the results of the forward pass
 * before it. */
typedef struct tbench_kernel_arguments {
  tbench_launch launch;
  int32_t num_inputs, num_gradients, num_outputs, num_results;
  const tbench_tensor* inputs;
  const tbench_tensor* gradients;
  const tbench_tensor* outputs;
  const tbench_tensor* results;
  void* saved; /* saved_bytes() bytes that forward writes for backward to read; NULL if that is 0, and for a forward
                  pass alone */
} tbench_kernel_arguments;

typedef struct tbench_kernel {
  const char* const* ops;                                   /* names of the computed operations, then NULL */
  const char* (*unsupported)(const tbench_kernel_problem*); /* as in tbench_attention */
  int64_t (*workspace_bytes)(const tbench_kernel_problem*); /* for the problem's pass; may be NULL: 0 bytes */
  int64_t (*saved_bytes)(const tbench_kernel_problem*);     /* may be NULL: 0 bytes */
  const char* (*forward)(const tbench_kernel_problem*, const tbench_kernel_arguments*);
  /* Called any number of times after one forward; the problem's pass is TBENCH_BACKWARD for both. May be NULL. */
  const char* (*backward)(const tbench_kernel_problem*, const tbench_kernel_arguments*);
} tbench_kernel;

/* ---- The library ---- */

/* Everything in the description is constant as long as the process lives. */
typedef struct tbench_plugin_description {
  int32_t abi;      /* TBENCH_PLUGIN_ABI */
  int32_t bytes;    /* sizeof(tbench_plugin_description), by which programs with more families recognise this version */
  const char* name; /* value of the key `impl`: at most 32 letters, digits, '_', '-' and '.'; not a built-in name */
  /* The families that the library joins, at least one. NULL: not joined. */
  const tbench_attention* attention;
  const tbench_gemm* gemm;
  const tbench_kernel* kernel;
} tbench_plugin_description;

#if defined(_WIN32)
#error "transformer_bench runs on Linux"
#endif
#define TBENCH_EXPORT __attribute__((visibility("default")))

/* The only symbol of the library. Called once per process, before any other function. */
TBENCH_EXPORT const tbench_plugin_description* tbench_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
