seq 10 | sed -n '3,5p;8q'; echo 'path=/a/b' | sed 's#/a#/x#'; printf 'k: v\n' | sed -nE 's/^(\w+): (.*)$/\1=\2/p'; echo abc | sed 'y/abc/xyz/'; seq 3 | sed 'w out.txt' >/dev/null; cat out.txt
