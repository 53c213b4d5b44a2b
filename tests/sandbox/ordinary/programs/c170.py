import click
from click.testing import CliRunner
@click.command()
@click.option("--n", default=1)
@click.argument("f", type=click.Path(exists=False))
def go(n, f): click.echo(f"{n} {f}")
print(CliRunner().invoke(go, ["--n", "2", "x.txt"]).output, click.get_app_dir("x") != "")
