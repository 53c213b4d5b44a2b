import uuid, secrets, random, hashlib
print(uuid.uuid1().version, uuid.uuid4().version, uuid.uuid5(uuid.NAMESPACE_DNS, "a.org"), uuid.getnode() > 0)
print(len(secrets.token_urlsafe(16)) > 20, hashlib.sha256(b"x").hexdigest()[:8], random.SystemRandom().random() < 1, hashlib.scrypt(b"p", salt=b"s", n=16, r=1, p=1).hex()[:8])
