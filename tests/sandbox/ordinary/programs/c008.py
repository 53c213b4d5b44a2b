import os
import matplotlib
import matplotlib.pyplot as plt
plt.imshow([[1, 2], [3, 4]], cmap="hot")
plt.colorbar()
plt.savefig("heat.jpg")
print(os.path.getsize("heat.jpg") > 1000)
