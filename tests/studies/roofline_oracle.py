"""Recomputes the rows that compare FLOP, bytes and times of attention and of the whole forward pass with the ceilings, for
writeup_oracle_test.py."""

from oracle_cases import D_FF, D_MODEL, HEADS, LAYERS, MIB, VOCABULARY, kernels, of_class, total_ms

SOFTMAX_PASSES = {"elementwise": 2, "reduction": 1}  # over the scores, by class of kernel


def attention_row(case, row, _):
    attention = next(part for part in case.record["trace"]["attention"] if part["phase"] == row["phase"])
    softmax, scores, context, rest = (1e3 * attention[f"{part}_s"] for part in ("softmax", "scores", "context", "other"))
    return {"softmax ms": softmax, "QK^T ms": scores, "context ms": context, "rest ms": rest,
            "softmax % of all": 100 * softmax / (softmax + scores + context + rest),
            "softmax / matmul: time %": 100 * softmax / (scores + context)}


def attention_flop(case):
    """The FLOP of QK^T, softmax and context in one layer, and their bytes: each input and output once."""
    parameters = case.record["parameters"]
    batch, context, heads = int(parameters["batch"]), int(parameters["ctx"]), HEADS[parameters["size"]]
    head_dim = D_MODEL[parameters["size"]] // heads
    scores = batch * heads * context ** 2
    element = 4 if parameters["precision"] == "fp32" else 2
    product = (2 * scores * head_dim, element * (scores + 2 * batch * heads * context * head_dim))
    return {"QK^T": product, "softmax": (5 * scores, 2 * element * scores), "context": product}


def attention_flop_row(case, row, _):
    layers = 1 if row["part"] == "one layer" else LAYERS[case.record["parameters"]["size"]]
    flop = {name: 1e-9 * layers * flop for name, (flop, _) in attention_flop(case).items()}
    return {**{f"{name} GFLOP": value for name, value in flop.items()}, "sum GFLOP": sum(flop.values())}


def attention_times(case):
    attention = next(part for part in case.record["trace"]["attention"] if part["phase"] == "forward")
    return {"QK^T": attention["scores_s"], "softmax": attention["softmax_s"], "context": attention["context_s"],
            "rest": attention["other_s"]}


def attention_share_row(case, row, _):
    parts = {"products": ("QK^T", "context"), "softmax": ("softmax",), "rest": ("rest",)}[row["part"]]
    times, flop = attention_times(case), attention_flop(case)
    time = sum(times[part] for part in parts)
    found = {"ms": 1e3 * time, "% of time": 100 * time / sum(times.values())}
    if row["part"] != "rest":
        found["% of FLOP"] = 100 * sum(flop[part][0] for part in parts) / sum(count for count, _ in flop.values())
        found["time % / FLOP %"] = found["% of time"] / found["% of FLOP"]
    return found


def ceiling(others, what, regime):
    """The record of a ceiling, or None if it was not measured."""
    wanted = {"what": what, "regime": regime}
    return next((record for record in others if record["family"] == "Ceiling" and record["parameters"] == wanted), None)


def ceilings(cases, precision):
    """The rates of a large product and of a copy in memory. Without a measured copy, its rate is that of the fastest large
    copies from device to device in training steps."""
    others = next(iter(cases.values())).others
    product = ceiling(others, f"gemm_{precision}", "sustained")
    flop_per_second = product["work"]["flop"] / product["timing"]["median_s"]
    copy = ceiling(others, "copy", "burst")
    if copy is not None:
        return flop_per_second, copy["work"]["bytes"] / copy["timing"]["median_s"]
    copies = [2 * copy["bytes"] / copy["total_s"] for case in cases.values()
              for phase in case.record.get("trace", {}).get("phases", []) for copy in phase["copies"]
              if copy["name"] == "Memcpy DtoD" and copy["bytes"] >= 16 * MIB * copy["count"]
              and case.record["parameters"]["pass"] == "train_step"]
    return flop_per_second, max(copies)


def moved_by_softmax(case):
    trace = case.record["trace"]
    index = [entry["path"] for entry in trace["ranges"]].index("FORWARD/layer.*/attention/attention.softmax")
    passes = sum(kernel["calls"] * SOFTMAX_PASSES[trace["kernels"][kernel["kernel"]]["class"]]
                 for kernel in trace["range_kernels"] if kernel["range"] == index)
    return passes * attention_flop(case)["softmax"][1] / 2


def attention_rate_row(case, row, cases):
    part, precision = row["part"], case.record["parameters"]["precision"]
    flop, copied = (LAYERS[case.record["parameters"]["size"]] * count for count in attention_flop(case)[part])
    time = attention_times(case)[part]
    compute, memory = ceilings(cases, "fp32" if part == "softmax" else precision)
    found = {"TFLOP/s": 1e-12 * flop / time, "max TFLOP/s": 1e-12 * compute, "TB/s": 1e-12 * copied / time,
             "max TB/s": 1e-12 * memory, "FLOP/byte": flop / copied, "ridge": compute / memory,
             "limit": "memory" if flop / copied < compute / memory else "compute"}
    if part == "softmax" and precision == "fp32":
        found["moved TB/s"] = 1e-12 * moved_by_softmax(case) / time
    return found


def forward_counts(case):
    """The FLOP of a forward pass's matrix products, and (FLOP, bytes in float32) of each other operation."""
    parameters = case.record["parameters"]
    size, batch, context = parameters["size"], int(parameters["batch"]), int(parameters["ctx"])
    layers, width, hidden = LAYERS[size], D_MODEL[size], D_FF[size]
    tokens, scores = batch * context, layers * batch * HEADS[size] * context ** 2
    weights = layers * (4 * width ** 2 + 3 * width * hidden) + VOCABULARY * width
    products = 2 * tokens * weights + 4 * scores * width // HEADS[size]
    stream = tokens * width
    operations = {  # the number of elements, and FLOP and elements moved for each
        "embedding": (stream, 0, 2), "RMSNorm": ((2 * layers + 1) * stream, 4, 2), "RoPE": (2 * layers * stream, 3, 2),
        "scale and mask": (scores, 1, 2), "softmax": (scores, 5, 2), "SwiGLU": (layers * tokens * hidden, 5, 3),
        "residual": (2 * layers * stream, 1, 3)}
    return products, {name: (flop * count, 4 * moved * count) for name, (count, flop, moved) in operations.items()}


def flop_share_row(case, row, _):
    products, operations = forward_counts(case)
    other = sum(flop for flop, _ in operations.values())
    kernel_ms = total_ms(kernels(case.phase("forward")))
    product_ms = total_ms(of_class(case.phase("forward"), "gemm"))
    is_product = row["part"] == "matrix products"
    flop, ms = (products, product_ms) if is_product else (other, kernel_ms - product_ms)
    found = {"GFLOP": 1e-9 * flop, "% of FLOP": 100 * flop / (products + other), "ms": ms,
             "of kernels %": 100 * ms / kernel_ms}
    found["time % / FLOP %"] = found["of kernels %"] / found["% of FLOP"]
    return found


OPERATIONS = {"embedding": "embedding", "norm": "RMSNorm", "attention.rope_q": "RoPE", "attention.rope_k": "RoPE",
              "attention.scores": "scale and mask", "attention.mask": "scale and mask", "attention.softmax": "softmax",
              "ffn": "SwiGLU", "layer.*": "residual"}


def operation_row(case, row, cases):
    trace, times = case.record["trace"], {}
    for kernel in trace["range_kernels"]:
        last = trace["ranges"][kernel["range"]]["path"].split("/")[-1]
        if trace["kernels"][kernel["kernel"]]["class"] not in ("gemm", "memcpy", "memset"):
            for name in (OPERATIONS.get(last, "other"), "(all)"):
                times[name] = times.get(name, 0) + kernel["total_s"]
    _, operations = forward_counts(case)
    operations["(all)"] = tuple(sum(counts) for counts in zip(*operations.values()))
    time = times[row["part"]]
    found = {"ms": 1e3 * time, "of kernels %": 100 * 1e3 * time / total_ms(kernels(case.phase("forward")))}
    if row["part"] != "other":
        flop, moved = operations[row["part"]]
        found.update({"GFLOP": 1e-9 * flop, "GB": 1e-9 * moved, "TB/s": 1e-12 * moved / time,
                      "max TB/s": 1e-12 * ceilings(cases, "fp32")[1], "FLOP/byte": flop / moved})
    return found
