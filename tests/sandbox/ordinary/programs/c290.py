import matplotlib.pyplot as plt
try: plt.rcParams["text.usetex"] = True; fig = plt.figure(); fig.text(0.5, 0.5, "$x$"); fig.savefig("t.png"); print("tex")
except Exception as e: print("no latex")
