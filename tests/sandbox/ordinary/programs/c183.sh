git init -q --bare origin.git
git clone -q origin.git work 2>/dev/null; cd work
git config user.email a@b; git config user.name n
echo 1 > a; git add a; git commit -qm a; git push -q origin HEAD:main; cd ..
git clone -q -b main origin.git two; cat two/a; git -C two log --oneline | wc -l
