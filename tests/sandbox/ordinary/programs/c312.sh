git init -q -b main r; cd r; git config user.email a@b; git config user.name n
for i in 1 2 3 4 5 6; do [ $i -ge 4 ] && echo bad > f || echo good$i > f; git add f; git commit -qm "c$i" ; done 2>/dev/null
git bisect start -q HEAD HEAD~3 >/dev/null 2>&1; git bisect run grep -q good f >/dev/null 2>&1; git bisect log | grep -c '^git bisect' ; git bisect reset -q 2>/dev/null; git log -1 --format=%s
