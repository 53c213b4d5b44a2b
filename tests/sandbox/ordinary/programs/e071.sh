#!/usr/bin/env bash
printf '%s\n' apple Banana cherry | sort -f | nl -w1 -s'. '
printf '%s\n' 10 9 2 | sort | xargs; printf '%s\n' 10 9 2 | sort -n | xargs
