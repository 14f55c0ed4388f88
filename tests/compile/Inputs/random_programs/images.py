"""Layers of models of images, which lie with their channels first or last."""

import numpy as np

from operations import Operations, binary, same_extent, times
from program import Dim, tensor_type


class ImageLayers(Operations):
    """A layer takes one of `images`, a value and whether its channels are last, and adds to them what it makes."""

    def image(self):
        if not self.images or self.chance(0.05):
            channels, last = Dim(self.choice([3, 4, 8, 16, 17])), self.chance(0.4)
            dims = [self.batch, self.height, self.width, channels] if last else [self.batch, channels, self.height, self.width]
            self.images.append((self.f.argument(dims, self.main_type, self.drawn(dims, self.main_type)), last))
        return self.latest(self.images)

    def add_image(self, value, last):
        self.images.append((value, last))
        return value

    def axes_of(self, last):
        """The places of channels, height and width."""
        return (3, 1, 2) if last else (1, 2, 3)

    def padded_image(self, image, axes, amounts):
        pads = [(0, 0)] * image.rank
        for axis, amount in zip(axes, amounts):
            pads[axis] = amount
        return self.padded(image, pads) if any(map(sum, amounts)) else image

    def window(self, dims, taps, strides, dilations):
        return [self.extent(f"(s0 - {(k - 1) * d + 1}) floordiv {s} + 1", dim) for dim, k, s, d in
                zip(dims, taps, strides, dilations)]

    def convolve(self, x, last, features, taps, strides, dilations, groups):
        """x: an image, or a signal where there is one of taps, which is large enough."""
        space = len(taps)
        places = (space + 1, *range(1, space + 1)) if last else (1, *range(2, space + 2))
        channels = x.dims[places[0]]
        outs = self.window([x.dims[p] for p in places[1:]], taps, strides, dilations)
        per_group, of_group = Dim(channels.size // groups), Dim(features // groups)
        scale, taps = (per_group.size * np.prod(taps)) ** -0.5, [Dim(k) for k in taps]
        depthwise = groups == channels.size == features and groups > 1 and space == 2
        sizes = "x".join(["", *"12"][space:])
        total = "f32" if x.dtype in ("f16", "bf16") and self.chance(0.7) else x.dtype
        dims = [x.dims[0], *outs, Dim(features)] if last else [x.dims[0], Dim(features), *outs]
        # Axes of the filters, from (group, feature, channel, taps), and the same of the image and of the result.
        order = None
        if depthwise:
            w, kind = ([*taps, channels], "nhwc_hwc") if last else ([channels, *taps], "nchw_chw")
            name = f"linalg.depthwise_conv_2d_{kind}"
            order = lambda a: np.moveaxis(a, -1, 0)[:, None, None] if last else a[:, None, None]
        elif groups == 1 and space == 1:
            w, name = ([*taps, channels, Dim(features)], "linalg.conv_1d_nwc_wcf") if last else (
                [Dim(features), channels, *taps], "linalg.conv_1d_ncw_fcw")
            order = lambda a: np.transpose(a, (2, 1, 0))[None] if last else a[None]
        elif groups == 1:
            kind = ("nhwc_fhwc" if self.chance(0.3) else "nhwc_hwcf") if last else "nchw_fchw"
            w = {"nhwc_fhwc": [Dim(features), *taps, channels], "nhwc_hwcf": [*taps, channels, Dim(features)],
                 "nchw_fchw": [Dim(features), channels, *taps]}[kind]
            name = f"linalg.conv_2d_{kind}"
            order = lambda a: np.transpose(a, {"nhwc_fhwc": (0, 3, 1, 2), "nhwc_hwcf": (3, 2, 0, 1),
                                               "nchw_fchw": (0, 1, 2, 3)}[kind])[None]
        filters = self.weight(w if order else [Dim(groups), of_group, per_group, *taps], x.dtype, scale)
        order = order or (lambda a: a)

        def compute(env):
            a = np.moveaxis(env[x.name].astype(np.float64), places[0], 1)
            f = order(env[filters.name].astype(np.float64))
            a = a.reshape(a.shape[0], groups, per_group.size, *a.shape[2:])
            result = np.zeros((a.shape[0], groups, f.shape[1], *(o.size for o in outs)))
            for tap in np.ndindex(*f.shape[3:]):
                part = a[(slice(None),) * 3 + tuple(slice(t * d, t * d + (o.size - 1) * s + 1, s) for t, d, s, o in
                                                    zip(tap, dilations, strides, outs))]
                result += np.einsum("ngc...,gfc->ngf...", part, f[(slice(None),) * 3 + tap])
            result = result.reshape(a.shape[0], features, *result.shape[3:])
            return np.moveaxis(result, 1, places[0])
        if groups == 1 or depthwise:
            init, type_ = self.f.fill(dims, total, 0), tensor_type(dims, total)
            attributes = (f"{{dilations = dense<{list(dilations)}> : tensor<{space}xi64>, "
                          f"strides = dense<{list(strides)}> : tensor<{space}xi64>}}")
            y = self.f.define(f"{name} {attributes} ins({x.name}, {filters.name} : {x.type}, {filters.type}) "
                              f"outs({init.name} : {type_}) -> {type_}", dims, total, compute, False, True)
        else:
            grouped = self.split(x, places[0], [Dim(groups), per_group])
            out_dims = [x.dims[0], *outs, Dim(groups), of_group] if last else [x.dims[0], Dim(groups), of_group, *outs]
            init, type_ = self.f.fill(out_dims, total, 0), tensor_type(out_dims, total)
            walked = ", ".join(f"{o} * {s} + {k} * {d}" for o, k, s, d in zip(("y", "x"), ("v", "u"), strides, dilations))
            if space == 1:
                walked = f"y * {strides[0]} + v * {dilations[0]}"
            at, window = ("y, x", "v, u") if space == 2 else ("y", "v")
            ins = f"n, {walked}, g, c" if last else f"n, g, c, {walked}"
            out = f"n, {at}, g, f" if last else f"n, g, f, {at}"
            every = f"n, g, f, {at}, c, {window}"
            maps = ", ".join(f"affine_map<({every}) -> ({part})>" for part in (ins, f"g, f, c, {window}", out))
            kinds = ", ".join(['"parallel"'] * (3 + space) + ['"reduction"'] * (1 + space))
            shape = [dim.size for dim in out_dims]
            y = self.f.define(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({grouped.name}, "
                              f"{filters.name} : {grouped.type}, {filters.type}) outs({init.name} : {type_}) "
                              f"{self.multiply_add(x.dtype, total)} -> {type_}", out_dims, total,
                              lambda env: compute(env).reshape(shape), False, True)
            y = self.merged(y, len(dims) - 1 if last else 1)
        y = self.as_type(y, x.dtype)
        return self.plus(y, self.weight([Dim(features)], x.dtype, 0.3), [places[0]]) if self.chance(0.6) else y

    def convolved(self):
        x, last = self.image()
        axes = self.axes_of(last)
        channels = x.dims[axes[0]].size
        tap = self.choice([1, 3, 3, 5, 2])
        stride, dilation = (self.choice([1, 1, 2]) for _ in range(2))
        features, groups = self.choice([4, 8, 16] if self.is_small else [4, 8, 16, 17, 32, 64]), 1
        if self.chance(0.3):
            features = groups = channels
        elif channels % 2 == 0 and features % 2 == 0 and self.chance(0.2):
            groups = 2
        # So much that what is left is as large as before, but for the stride: no image vanishes.
        reach = (tap - 1) * dilation
        x = self.padded_image(x, axes[1:], [(reach // 2, reach - reach // 2)] * 2)
        y = self.convolve(x, last, features, [tap, tap], [stride, stride], [dilation, dilation], groups)
        return self.add_image(self.activated(y) if self.chance(0.5) else y, last)

    def batch_norm(self):
        x, last = self.image()
        axis = self.axes_of(last)[0]
        c = [x.dims[axis]]
        scale, shift = self.weight(c, x.dtype, 0.3, 1), self.weight(c, x.dtype, 0.3)
        y = self.map(x, lambda body, v, s, b: binary(body, "addf", times(body, v, s), b), [(scale, [axis]), (shift, [axis])])
        return self.add_image(self.activated(y) if self.chance(0.5) else y, last)

    def group_norm(self):
        x, last = self.image()
        axis = self.axes_of(last)[0]
        channels = x.dims[axis].size
        groups = self.choice([g for g in (1, 2, 4) if channels % g == 0])
        y = self.split(x, axis, [Dim(groups), Dim(channels // groups)])
        y = self.normalized(y, [1, 2, 4] if last else [2, 3, 4], [axis, axis + 1])
        return self.add_image(self.merged(y, axis), last)

    def pooled(self):
        x, last = self.image()
        axes = self.axes_of(last)
        if self.chance(0.2):  # of the whole image, which is then scaled
            mean = self.mean(x, axes[1:])
            self.returned.append(mean)
            return self.add_image(self.map(x, times, [(self.activated(mean), [0, axes[0]])]), last)
        highest, tap, stride = self.chance(0.5), self.choice([2, 3]), self.choice([1, 2])
        pads = [(0, 0)] * 4
        for axis in axes[1:]:
            pads[axis] = (tap // 2, tap // 2)
        x = self.padded(x, pads, -100.0 if highest else 0.0)
        outs = self.window([x.dims[axis] for axis in axes[1:]], [tap] * 2, [stride] * 2, [1, 1])
        dims = list(x.dims)
        dims[axes[1]], dims[axes[2]] = outs
        init, window = self.f.fill(dims, x.dtype, -100 if highest else 0), self.f.empty([Dim(tap)] * 2, x.dtype)

        def compute(env):
            a, parts = env[x.name].astype(np.float64), []
            for i, j in np.ndindex(tap, tap):
                cut = [slice(None)] * 4
                for axis, t, o in zip(axes[1:], (i, j), outs):
                    cut[axis] = slice(t, t + (o.size - 1) * stride + 1, stride)
                parts.append(a[tuple(cut)])
            return np.max(parts, 0) if highest else np.sum(parts, 0)
        type_ = tensor_type(dims, x.dtype)
        y = self.f.define(f"linalg.pooling_{'nhwc' if last else 'nchw'}_{'max' if highest else 'sum'} "
                          f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}} "
                          f"ins({x.name}, {window} : {x.type}, tensor<{tap}x{tap}x{x.dtype}>) outs({init.name} : {type_}) -> "
                          f"{type_}", dims, x.dtype, compute, False, not highest)
        return self.add_image(y if highest else self.scaled(y, 1 / tap ** 2), last)

    def joined(self):
        """Channels of two images, or of one and what was made of it."""
        x, last = self.image()
        axis = self.axes_of(last)[0]
        rest = [i for i in range(4) if i != axis]
        found = [v for v, l in self.images if l == last and all(same_extent(v.dims[i], x.dims[i]) for i in rest)]
        y = self.concatenated([x, self.choice(found) if self.chance(0.7) else self.activated(x)], axis)
        if self.chance(0.4):
            y = self.sliced(y, axis, 1, Dim(y.dims[axis].size - 2))
        return self.add_image(y, last) if y.dims[axis].size <= 100 else None

    def enlarged(self):
        """Each pixel four times, once."""
        x, last = self.image()
        axes = self.axes_of(last)
        if x.dims[axes[1]] not in (self.height,) or x.dims[axes[0]].size > 20:
            return None
        dims, axis = list(x.dims), axes[1]
        for place in (axes[2] + 1, axes[1] + 1):
            dims.insert(place, Dim(2))
        kept = [i for i in range(6) if i not in (axis + 1, axis + 3)]
        y = self.broadcast_to(x, kept, dims)
        return self.add_image(self.merged(self.merged(y, axis + 2), axis), last)

    def excited(self):
        """Means of channels, two products of them, and a scale of each channel."""
        x, last = self.image()
        axes = self.axes_of(last)
        c, inner = x.dims[axes[0]], Dim(4)
        s = self.mean(x, axes[1:])
        s = self.activated(self.contracted("mk,kn->mn", s, self.weight([c, inner], x.dtype, c.size ** -0.5)))
        s = self.contracted("mk,nk->mn", s, self.weight([c, inner], x.dtype, 0.5))
        return self.add_image(self.map(x, times, [(self.activated(s), [0, axes[0]])]), last)

    def turned(self):
        x, last = self.image()
        return self.add_image(self.permuted(x, [0, 3, 1, 2] if last else [0, 2, 3, 1]), not last)

    def flattened(self):
        """Pixels as tokens, which is where a transformer takes over."""
        x, last = self.image()
        y = self.merged(x, 1) if last else self.permuted(self.merged(x, 2), [0, 2, 1])
        if self.chance(0.5):
            self.returned.append(y)
            y = self.soft(y, 2)
        y = self.projected(y, self.wide())
        self.returned.append(y)
        return y
