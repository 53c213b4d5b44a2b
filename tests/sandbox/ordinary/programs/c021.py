import plotly.io as pio
import plotly.express as px
print("plotly_dark" in pio.templates)
pio.templates.default = "plotly_white"
fig = px.choropleth(locations=["DEU", "FRA"], color=[1, 2])
print(fig.layout.template.layout.paper_bgcolor)
