#!/usr/bin/env bash
disk_used() {
  local path=$1
  df -P "$path" | awk 'NR == 2 { sub("%", "", $5); print $5 }'
}
used=$(disk_used .)
if [[ $used =~ ^[0-9]+$ ]] && (( used <= 100 )); then
  echo "disk usage is a percentage"
fi
du -sk . | awk '{ print ($1 >= 0 ? "size known" : "size unknown") }'
