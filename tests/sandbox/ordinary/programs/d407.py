from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

console = Console(file=StringIO(), width=40)
table = Table(title="Stock")
table.add_column("item")
table.add_column("left", justify="right")
table.add_row("tea", "12")
table.add_row("[red]milk[/red]", "0")
console.print(table)
tree = Tree("src")
tree.add("app.py")
console.print(tree)
print(console.file.getvalue())
