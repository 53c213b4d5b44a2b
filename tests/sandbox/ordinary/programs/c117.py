import multiprocessing as mp
def work(q, e):
    e.wait(); q.put(mp.current_process().name)
if __name__ == "__main__":
    ctx = mp.get_context("fork"); q, e = ctx.Queue(), ctx.Event()
    p = ctx.Process(target=work, args=(q, e), name="helper"); p.start(); e.set()
    print(q.get(), p.join())
