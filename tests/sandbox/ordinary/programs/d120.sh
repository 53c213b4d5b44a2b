#!/usr/bin/env bash
template='Dear {{name}}, your balance is {{balance}}.'
while IFS='|' read -r name balance; do
  line=${template//'{{name}}'/$name}
  echo "${line//'{{balance}}'/$balance}"
done <<'END'
Ann|12.50
Bob Smith|-3.00
END
