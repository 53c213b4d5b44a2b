#!/usr/bin/env bash
cat > config.ini <<'END'
[db]
host=localhost
port=5432

[cache]
host=10.0.0.5
port=6379
END
get() { sed -n "/^\[$1\]/,/^\[/ s/^$2=//p" config.ini; }
echo "$(get db host):$(get db port) $(get cache host):$(get cache port)"
sed -i '/^\[cache\]/,/^\[/ s/^port=.*/port=6380/' config.ini
get cache port
sed -n '$=' config.ini
sed '1!G;h;$!d' config.ini | head -2
