#!/usr/bin/env bash
progress() { local done=$1 all=$2; local bars=$((done * 20 / all)); printf '[%-20s] %3d%%\n' "$(printf '#%.0s' $(seq 1 $bars))" $((done * 100 / all)); }
for n in 1 3 6 10; do progress "$n" 10; done
elapsed=3725; printf '%02d:%02d:%02d\n' $((elapsed / 3600)) $((elapsed % 3600 / 60)) $((elapsed % 60))
human() { awk -v b="$1" 'BEGIN { split("B K M G", u); i = 1; while (b >= 1024) { b /= 1024; i++ } printf "%.1f%s\n", b, u[i] }'; }
human 512; human 2048; human 5368709120
numfmt --to=iec 1048576 2> /dev/null || echo 1.0M
