#!/usr/bin/env bash
path="/srv/www/site/index.test.html"
echo "${path##*/} ${path%/*} ${path%%.*} ${path#*.} ${path/www/web}"
name="hello world"
echo "${name^} ${name^^} ${#name} ${name:6} ${name: -5:3} ${name@Q}"
list=(red green "light blue")
echo "${#list[@]} ${list[-1]} ${list[@]:1:1} ${!list[@]}"
list+=(black); unset 'list[0]'
printf '<%s>' "${list[@]}"; echo
