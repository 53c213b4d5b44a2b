import colorsys
import wave
import math
import struct

with wave.open("tone.wav", "wb") as out:
    out.setparams((1, 2, 8000, 0, "NONE", ""))
    out.writeframes(b"".join(struct.pack("<h", int(12000 * math.sin(n / 8000 * 440 * math.tau))) for n in range(800)))
with wave.open("tone.wav") as tone:
    print(tone.getframerate(), tone.getnframes() / tone.getframerate(), tone.getsampwidth())
print([round(v, 3) for v in colorsys.rgb_to_hls(0.2, 0.4, 0.4)])
