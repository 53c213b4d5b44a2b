import base64
import hashlib
import hmac
import secrets

data = b"the quick brown fox"
for name in ("md5", "sha1", "sha256", "blake2b"):
    print(f"{name:8}{hashlib.new(name, data).hexdigest()[:32]}")
mac = hmac.new(b"key", data, hashlib.sha256).hexdigest()
print("hmac", mac[:16], hmac.compare_digest(mac, mac))
key = hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000)
print("pbkdf2", base64.b64encode(key).decode())
print("scrypt", hashlib.scrypt(b"pw", salt=b"na", n=16, r=8, p=1, dklen=16).hex())
token = secrets.token_urlsafe(24)
print("token length", len(token), "differs:", token != secrets.token_urlsafe(24))
print("in range:", 0 <= secrets.randbelow(10) < 10, secrets.choice("aaa"))
big = hashlib.sha256()
for chunk in (b"x" * 1000 for _ in range(100)):
    big.update(chunk)
print(big.hexdigest()[:16])
