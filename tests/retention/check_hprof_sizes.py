"""Compares what VisualVM's library finds in an hprof file with what winnow finds in the snapshot: check_hprof_sizes.py JSON FOUND MORE
FOUND is what Hprof.java writes, MORE how many bytes the file has more than the snapshot (check_hprof.py). Prints what is the same."""
import json, re, sys

heap, more = json.load(open(sys.argv[1])), int(sys.argv[3])
lines = [line.rstrip("\n").split(" ") for line in open(sys.argv[2])]
assert lines[-1][0] == "instances" and lines[-1][2] == "references"
kinds = {}  # by name: instances, bytes, retained, classes
for line in lines:
    if line[0] == "class":
        name = " ".join(line[4:])
        kinds[name] = [int(number) for number in line[1:4]]

# A root has a size of its own.
holders = sorted((holder["name"], holder["retained_bytes"]) for holder in heap["holders"])
roots = sorted((re.sub(r"\[\]$", "", " ".join(line[4:])), int(line[3]) - int(line[2]), line[1]) for line in lines if line[0] == "root")
assert len(roots) == len(holders), (roots, holders)
for (name, retained), (their_name, theirs, how) in zip(holders, roots):
    assert name == their_name and how == "JNI-global" and retained <= theirs <= retained + more, (name, retained, their_name, theirs)


def of_type(name):
    """The classes that have blocks of a type: what follows the type's name is what the language says of a block."""
    plain = re.sub(r" \(\d+ words?\)$", "", re.sub(r"\[\]$", "", name))
    plain = re.sub(r"^\((.*\[\]|\[.*)\)$", r"\1", plain)
    return next((kind["name"] for kind in types if plain == kind["name"] or plain.startswith((kind["name"] or "(unknown)") + " ")
                 or (plain == "(unknown)" and not kind["name"])), None)


types = sorted(heap["types"], key=lambda kind: -len(kind["name"]))
blocks, same = {}, 0
for name, (count, own, retained) in kinds.items():
    kind = of_type(name)
    if kind is not None:
        blocks.setdefault(kind, []).append((count, own, retained))
expected = {}
for kind in heap["types"]:
    expected.setdefault(kind["name"], []).append(kind)
assert set(blocks) == set(expected), (set(blocks), set(expected))
for name, (first, *others) in expected.items():
    count, own = (sum(number[i] for number in blocks[name]) for i in (0, 1))
    assert count == sum(kind["blocks"] for kind in [first] + others), (name, count)
    if len(blocks[name]) == 1 and not others:
        if "byte[]" not in kinds:
            assert first["bytes"] <= own <= first["bytes"] + more, (name, own, first)
        assert first["retained_bytes"] <= blocks[name][0][2] <= first["retained_bytes"] + more, (name, blocks[name], first)
        same += blocks[name][0][2] == first["retained_bytes"]
print(f"the same is retained by {same} of {len(expected)} types and by "
      f"{sum(mine[1] == theirs[1] for mine, theirs in zip(holders, roots))} of {len(roots)} roots; {' '.join(lines[-1])}")
