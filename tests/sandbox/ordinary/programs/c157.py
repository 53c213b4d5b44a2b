import ssl, hashlib, hmac, zlib
ctx = ssl.create_default_context(); print(ctx.verify_mode.name, ssl.OPENSSL_VERSION.split()[0], ssl.get_default_verify_paths() is not None, len(ctx.get_ca_certs()) >= 0)
import certifi, os
print(os.path.exists(certifi.where()))
