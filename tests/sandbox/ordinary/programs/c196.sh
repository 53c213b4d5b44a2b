printf 'alpha\nbeta\ngamma\n' > f; sed -n 2p f; sed 's/a/A/g' f; sed -i.bak '/beta/d' f; cat f f.bak | wc -l; sed -E 's/(.)(.)/\2\1/' f; sed '$!N;s/\n/-/' f; sed -e '1i head' -e '$a tail' f
