# Five loads of Python's: objects.py LOAD [ROUNDS]. Prints a check sum.
import json, re, sys


class Tree:
    __slots__ = ("left", "right")

    def __init__(self, depth):
        self.left = Tree(depth - 1) if depth else None
        self.right = Tree(depth - 1) if depth else None

    def count(self):
        return 1 + (self.left.count() + self.right.count() if self.left else 0)


def trees():  # objects that live for a while
    return sum(Tree(11).count() for _ in range(4))


def documents():  # JSON to objects and back
    document = {"items": [{"id": i, "name": "item %d" % i, "tags": ["a", "b", str(i)], "price": i / 7} for i in range(600)]}
    return sum(len(json.dumps(json.loads(json.dumps(document)))) for _ in range(4))


def words():  # texts, regular expressions, dictionaries
    text = " ".join("word%d is-%d, and %x;" % (i % 97, i, i * i) for i in range(4000))
    counts = {}
    for found in re.findall(r"[a-z]+[0-9]*", text):
        counts[found] = counts.get(found, 0) + 1
    return sum(len(k) * v for k, v in counts.items()) + len(text.upper().split())


def bodies():  # floats
    place, speed = [[i * 1.5, i * 0.5, -i * 0.25] for i in range(5)], [[0.0, 0.1 * i, 0.0] for i in range(5)]
    for _ in range(400):
        for i in range(5):
            for j in range(i + 1, 5):
                apart = [a - b for a, b in zip(place[i], place[j])]
                pull = 0.01 / (sum(d * d for d in apart) + 0.1) ** 1.5
                for k in range(3):
                    speed[i][k] -= apart[k] * pull
                    speed[j][k] += apart[k] * pull
        for i in range(5):
            for k in range(3):
                place[i][k] += 0.01 * speed[i][k]
    return round(sum(sum(p) for p in place) * 1000)


def chains():  # calls, generators, closures, exceptions
    def numbers(n):
        for i in range(n):
            yield i

    def add(n):
        return lambda m: n + m

    total = 0
    for i in numbers(12000):
        try:
            total += add(i)(1) if i % 5 else [][i]
        except IndexError as error:
            total += len(str(error))
    return total


loads = {each.__name__: each for each in (trees, documents, words, bodies, chains)}
if __name__ == "__main__":
    load, rounds = loads[sys.argv[1]], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    print(sum(load() for _ in range(rounds)))
