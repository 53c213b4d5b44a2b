import struct

header = struct.pack("<4sHHI", b"RIFF", 1, 2, 44100)
print(len(header), header.hex(" "))
magic, version, channels, rate = struct.unpack("<4sHHI", header)
print(magic.decode(), version, channels, rate)
with open("pixels.bmp", "wb") as out:
    out.write(b"BM" + struct.pack("<IHHI", 14 + 3, 0, 0, 14) + bytes((255, 0, 0)))
print(struct.unpack_from("<I", open("pixels.bmp", "rb").read(), 2)[0])
