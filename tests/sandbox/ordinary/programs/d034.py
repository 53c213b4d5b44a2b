import string
import secrets

alphabet = string.ascii_letters + string.digits
passwords = {"".join(secrets.choice(alphabet) for _ in range(20)) for _ in range(50)}
print(len(passwords), {len(p) for p in passwords}, all(set(p) <= set(alphabet) for p in passwords))
print(secrets.compare_digest("abc", "abc"), len(secrets.token_hex(8)))
