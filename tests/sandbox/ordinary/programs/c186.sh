git init -q r; cd r; git config user.email a@b; git config user.name n
printf '#!/bin/sh\necho hook ran\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
echo a > a; git add a; git commit -qm a 2>&1; git grep -n a; git shortlog -sn HEAD < /dev/null
