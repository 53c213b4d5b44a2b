#!/usr/bin/env bash
cat > grades.txt <<'END'
ann 78
bob 91
cy 64
END
while read -r name points; do
  if ((points >= 90)); then grade=A; elif ((points >= 75)); then grade=B; else grade=C; fi
  printf '%-5s %s\n' "$name" "$grade"
done < grades.txt
sort -k2,2nr grades.txt | head -1
