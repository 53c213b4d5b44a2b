import plotly.express as px
df = px.data.iris()
fig = px.scatter_matrix(df, dimensions=["sepal_length", "petal_width"], color="species")
print(df.shape, len(fig.data))
