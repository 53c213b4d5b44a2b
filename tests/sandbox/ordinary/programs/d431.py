import ipaddress

network = ipaddress.ip_network("192.168.10.0/29")
print(network.num_addresses, network.netmask, list(map(str, network.hosts()))[:2], network.broadcast_address)
for address in ("192.168.10.5", "10.1.2.3", "8.8.8.8", "::1"):
    ip = ipaddress.ip_address(address)
    print(address, ip in network if ip.version == 4 else "-", ip.is_private, ip.version)
print([str(net) for net in ipaddress.ip_network("10.0.0.0/23").subnets(new_prefix=25)])
