import base64
import binascii
import zlib

data = "Grüße aus Köln! ".encode() * 20
packed = zlib.compress(data, 9)
print(len(data), len(packed) < 40, base64.b64encode(data[:9]).decode(), base64.urlsafe_b64decode("_-8=").hex())
print(hex(binascii.crc32(data)), hex(zlib.adler32(data)), zlib.decompress(packed) == data)
print(base64.b85encode(b"hello").decode(), base64.b32encode(b"hi").decode())
