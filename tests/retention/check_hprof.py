"""Reads an hprof file as the format says it, and compares it with what `winnow heap` says of the snapshot otherwise:
check_hprof.py FILE.hprof FILE.json FILE.heapsnapshot. Prints what it has seen; the last line is one of Hprof.java's."""
import json, mmap, struct, sys

SIZE = {2: 4, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
DATA, OUTSIDE, REST = "data of an ephemeron", "memory outside the heap", "(rest)"
with open(sys.argv[1], "rb") as opened:
    whole = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
heap = json.load(open(sys.argv[2]))
dev = json.load(open(sys.argv[3]))
at = 0


def take(count):
    global at
    assert at + count <= len(whole), "the file ends within a record"
    at += count
    return whole[at - count:at]


def number(count):
    return int.from_bytes(take(count), "big")


# ---- the records ----
assert take(19) == b"JAVA PROFILE 1.0.2\0" and number(4) == 4
assert number(8) == heap["time_ns"] // 1000000
strings, named, roots, classes, objects, above = {}, {}, [], {}, {}, {}
names_of_classes, segments, ended = set(), 0, 0


def string(key):
    assert key in strings, f"the string {key} is used before it comes"
    return strings[key]


def new_object(key, value):
    assert key and key not in objects and key not in named, f"id {key} twice"
    objects[key] = value


def read_class():
    key, stack, above_it = number(4), number(4), number(4)
    assert not any(take(20)), "loader, signers, domain"
    size, constants, statics = number(4), number(2), number(2)
    assert key in named and key not in classes and not stack and not constants and not statics
    fields = [(string(number(4)), number(1)) for _ in range(number(2))]
    above[key] = above_it
    classes[key] = size, fields


def all_fields(key):
    fields = []
    while key:
        fields += classes[key][1]
        key = above[key]
    return fields


def read_instance():
    key, _, kind, count = number(4), number(4), number(4), number(4)
    fields = all_fields(kind)
    assert count == sum(SIZE[kind] for _, kind in fields), "an instance of another length than its class"
    assert classes[kind][0] == 8 + count, "a class that says another size than its fields have"
    references, begin = [], at
    for name, kind_of_field in fields:
        value = number(SIZE[kind_of_field])
        assert kind_of_field == 2 or (name == REST and not value)
        if kind_of_field == 2 and value:
            references.append((name, value))
    assert at == begin + count
    new_object(key, ("instance", kind, 8 + count, references))


def read_objects():
    key, _, count, kind = number(4), number(4), number(4), number(4)
    assert named[kind].startswith("[L") and count < 1 << 31
    raw, references = take(4 * count), []
    if count < 1 << 20 or any(raw):
        words = struct.unpack(">%dI" % count, raw) if count < 1 << 20 else memoryview(raw).cast("I").tolist()
        references = [(str(i), word) for i, word in enumerate(words) if word]
    new_object(key, ("array", kind, 12 + 4 * count, references))


def read_bytes():
    global at
    key, _, count, kind = number(4), number(4), number(4), number(1)
    assert kind == 8 and count < 1 << 31
    at += count
    assert at <= len(whole)
    new_object(key, ("bytes", "[B", 12 + count, []))


def read_root():
    key, reference = number(4), number(4)
    assert not reference and not classes, "roots come before classes"
    roots.append(key)


items = {0x01: read_root, 0x20: read_class, 0x21: read_instance, 0x22: read_objects, 0x23: read_bytes}
while at < len(whole):
    kind, _, length = number(1), number(4), number(4)
    end = at + length
    assert not ended and (kind >= 0x1c or not segments), "a record among the segments, or behind the end"
    if kind == 0x01:
        key = number(4)
        assert key and key not in strings, "a string twice"
        strings[key] = take(length - 4).decode()
    elif kind == 0x02:
        serial, key, stack, name = number(4), number(4), number(4), string(number(4))
        assert serial and not stack and key not in named and name not in names_of_classes, f"class {name} twice"
        named[key] = name
        names_of_classes.add(name)
    elif kind == 0x1c:
        segments += 1
        while at < end:
            items[number(1)]()
    else:
        assert kind == 0x2c and not length
        ended = 1
    assert at == end, f"a record of {length} bytes, whose content has {at - end} more"
assert ended and set(classes) == set(named), "classes without a name, or names without a class"
for key, kind in above.items():
    derived = named[key].startswith("java/lang/ref/") and named[key] != "java/lang/ref/Reference"
    expected = {"java/lang/Object": None}.get(named[key], "java/lang/ref/Reference" if derived else "java/lang/Object")
    assert named.get(kind) == expected, (named[key], kind)
for _, kind, _, references in objects.values():
    assert kind == "[B" or kind in classes
    for _, target in references:
        assert target in objects, f"a reference to {target}, which is not there"
assert len(set(roots)) == len(roots) and all(root in objects for root in roots)
assert len(roots) == len(heap["holders"])

# ---- the graph: nodes by their numbers, with what is below them ----
before = len(named) + 1  # what ids of nodes are more than the nodes' numbers
behind = before + 1 + len(roots) + heap["blocks"]  # of the first id that is no node's
assert sorted(roots) == [before + 1 + i for i in range(len(roots))]


def rounded(size):
    return (size + 7) // 8 * 8


nodes, edges, text = dev["nodes"], dev["edges"], dev["strings"]
ordinals = {}
for i in range(2, len(nodes) // 7):
    if nodes[7 * i] != 8:
        ordinals[i] = (nodes[7 * i + 2] - 1) // 2 + before
next_edge = nodes[4] + nodes[7 + 4]
seen, lists, arrays, differs, longs, counted, bytes_of = 0, 0, 0, 0, 0, {}, {}
types = sorted((kind["name"] for kind in heap["types"]), key=len, reverse=True)
used, forms = set(), {}
for i in range(2, len(nodes) // 7):
    kind, name, _, own, count = nodes[7 * i:7 * i + 5]
    theirs, outside = [], 0
    for j in range(next_edge, next_edge + count):
        how, label, target = edges[3 * j:3 * j + 3]
        if how == 3 and text[label] == "outside":
            outside = nodes[target + 3]
        else:
            theirs.append((text[label] if how > 1 else str(label), ordinals[target // 7]))
    next_edge += count
    if kind == 8:
        continue
    key = ordinals[i]
    form, its_class, size, references = objects[key]
    used.add(key)
    words = own // 8 - 1
    fields = [int(label) for label, _ in theirs if label.isdigit()]  # those with names are right in the tests
    long = kind == 3 and (words > 1 << 24 or any(field >= words for field in fields) or fields != sorted(set(fields)))
    ours, its_outside = [], 0
    elements = len(theirs) - sum(label == DATA for label, _ in theirs) if long or kind == 9 else words
    for position, (label, target) in enumerate(references):
        if form == "array" and int(label) >= elements:
            label = OUTSIDE if objects[target][0] == "bytes" or (target >= behind and objects[target][3] and
                                                                objects[objects[target][3][0][1]][0] == "bytes") else DATA
        elif long:
            label = theirs[position][0]  # the fields' numbers are lost
        below = [target]
        if target >= behind:
            used.add(target)
            if label == DATA or objects[target][0] == "array":
                assert named[objects[target][1]] == "[Ljava/lang/Object;"
                below = [other for _, other in objects[target][3]]
                lists += 1
                arrays += rounded(objects[target][2])
                assert len(below) > 1, "an array of one"
        if label == OUTSIDE:
            its_outside += sum(rounded(objects[other][2]) for other in below)
            used.update(below)
        else:
            ours += [(label, other) for other in below]
    assert sorted(ours) == sorted(theirs), (text[name], ours, theirs)
    seen += len(ours)

    # Sizes, by the rules of the tools.
    size = rounded(size)
    if kind == 9:
        assert size == rounded(8 + 4 * len(theirs)) or (form == "array" and size == rounded(12 + 4 * len(theirs)))
    elif long:
        longs += 1
        assert size < 100 and 0 <= size + its_outside - own < 16, (size, its_outside, own)
        differs += size + its_outside - own
        outside = its_outside
    else:
        more = rounded(max(outside, 12)) if outside else 0
        extras = 0 if form == "array" else 4 * sum(label in (DATA, OUTSIDE) for label, _ in classes[its_class][1])
        most = max(own, rounded(8 + 4 * words + extras))
        if form == "array":  # whose elements are more than its words only if its data do not fit
            most = max(own, rounded(12 + 4 * (words + (its_outside > 0) + any(label == DATA for label, _ in ours))))
        assert its_outside == more and size == most, (text[name], size, own)
        differs += size - own + more - outside
    shown = named[its_class]
    assert (form == "array") == shown.startswith("[L")
    shown = shown[2:-1] if form == "array" else shown
    plain = text[name] or "(unknown)"
    if kind == 9:
        assert "(" + shown + ")" == text[name], (shown, text[name])
        continue
    strange = plain.startswith("[") or plain.endswith("[]")
    names = ["(" + plain + ")" if strange and form != "array" else plain]
    if len(named) >= 20000 - 1:
        names += [kind["name"] for kind in heap["types"]]
    assert any(shown in (one, f"{one} ({words} word{'' if words == 1 else 's'})") for one in names), (shown, text[name])
    which = next(kind for kind in types if text[name] == kind or text[name].startswith(kind + " "))
    forms.setdefault(which, set()).add((words, form, text[name] == which))
    counted[which] = counted.get(which, 0) + 1
    bytes_of[which] = bytes_of.get(which, 0) + size + (its_outside if outside else 0)
for which, all_forms in forms.items():
    if which != "(unknown)":  # which several types are called
        alike = len({words for words, _, _ in all_forms}) == 1
        assert all(form == "array" if words > 64 else form == "instance" or not alike and plain for words, form, plain in all_forms), which
assert len(named) <= 20000 + len(heap["types"])
assert used == set(objects), f"objects that nothing leads to: {set(objects) - used}"
assert seen + 1 + len(roots) + sum(nodes[7 * i] == 8 for i in range(len(nodes) // 7)) == dev["snapshot"]["edge_count"]


def by_name(member):
    sums = {}
    for kind in heap["types"]:  # several have no name where the file is cut
        sums[kind["name"]] = sums.get(kind["name"], 0) + kind[member]
    return sums


assert counted == by_name("blocks")
assert sum(counted.values()) == heap["reachable_blocks"]
assert sum(bytes_of.values()) - differs == heap["reachable_bytes"], (bytes_of, differs, heap["reachable_bytes"])
if not differs:
    assert bytes_of == by_name("bytes")

# ---- what each root retains: what is not reachable without it ----


def reachable(without):
    met = set(root for root in roots if root != without)
    todo = list(met)
    while todo:
        for _, target in objects[todo.pop()][3]:
            if target not in met:
                met.add(target)
                todo.append(target)
    return met


everything = reachable(0)
assert everything == set(objects)
for root, holder in zip(sorted(roots), heap["holders"]):
    gone = everything - reachable(root) - {root}
    retained = sum(rounded(objects[key][2]) for key in gone)
    assert holder["retained_bytes"] <= retained <= holder["retained_bytes"] + differs + arrays, (holder, retained)
print(f"{len(objects)} objects, {seen} references, {len(classes)} classes, {len(roots)} roots, {segments} segments, "
      f"{lists} arrays below, {longs} long blocks, {differs + arrays} bytes more")
print(f"instances {len(objects)} references {sum(len(references) for _, _, _, references in objects.values())}")
