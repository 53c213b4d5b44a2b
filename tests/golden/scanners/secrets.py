# <name> stands for a made-up secret in that provider's format, put in by the test.
client = connect("<github-token>")
db_password = "xq7!Lm2#Tz9@Vw4$"
example_key = "YOUR_API_KEY"
digest = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
opaque = "q8Zr2LmX0pWv7TnB5cR1yE4uHs6gJf3KdA9o"
print("<private-key>")
