import numpy as np
import pandas as pd
import plotly.graph_objects as go

rng = np.random.default_rng(17)
dates = pd.bdate_range("2024-01-02", periods=60)
close = 100 * np.exp(np.cumsum(rng.normal(0.0005, 0.015, 60)))
open_ = np.r_[100, close[:-1]]
high = np.maximum(open_, close) * (1 + rng.uniform(0, 0.01, 60))
low = np.minimum(open_, close) * (1 - rng.uniform(0, 0.01, 60))
px = pd.DataFrame({"open": open_, "high": high, "low": low, "close": close}, index=dates)
px["sma10"] = px["close"].rolling(10).mean()

fig = go.Figure([
    go.Candlestick(x=px.index, open=px.open, high=px.high, low=px.low, close=px.close, name="OHLC"),
    go.Scatter(x=px.index, y=px.sma10, name="SMA 10", line=dict(width=1)),
])
fig.update_layout(xaxis_rangeslider_visible=False)
fig.write_json("candles.json")

import plotly.io as pio
again = pio.read_json("candles.json")
print("round trip traces:", [t.name for t in again.data])
print(px.tail(3).round(2).to_string())
print("max drawdown: %.2f%%" % ((px.close / px.close.cummax() - 1).min() * 100))
