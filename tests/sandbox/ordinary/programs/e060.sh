#!/usr/bin/env bash
printf '%s\n' 10.0.0.12 10.0.0.3 192.168.1.5 | sort -t. -k1,1n -k2,2n -k3,3n -k4,4n
ip=192.168.1.130; IFS=. read -r a b c d <<< "$ip"
echo $(((a << 24) + (b << 16) + (c << 8) + d)) "$a.$b.$c.$((d & 192))/26"
[[ $ip =~ ^([0-9]{1,3}\.){3}[0-9]{1,3}$ ]] && echo "looks like an address"
