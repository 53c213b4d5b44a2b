#!/usr/bin/env bash
cat > page.html <<'END'
<ul><li>one</li><li>two</li></ul>
END
sed 's/<[^>]*>/ /g' page.html | xargs
grep -o '<li>' page.html | wc -l
sed -i 's/two/three/' page.html && cat page.html
