#!/usr/bin/env python3
# Writes attention as programs spell it, a function for each spelling, and near misses, which are no single dispatch: --list prints the
# functions with their inputs and whether one dispatch is expected.
import sys


def generic(maps, kinds, ins, outs, body, result):
    names = ", ".join(name for name, _ in ins)
    types = ", ".join(kind for _, kind in ins)
    loops = ", ".join(f'"{kind}"' for kind in kinds)
    maps = ", ".join(f"affine_map<{one}>" for one in maps)
    inputs = f"ins({names} : {types}) " if ins else ""
    return f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}} {inputs}outs({outs} : {result}) {{\n{body}\n  }} -> {result}"


class Spelling:
    def __init__(self, name, heads=4, rows=40, keys=48, depth=32, groups=1, scale="scores", mask=None, transposed=False, isOne=True, keepsWeights=False,
                 extentsOfCall=False, keysOfCall=False, batch=None, element="f32", repeats=False, overRows=False, weighsKeys=False):
        self.__dict__.update(locals())

    def tensor(self, *extents):
        lead = [self.batch] if self.batch else []
        return "tensor<" + "".join(f"{extent}x" for extent in lead + list(extents)) + f"{self.element}>"

    def inputs(self):
        key = (self.keys, self.depth) if self.transposed else (self.depth, self.keys)
        result = [(self.heads, self.rows, self.depth), (self.heads // self.groups, *key), (self.heads // self.groups, self.keys, self.depth)]
        if self.batch:
            result = [(self.batch, *shape) for shape in result]
        if self.mask == "added":
            result.append((self.rows, self.keys))
        return result

    def text(self):
        rows, length = "?" if self.extentsOfCall else self.rows, "?" if self.keysOfCall else self.keys
        isOfKeys = lambda shape: [length if extent == self.keys else extent for extent in shape[-3:]]
        query, keys, values = self.tensor(self.heads, rows, self.depth), self.tensor(*isOfKeys(self.inputs()[1])), self.tensor(*isOfKeys(self.inputs()[2]))
        score, row, result = self.tensor(self.heads, rows, length), self.tensor(self.heads, length if self.overRows else rows), self.tensor(self.heads, rows, self.depth)
        b = "z, " if self.batch else ""
        lead = ["parallel"] * (2 if self.batch else 1)
        loops = f"({b}h, m, n)"
        identity, ofRow = f"{loops} -> {loops}", f"{loops} -> ({b}h, {'n' if self.overRows else 'm'})"
        elementwise, reduced = lead + ["parallel"] * 2, lead + (["reduction", "parallel"] if self.overRows else ["parallel", "reduction"])
        arguments = [("%q", query), ("%k", keys), ("%v", values)] + ([("%mask", f"tensor<{rows}x{length}xf32>")] if self.mask == "added" else [])
        results = f"({result}, {score})" if self.keepsWeights else result
        dynamic = "%rows" if self.extentsOfCall else ""
        lines = [f"func.func @{self.name}(" + ", ".join(f"{name}: {kind}" for name, kind in arguments) + f") -> {results} {{",
                 "%zero = arith.constant 0.0 : f32", "%low = arith.constant 0xFF800000 : f32", "%scale = arith.constant 0.25 : f32"]
        if self.extentsOfCall:
            lines += [f"%one = arith.constant {2 if self.batch else 1} : index", f"%rows = tensor.dim %q, %one : {query}"]
        scored = dynamic
        if self.keysOfCall:
            lines += [f"%two = arith.constant {2 if self.batch else 1} : index", f"%keys = tensor.dim %v, %two : {values}"]
            scored = f"{dynamic}, %keys" if dynamic else "%keys"
        ofRows = ("%keys" if self.keysOfCall else "") if self.overRows else dynamic
        lines += [f"%es = tensor.empty({scored}) : {score}", f"%er = tensor.empty({ofRows}) : {row}", f"%eo = tensor.empty({dynamic}) : {result}"]
        for name, initial, empty, kind in (("%fs", "%zero", "%es", score), ("%fm", "%low", "%er", row), ("%fr", "%zero", "%er", row), ("%fo", "%zero", "%eo", result)):
            lines.append(f"{name} = linalg.fill ins({initial} : f32) outs({empty} : {kind}) -> {kind}")
        multiply = "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %p = arith.mulf %a, %b : f32\n    %s = arith.addf %o, %p : f32\n    linalg.yield %s : f32"
        scaling = "  ^bb0(%a: f32, %o: f32):\n    %p = arith.mulf %a, %scale : f32\n    linalg.yield %p : f32"
        source = "%q"
        if self.scale == "query":
            lines += [f"%eq = tensor.empty({dynamic}) : {query}", "%qs = " + generic([identity, identity], elementwise, [("%q", query)], "%eq", scaling, query)]
            source = "%qs"
        way = f"({b}h, m, n, d)"
        apart, key, value = self.heads // self.groups, "%k", "%v"
        if self.repeats:  # keys and values are written out for each head of a group
            for name, kind, shape in (("%k", keys, self.inputs()[1]), ("%v", values, self.inputs()[2])):
                each, last = shape[-2:], "[[0, 1], [2], [3]]"
                wide, all = self.tensor(apart, self.groups, *each), self.tensor(self.heads, *each)
                lines += [f"{name}e = tensor.empty() : {wide}",
                          f"{name}w = " + generic(["(g, j, x, y) -> (g, x, y)", "(g, j, x, y) -> (g, j, x, y)"], ["parallel"] * 4, [(name, kind)], f"{name}e",
                                                  "  ^bb0(%a: f32, %o: f32):\n    linalg.yield %a : f32", wide),
                          f"{name}r = tensor.collapse_shape {name}w {last} : {wide} into {all}"]
                if name == "%k":
                    key, keys = "%kr", all
                else:
                    value, values = "%vr", all
        isGrouped = self.groups > 1 and not self.repeats  # the heads of a group are a loop of their own
        if isGrouped:
            way = f"({b}g, j, m, n, d)"
            grouped = [self.tensor(apart, self.groups, rows, extent) for extent in (self.depth, self.keys)]
            groups = "[[0, 1], [2], [3]]"
            lines.append(f"%qg = tensor.expand_shape {source} {groups} output_shape [{apart}, {self.groups}, {rows}, {self.depth}] : {query} into {grouped[0]}")
            lines += [f"%eg = tensor.empty() : {grouped[1]}", f"%fg = linalg.fill ins(%zero : f32) outs(%eg : {grouped[1]}) -> {grouped[1]}"]
            lines.append("%sg = " + generic([f"{way} -> (g, j, m, d)", f"{way} -> (g, d, n)", f"{way} -> (g, j, m, n)"], ["parallel"] * 4 + ["reduction"],
                                            [("%qg", grouped[0]), ("%k", keys)], "%fg", multiply, grouped[1]))
            lines.append(f"%s0 = tensor.collapse_shape %sg {groups} : {grouped[1]} into {score}")
        else:
            mapOfKeys = f"{way} -> ({b}h, n, d)" if self.transposed else f"{way} -> ({b}h, d, n)"
            lines.append("%s0 = " + generic([f"{way} -> ({b}h, m, d)", mapOfKeys, f"{way} -> ({b}h, m, n)"], lead + ["parallel"] * 2 + ["reduction"],
                                            [(source, query), (key, keys)], "%fs", multiply, score))
        scores = "%s0"
        if self.scale == "scores":
            lines.append("%s1 = " + generic([identity, identity], elementwise, [(scores, score)], "%es", scaling, score))
            scores = "%s1"
        if self.mask == "added":
            body = "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %p = arith.addf %a, %b : f32\n    linalg.yield %p : f32"
            lines.append("%s2 = " + generic([identity, f"{loops} -> (m, n)", identity], elementwise, [(scores, score), ("%mask", arguments[3][1])], "%es", body, score))
            scores = "%s2"
        if self.mask == "positions":  # a mask of its own, computed from where an element is
            seen = f"tensor<{self.rows}x{self.keys}xf32>"
            body = ("  ^bb0(%o: f32):\n    %i = linalg.index 0 : index\n    %j = linalg.index 1 : index\n"
                    "    %seen = arith.cmpi ule, %j, %i : index\n    %p = arith.select %seen, %zero, %low : f32\n    linalg.yield %p : f32")
            lines += [f"%em = tensor.empty() : {seen}", "%mask = " + generic(["(m, n) -> (m, n)"], ["parallel"] * 2, [], "%em", body, seen)]
            body = "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %p = arith.addf %a, %b : f32\n    linalg.yield %p : f32"
            lines.append("%s2 = " + generic([identity, f"{loops} -> (m, n)", identity], elementwise, [(scores, score), ("%mask", seen)], "%es", body, score))
            scores = "%s2"
        if self.mask == "causal":
            first = 2 if self.batch else 1
            body = (f"  ^bb0(%a: f32, %o: f32):\n    %i = linalg.index {first} : index\n    %j = linalg.index {first + 1} : index\n"
                    "    %seen = arith.cmpi ule, %j, %i : index\n    %p = arith.select %seen, %a, %low : f32\n    linalg.yield %p : f32")
            lines.append("%s2 = " + generic([identity, identity], elementwise, [(scores, score)], "%es", body, score))
            scores = "%s2"
        fold = "  ^bb0(%a: f32, %o: f32):\n    %p = {} %a, %o : f32\n    linalg.yield %p : f32".format
        lines.append("%most = " + generic([identity, ofRow], reduced, [(scores, score)], "%fm", fold("arith.maximumf"), row))
        body = "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %p = arith.subf %a, %b : f32\n    %x = math.exp %p : f32\n    linalg.yield %x : f32"
        lines.append("%e = " + generic([identity, ofRow, identity], elementwise, [(scores, score), ("%most", row)], "%es", body, score))
        lines.append("%sum = " + generic([identity, ofRow], reduced, [("%e", score)], "%fr", fold("arith.addf"), row))
        body = "  ^bb0(%a: f32, %b: f32, %o: f32):\n    %p = arith.divf %a, %b : f32\n    linalg.yield %p : f32"
        lines.append("%w = " + generic([identity, ofRow, identity], elementwise, [("%e", score), ("%sum", row)], "%es", body, score))
        if self.weighsKeys:  # by a number that only the key says
            body = (f"  ^bb0(%a: f32, %o: f32):\n    %i = linalg.index 2 : index\n    %j = arith.index_cast %i : index to i32\n"
                    "    %f = arith.sitofp %j : i32 to f32\n    %p = arith.mulf %a, %f : f32\n    linalg.yield %p : f32")
            lines.append("%w2 = " + generic([identity, identity], elementwise, [("%w", score)], "%es", body, score))
        weights = "%w2" if self.weighsKeys else "%w"
        if isGrouped:
            lines.append(f"%wg = tensor.expand_shape %w {groups} output_shape [{apart}, {self.groups}, {rows}, {self.keys}] : {score} into {grouped[1]}")
            lines += [f"%eh = tensor.empty() : {grouped[0]}", f"%fh = linalg.fill ins(%zero : f32) outs(%eh : {grouped[0]}) -> {grouped[0]}"]
            way = "(g, j, m, d, n)"
            lines.append("%rg = " + generic([f"{way} -> (g, j, m, n)", f"{way} -> (g, n, d)", f"{way} -> (g, j, m, d)"], ["parallel"] * 4 + ["reduction"],
                                            [("%wg", grouped[1]), ("%v", values)], "%fh", multiply, grouped[0]))
            lines.append(f"%r = tensor.collapse_shape %rg {groups} : {grouped[0]} into {result}")
        else:
            way = f"({b}h, m, d, n)"
            lines.append("%r = " + generic([f"{way} -> ({b}h, m, n)", f"{way} -> ({b}h, n, d)", f"{way} -> ({b}h, m, d)"], lead + ["parallel"] * 2 + ["reduction"],
                                           [(weights, score), (value, values)], "%fo", multiply, result))
        lines.append(f"return %r, %w : {result}, {score}" if self.keepsWeights else f"return %r : {result}")
        low = {"f32": "0xFF800000", "f16": "0xFC00"}[self.element]
        return ("\n  ".join(lines) + "\n}\n").replace(": f32", f": {self.element}").replace("0xFF800000", low)


SPELLINGS = [
    Spelling("after"), Spelling("before", scale="query"), Spelling("unscaled", scale=None), Spelling("odd", rows=37, keys=53, depth=19),
    Spelling("masked", mask="added"), Spelling("keys_as_rows", transposed=True), Spelling("one_batch", batch=1), Spelling("batches", batch=3, heads=2),
    Spelling("any_rows", extentsOfCall=True), Spelling("causal", mask="causal"), Spelling("causal_batches", mask="causal", batch=2),
    Spelling("positions", mask="positions"),
    Spelling("grouped", groups=2), Spelling("grouped_causal", groups=2, mask="causal"), Spelling("grouped_odd", heads=9, groups=3, rows=37, keys=53, depth=19, mask="added"),
    Spelling("repeated", groups=2, repeats=True), Spelling("repeated_keys_as_rows", groups=4, repeats=True, transposed=True, mask="causal"),
    Spelling("one_row", rows=1), Spelling("few_rows", rows=3, mask="causal"), Spelling("one_row_grouped", rows=1, groups=4, repeats=True),
    Spelling("any_keys", keysOfCall=True, keys=700), Spelling("any_extents", extentsOfCall=True, keysOfCall=True, rows=37, keys=530, mask="added"),
    Spelling("any_causal", extentsOfCall=True, keysOfCall=True, rows=70, keys=257, mask="causal", batch=2), Spelling("one_key", keysOfCall=True, rows=1, keys=1),
    Spelling("weighs_keys", weighsKeys=True), Spelling("long", heads=2, rows=9, keys=20000, mask="causal"),
    # Near misses.
    Spelling("weights_too", keepsWeights=True, isOne=False), Spelling("deep", depth=160, isOne=False), Spelling("over_rows", overRows=True, isOne=False),
    Spelling("any_weights_too", keepsWeights=True, keysOfCall=True, isOne=False), Spelling("any_over_rows", overRows=True, keysOfCall=True, isOne=False),
    Spelling("any_weighs_keys", weighsKeys=True, keysOfCall=True, isOne=False),
]

if __name__ == "__main__":
    for spelling in SPELLINGS:
        if sys.argv[1:] == ["--list"]:
            print(spelling.name, "one" if spelling.isOne else "several", *("x".join(map(str, shape)) for shape in spelling.inputs()))
        else:
            print(spelling.text())
    if sys.argv[1:] != ["--list"]:
        print(Spelling("halves", keys=1024, element="f16").text())
