import click
from click.testing import CliRunner


@click.group()
def cli():
    """Manage notes."""


@cli.command()
@click.argument("text")
@click.option("--upper", is_flag=True, help="Shout.")
def add(text, upper):
    """Add a note."""
    with open("notes.txt", "a") as notes:
        notes.write((text.upper() if upper else text) + "\n")
    click.echo("added")


@cli.command("list")
def list_notes():
    """List the notes."""
    for number, line in enumerate(open("notes.txt"), 1):
        click.echo(f"{number}. {line.rstrip()}")


runner = CliRunner()
for line in (["add", "buy milk"], ["add", "--upper", "call mum"], ["list"], ["add"]):
    result = runner.invoke(cli, line)
    print(result.exit_code, result.output.splitlines()[:2])
