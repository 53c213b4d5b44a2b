import jinja2

page = jinja2.Template("""<ul>
{%- for item in items if item.stock %}
  <li>{{ loop.index }}. {{ item.name|title }} {{ "%.2f"|format(item.price) }}</li>
{%- else %}
  <li>sold out</li>
{%- endfor %}
</ul>""")
print(page.render(items=[{"name": "green tea", "price": 4.5, "stock": 3}, {"name": "mug", "price": 9, "stock": 0}]))
print(jinja2.Environment(autoescape=True).from_string("{{ text }}").render(text="<script>"))
