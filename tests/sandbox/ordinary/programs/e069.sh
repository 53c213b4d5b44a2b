#!/usr/bin/env bash
echo "hello" > a && cp a b && mv b c && ln -s c d
ls | xargs
cat d && rm c && cat d 2> /dev/null || echo "dangling"
[ -L d ] && [ ! -e d ] && echo "link to nothing"
