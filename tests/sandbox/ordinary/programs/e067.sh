#!/usr/bin/env bash
echo "one two three" | (read -r a b; echo "$b"; )
cat <<-END
	indented with a tab
	PATH has $(tr ':' '\n' <<< "a:b:c" | wc -l) parts
END
cat <<'END'
$HOME stays
END
