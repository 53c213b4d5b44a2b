from matplotlib.backends.backend_pdf import PdfPages
import matplotlib.pyplot as plt
with PdfPages("report.pdf") as pdf:
    for region in ["north", "south", "east"]:
        plt.figure()
        plt.title(region)
        plt.pie([3, 4, 5], labels=["a", "b", "c"])
        pdf.savefig()
        plt.close()
    print(pdf.get_pagecount())
