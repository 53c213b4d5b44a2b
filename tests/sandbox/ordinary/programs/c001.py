import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(["mon", "tue", "wed"], [4, 7, 2])
ax.set_ylabel("orders")
fig.savefig("orders.pdf")
print(open("orders.pdf", "rb").read(5))
