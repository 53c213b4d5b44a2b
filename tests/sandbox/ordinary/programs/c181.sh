export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.c GIT_AUTHOR_DATE="2024-01-01T00:00:00Z" GIT_COMMITTER_DATE="2024-01-01T00:00:00Z"
git init -q -b main r; cd r; seq 5 > n; git add n; git commit -qm base
git switch -qc feature; sed -i s/3/three/ n; git commit -qam three
git switch -q main; echo 6 >> n; git commit -qam six
git merge -q feature -m merged; cat n; git rev-parse --short HEAD; git branch
