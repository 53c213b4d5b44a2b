import scipy.datasets
try: print(scipy.datasets.face().shape)
except Exception as e: print("no data")
