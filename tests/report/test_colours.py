"""The palette: visible on both grounds, distinct for all eyes; and the one order of names."""

from __future__ import annotations

import re
from importlib import resources
from itertools import combinations

import pytest

from partwright.rendering import colours

# Machado, Oliveira and Fernandes (2009), for the full deficiency, over linear RGB.
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}  # fmt: skip


def linear(colour: str) -> list[float]:
    found = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in found]


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str, eyes: str) -> tuple[float, float, float]:
    rgb = linear(colour)
    red, green, blue = (
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, rgb, strict=True)))) for row in EYES[eyes]
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (each ** (1 / 3) if each > 0.008856 else 7.787 * each + 16 / 116 for each in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("colour", colours.PALETTE)
def test_a_colour_is_seen_on_both_grounds(colour: str) -> None:
    for ground in colours.GROUNDS:
        assert contrast(colour, ground) >= 3


@pytest.mark.parametrize("eyes", EYES)
def test_any_two_colours_are_told_apart(eyes: str) -> None:
    for one, other in combinations(colours.PALETTE, 2):
        apart = sum((a - b) ** 2 for a, b in zip(lab(one, eyes), lab(other, eyes), strict=True)) ** 0.5
        assert apart > 12, (one, other)


def test_the_page_has_the_same_grounds() -> None:
    style = resources.files("partwright.rendering").joinpath("page.css").read_text(encoding="utf-8")
    assert set(re.findall(r"--ground: (#\w+)", style)) == set(colours.GROUNDS)


def test_names_have_one_order() -> None:
    assert colours.assignors()[:6] == [
        "range",
        "roundrobin",
        "sticky",
        "cooperative-sticky",
        "server-uniform",
        "server-range",
    ]
    assert "sticky@2.4" in colours.strategies()
    assert colours.members(["c10", "c9", "c" + "9" * 5000]) == ["c" + "9" * 5000, "c9", "c10"]


def test_protocols_are_those_that_are_compared() -> None:
    from partwright.group import compare

    played = compare({"topics": {"t": 1}, "events": "+1"})
    assert tuple(dict.fromkeys(name for name, _ in played)) == colours.PROTOCOLS
