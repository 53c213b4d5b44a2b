import cryptography.fernet
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

box = cryptography.fernet.Fernet(cryptography.fernet.Fernet.generate_key())
print(box.decrypt(box.encrypt(b"secret plans")))
key = ed25519.Ed25519PrivateKey.generate()
signature = key.sign(b"release 1.0")
key.public_key().verify(signature, b"release 1.0")
pem = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
print(len(signature), pem.splitlines()[0].decode())
digest = hashes.Hash(hashes.SHA256())
digest.update(b"abc")
print(digest.finalize().hex()[:8])
