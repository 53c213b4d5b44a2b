curl -sk https://api.github.com/x -o x.json
chmod 777 out
eval "$GIVEN"
