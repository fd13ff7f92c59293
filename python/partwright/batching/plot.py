"""A picture of what a grid of settings has come to: requests to the right, the p99 delay upwards."""

from __future__ import annotations

from io import BytesIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright.cluster.parts import shown
from partwright.colours import EMPHASIS
from partwright.errors import MissingExtraError, PartwrightError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

__all__ = ["Picture", "check", "draw"]

# What would be the moment of drawing, so that the same settings are the same bytes.
_MOMENTS = {".svg": "Date", ".png": "Creation Time", ".pdf": "CreationDate"}
# From so many times as much on, a scale is one of powers.
_WIDE = 20
_DPI = 150
# Half of a point's width on the canvas, with the ring that may be around it.
_POINT = 12
_MARKERS = "os^Dv"
# Where a label may stand: so many points away from its point, the nearest first.
_AWAY = (9, 18, 30, 45, 65, 90)
_SIDES = ((1, 1), (-1, -1), (1, -1), (-1, 1), (0, 1), (0, -1), (1, 0), (-1, 0))


class Picture(NamedTuple):
    """What is drawn.

    Attributes:
        rows: A row for each setting, as `partwright.batching.Tuning.settings` has them.
        default: The row of the settings as they are.
        partitions: How many the topic has.
        at_most_ms: The limit of the p99 delay; None where there is none.
    """

    rows: Sequence[dict[str, Any]]
    default: dict[str, Any]
    partitions: int
    at_most_ms: int | None


def check(file: str | os.PathLike[str]) -> Path:
    """The path of a picture that can be drawn.

    Raises:
        PartwrightError: Its suffix is that of no picture.
        MissingExtraError: matplotlib is missing.

    Examples:
        >>> check("tuning.gif")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: a picture is a .svg, .png or .pdf file by its suffix, not 'tuning.gif'
    """
    try:
        path = Path(file)
    except TypeError:
        raise PartwrightError(f"a picture is named by its path, not by {shown(file)}") from None
    if path.suffix.lower() not in _MOMENTS:
        raise PartwrightError(f"a picture is a .svg, .png or .pdf file by its suffix, not {str(path)!r}")
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("matplotlib is missing: pip install 'partwright[plot]'") from error
    del mpl
    return path


def draw(picture: Picture, file: str | os.PathLike[str]) -> None:
    """Writes a picture, the same bytes each time.

    Raises:
        PartwrightError: As for `check`; the file cannot be written.
    """
    path = check(file)
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    suffix, data = path.suffix.lower(), BytesIO()
    # The salt of what an svg names its parts by, which would be drawn otherwise.
    with rc_context({"svg.hashsalt": "partwright", "font.size": 9}):
        figure = _figure(picture)
        figure.savefig(data, format=suffix[1:], dpi=_DPI, metadata={_MOMENTS[suffix]: None})
    try:
        path.write_bytes(data.getvalue())
    except OSError as error:
        raise PartwrightError(
            f"{str(path)!r} cannot be written ({error.strerror}): name another file"
        ) from None


def _figure(picture: Picture) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415 - the same

    rows = [row for row in picture.rows if row["p99_delay_ms"] is not None]
    # The legend, in two columns, grows with what is drawn in colours of its own.
    drawn = len({(row["batch_size"], row["strategy"]) for row in rows})
    figure = Figure(figsize=(9, 5 + 0.12 * drawn), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(
        f"{picture.rows[0]['records']:,} records over {picture.partitions:,} partitions: requests and delay by setting"
    )
    axes.set_xlabel("requests")
    axes.set_ylabel("p99 delay in ms")
    axes.margins(0.08, 0.1)
    _scale(axes, "x", [row["requests"] for row in rows])
    limits = [] if picture.at_most_ms is None else [picture.at_most_ms]
    _scale(axes, "y", [row["p99_delay_ms"] for row in rows] + limits)
    axes.grid(visible=True, which="major", color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)
    front = _front(rows)
    _points(axes, rows)
    axes.plot(
        *zip(*front, strict=True),
        color="0.45",
        linewidth=1,
        zorder=1,
        label="no other beats these: linger.ms, batch.size",
    )
    if picture.at_most_ms is not None:
        label = f"the limit, {picture.at_most_ms:,} ms"
        axes.axhline(picture.at_most_ms, color=EMPHASIS, linestyle="--", linewidth=1, zorder=1, label=label)
    is_one = len({row["strategy"] for row in rows}) == 1
    # Around their points, the recommended one outside: they may be the same.
    for row, what, colour, size in (
        (picture.default, "as it is set now", "black", 170),
        (picture.rows[0], "recommended", EMPHASIS, 300),
    ):
        if row["p99_delay_ms"] is not None:
            axes.scatter(
                [row["requests"]],
                [row["p99_delay_ms"]],
                s=size,
                facecolors="none",
                edgecolors=colour,
                linewidths=1.6,
                zorder=4,
                label=f"{what}: {'' if is_one else row['strategy'] + ', '}{_setting(row)}",
            )
    figure.legend(
        loc="outside lower center", ncols=2, fontsize=8, frameon=False, columnspacing=1.2, labelspacing=1
    )
    # The layout has to be made before anything is measured.
    figure.draw_without_rendering()
    _label(axes, canvas, rows, front, limits)
    return figure


def _scale(axes: Axes, which: str, values: Sequence[int]) -> None:
    """One of powers where values lie far apart; whole numbers without exponents on each."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter  # noqa: PLC0415 - an extra

    axis = axes.xaxis if which == "x" else axes.yaxis
    if min(values) > 0 and max(values) > _WIDE * min(values):
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        if min(values) == max(values):
            (axes.set_xlim if which == "x" else axes.set_ylim)(values[0] - 1, values[0] + 1)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _points(axes: Axes, rows: Sequence[dict[str, Any]]) -> None:
    """A point for each: the larger the batches, the larger, so that none hides another at the same place."""
    from matplotlib import colormaps  # noqa: PLC0415 - an extra

    sizes = sorted({row["batch_size"] for row in rows})
    strategies = list(dict.fromkeys(row["strategy"] for row in rows))
    colours = colormaps["viridis"]
    for (number, size), (place, strategy) in product(enumerate(sizes), enumerate(strategies)):
        share = number / max(1, len(sizes) - 1)
        found = [row for row in rows if (row["batch_size"], row["strategy"]) == (size, strategy)]
        axes.scatter(
            [row["requests"] for row in found],
            [row["p99_delay_ms"] for row in found],
            s=22 + 90 * share,
            color=[colours(0.95 * share)],
            marker=_MARKERS[place % len(_MARKERS)],
            edgecolors="white",
            linewidths=0.5,
            zorder=3 - share,
            label=f"{strategy}, batch.size={size:,}" if len(strategies) > 1 else f"batch.size={size:,}",
        )


def _front(rows: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    """The places of the settings that no other beats, from the fewest requests on."""
    return sorted({(row["requests"], row["p99_delay_ms"]) for row in rows if row["is_on_front"]})


def _setting(row: dict[str, Any]) -> str:
    return f"linger.ms={row['linger_ms']}, batch.size={row['batch_size']:,}"


def _label(
    axes: Axes,
    canvas: FigureCanvasAgg,
    rows: Sequence[dict[str, Any]],
    front: Sequence[tuple[int, int]],
    limits: Sequence[int],
) -> None:
    """Names the settings of the front, each where it covers nothing; of several at one place the first."""
    from matplotlib.text import Text  # noqa: PLC0415 - an extra
    from matplotlib.transforms import Bbox  # noqa: PLC0415 - the same

    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    inside = axes.get_window_extent(renderer)
    taken: list[Bbox] = []
    for row in rows:
        x, y = axes.transData.transform((row["requests"], row["p99_delay_ms"]))
        taken.append(Bbox.from_extents(x - _POINT, y - _POINT, x + _POINT, y + _POINT))
    for height in limits:
        _, y = axes.transData.transform((1, height))
        taken.append(Bbox.from_extents(inside.x0, y - 1, inside.x1, y + 1))
    for place in front:
        here = [row for row in rows if (row["requests"], row["p99_delay_ms"]) == place]
        more = f" (+{len(here) - 1})" if len(here) > 1 else ""
        for away, (right, up) in product(_AWAY, _SIDES):
            note = axes.annotate(
                f"{here[0]['linger_ms']} ms, {here[0]['batch_size']:,}{more}",
                place,
                (right * away, up * away),
                textcoords="offset points",
                fontsize=7.5,
                horizontalalignment=("right", "center", "left")[right + 1],
                verticalalignment=("top", "center", "bottom")[up + 1],
                arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.6, "shrinkB": 4},
                zorder=5,
            )
            # Of the words alone: the line to the point meets the point.
            note.update_positions(renderer)
            box = Text.get_window_extent(note, renderer)
            if _is_within(box, inside) and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            # There is no room for it; the picture goes on without it if there is none anywhere.
            note.remove()


def _is_within(box: Bbox, outer: Bbox) -> bool:
    return bool(outer.x0 <= box.x0 and box.x1 <= outer.x1 and outer.y0 <= box.y0 and box.y1 <= outer.y1)
