mkdir -p bin; cat > bin/tool <<'S'
#!/bin/sh
case "$1" in -h) echo usage;; *) cat;; esac
S
chmod +x bin/tool; PATH=$PWD/bin:$PATH; tool -h; echo in | tool; command -V tool | cut -d' ' -f1-2; . /dev/stdin <<< 'sourced=1'; echo $sourced; xargs -a <(echo x y) -n1 tool < /dev/null; sh -c 'echo $0 $1' a b; bash -c 'shopt -s globstar; mkdir -p q/w; touch q/w/z; echo **/z'; dash -c 'echo dash' 2>/dev/null || sh -c 'echo dash'; bash --norc --noprofile -c 'echo $-' >/dev/null; nice -n 5 echo nice; setsid echo sid; stdbuf -oL echo buf; timeout 2 true; time true 2>/dev/null; tee t <<< teed >/dev/null; cat t; flock t echo locked; mktemp -u >/dev/null; sync t; truncate -s 5 t; stat -c%s t; shred -u t; ls t 2>/dev/null || echo shredded
