from multiprocessing import Pool
def cube(x): return x ** 3
if __name__ == "__main__":
    with Pool(3) as p:
        print(p.map(cube, range(6)), sum(p.imap_unordered(cube, range(4))))
