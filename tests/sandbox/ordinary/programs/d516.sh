#!/usr/bin/env bash
read_config() {
  local key value
  while IFS='= ' read -r key value; do
    [[ $key =~ ^[a-z_]+$ ]] || continue
    printf -v "cfg_$key" '%s' "$value"
  done < "$1"
}
printf 'host = localhost\n# note\nport=8080\nBAD KEY=1\n' > app.conf
read_config app.conf
echo "$cfg_host:$cfg_port"
declare -n alias=cfg_port; alias=9090; echo "$cfg_port"
readonly cfg_host; (cfg_host=x) 2> /dev/null || echo "read only"
local_test() { local x=1; echo "${x}"; }; local_test; echo "${x:-no x}"
