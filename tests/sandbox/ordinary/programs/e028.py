import hashlib
import hmac

message = b"pay 10 to Ann"
print(hashlib.md5(message).hexdigest(), hashlib.blake2b(message, digest_size=8).hexdigest())
print(hmac.new(b"key", message, "sha256").hexdigest()[:16], len(hashlib.algorithms_guaranteed) > 5)
print(hashlib.pbkdf2_hmac("sha256", b"pw", b"salt", 1000).hex()[:16])
