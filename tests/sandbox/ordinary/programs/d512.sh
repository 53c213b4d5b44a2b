#!/usr/bin/env bash
mkdir -p www && cd www || exit 1
for page in index about contact; do
  cat > $page.html <<END
<html><head><title>${page^}</title></head>
<body><a href="index.html">Home</a> <a href="missing-$page.html">Broken</a></body></html>
END
done
echo "broken links:"
grep -oh 'href="[^"]*"' ./*.html | cut -d'"' -f2 | sort -u | while read -r link; do
  [[ -e $link ]] || echo "  $link"
done
grep -l 'index.html' ./*.html | wc -l
sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' about.html
