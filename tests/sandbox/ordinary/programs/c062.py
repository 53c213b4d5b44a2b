import pyarrow as pa
with pa.OSFile("t.arrow", "wb") as f:
    with pa.ipc.new_file(f, pa.schema([("a", pa.int32())])) as w:
        w.write(pa.record_batch([pa.array([1, 2], pa.int32())], names=["a"]))
with pa.memory_map("t.arrow") as m:
    print(pa.ipc.open_file(m).read_all().to_pydict())
