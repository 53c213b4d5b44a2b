import uuid

one = uuid.uuid1()
two = uuid.uuid1()
print("uuid1 version", one.version, "variant", one.variant)
print("same node:", one.node == two.node == uuid.getnode())
print("later is larger:", two.time > one.time)
print("node fits in 48 bits:", 0 <= one.node < 1 << 48)
print("uuid4 length", len(str(uuid.uuid4())), "version", uuid.uuid4().version)
print(uuid.uuid3(uuid.NAMESPACE_DNS, "example.com"))
print(uuid.uuid5(uuid.NAMESPACE_URL, "https://example.com/a"))
print(uuid.UUID(int=0x1234))
print(uuid.UUID("12345678-1234-5678-1234-567812345678").hex)
print(len({uuid.uuid1() for _ in range(200)}), "distinct")
