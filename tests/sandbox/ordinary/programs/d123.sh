#!/usr/bin/env bash
mkdir release && cd release || exit 1
echo "1.4.2" > VERSION
bump() {
  IFS=. read -r major minor patch < VERSION
  case $1 in
    major) ((major++)); minor=0; patch=0 ;;
    minor) ((minor++)); patch=0 ;;
    patch) ((patch++)) ;;
  esac
  echo "$major.$minor.$patch" | tee VERSION
}
bump patch
bump minor
bump major
printf '%s\n' 1.10.0 1.9.3 1.2.0 | sort -V | tail -1
