import copy
import weakref


class Node:
    def __init__(self, name):
        self.name, self.children = name, []


root = Node("root")
root.children.append(Node("leaf"))
clone = copy.deepcopy(root)
clone.children[0].name = "changed"
print(root.children[0].name, clone.children[0].name, copy.copy(root).children is root.children)
reference = weakref.ref(clone)
print(reference() is clone)
del clone
print(reference())
