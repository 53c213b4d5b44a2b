import yaml, jinja2, pydantic
class M(pydantic.BaseModel): n: int; tags: list[str] = []
print(M.model_validate(yaml.safe_load("n: 3\ntags: [a]")), jinja2.Template("{% for t in x %}{{t}};{% endfor %}").render(x="ab"))
open("t.html", "w").write("hi {{n}}"); print(jinja2.Environment(loader=jinja2.FileSystemLoader(".")).get_template("t.html").render(n=1))
