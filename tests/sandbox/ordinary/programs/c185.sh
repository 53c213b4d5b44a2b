git init -q r; cd r; printf '*.log\n/build/\n' > .gitignore; mkdir build; touch a.log build/x src.c
git status --short; git check-ignore a.log; git ls-files -o --exclude-standard; git hash-object src.c
