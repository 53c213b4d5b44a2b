import pyarrow as pa

schema = pa.schema({"x": pa.int64(), "label": pa.string()})
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, schema) as writer:
    for start in range(0, 100, 25):
        batch = pa.record_batch(
            [pa.array(range(start, start + 25)), pa.array([f"item{i}" for i in range(start, start + 25)])],
            schema=schema,
        )
        writer.write_batch(batch)

buf = sink.getvalue()
reader = pa.ipc.open_stream(buf)
batches = list(reader)
table = pa.Table.from_batches(batches)
print("batches:", len(batches), "rows:", table.num_rows)
print("chunks per column:", table["x"].num_chunks)
print("combined:", table.combine_chunks()["x"].num_chunks)
print(table.slice(48, 4).to_pydict())

compressed = pa.compress(buf.to_pybytes(), codec="lz4", asbytes=True)
print("compressed smaller:", len(compressed) < buf.size)
