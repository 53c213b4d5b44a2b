import plotly.graph_objects as go, plotly.figure_factory as ff, json
f = go.Figure(data=[go.Pie(labels=["a", "b"], values=[1, 3])], layout={"title": "t"}); f.update_traces(hole=0.4); f.add_annotation(text="x"); open("f.html", "w").write(f.to_html(include_plotlyjs=True)); print(json.loads(f.to_json())["data"][0]["hole"]); print(ff.create_table([["h"], ["1"]]).data[0].type); f.show(renderer="json"); 
try: f.write_image("x.png")
except Exception as e: print("no kaleido")
