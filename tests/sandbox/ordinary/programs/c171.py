from rich.console import Console
from rich.table import Table
from rich.progress import track
t = Table("a", "b"); t.add_row("1", "2"); Console(width=20, force_terminal=False).print(t)
print(sum(track(range(3), console=Console(stderr=True))))
