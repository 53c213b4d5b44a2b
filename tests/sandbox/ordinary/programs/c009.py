import matplotlib.dates as mdates
import matplotlib.pyplot as plt
from datetime import date, timedelta
days = [date(2024, 1, 1) + timedelta(days=7 * i) for i in range(20)]
fig, ax = plt.subplots()
ax.plot(days, range(20))
ax.xaxis.set_major_formatter(mdates.DateFormatter("%b %d"))
fig.autofmt_xdate()
fig.canvas.draw()
print([t.get_text() for t in ax.get_xticklabels()][:3])
