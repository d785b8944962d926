#!/usr/bin/env python3
"""Compiles one small graph for the CPU, and with it the headers that every graph includes: they stay in inductor's cache,
TORCHINDUCTOR_CACHE_DIR, for the tests of packages."""
import quick_inductor

quick_inductor.install()
quick_inductor.install_in_children()

import torch  # noqa: E402
import torch._inductor  # noqa: E402


class Double(torch.nn.Module):
    def forward(self, x):
        return x + x


def main():
    x = torch.ones(16)
    with torch.no_grad():
        program = torch.export.export(Double(), (x,))
        torch._inductor.aot_compile(program.module(), (x,), options={"aot_inductor.package": True, "cpp.threads": 1})


if __name__ == "__main__":
    main()
