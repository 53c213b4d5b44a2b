git init -q r; cd r; git config user.email a@b; git config user.name n
printf 'a\nb\nc\n' > f; git add f; git commit -qm f; sed -i 's/b/B/' f; git diff -U0 | tail -2; git diff --word-diff=porcelain | tail -4; git apply --check <(git diff -R) 2>/dev/null && echo applies; git restore f; git clean -nfd; git reflog | wc -l
