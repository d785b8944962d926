"""The colours of the pages' implementations: enough contrast to the card in light and dark, and different enough for
readers of all kinds of colour vision.

Usage: palette_test.py SOURCE_DIR
"""

import itertools
import math
import pathlib
import re
import sys

# Severity 1, on linear RGB: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", IEEE TVCG 15 (2009).
VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1, 1.08883)
LEAST_CONTRAST = 3.0  # WCAG 2.2, 1.4.11: graphical objects
LEAST_IN_FAMILY, LEAST = 13.0, 8.5  # CIEDE2000; 10 and more is told apart at a glance
LEAST_OF_KEY = 12.0  # of seven slots with the first among them there are no better ones
RARE = 1.3  # tritanopia, one in ten thousand, may be so much worse


def linear(colour):
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def contrast(one, other):
    high, low = sorted((times(TO_XYZ, linear(c))[1] for c in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    f = [math.cbrt(v) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116
         for v in (x / w for x, w in zip(times(TO_XYZ, rgb), WHITE))]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def ciede2000(one, other):
    """Sharma, Wu and Dalal, "The CIEDE2000 Color-Difference Formula", Color Research and Application 30 (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 1.5 - 0.5 * math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7))
    c1, c2 = math.hypot(g * a1, b1), math.hypot(g * a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, g * a1)) % 360, math.degrees(math.atan2(b2, g * a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0
    dl, dc, dh = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    t = (1 - 0.17 * math.cos(math.radians(h - 30)) + 0.24 * math.cos(math.radians(2 * h))
         + 0.32 * math.cos(math.radians(3 * h + 6)) - 0.20 * math.cos(math.radians(4 * h - 63)))
    sl, sc, sh = 1 + 0.015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2), 1 + 0.045 * c, 1 + 0.015 * c * t
    turned = -2 * math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * math.sin(math.radians(60 * math.exp(-((h - 275) / 25) ** 2)))
    return math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + turned * dc / sc * dh / sh)


def difference(one, other):
    """For the reader who sees it least."""
    def seen(vision, colour):
        return lab([min(1, max(0, c)) for c in times(VISIONS[vision], linear(colour))])
    return min(ciede2000(seen(v, one), seen(v, other)) * (RARE if v == "tritanopia" else 1) for v in VISIONS)


def check_formula():
    """Pairs 1, 7 and 20 of Sharma, Wu and Dalal's table 1."""
    for one, other, wanted in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 0, 0), (50, -1, 2), 2.3669),
                               ((50, 2.5, 0), (61, -5, 29), 22.8977)):
        assert abs(ciede2000(one, other) - wanted) < 1e-4, (one, other, ciede2000(one, other))


def themes(css):
    """Card and slots, light and dark."""
    found = [{name: value for name, value in re.findall(r"--(card|slot-\d): (#\w+);", block)} for block in re.findall(r"\{([^{}]*--slot-0[^{}]*)\}", css)]
    assert len(found) == 2 and all(len(theme) == 11 for theme in found), found
    return [("#ffffff" if theme["card"] == "#fff" else theme["card"], [theme[f"slot-{i}"] for i in range(10)]) for theme in found]


def known_slots(source):
    return {name: int(slot) for name, slot in re.findall(r'\{"(\w+)", (\d)\}', (source / "src/html/charts/palette.cpp").read_text())}


def keys(source):
    """Slots of the other keys that have colours: operations between GPUs, strategies of data parallelism."""
    slots = known_slots(source)
    for header, enumeration, count in (("include/tbench/core/work.hpp", "CollectiveOp", 6),
                                       ("src/studies/ranks/ddp_prediction.hpp", "studies::DdpStrategy", 7)):
        names = re.search(rf"EnumNames<{enumeration}> {{.*?kNames{{(.*?)}}", (source / header).read_text(), re.S)[1]
        used = {slots[name] for name in re.findall(r'"(\w+)"', names)}
        assert len(used) == count, (enumeration, used)
        yield used


def families(source):
    """Sets of slots that one family's implementations have."""
    slots = known_slots(source)
    used = {}
    for name in (source / "tests/data/cases_full.txt").read_text().splitlines():
        for implementation in re.findall(r"/(?:impl|method):(\w+)", name):
            used.setdefault(name.split("/")[0], set()).add(slots[implementation])
    assert len(used["Attention"]) == 6, used
    return used.values()


def main():
    source = pathlib.Path(sys.argv[1])
    check_formula()
    for card, slots in themes((source / "src/html/assets/page.css").read_text()):
        for colour in slots:
            assert contrast(colour, card) >= LEAST_CONTRAST, f"{colour} on {card}: {contrast(colour, card):.2f}"
        differences = {pair: difference(slots[pair[0]], slots[pair[1]]) for pair in itertools.combinations(range(10), 2)}
        together = [pair for family in families(source) for pair in itertools.combinations(sorted(family), 2)]
        worst = min(together, key=differences.get)
        assert differences[worst] >= LEAST_IN_FAMILY, f"on {card} slots {worst} of one family: {differences[worst]:.1f}"
        of_keys = [differences[pair] for used in keys(source) for pair in itertools.combinations(sorted(used), 2)]
        assert min(of_keys) >= LEAST_OF_KEY, f"on {card}: operations or strategies {min(of_keys):.1f}"
        nearest = min(differences, key=differences.get)
        assert differences[nearest] >= LEAST, f"on {card} slots {nearest}: {differences[nearest]:.1f}"
        print(f"on {card}: contrast {min(contrast(c, card) for c in slots):.2f}, in a family {differences[worst]:.1f}, of all {differences[nearest]:.1f}")


if __name__ == "__main__":
    main()
