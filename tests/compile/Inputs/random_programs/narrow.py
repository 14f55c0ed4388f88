"""Types of at most 8 bits: integers of 2 and 4, and floats, which numpy has not; here they are float32 of few values."""

import numpy as np

INTEGERS = {"i2": 2, "i4": 4}
# Bits of exponent and mantissa, the bias, and how many of the largest codes are no numbers.
FLOATS = {"f4E2M1FN": (2, 1, 1, 0), "f8E4M3FN": (4, 3, 7, 1), "f8E5M2": (5, 2, 15, 4), "f8E4M3": (4, 3, 7, 8),
          "f8E3M4": (3, 4, 3, 16), "f8E4M3FNUZ": (4, 3, 8, 0), "f8E5M2FNUZ": (5, 2, 16, 0),
          "f8E4M3B11FNUZ": (4, 3, 11, 0), "f8E8M0FNU": (8, 0, 127, 1)}
NARROW = [*INTEGERS, *FLOATS]
SCALE = "f8E8M0FNU"  # without a sign and without zero
INFINITE = ["f8E5M2", "f8E4M3", "f8E3M4"]


def magnitudes(dtype):
    """The numbers without a sign, by their codes."""
    exponent, mantissa, bias, others = FLOATS[dtype]
    codes = np.arange((1 << exponent + mantissa) - others)
    if dtype == SCALE:
        return 2.0 ** (codes - bias)
    powers, parts = codes >> mantissa, (codes & (1 << mantissa) - 1) / (1 << mantissa)
    return np.where(powers == 0, parts * 2.0 ** (1 - bias), (1 + parts) * 2.0 ** (powers - bias))


MAGNITUDES = {dtype: magnitudes(dtype) for dtype in FLOATS}


def is_narrow(dtype):
    return dtype in NARROW


def is_packed(dtype):
    return dtype in INTEGERS or dtype.startswith("f4")


def largest(dtype):
    return MAGNITUDES[dtype][-1] if dtype in FLOATS else (1 << INTEGERS[dtype] - 1) - 1


def rounded_codes(dtype, array):
    """The codes of magnitudes, to nearest even, of a scale to the larger; one more than the last where it is too large."""
    known = MAGNITUDES[dtype]
    known = np.append(known, known[-1] * 2 if dtype == SCALE else 2 * known[-1] - known[-2])
    above = np.clip(np.searchsorted(known, array), 1, len(known) - 1)
    below = above - 1
    down, up = array - known[below], known[above] - array
    return np.where((down < up) | (down == up) & (below % 2 == 0) & (dtype != SCALE), below, above)


def to_narrow(dtype, array):
    """Wraps an integer. A float that is too large is infinite, where there is no infinity NaN, and else the largest."""
    array = np.asarray(array)
    if dtype in INTEGERS:
        width = INTEGERS[dtype]
        return (((array.astype(np.int64) + (1 << width - 1)) & ((1 << width) - 1)) - (1 << width - 1)).astype(np.int8)
    wide = array.astype(np.float64)
    beyond = largest(dtype) if dtype.startswith("f4") else np.inf if dtype in INFINITE else np.nan
    known = np.append(MAGNITUDES[dtype], beyond)
    numbers = known[rounded_codes(dtype, np.abs(np.nan_to_num(wide, nan=np.inf, posinf=np.inf, neginf=-np.inf)))]
    if dtype in INFINITE:
        numbers = np.where(np.isnan(wide), np.nan, numbers)
    return (numbers if dtype == SCALE else np.copysign(numbers, wide)).astype(np.float32)


def random_narrow(rng, shape, dtype):
    if dtype in INTEGERS:
        return to_narrow(dtype, rng.integers(0, 1 << INTEGERS[dtype], shape))
    if dtype == SCALE:
        return to_narrow(dtype, 2.0 ** rng.integers(-4, 4, shape))
    known = MAGNITUDES[dtype][MAGNITUDES[dtype] <= 8]  # all bits, but nothing that soon overflows
    numbers = rng.choice(known, shape) if rng.random() < 0.5 else rng.integers(0, 17, shape) / 8
    return to_narrow(dtype, numbers * rng.choice([-1, 1], shape))


def to_bytes(dtype, array):
    """As callers see them: packed, the first in the lowest bits."""
    if dtype in INTEGERS:
        codes = array.astype(np.int64).ravel() & (1 << INTEGERS[dtype]) - 1
    else:
        codes = rounded_codes(dtype, np.abs(array.astype(np.float64).ravel()))
        # A zero has a sign, but for the formats in which that code is NaN.
        signs = np.signbit(array.ravel()) & ((codes > 0) | (not dtype.endswith("UZ")))
        codes = codes | (signs & (dtype != SCALE)) * (8 if is_packed(dtype) else 128)
    if not is_packed(dtype):
        return codes.astype(np.uint8)
    width = INTEGERS.get(dtype, 4)
    fields = np.append(codes, np.zeros(-codes.size % (8 // width), np.int64)).reshape(-1, 8 // width)
    return (fields << np.arange(0, 8, width)).sum(axis=1).astype(np.uint8)


def from_bytes(dtype, bits, count):
    """What a program has written. A code that is no number is NaN."""
    codes = bits.astype(np.int64)
    if is_packed(dtype):
        width = INTEGERS.get(dtype, 4)
        codes = (codes[:, None] >> np.arange(0, 8, width) & (1 << width) - 1).ravel()
        if codes[count:].any():
            raise ValueError("what fills up the last byte is not zero")
        codes = codes[:count]
    if dtype in INTEGERS:
        return to_narrow(dtype, codes)
    sign_bit = 0 if dtype == SCALE else 8 if is_packed(dtype) else 128
    signs, codes = codes & sign_bit, codes & ~sign_bit
    known = MAGNITUDES[dtype]
    numbers = np.where(codes < len(known), known[np.minimum(codes, len(known) - 1)], np.nan)
    if dtype.endswith("UZ"):
        numbers = np.where((signs > 0) & (codes == 0), np.nan, numbers)
    return np.where(signs > 0, -numbers, numbers).astype(np.float32)
