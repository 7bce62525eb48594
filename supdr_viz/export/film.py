"""A replay as pictures: one image per moment, an animated GIF, a video.  Needs no browser."""

from __future__ import annotations

import errno
import io
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from supdr.engine.optional import require
from supdr_viz.export.drawing import square
from supdr_viz.export.pen import Pen
from supdr_viz.export.progress import Progress, no_progress
from supdr_viz.export.replay import Moment, Replay
from supdr_viz.ui.theme import Palette, palette
from supdr_viz.views.board import Squares
from supdr_viz.views.stage.wire import Tree

SIDE, GAP, HEAD = 300, 16, 44
# Drawn at this many times the size and scaled down: smooth edges.
SMOOTH = 2

# Milliseconds for which the last picture stands.
LAST_DURATION = 1500

STEP = 120


def gif(replay: Replay, *, dark: bool = False, progress: Progress = no_progress) -> bytes:
    """Return an animated GIF of all moments: see `picture`.

    `progress`: ``progress(done, total)`` after each picture.
    """
    pictures = []
    for number in range(len(replay.moments)):
        pictures.append(picture(replay, number, dark=dark))
        progress(number + 1, len(replay.moments))
    # One palette for all: colours must not flicker.
    base = pictures[-1].quantize(128)
    frames = [each.quantize(palette=base, dither=Image.Dither.NONE) for each in pictures]
    durations = [STEP] * (len(frames) - 1) + [LAST_DURATION]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=False)
    return out.getvalue()


def mp4(replay: Replay, *, dark: bool = False, progress: Progress = no_progress) -> bytes:
    """Return a video (H.264): the pictures of the GIF in all their colours, at twice its size.

    `progress`: ``progress(done, total)`` after each picture. Raises PackageMissing if imageio-ffmpeg, which brings the
    encoder, is not installed; OSError if the encoder could not write all of it.
    """
    require("A film as MP4", "imageio_ffmpeg", extra="film")
    from imageio_ffmpeg import write_frames

    count = len(replay.moments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        size = picture(replay, 0, dark=dark, scale=SMOOTH).size
        # Blocks of 16 would stretch the picture; the format itself wants even numbers, which these are.
        video = write_frames(
            str(path), size, fps=1000 / STEP, macro_block_size=2, output_params=["-movflags", "+faststart"]
        )
        video.send(None)
        try:
            for number in range(count):
                shown = picture(replay, number, dark=dark, scale=SMOOTH).tobytes()
                for _ in range(LAST_DURATION // STEP if number == count - 1 else 1):
                    video.send(shown)
                progress(number + 1, count)
        finally:
            video.close()
        content = path.read_bytes()
    if not _is_whole(content):  # the encoder does not say why it ended
        raise OSError(errno.ENOSPC, "the film was cut off")
    return content


def _is_whole(video: bytes) -> bool:
    """Whether an MP4 has all its boxes: each begins with its length."""
    at, kinds = 0, set()
    while at + 8 <= len(video):
        length, kind = struct.unpack_from(">I4s", video, at)
        kinds.add(kind)
        at += max(8, length)
    return at == len(video) and {b"moov", b"mdat"} <= kinds


def picture(replay: Replay, number: int = -1, *, dark: bool = False, scale: int = 1, words: bool = True) -> Image.Image:
    """Draw one moment: input space, latent space, the method's picture if the film has one, and the objective.

    `number`: of the moment; the last one by default. `scale`: times the size of the GIF. `words`: whether the method's
    picture has its axes and words. Returns in RGB.
    """
    colours, moment, mode = palette(dark), replay.moments[number], replay.mode
    texts = {"input": "Input space", "latent": f"Latent space · iteration {moment.iteration}"}
    if mode is not None:
        texts["method"] = mode.title
    texts["losses"] = _objective_text(moment, replay.scene.task)
    size = (len(texts) * (SIDE + GAP) + GAP, SIDE + HEAD + GAP)
    image = Image.new("RGB", (size[0] * SMOOTH, size[1] * SMOOTH), colours.page)
    draw, font, shown = ImageDraw.Draw(image), ImageFont.load_default(13 * SMOOTH), _shown(replay, moment)
    for column, (view, text) in enumerate(texts.items()):
        left = (GAP + column * (SIDE + GAP)) * SMOOTH
        panel = (
            _curve(replay, moment, colours)
            if view == "losses"
            else square(shown, view, SIDE * SMOOTH, dark=dark, scale=SMOOTH, words=words)
        )
        image.paste(panel, (left, HEAD * SMOOTH))
        draw.text((left, 14 * SMOOTH), text, fill=colours.text, font=font)
    return image if scale == SMOOTH else image.resize(size, Image.Resampling.LANCZOS)


def squares(replay: Replay, look: Sequence[str] = ("input", "latent"), *, dark: bool = False) -> Image.Image:
    """Draw plots of the last moment side by side, without words: they would be too small to read.

    `look`: which, of "input", "latent", "method" and "losses". Returns in RGB.
    """
    drawn = picture(replay, dark=dark, words=False)
    columns = ["input", "latent", *(["method"] if replay.mode is not None else []), "losses"]
    out = Image.new("RGB", (len(look) * (GAP + SIDE) - GAP, SIDE), palette(dark).page)
    for place, view in enumerate(look):
        left = GAP + columns.index(view) * (SIDE + GAP)
        out.paste(drawn.crop((left, HEAD, left + SIDE, HEAD + SIDE)), (place * (GAP + SIDE), 0))
    return out


def _shown(replay: Replay, moment: Moment) -> Tree:
    """Return what the page shows of a moment."""
    squares = Squares()
    with squares.stage:
        squares.show_colours(replay.options.colour_by, replay.options.size_by)
        squares.show_scene(replay.scene)
        squares.points.show_spread(replay.spread)
        squares.method.set_method(replay.method, () if replay.mode is None else (replay.mode,))
        squares.show_surface(moment.surface)
        squares.show_frame(moment.frame)
    return squares.stage.tree


def _curve(replay: Replay, moment: Moment, colours: Palette) -> Image.Image:
    side, steps = SIDE * SMOOTH, replay.losses.iteration
    pen = Pen((side, side), (-0.03, 1.03, -0.04, 1.04), colours.card, SMOOTH)
    values = replay.losses.values.get("objective")
    if values is None or len(steps) < 2:
        return pen.image
    finite = values[np.isfinite(values)]
    log = bool(finite.size and finite.min() > 0 and finite.max() > 20 * finite.min())
    shown = np.log10(values) if log else values
    low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
    points = np.column_stack([(steps - steps[0]) / max(1, steps[-1] - steps[0]), (shown - low) / ((high - low) or 1.0)])
    finite_rows = np.isfinite(points[:, 1])
    done = points[finite_rows & (steps <= moment.iteration)]
    pen.line(points[finite_rows], colours.border, 2.0, 1.0)
    if len(done):
        pen.line(done, colours.curves[0], 2.0, 1.0)
        pen.mark(pen.pixels(done[-1:])[0], 0, 8.0, colours.curves[0], 1.0)
    return pen.image


def _objective_text(moment: Moment, task: str) -> str:
    unit = "" if task == "regression" else " %"
    name = "test" if "test" in moment.numbers else "train"
    error = moment.numbers.get(name)
    ending = f" · {name} error {error:.3g}{unit}" if error is not None else ""
    return f"Objective {moment.numbers['objective']:.4g}{ending}"
