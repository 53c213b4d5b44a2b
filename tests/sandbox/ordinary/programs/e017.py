class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def insert(self, value):
        side = "left" if value < self.value else "right"
        child = getattr(self, side)
        if child:
            child.insert(value)
        else:
            setattr(self, side, Node(value))

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


tree = Node(8)
for value in (3, 10, 1, 6, 14, 4):
    tree.insert(value)
print(list(tree), 6 in tree, 7 in tree)
