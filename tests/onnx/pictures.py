"""Photographs and a page of print that come with scikit-image, as the packages of the tested models prepare them."""

import importlib.util
import os


def open_picture(name):
    from PIL import Image
    folder = importlib.util.find_spec("skimage").submodule_search_locations[0]
    return Image.open(os.path.join(folder, "data", name)).convert("RGB")


def resized(image, width, height):
    from PIL import Image
    return image.resize((width, height), Image.Resampling.BILINEAR)


def as_channels(image, mean, scale, bgr=False):
    """1 x channels x height x width, each number (pixel - mean) / scale."""
    import numpy as np
    values = np.asarray(image, np.float32)
    values = values[None] if values.ndim == 2 else values.transpose(2, 0, 1)[:: -1 if bgr else 1]
    return np.ascontiguousarray((values - np.float32(mean)) / np.float32(scale))[None]


def fitted(image, size, fill):
    """As large as fits into a square of `size`, in its upper left corner."""
    from PIL import Image
    ratio = size / max(image.size)
    square = Image.new("RGB", (size, size), (fill,) * 3)
    square.paste(resized(image, *(int(extent * ratio) for extent in image.size)))
    return square


def headline(turned=False):
    image = open_picture("page.png").crop((0, 6, 290, 38))
    return image.rotate(180) if turned else image


def line_of_text(image, width):
    """A line for PaddleOCR's models: 48 pixels high, with zeros behind it."""
    import numpy as np
    values = as_channels(resized(image, min(width, 48 * image.width // image.height), 48), 127.5, 127.5, bgr=True)
    return np.pad(values, ((0, 0), (0, 0), (0, 0), (0, width - values.shape[3])))


def page_of_text():
    """The page for PaddleOCR's detector: its shorter side 736 pixels, both a multiple of 32."""
    image = open_picture("page.png")
    ratio = 736 / min(image.size)
    return as_channels(resized(image, *(round(extent * ratio / 32) * 32 for extent in image.size)), 127.5, 127.5, bgr=True)


def both_ways_up():
    import numpy as np
    return np.concatenate([line_of_text(headline(turned), 192) for turned in (False, True)])


def word():
    """A word for ddddocr's recogniser: grey, 64 pixels high."""
    image = open_picture("page.png").crop((150, 8, 290, 38))
    return as_channels(resized(image, image.width * 64 // image.height, 64).convert("L"), 0, 255)


def face(size, low):
    """A face for MediaPipe's models, from `low` to 1, with its channels last."""
    import numpy as np
    values = np.asarray(resized(open_picture("astronaut.png").crop((120, 0, 340, 220)), size, size), np.float32)[None]
    return values / np.float32(255) * np.float32(1 - low) + np.float32(low)
