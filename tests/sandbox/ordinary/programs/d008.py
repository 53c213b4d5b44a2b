from dataclasses import asdict, dataclass, field


@dataclass(order=True)
class Task:
    priority: int
    title: str = field(compare=False)
    tags: list[str] = field(default_factory=list, compare=False)


tasks = [Task(3, "write report"), Task(1, "fix login", ["bug"]), Task(2, "call Ann")]
for task in sorted(tasks):
    print(asdict(task))
print(max(tasks).title)
