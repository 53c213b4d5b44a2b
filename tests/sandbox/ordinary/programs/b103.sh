#!/usr/bin/env bash
set -eu
name=World
cat <<END
Hello $name, 2 + 3 = $((2 + 3)), upper ${name^^}
END
cat <<'END'
Nothing $expanded `here`
END
if true; then
	cat <<-END
		tabs are stripped
			even here
	END
fi
read -r first rest <<< "alpha beta gamma"
echo "$first / $rest"
while IFS='=' read -r key value; do
  [[ $key == \#* || -z $key ]] && continue
  printf '%-6s -> %s\n' "$key" "$value"
done <<'CONF'
# comment
colour=blue
size=10=20

CONF
tr a-z n-za-m <<< "uryyb"
