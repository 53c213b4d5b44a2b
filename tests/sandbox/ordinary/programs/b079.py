import array
import binascii
import struct
import tempfile

RECORD = struct.Struct("<I10sdh")
rows = [(1, b"widget", 2.5, -3), (2, b"gadget", 10.25, 7), (3, b"gizmo", 0.125, 0)]
with tempfile.TemporaryFile() as fh:
    fh.write(b"DEMO" + struct.pack(">H", len(rows)))
    for row in rows:
        fh.write(RECORD.pack(*row))
    print("bytes", fh.tell(), "record size", RECORD.size)
    fh.seek(0)
    magic, (count,) = fh.read(4), struct.unpack(">H", fh.read(2))
    print(magic, count)
    for number, name, price, delta in RECORD.iter_unpack(fh.read()):
        print(number, name.rstrip(b"\0").decode(), price, delta)
values = array.array("h", [1, -2, 300])
values.byteswap()
print(values.tolist(), binascii.hexlify(values.tobytes()).decode())
print(memoryview(b"abcdef")[1:5:2].tobytes(), (1023).to_bytes(2, "big").hex())
