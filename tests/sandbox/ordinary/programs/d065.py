import uuid

namespace = uuid.uuid5(uuid.NAMESPACE_DNS, "example.com")
print(namespace, uuid.uuid3(uuid.NAMESPACE_URL, "https://example.com/"))
ids = {uuid.uuid4() for _ in range(100)}
print(len(ids), {value.version for value in ids}, uuid.UUID(int=1))
print(uuid.uuid1().version, uuid.UUID("urn:uuid:12345678-1234-5678-1234-567812345678").hex[:8])
