#!/usr/bin/env bash
# Word frequency of a poem with sed and awk alone.
cat > poem <<'END'
Tyger Tyger, burning bright,
In the forests of the night;
What immortal hand or eye,
Could frame thy fearful symmetry?
END
awk '{ gsub(/[[:punct:]]/, ""); for (i = 1; i <= NF; i++) seen[tolower($i)]++ }
     END { for (w in seen) if (seen[w] > 1) print seen[w], w }' poem | sort -k1,1nr -k2
awk '{ print length($0) ": " NF " words" }' poem
awk 'length > max { max = length; line = $0 } END { print line }' poem
sed -n '2,3p;3q' poem | rev | cut -c1-6
tac poem | head -1
wc -l -w poem | awk '{ print $1, $2 }'
